// The microphone, until it is told to stop.

/** Whom the browser's refusal names, as a key of the words. */
export type Trouble = 'refused' | 'none' | 'unable' | 'broke';

export interface Recording {
  /** Ends it; who asked for the recording is given it. */
  stop(): void;
  /** Ends it, and nobody is given anything. */
  discard(): void;
}

/** The longest one recording gets; it then ends as if somebody had stopped it. */
export const longest = 5 * 60_000; // ms

/** What speech servers take, best first; Safari has only the last. */
const kinds = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4'];

/** Asks for the microphone and records. done gets the sound once, or null when there is none. */
export async function record(done: (sound: Blob | null) => void): Promise<Recording | Trouble> {
  if (!navigator.mediaDevices?.getUserMedia || typeof MediaRecorder === 'undefined') return 'unable';
  let stream: MediaStream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : '';
    if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'none';
    return name === 'NotAllowedError' || name === 'SecurityError' ? 'refused' : 'broke';
  }
  const release = () => stream.getTracks().forEach((track) => track.stop());
  const kind = kinds.find((one) => MediaRecorder.isTypeSupported(one));
  let recorder: MediaRecorder;
  try {
    recorder = new MediaRecorder(stream, kind ? { mimeType: kind } : {});
  } catch {
    release();
    return 'unable';
  }
  const parts: Blob[] = [];
  let wanted = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  recorder.addEventListener('dataavailable', (event) => {
    if (event.data.size > 0) parts.push(event.data);
  });
  recorder.addEventListener('stop', () => {
    clearTimeout(timer);
    release();
    if (wanted) done(parts.length > 0 ? new Blob(parts, { type: recorder.mimeType }) : null);
  });
  recorder.start(1_000); // in pieces, so that what was said before a device went is not lost
  const stop = () => {
    if (recorder.state !== 'inactive') recorder.stop();
  };
  timer = setTimeout(stop, longest);
  return {
    stop,
    discard() {
      wanted = false;
      stop();
      release();
    },
  };
}
