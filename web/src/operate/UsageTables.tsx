import type { Insights } from '../api/insights.ts';
import { language } from '../i18n/index.ts';
import { count, money } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Table } from '../plot/Plot.tsx';
import { Card } from './parts.tsx';
import { short } from './UsageTiles.tsx';
import { useUsageWords } from './usageWords.ts';

/** What each model and each person used. */
export function Spenders({ insights }: { insights: Insights }) {
  const words = useUsageWords();
  const locale = useStore(language);
  const people = insights.users.map((one) => [one.user.name, count(one.turns, locale), short(one.tokens_used, locale), money(one.cost_usd, locale)]);
  const { others } = insights;
  if (others) people.push([words.usageOthers(others.people), count(others.turns, locale), short(others.tokens_used, locale), money(others.cost_usd, locale)]);
  return (
    <div className="usage-plots">
      {insights.models.length > 0 && (
        <Card title={words.usageByModel}>
          <Table
            title={words.usageByModel}
            table={{
              head: [words.usageModel, words.usageCallsHead, words.usageTokens, words.usageCost],
              rows: insights.models.map((one) => [one.model, count(one.calls, locale), short(one.tokens_used, locale), money(one.cost_usd, locale)]),
            }}
          />
        </Card>
      )}
      {people.length > 0 && (
        <Card title={words.usageByPerson}>
          <Table title={words.usageByPerson} table={{ head: [words.usagePerson, words.usageTurns, words.usageTokens, words.usageCost], rows: people }} />
        </Card>
      )}
    </div>
  );
}

/** What was asked most, as far as that may be told. */
export function Questions({ insights }: { insights: Insights }) {
  const words = useUsageWords();
  const asked = insights.questions;
  return (
    <Card title={words.usageQuestions} className="usage-questions">
      <p className="hint">{insights.questions_shown ? words.usageQuestionsWhich : words.usageQuestionsHidden}</p>
      {insights.questions_shown && asked.length === 0 && <p className="hint">{words.usageQuestionsNone}</p>}
      <ol>
        {asked.map((one) => (
          <li key={one.text}>
            <q>{one.text}</q>
            <small>
              {words.usageTimes(one.times)} · {words.usagePeople(one.people)}
            </small>
          </li>
        ))}
      </ol>
    </Card>
  );
}
