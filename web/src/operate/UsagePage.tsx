import './UsagePage.css';
import './UsageTiles.css';
import './UsageTables.css';
import { useLocation, useSearch } from 'wouter';
import { useInsights, type Insights, type Span } from '../api/insights.ts';
import { useUIConfig } from '../api/queries.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { count } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Loading, Pills } from './parts.tsx';
import { Answers, Durations, Spending, TurnsADay } from './UsagePlots.tsx';
import { dayOf, Tiles } from './UsageTiles.tsx';
import { Questions, Spenders } from './UsageTables.tsx';
import { useUsageWords } from './usageWords.ts';

const spans: Span[] = [7, 28, 90];

/** How the place was used: what was asked, how long answers took, what it cost. */
export default function UsagePage() {
  const shell = useWords();
  const words = useUsageWords();
  const [, go] = useLocation();
  const locale = useStore(language);
  const asked = new URLSearchParams(useSearch());
  const span = spans.find((one) => one === Number(asked.get('days'))) ?? 7;
  const surface = asked.get('surface') ?? '';
  const insights = useInsights(span, surface);
  const surfaces = useUIConfig().data?.surfaces ?? [];
  const to = (days: string, path: string) => {
    const query = new URLSearchParams({ ...(days === '7' ? {} : { days }), ...(path ? { surface: path } : {}) }).toString();
    go(query ? `/operate/usage?${query}` : '/operate/usage', { replace: true });
  };
  return (
    <>
      <header className="list-head">
        <h1>{shell.usage}</h1>
        {surfaces.length > 0 && (
          <label className="filter">
            <span>{words.usageOf}</span>
            <select value={surface} onChange={(event) => to(String(span), event.target.value)}>
              <option value="">{words.usageOfAll}</option>
              {surfaces.map((one) => (
                <option key={one.path} value={one.path}>
                  {one.title[locale] || one.title['en']}
                </option>
              ))}
            </select>
          </label>
        )}
        <Pills
          label={words.usageSpan}
          options={spans.map((one) => [String(one), words.usageDays(one)] as const)}
          value={String(span)}
          onChoose={(one) => to(one, surface)}
        />
      </header>
      {insights.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {sentence(insights.error)}
          </p>
          <button type="button" onClick={() => void insights.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {insights.isPending && <Loading />}
      {insights.data && <Told insights={insights.data} stale={insights.isPlaceholderData} />}
    </>
  );
}

function Told({ insights, stale }: { insights: Insights; stale: boolean }) {
  const words = useUsageWords();
  const locale = useStore(language);
  const first = insights.days[0];
  return (
    <div className="usage" aria-busy={stale}>
      <p className="hint">
        {first && words.usageSince(dayOf(first.date, locale, 'long'), insights.tz.replaceAll('_', ' '))}
        {insights.partial && ` ${words.usagePartial}`}
      </p>
      {insights.turns === 0 && insights.used.calls === 0 ? (
        <p className="nothing">{words.usageNone}</p>
      ) : (
        <>
          <Tiles insights={insights} />
          <div className="usage-plots">
            <section className="panel card">
              <TurnsADay insights={insights} />
            </section>
            <section className="panel card">
              <Durations insights={insights} />
            </section>
            <section className="panel card">
              <Answers insights={insights} />
            </section>
            <section className="panel card">
              <Spending insights={insights} />
            </section>
          </div>
          <Spenders insights={insights} />
          <Questions insights={insights} />
          <p className="hint">{words.usageKnown(count(insights.recorded, locale), count(insights.turns, locale))}</p>
        </>
      )}
    </div>
  );
}
