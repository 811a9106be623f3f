// The words of Operate → Usage, which only that page loads.

import { language, type Language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';

const en = {
  usageOf: 'Of',
  usageOfAll: 'Everything',
  usageSpan: 'Which days',
  usageDays: (n: number) => `${n} days`,
  usageSince: (day: string, zone: string) => `Since ${day}, by the days of ${zone}.`,
  usagePartial: 'There were more turns than are counted here; the oldest are left out.',
  usageNone: 'Nobody has asked anything in these days.',
  usageKnown: (known: string, all: string) =>
    `What tools a turn called is known of ${known} of ${all === '1' ? '1 turn, as long as its recording is' : `${all} turns, as long as their recordings are`} kept.`,

  usageTurns: 'Turns',
  usagePeople: (n: number) => (n === 1 ? '1 person' : `${n} people`),
  usageWorkingDay: (n: string) => `${n} a working day`,
  usageMedian: 'Median time',
  usageNinth: '9 of 10 within',
  usageP90: (time: string) => `9 of 10 within ${time}`,
  usageToolUse: 'Turns with tools',
  usageMark: (mark: 'good' | 'bad'): string => (mark === 'good' ? '✓ At least 50 %.' : 'Under 30 %.'),
  usageTurnsMark: (mark: 'good' | 'bad'): string => (mark === 'good' ? '✓ At least 3 a working day.' : 'Under 1 a working day.'),
  usageFewCalls: 'Under 1.5.',
  usageCalls: (n: string) => `${n === '1' ? '1 call' : `${n} calls`} a turn`,
  usageAbandoned: 'Given up',
  usageAbandonedMore: 'stopped before the answer was there',
  usageTokens: 'Tokens',
  usageModelCalls: (n: number, written: string) => (n === 1 ? '1 model call' : `${written} model calls`),
  usageCost: 'Cost',
  usageNoPrice: 'no model here has a price',

  usageDay: 'Day',
  usageTurnsADay: 'Turns a day',
  usageTurnsSummary: (turns: string, day: string, most: string) => (turns === '1' ? `1 turn, on ${day}.` : `${turns} turns; most on ${day}: ${most}.`),
  usageAnswered: 'Answered',
  usageFailed: 'Failed',
  usageGivenUp: 'Given up',
  usageOpen: 'Still running',
  usageAskers: 'People',
  usageDurations: 'How long answers take',
  usageDurationsSummary: (median: string, p90: string) => `Median ${median}; nine of ten within ${p90}.`,
  usageBuckets: 'Answers by time taken',
  usageTook: 'Took',
  usageCostADay: 'Cost a day',
  usageTokensADay: 'Tokens a day',
  usageSpendingSummary: (all: string) => `${all} in all these days.`,
  usageUTC: 'By the days of UTC.',

  usageByModel: 'By model',
  usageByPerson: 'By person',
  usageModel: 'Model',
  usagePerson: 'Person',
  usageCallsHead: 'Calls',
  usageOthers: (n: number) => (n === 1 ? '1 other' : `${n} others`),

  usageQuestions: 'Asked most',
  usageQuestionsWhich: 'Questions that two people have asked alike, or you yourself more than once.',
  usageQuestionsHidden: 'What people ask is not shown here.',
  usageQuestionsNone: 'No question has been asked more than once.',
  usageTimes: (n: number) => `${n} times`,
};

type UsageWords = typeof en;

const de: UsageWords = {
  usageOf: 'Von',
  usageOfAll: 'Alles',
  usageSpan: 'Welche Tage',
  usageDays: (n) => `${n} Tage`,
  usageSince: (day, zone) => `Seit dem ${day}, nach den Tagen von ${zone}.`,
  usagePartial: 'Es gab mehr Anfragen, als hier gezählt werden; die ältesten fehlen.',
  usageNone: 'In diesen Tagen hat niemand etwas gefragt.',
  usageKnown: (known, all) =>
    `Welche Werkzeuge benutzt wurden, ist von ${known} von ${all === '1' ? '1 Anfrage bekannt, solange ihre Aufzeichnung aufbewahrt wird' : `${all} Anfragen bekannt, solange ihre Aufzeichnungen aufbewahrt werden`}.`,

  usageTurns: 'Anfragen',
  usagePeople: (n) => (n === 1 ? '1 Person' : `${n} Personen`),
  usageWorkingDay: (n) => `${n} je Arbeitstag`,
  usageMedian: 'Mittlere Dauer',
  usageNinth: '9 von 10 in',
  usageP90: (time) => `9 von 10 in ${time}`,
  usageToolUse: 'Mit Werkzeugen',
  usageMark: (mark) => (mark === 'good' ? '✓ Mindestens 50 %.' : 'Unter 30 %.'),
  usageTurnsMark: (mark) => (mark === 'good' ? '✓ Mindestens 3 je Arbeitstag.' : 'Unter 1 je Arbeitstag.'),
  usageFewCalls: 'Unter 1,5.',
  usageCalls: (n) => `${n === '1' ? '1 Aufruf' : `${n} Aufrufe`} je Anfrage`,
  usageAbandoned: 'Abgebrochen',
  usageAbandonedMore: 'beendet, bevor die Antwort da war',
  usageTokens: 'Token',
  usageModelCalls: (n, written) => (n === 1 ? '1 Modellaufruf' : `${written} Modellaufrufe`),
  usageCost: 'Kosten',
  usageNoPrice: 'hier hat kein Modell einen Preis',

  usageDay: 'Tag',
  usageTurnsADay: 'Anfragen je Tag',
  usageTurnsSummary: (turns, day, most) => (turns === '1' ? `1 Anfrage, am ${day}.` : `${turns} Anfragen; die meisten am ${day}: ${most}.`),
  usageAnswered: 'Beantwortet',
  usageFailed: 'Gescheitert',
  usageGivenUp: 'Abgebrochen',
  usageOpen: 'Noch offen',
  usageAskers: 'Personen',
  usageDurations: 'Wie lange Antworten dauern',
  usageDurationsSummary: (median, p90) => `Median ${median}; neun von zehn in ${p90}.`,
  usageBuckets: 'Antworten nach Dauer',
  usageTook: 'Dauer',
  usageCostADay: 'Kosten je Tag',
  usageTokensADay: 'Token je Tag',
  usageSpendingSummary: (all) => `${all} an all diesen Tagen.`,
  usageUTC: 'Nach den Tagen von UTC.',

  usageByModel: 'Nach Modell',
  usageByPerson: 'Nach Person',
  usageModel: 'Modell',
  usagePerson: 'Person',
  usageCallsHead: 'Aufrufe',
  usageOthers: (n) => (n === 1 ? '1 weitere Person' : `${n} weitere`),

  usageQuestions: 'Am häufigsten gefragt',
  usageQuestionsWhich: 'Fragen, die zwei Personen gleich gestellt haben, oder du selbst mehrmals.',
  usageQuestionsHidden: 'Was gefragt wird, wird hier nicht gezeigt.',
  usageQuestionsNone: 'Keine Frage wurde mehrmals gestellt.',
  usageTimes: (n) => `${n}-mal`,
};

const dictionaries: Record<Language, UsageWords> = { en, de };

export function useUsageWords(): UsageWords {
  return dictionaries[useStore(language)];
}
