import { describe, expect, it } from 'vitest';
import { workflowFixture } from '../api/fixtures.ts';
import { surfaceOf } from './surface.ts';

const own = (surface: unknown) => workflowFixture('w', { schema: { surface } });

describe('what a workflow says of itself', () => {
  const harbour = own({
    title: { en: 'Harbour master', de: 'Hafenmeister' },
    empty: { en: 'What comes in?' },
    starters: [{ en: 'Which berths are free?', de: 'Was ist frei?' }, { en: 'Tides' }, { en: 'Tides' }, { de: 'Ohne Englisch' }, 'of old'],
  });

  it('is read in the person’s language, and in English where that is missing', () => {
    expect(surfaceOf(harbour, 'en')).toEqual({ title: 'Harbour master', tagline: '', empty: 'What comes in?', placeholder: '', thinking: '', accent: '', starters: ['Which berths are free?', 'Tides'] });
    expect(surfaceOf(harbour, 'de')).toMatchObject({ title: 'Hafenmeister', empty: 'What comes in?', starters: ['Was ist frei?', 'Tides', 'Ohne Englisch'] });
  });

  it('is nothing where a document has something else there', () => {
    for (const surface of [undefined, null, 'of old', [], {}, { title: 'of old' }, { title: { en: ' ' } }, { title: { en: 7 }, starters: {} }]) expect(surfaceOf(own(surface), 'en')).toBeNull();
    expect(surfaceOf({ ...workflowFixture('w'), schema: {} }, 'en')).toBeNull();
  });

  it('has a colour of its own, where that is one', () => {
    const accent = (given: unknown) => surfaceOf(own({ title: { en: 'T' }, accent: given }), 'en')?.accent;
    expect(accent('#c6f41c')).toBe('#c6f41c');
    for (const given of [undefined, 7, 'red', '#c6f', 'url(//elsewhere)', '#c6f41c; display: none']) expect(accent(given)).toBe('');
  });

  it('holds no more beginnings than there is room for', () => {
    const starters = Array.from({ length: 12 }, (_, n) => ({ en: `Way ${n}` }));
    expect(surfaceOf(own({ title: { en: 'T' }, starters }), 'en')?.starters).toHaveLength(10);
  });
});
