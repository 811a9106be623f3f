import './styles.ts';
import { Link } from 'wouter';
import type { Example, Report, Two } from '../api/changes.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { arrow, difference, toneOf, when, written, type Unit } from './figures.ts';
import { SideBySide } from './SideBySide.tsx';
import { useViewWords } from './viewWords.ts';

/** What a rehearsal over recorded runs showed of one change (CFG-11). */
export function Rehearsal({ report }: { report: Report }) {
  const words = useWords();
  if (report.sample.taken === 0) return <p className="hint">{words.noRecordings}</p>;
  return (
    <div className="rehearsal">
      {report.views ? <Views views={report.views} /> : <Figures report={report} />}
      <Places report={report} />
      <Examples report={report} />
      <Calls title={words.byTool} calls={report.by_tool} />
      <Calls title={words.byAdapter} calls={report.gates} />
      <Coverage report={report} />
      <SampleOf report={report} />
    </div>
  );
}

interface FigureProps {
  name: string;
  two: Two;
  unit?: Unit;
  less?: boolean; // less of it is better
}

function Figure({ name, two, unit = 'count', less = false }: FigureProps) {
  const locale = useStore(language);
  const gap = difference(two, unit, locale);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {arrow(two, unit, locale)} {gap && <b data-tone={toneOf(two, less)}>{gap}</b>}
      </dd>
    </div>
  );
}

/** A figure that only the change has: it stands against nothing. */
function Single({ name, value, grave = false, of }: { name: string; value: number; grave?: boolean; of?: number }) {
  const words = useWords();
  return (
    <div>
      <dt>{name}</dt>
      <dd>{grave && value > 0 ? <b data-tone="bad">{value}</b> : of === undefined ? value : words.ofTotal(value, of)}</dd>
    </div>
  );
}

function Figures({ report }: { report: Report }) {
  const words = useWords();
  const graph = report.coverage.nodes > 0;
  return (
    <dl className="figures">
      <Single name={words.figMoved} value={report.moved} of={report.sample.taken} />
      {report.unknown > 0 && <Single name={words.figUnknown} value={report.unknown} grave />}
      <Figure name={words.figFailed} two={report.failed} less />
      {(report.cut.before > 0 || report.cut.after > 0) && <Figure name={words.figCut} two={report.cut} less />}
      {graph && <Figure name={words.figQuestions} two={report.questions} less />}
      {report.new_questions > 0 && <Single name={words.figNew} value={report.new_questions} />}
      {report.vanished_questions > 0 && <Single name={words.figVanished} value={report.vanished_questions} />}
      {graph && <Figure name={words.figModels} two={report.model_calls} less />}
      {graph && <Figure name={words.figTools} two={report.tool_calls} less />}
      {(report.cost_usd.before > 0 || report.cost_usd.after > 0) && <Figure name={words.figCost} two={report.cost_usd} unit="usd" less />}
      {graph && <Figure name={words.figMs} two={report.median_ms} unit="ms" less />}
      {(report.mean_gates.before > 0 || report.mean_gates.after > 0) && <Figure name={words.figGates} two={report.mean_gates} unit="weight" />}
    </dl>
  );
}

/** What a changed policy of views would have done with recorded histories. */
function Views({ views }: { views: NonNullable<Report['views']> }) {
  const words = useViewWords();
  const locale = useStore(language);
  return (
    <>
      <dl className="figures">
        <Single name={words.viewDiffer} value={views.differ} of={views.histories} />
        <Figure name={words.viewEpochs} two={views.epochs} />
        <Figure name={words.viewResults} two={views.results} />
        <Figure name={words.viewTokens} two={views.tokens} />
        <Figure name={words.viewRegret} two={views.regret} unit="share" less />
        <Figure name={words.viewInvalid} two={views.invalid} less />
        <Figure name={words.viewThinking} two={views.thinking} less />
        <Figure name={words.viewCost} two={views.usd} unit="usd" less />
      </dl>
      <p className="hint">{views.told ? words.viewRange(written(views.low_usd, 'usd', locale), written(views.high_usd, 'usd', locale)) : words.viewUntold}</p>
      {views.as_view && <p className="hint">{words.viewAsView}</p>}
    </>
  );
}

