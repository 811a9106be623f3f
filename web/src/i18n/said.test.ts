import { afterEach, expect, it, vi } from 'vitest';
import { Failure, failureFrom } from '../api/failure.ts';
import { sentence } from './errors.ts';
import { setLanguage } from './index.ts';
import { told } from './said.ts';
import all from './sentences.de.json';

afterEach(() => setLanguage('en'));

const text = 'The tool web.fetch_v1 took longer than 10s.';
const said = { text: 'The tool {1} took longer than {2}.', values: ['web.fetch_v1', '10s'] };

// Requirements: GRND-37 (errors)
it('says the server’s sentence in German, and its words among the values', async () => {
  expect(told(text, said)).toBe(text);
  setLanguage('de');
  await vi.waitFor(() => expect(told(text, said)).toBe('Das Werkzeug web.fetch_v1 hat länger als 10s gebraucht.'), 20_000);
  const spent = { text: 'the run has used up its {1} (timeout_ms): node {2} {3}', values: ['1m0s', 'ask', 'did not finish'] };
  const refused = failureFrom(400, JSON.stringify({ error: { code: 'x', message: 'the run has used up its 1m0s', details: null, said: spent } }));
  expect(sentence(refused)).toBe('Der Lauf hat seine Zeit von 1m0s aufgebraucht (timeout_ms): Der Knoten ask wurde nicht fertig.');
  expect(told('Patch 7 to the workflow sorts waits for a decision. 2 of 9 recorded runs go another way.')).toBe(
    'Vorschlag 7 zu dem Ablauf sorts wartet auf eine Entscheidung. 2 von 9 aufgezeichneten Läufen gehen anders.',
  );
  expect(told('stopped')).toBe('angehalten');
  expect(sentence(new Failure(409, 'conflict', 'Said by nobody.'))).toBe('Said by nobody.');
});

// Requirements: GRND-37 (errors)
it('knows a sentence that came whole, with its values and what it is about', async () => {
  setLanguage('de');
  await vi.waitFor(() => expect(told('stopped')).toBe('angehalten'));
  expect(told('"a \\"b\\".pdf": this PDF is damaged and cannot be read. Open it in a PDF viewer, save it again, and upload that.')).toBe(
    '„a "b".pdf“: Dieses PDF ist beschädigt und nicht lesbar. Öffne es in einem PDF-Programm, speichere es neu und lade diese Datei hoch.',
  );
  expect(told('The document "a.pdf" gives more text than can be kept. Split it into several files.')).toBe('Das Dokument „a.pdf“ enthält mehr Text, als sich aufheben lässt. Teile es in mehrere Dateien auf.');
  expect(told('"a.pdf": said by nobody')).toBe('"a.pdf": said by nobody');
  const place = /\{(\d+)\}/g;
  const mistaken = Object.keys(all).filter((form) => {
    const values = [...form.matchAll(place)].map(([, n]) => `v${n}`);
    const whole = form.replace(place, 'v$1');
    return form.replace(place, '').length >= 7 && told(whole) !== told(whole, { text: form, values });
  });
  expect(mistaken).toEqual([]);
});
