import { expect, it } from 'vitest';
import { said } from './remarks.ts';

const one = (code: string, data: Record<string, unknown> = {}) => ({ code, data, text: `${code} in English.` });

it('says what the server proposes by code and figures, and as it stands what it does not know', () => {
  const why = [one('lessons', { lessons: 2, events: 5, new: 1, gone: 1 }), one('tried', { held: 8, better: 5, worse: 1, alike: 2, p: 0.953 })];
  expect(said('de', why, 'text')).toBe(
    'Was du zu Antworten gesagt hast: 2 Lehren aus 5 Rückmeldungen, 1 neu, 1 nicht mehr befolgt. Von 8 zurückgelegten Fragen waren Antworten damit bei 5 besser, bei 1 schlechter und bei 2 gleich (P 0,95).',
  );
  expect(said('de', [one('lessons', { lessons: 1, events: 3 }), one('untried_no_model')])).toBe('Was du zu Antworten gesagt hast: 1 Lehre aus 3 Rückmeldungen. Ohne Probe eingereicht: Es ist kein Sprachmodell eingerichtet.');
  expect(said('de', [one('of_a_later_program')])).toBe('of_a_later_program in English.');
  expect(said('en', why, 'text')).toBe('lessons in English. tried in English.');
  expect(said('de', [], 'What its author wrote.')).toBe('What its author wrote.');
});

it('tells which figures a rule went by', () => {
  const share = (value: number) => ({ value, low: 0, high: 1 });
  const rows = [{ name: 'thumbs_down_share', unit: 'share', before: share(0.1), after: share(0.6), worse: true }];
  expect(said('de', [one('rule_met', { runs: { before: 10, after: 12 }, rows })])).toBe(
    'Die Regel, nach der es zurückgeht, war erfüllt, mit 12 Läufen damit und 10 davor: Daumen nach unten 10 % → 60 %.',
  );
});

it('tells the wishes that answers keep, and those they do not', () => {
  const wishes = { questions: 4, checks: 8, kinds: ['length', 'begins'], new: 1, base: 0, now: 6, verdict: 'wishes_kept_less' };
  expect(said('de', [one('wishes', wishes)])).toBe(
    'Nach 4 zurückgelegten Fragen gefragt, haben seine Antworten in 1 von 8 Prüfungen die Form, die du willst (Länge, erste Worte); ohne ihn in 0, und so, wie jetzt geantwortet wird, in 6: Was du willst, hält er weniger ein.',
  );
});
