import { useWatch, type Measured, type Patch, type WatchRow } from '../api/changes.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { range, written, type Unit } from './figures.ts';
import { Card } from './parts.tsx';

/** How runs of the new version go beside those of the one before, with how sure that is. */
export function Watching({ patch }: { patch: Patch }) {
  const words = useWords();
  const applied = patch.status === 'applied' || patch.status === 'rolled_back';
  const watch = useWatch(String(patch.id), applied, patch.stage === 'watching').data;
  if (!watch || (watch.rows ?? []).length === 0) return null;
  const none = watch.runs.before + watch.runs.after === 0;
  return (
    <Card title={words.watchTitle} className="watch">
      <p className="hint">{none ? words.watchNone : words.watchRuns(watch.runs.before, watch.runs.after)}</p>
      {!none && (
        <dl>
          {watch.rows!.map((row) => (
            <Row key={row.name} row={row} versions={[watch.versions.before, watch.versions.after]} />
          ))}
        </dl>
      )}
      {(watch.rule ?? []).length > 0 && (
        <>
          <h3>{words.rules}</h3>
          <ul className="rules">
            {watch.rule!.map((rule) => (
              <li key={rule.when} data-met={rule.met || undefined}>
                <p>{rule.say || rule.when}</p>
                <code>{rule.when}</code> <small>{rule.met ? words.ruleMet : words.ruleNotMet}</small>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

function Row({ row, versions }: { row: WatchRow; versions: [number, number] }) {
  const words = useWords();
  const verdict = row.worse === null ? words.tooFew : row.worse ? words.worse : words.better;
  const top = Math.max(row.before?.high ?? 0, row.after?.high ?? 0);
  return (
    <div>
      <dt>
        {words.watchName(row.name)} <small data-tone={row.worse ? 'bad' : undefined}>{verdict}</small>
      </dt>
      <dd>
        <Estimate version={versions[0]} one={row.before} unit={row.unit} top={top} />
        <Estimate version={versions[1]} one={row.after} unit={row.unit} top={top} worse={row.worse === true} />
      </dd>
    </div>
  );
}

const width = 100; // of the scale a range is drawn on

function Estimate({ version, one, unit, top, worse }: { version: number; one: Measured | null; unit: Unit; top: number; worse?: boolean }) {
  const words = useWords();
  const locale = useStore(language);
  if (!one) return null;
  const [low, high] = range(one, unit, locale);
  const at = (value: number) => (top > 0 ? (value / top) * width : 0);
  return (
    <p data-worse={worse || undefined}>
      <small>v{version}</small>
      <svg viewBox={`-3 0 ${width + 6} 10`} width={width + 6} height={10} aria-hidden="true">
        <path d={`M0 5H${width}`} className="scale" />
        <path d={`M${at(one.low)} 5H${Math.max(at(one.high), at(one.low) + 0.5)}`} className="range" />
        <circle cx={at(one.value)} cy={5} r={3} />
      </svg>
      <span>
        {written(one.value, unit, locale)} <small>({words.between(low, high)})</small>
      </span>
    </p>
  );
}