function Places({ report }: { report: Report }) {
  const words = useWords();
  const places = report.places ?? [];
  if (places.length === 0) return null;
  return (
    <section>
      <h3>{words.waysPart}</h3>
      <ul className="places">
        {places.map((place) => (
          <li key={`${place.after} ${place.old} ${place.new}`}>
            <span>
              <span className="hint">{words.partAfter(place.after || words.atStart)}</span>
              <br />
              {words.partInstead(place.new || words.atEnd, place.old || words.atEnd)}
            </span>
            <small>{words.runsCount(place.runs)}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

// The order a person asks in: what breaks comes before what only differs.
const kinds = ['failed', 'cut', 'unknown', 'moved', 'asked', 'unasked', 'mended'];

function Examples({ report }: { report: Report }) {
  const words = useWords();
  const all = report.examples ?? {};
  const shown = [...kinds, ...Object.keys(all).filter((kind) => !kinds.includes(kind))].filter((kind) => all[kind]?.length);
  return shown.map((kind) => (
    <section key={kind}>
      <h3>{words.examplesOf(kind)}</h3>
      <ul className="examples">
        {all[kind]!.map((example) => (
          <li key={example.run_id}>
            <OneExample example={example} ofRun={!report.views} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

/** One recorded run, or a history of an agent, on both sides. */
function OneExample({ example, ofRun }: { example: Example; ofRun: boolean }) {
  const words = useWords();
  const locale = useStore(language);
  return (
    <details className="example">
      <summary>
        <code>{example.run_id.slice(0, 8)}</code> <span>{when(example.at, locale)}</span>
      </summary>
      {example.message && <p className="hint">{example.message}</p>}
      <SideBySide old={example.old ?? []} now={example.new ?? []} part={example.part} />
      {ofRun && <Link href={`/operate/runs/${example.run_id}`}>{words.openRun}</Link>}
    </details>
  );
}

function Calls({ title, calls }: { title: string; calls: Record<string, Two> | null }) {
  const entries = Object.entries(calls ?? {}).toSorted(([, a], [, b]) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
  if (entries.length === 0) return null;
  return (
    <details className="more">
      <summary>{title}</summary>
      <dl className="figures">
        {entries.map(([name, two]) => (
          <Figure key={name} name={name} two={two} />
        ))}
      </dl>
    </details>
  );
}

function Coverage({ report }: { report: Report }) {
  const words = useWords();
  const { coverage } = report;
  if (coverage.nodes === 0) return null;
  const unseen = [...(coverage.unseen_nodes ?? []), ...(coverage.unseen_branches ?? [])];
  return (
    <section>
      <dl className="figures">
        <Single name={words.figNodes} value={coverage.nodes_seen} of={coverage.nodes} />
        {coverage.branches > 0 && <Single name={words.figBranches} value={coverage.branches_seen} of={coverage.branches} />}
      </dl>
      {unseen.length > 0 && (
        <details className="more">
          <summary>
            {words.unseen} ({unseen.length})
          </summary>
          <ul className="unseen">
            {unseen.map((one) => (
              <li key={one}>
                <code>{one}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function SampleOf({ report }: { report: Report }) {
  const words = useWords();
  const locale = useStore(language);
  const { sample } = report;
  const facts = [
    words.rehearsalOf(sample.taken, sample.population),
    words.samplePeople(sample.people),
    sample.oldest && sample.newest ? words.sampleBetween(when(sample.oldest, locale), when(sample.newest, locale)) : '',
    sample.unreadable ? words.unreadable(sample.unreadable) : '',
  ].filter(Boolean);
  return (
    <details className="more">
      <summary>{words.sampleWords}</summary>
      <p className="hint">{facts.join(', ')}</p>
      <dl className="figures">
        {(sample.strata ?? []).map((stratum) => (
          <Single key={stratum.name} name={words.stratumName(stratum.name)} value={stratum.taken} of={stratum.population} />
        ))}
      </dl>
    </details>
  );
}
