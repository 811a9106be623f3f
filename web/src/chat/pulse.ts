// How often arriving text is shown. A page that needs long to show it, because
// the text is long or the machine slow, shows it less often: what is left
// belongs to the reader, who types and scrolls meanwhile.

export const shortest = 32; // ms between two showings
export const longest = 400; // ms; so late a word still seems to come by itself
const share = 3; // of the time at most every third part goes into showing

/** How long to wait after a showing that took cost ms, of which what went before took a part. */
export function restAfter(cost: number, before: number): number {
  const smooth = Math.max(cost, (before + cost) / 2); // slower at once, faster by and by
  return Math.min(longest, Math.max(shortest, share * smooth));
}

export interface Pulse {
  /** Something is to be shown, soon. */
  beat(): void;
  /** Shows it now. */
  now(): void;
}

/** Calls show at most as often as what it takes allows. */
export function createPulse(show: () => void): Pulse {
  let timer = 0;
  let cost = 0;
  let rest = shortest;
  const now = () => {
    clearTimeout(timer);
    timer = 0;
    measure(show, (took) => {
      rest = restAfter(took, cost);
      cost = took;
    });
  };
  return {
    beat() {
      timer ||= window.setTimeout(now, rest);
    },
    now,
  };
}

/** Measures what showing takes: the work itself, and then the frame it makes. A hidden page has no frames. */
function measure(show: () => void, done: (ms: number) => void): void {
  const begun = performance.now();
  show();
  // React works behind this, before a promise made now is kept.
  void Promise.resolve().then(() => {
    const worked = performance.now() - begun;
    requestAnimationFrame((frame) => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', () => {
        port1.close();
        done(worked + Math.max(0, performance.now() - Math.max(frame, begun + worked)));
      });
      port1.start();
      port2.postMessage(null); // handled after the frame is made
    });
  });
}
