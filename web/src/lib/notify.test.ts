import { afterEach, describe, expect, it, vi } from 'vitest';
import { createWatch, isElsewhere, isOnScreen, keepOnScreen, markSign, titleOf } from './notify.ts';

const which = (id: string) => ({ id, title: id.toUpperCase() });

/** The module anew, in a browser whose permission is this. */
async function inBrowser(permission: string, answer = permission) {
  const shown: (EventTarget & { title: string; options: NotificationOptions; closed: boolean })[] = [];
  class Fake extends EventTarget {
    static permission = permission;
    static requestPermission = vi.fn(async () => (Fake.permission = answer));
    constructor(
      readonly title: string,
      readonly options: NotificationOptions,
    ) {
      super();
      shown.push(this);
    }
    closed = false;
    close(): void {
      this.closed = true;
    }
  }
  vi.stubGlobal('Notification', Fake);
  vi.resetModules();
  return { ...(await import('./notify.ts')), shown, Fake };
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  localStorage.clear();
});

describe('what waits for a person elsewhere', () => {
  it('stands in the title, with how many', () => {
    expect([titleOf(0, 'Letters'), titleOf(2, 'Letters'), titleOf(1, null)]).toEqual(['Letters · Liminal', '(2) Letters · Liminal', '(1) Liminal']);
  });

  it('puts a dot on the sign, and takes it away', () => {
    document.head.innerHTML = '<link rel="icon" href="/favicon.svg">';
    const href = () => document.querySelector('link[rel=icon]')!.getAttribute('href')!;
    markSign(true);
    expect(decodeURIComponent(href())).toContain('class="d"');
    expect(href()).toMatch(/^data:image\/svg\+xml,/);
    markSign(false);
    expect(href()).toBe('/favicon.svg');
  });

  it('is new once, and not when the page opens', () => {
    const watch = createWatch();
    const told = (...listed: [id: string, year: number, pending: boolean][]) =>
      watch(listed.map(([id, year, pending]) => ({ ...which(id), pending, updated_at: `${year}-01-01T00:00:00Z` }))).map((one) => one.id);
    expect(told(['a', 2020, true])).toEqual([]);
    expect(told(['b', 2021, true], ['a', 2020, true])).toEqual(['b']);
    expect(told(['b', 2021, true], ['a', 2020, false])).toEqual([]);
    expect(told(['b', 2021, true], ['a', 2020, true])).toEqual(['a']);
    expect(told(['b', 2021, true], ['a', 2020, true], ['old', 2019, true])).toEqual([]); // somebody looks for it
  });

  it('is on screen where any tab shows it', async () => {
    const held = new Set<{ name: string }>();
    const request = async (name: string, _: object, work: () => Promise<void>) => {
      const lock = { name };
      held.add(lock);
      await work();
      held.delete(lock);
    };
    vi.stubGlobal('navigator', { locks: { request, query: async () => ({ held: [...held] }) } });
    const visible = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('visible');
    const seen = () => Promise.all([isOnScreen('a'), isOnScreen('b')]);
    const leave = keepOnScreen('a');
    await expect.poll(seen).toEqual([true, false]);
    visible.mockReturnValue('hidden');
    document.dispatchEvent(new Event('visibilitychange'));
    await expect.poll(seen).toEqual([false, false]);
    visible.mockReturnValue('visible');
    document.dispatchEvent(new Event('visibilitychange'));
    await expect.poll(seen).toEqual([true, false]);
    leave();
    await expect.poll(seen).toEqual([false, false]);
    vi.stubGlobal('navigator', {});
    keepOnScreen('a')();
    expect(await isOnScreen('a')).toBe(false);
  });

  it('is elsewhere in another conversation, and in a hidden tab', () => {
    expect([isElsewhere('a', 'a'), isElsewhere('a', 'b'), isElsewhere('a', null)]).toEqual([false, true, true]);
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
    expect(isElsewhere('a', 'a')).toBe(true);
  });

  it('asks for the permission only when it is switched on, and keeps the choice', async () => {
    const { Fake, setSystemNotices, systemNotices } = await inBrowser('default', 'granted');
    expect([systemNotices.get(), Fake.requestPermission.mock.calls.length]).toEqual(['off', 0]);
    await setSystemNotices(true);
    expect([systemNotices.get(), Fake.requestPermission.mock.calls.length]).toEqual(['on', 1]);
    expect((await inBrowser('granted')).systemNotices.get()).toBe('on');
    await setSystemNotices(false);
    expect((await inBrowser('granted')).systemNotices.get()).toBe('off');
  });

  it('shows nothing by the system unless it is on, and leads there when it is', async () => {
    const off = await inBrowser('granted');
    off.notify(which('a'), 'Waiting', () => undefined);
    expect(off.shown).toEqual([]);
    localStorage.setItem('liminal.notify', '1');
    const on = await inBrowser('granted');
    const go = vi.fn();
    on.notify(which('a'), 'Waiting', go);
    expect(on.shown.map((one) => [one.title, one.options.body, one.options.tag])).toEqual([['A', 'Waiting', 'liminal-a']]);
    on.shown[0]!.dispatchEvent(new Event('click'));
    expect(go).toHaveBeenCalledOnce();
  });

  it('by the system is for who switched it on, and nobody after them', async () => {
    const page = await inBrowser('granted');
    page.keepNotices(true);
    await page.setSystemNotices(true);
    page.notify(which('a'), 'Waiting', () => undefined);
    page.keepNotices(false); // the same person comes back
    expect(page.systemNotices.get()).toBe('on');
    page.forgetNotices();
    expect(page.shown[0]!.closed).toBe(true);
    page.keepNotices(true);
    expect([page.systemNotices.get(), (await inBrowser('granted')).systemNotices.get()]).toEqual(['off', 'off']);
  });

  it('says where the browser refuses, or has none', async () => {
    expect((await inBrowser('default', 'denied').then(async (one) => (await one.setSystemNotices(true), one))).systemNotices.get()).toBe('blocked');
    vi.stubGlobal('Notification', undefined);
    vi.resetModules();
    expect((await import('./notify.ts')).systemNotices.get()).toBe('unsupported');
  });
});
