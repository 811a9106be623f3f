// The server's sentences about what was learnt and trained, in the reader's language. They
// come with a code and figures; English is what the server wrote.

import type { Remark, Row } from '../api/gen.ts';
import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

type Data = Record<string, unknown>;
type Sentence = (data: Data, text: string) => string;

const n = (value: unknown) => (typeof value === 'number' ? value : 0);
const figure = (value: unknown) => n(value).toLocaleString('de', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const percent = (value: unknown) => `${Math.round(100 * n(value))} %`;
const counted = (value: unknown, one: string, more: string) => `${n(value)} ${n(value) === 1 ? one : more}`;
const both = (value: unknown): Data => (value ?? {}) as Data;

const kinds: Record<string, string> = {
  length: 'Länge', list: 'Liste', language: 'Sprache', address: 'Anrede', opening: 'Anfang', code: 'Code', table: 'Tabelle', heading: 'Überschrift', example: 'Beispiel',
  simple: 'einfache Worte', emoji: 'Emoji', closing: 'Frage am Schluss', begins: 'erste Worte', ends: 'letzte Zeile', bold: 'fett', capitals: 'Großbuchstaben', numbered: 'nummeriert', quoted: 'in Anführungszeichen',
};

/** The figures of a version that is watched. */
const watched: Record<string, string> = {
  failed_share: 'gescheitert', cancelled_share: 'abgebrochen', asked_share: 'mit einer Frage an Menschen', skipped_share: 'Fragen ohne Antwort', thumbs_down_share: 'Daumen nach unten', cost: 'Kosten eines Laufs', ms: 'mittlere Dauer',
};

/** What a training was at when it failed. */
const failedAt: Record<string, string> = {
  dataset: 'Womit trainiert wird, konnte nicht zusammengestellt werden',
  fit: 'Das Training konnte nicht weitergehen; was bis zum letzten Zwischenstand getan war, ist aufgehoben',
  judge: 'Was trainiert wurde, konnte nicht erprobt werden',
  publish: 'Die Fassung konnte nicht geschrieben werden',
  propose: 'Die Fassung konnte nicht eingereicht werden',
};

const failedFor: Record<string, string> = {
  disk_full: 'Der Datenträger ist voll.',
  memory: 'Der Speicher, den es haben darf, reichte nicht.',
  time: 'Die Zeit, die es haben darf, reichte nicht.',
  interrupted: 'Der Prozess, der es tat, wurde beendet.',
  source_gone: 'Etwas von dem, womit trainiert wird, wurde inzwischen zurückgenommen; es wird ohne das noch einmal trainiert.',
};

const de: Record<string, Sentence> = {
  lessons: ({ lessons, events, new: fresh, gone }) => {
    const parts = [`${counted(lessons, 'Lehre', 'Lehren')} aus ${counted(events, 'Rückmeldung', 'Rückmeldungen')}`];
    if (fresh !== undefined) parts.push(`${n(fresh)} neu`);
    if (n(gone) > 0) parts.push(`${n(gone)} nicht mehr befolgt`);
    return `Was du zu Antworten gesagt hast: ${parts.join(', ')}.`;
  },
  tried: ({ held, better, worse, alike, p }) =>
    `Von ${counted(held, 'zurückgelegten Frage', 'zurückgelegten Fragen')} waren Antworten damit bei ${n(better)} besser, bei ${n(worse)} schlechter und bei ${n(alike)} gleich (P ${figure(p)}).`,
  untried_no_model: () => 'Ohne Probe eingereicht: Es ist kein Sprachmodell eingerichtet.',
  untried_too_little: () => 'Ohne Probe eingereicht: Es wurde zu wenig gesagt, um dafür etwas zurückzulegen.',
  first_adapter: () => 'Was du mochtest und verbessert hast, reicht, um einen Adapter damit zu trainieren. Dieser ändert von sich aus nichts: Was trainiert wird, wird eingereicht, wenn es erprobt ist.',
  unused: ({ times, score, days }) =>
    `Er wurde ${n(times) === 0 ? 'nie' : `${n(times)}-mal`} benutzt; was zu seinen Antworten gesagt wurde, ist im Mittel ${figure(score)}, und in ${n(days)} Tagen wurde nichts gesagt.`,
  everybodys_situation: ({ events, label }) => `${n(events)} Rückmeldungen von Personen, die es erlauben, gehören zu einer Situation, „${String(label)}“, und kein Adapter ist ihr zugeordnet.`,

  trained: ({ answers }) => `Trainiert mit ${counted(answers, 'Antwort', 'Antworten')}, die du mochtest oder verbessert hast.`,
  trained_for_two: () => 'Trainiert, so zu antworten wie zwei Adapter ähnlicher Situationen, von denen einer kaum benutzt wird: Der wird abgeschaltet, und dieser antwortet für beide.',
  all_matrices: () => 'In seiner schmalen Form war er nicht besser, also wurden alle Matrizen trainiert.',
  judged: ({ answers, loss, alignment, p }) =>
    `An ${counted(answers, 'zurückgelegten Antwort', 'zurückgelegten Antworten')} ging der Verlust bei dem, was du mochtest, von ${figure(both(loss)['now'])} auf ${figure(both(loss)['new'])} Nats je Token, und was du lieber hast, wird in ${percent(both(alignment)['new'])} erkannt (vorher ${percent(both(alignment)['now'])}; P ${figure(p)}).`,
  few_events: () => 'Das ist zu wenig, um sicher zu sein.',
  may_be_chance: () => 'Es kann Zufall sein.',
  worse_elsewhere: () => 'Andere Texte wurden schlechter.',
  unsafe: () => 'Er beantwortet, was er nicht soll.',
  leaks: () => 'Er verrät, was herausgenommen wurde.',
  wishes: ({ questions, checks, kinds: list, new: kept, base, now, verdict }) => {
    const names = (Array.isArray(list) ? list : []).map((kind) => kinds[String(kind)] ?? String(kind)).join(', ');
    const before = now === base ? '' : `, und so, wie jetzt geantwortet wird, in ${n(now)}`;
    const end = verdict === 'wishes_not_kept' ? ': Was du willst, hält er nicht ein.' : verdict === 'wishes_kept_less' ? ': Was du willst, hält er weniger ein.' : '.';
    return `Nach ${counted(questions, 'zurückgelegten Frage', 'zurückgelegten Fragen')} gefragt, haben seine Antworten in ${n(kept)} von ${n(checks)} Prüfungen die Form, die du willst (${names}); ohne ihn in ${n(base)}${before}${end}`;
  },
  not_better: () => 'Er ist nicht besser als das, was jetzt antwortet; also wurde er behalten und nicht eingereicht.',
  worse_than_one: () => 'Er antwortet schlechter als einer der beiden Adapter, für die er stehen sollte; also wurde er behalten und nicht eingereicht.',
  too_little: ({ events, usable, missing }) => {
    const why = { few_rows: 'zu wenige Antworten, die du mochtest oder verbessert hast', few_targets: 'zu wenige verschiedene', few_people: 'von zu wenigen Personen' }[String(missing)] ?? 'zu wenige';
    return `Es gibt zu wenig, um damit zu trainieren: Von ${counted(events, 'Rückmeldung', 'Rückmeldungen')} sind ${n(usable)} zu gebrauchen, ${why}.`;
  },
  failed: ({ at, reason }, text) => {
    const what = failedAt[String(at)] ?? 'Das Training ist gescheitert';
    const why = failedFor[String(reason)];
    return why ? `${what}. ${why}` : `${what}. Der Server schreibt dazu: ${text}`;
  },
  cancelled: () => 'Es wurde auf deinen Wunsch abgebrochen.',
  run_cancelled: () => 'Sein Lauf wurde abgebrochen.',
  rule_met: ({ runs, rows }) => {
    const figures = (Array.isArray(rows) ? (rows as Row[]) : []).map(({ name, unit, before, after }) => {
      const value = (of: Row['before']) => (unit === 'share' ? percent(of.value) : unit === 'usd' ? `${n(of.value).toLocaleString('de', { maximumFractionDigits: 4 })} $` : `${Math.round(n(of.value))} ms`);
      return `${watched[name] ?? name} ${value(before)} → ${value(after)}`;
    });
    return `Die Regel, nach der es zurückgeht, war erfüllt, mit ${n(both(runs)['after'])} Läufen damit und ${n(both(runs)['before'])} davor: ${figures.join(', ')}.`;
  },
  no_account: () => 'Sein Konto darf hier nichts mehr tun.',
};

const translated: Partial<Record<Language, Record<string, Sentence>>> = { de };

/** What remarks say, or, where there are none, a text of their server's. */
export function said(to: Language, list: readonly Remark[] | undefined, text = ''): string {
  if (!list?.length) return text;
  return list.map((one) => translated[to]?.[one.code]?.((one.data ?? {}) as Data, one.text) ?? one.text).join(' ');
}

export function useSaid(): (list: readonly Remark[] | undefined, text?: string) => string {
  const to = useStore(language);
  return (list, text) => said(to, list, text);
}

const ofTheGate = new Set(['judged', 'wishes', 'few_events', 'may_be_chance']);

/** Remarks but for the figures of a gate, which are shown beside them. */
export const butFigures = (list: readonly Remark[]): readonly Remark[] => list.filter((one) => !ofTheGate.has(one.code));

/** The remarks that the data of an event has. */
export function remarksIn(data: unknown): readonly Remark[] {
  const why = (data as { why?: unknown } | null)?.why;
  return Array.isArray(why) ? (why as Remark[]) : [];
}
