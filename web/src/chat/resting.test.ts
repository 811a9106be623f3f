import { expect, it, vi } from 'vitest';
import { de } from '../i18n/de.ts';
import { en } from '../i18n/en.ts';
import { clock, moment, regional, stamp } from '../lib/format.ts';
import { resting } from './resting.ts';
import { emptyRun, fold } from './run.ts';

const at = new Date(2026, 10, 23, 14, 2, 10);
const soon = new Date(2026, 10, 23, 14, 1, 50);
const problem = { code: 'server_error', message: 'The model does not answer; it is tried again at 13:02:10 UTC.', reason: 'upstream', retry_at: at.toISOString() };

function reading(...languages: string[]): void {
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(languages);
}

// Requirements: ISO-09
it('tells when what rests is called again by the clock of the reader', () => {
  reading('de-DE', 'en-GB', 'en');
  expect(resting(problem, de, 'de', soon)).toBe('Das Modell antwortet nicht; um 14:02:10 wird es wieder versucht.');
  expect(resting(problem, en, 'en', soon)).toBe('The model does not answer; it is tried again at 14:02:10.');
  const tool = { ...problem, reason: '', message: 'The tool web.search_v1 does not answer; it is tried again at 13:02:10 UTC.' };
  expect(resting(tool, en, 'en', soon)).toBe('The tool web.search_v1 does not answer; it is tried again at 14:02:10.');
  expect(resting({ ...problem, retry_at: undefined }, en, 'en', soon)).toBe(problem.message);
});

it('keeps the time of an error event', () => {
  const failed = fold(emptyRun, { kind: 'error', seq: 1, data: problem } as Parameters<typeof fold>[1]);
  expect(failed.error).toMatchObject({ reason: 'upstream', retry_at: problem.retry_at });
});

it('writes times as where the reader is', () => {
  reading('en-GB', 'en');
  expect(stamp(at.toISOString(), soon, 'en')).toBe('14:02');
  expect(moment(at.getTime(), 'en')).toMatch(/^23 November.*14:02$/);
  expect(clock(at.getTime(), new Date(2026, 10, 25), 'en')).toBe(moment(at.getTime(), 'en'));
  reading('en-US');
  expect(stamp(at.toISOString(), soon, 'en').replace(/\s/, ' ')).toBe('2:02 PM');
  reading('fr-FR');
  expect(regional('de')).toBe('de');
});
