import type { Routing } from '../api/runs.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { useStore } from '../lib/store.ts';
import { written } from './figures.ts';
import { Card } from './parts.tsx';

/** Which rules of the routing policy fired, and what came of them (ROUTE-09). */
export function RoutingCard({ routing }: { routing: Routing }) {
  const words = useWords();
  const told = useTold();
  const locale = useStore(language);
  const gates = Object.entries(routing.gates ?? {});
  return (
    <Card title={words.routingTitle} note={routing.policy ? `${routing.policy.name} v${routing.policy.version}` : undefined}>
      {gates.length === 0 && <p className="hint">{words.noAdapter}</p>}
      {gates.length > 0 && (
        <dl className="figures">
          {gates.map(([name, weight]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{written(weight, 'weight', locale)}</dd>
            </div>
          ))}
        </dl>
      )}
      <ol className="stops">
        {(routing.rules ?? []).map((rule, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} data-state={rule.error ? 'warning' : rule.fired ? 'ok' : 'waiting'}>
            <span>{rule.rule}</span> <small>{rule.fired ? words.ruleFired : words.ruleNotFired}</small>
            {(rule.error || rule.note) && <p className="hint">{rule.error || told(rule.note ?? '')}</p>}
          </li>
        ))}
      </ol>
      {(routing.left ?? []).length > 0 && (
        <>
          <h3>{words.leftOut}</h3>
          <ul className="unseen">
            {routing.left!.map((one) => (
              <li key={one.id}>
                <code>{one.id}</code> <small>{one.reason}</small>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}
