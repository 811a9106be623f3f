import './styles.ts';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Failure } from '../api/failure.ts';
import { changePlan, usePlans, type PlanList, type PlanNumbers } from '../api/people.ts';
import { sentence } from '../i18n/errors.ts';
import { language } from '../i18n/index.ts';
import { count } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { when } from '../operate/figures.ts';
import { ActDialog, Loading } from '../operate/parts.tsx';
import { NumberField, numberOf } from './NumberField.tsx';
import { usePeopleWords } from './words.ts';

/** What each plan allows, in numbers, and a way to change them. */
export default function PlansPage() {
  const words = usePeopleWords();
  const plans = usePlans();
  useEffect(() => {
    document.title = `${words.plans} · Liminal`;
  }, [words]);
  return (
    <>
      <header className="list-head">
        <h1>{words.plans}</h1>
      </header>
      {plans.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.plansFailed} {sentence(plans.error)}
          </p>
        </div>
      )}
      {plans.isPending && <Loading />}
      {plans.data && <Told list={plans.data} />}
    </>
  );
}

function Told({ list }: { list: PlanList }) {
  const words = usePeopleWords();
  const [asked, setAsked] = useState<PlanNumbers | null>(null);
  const [said, setSaid] = useState('');
  const status = useRef<HTMLParagraphElement>(null);
  function done(plan: PlanNumbers) {
    flushSync(() => setAsked(null)); // behind a dialog nothing takes the focus
    setSaid(words.planDone(words.planName(plan.name)));
    status.current?.focus();
  }
  return (
    <>
      <p className="hint plans-hint">{words.plansHint}</p>
      <p className="people-said" role="status" ref={status} tabIndex={-1}>
        {said}
      </p>
      <Table list={list} onAsk={setAsked} />
      {asked && <PlanAct key={asked.name} list={list} plan={asked} onClose={() => setAsked(null)} onDone={() => done(asked)} />}
    </>
  );
}

function Table({ list, onAsk }: { list: PlanList; onAsk(plan: PlanNumbers): void }) {
  const words = usePeopleWords();
  const locale = useStore(language);
  return (
    // A region that scrolls is reached by the keyboard.
    <div className="plans-scroll" role="region" aria-label={words.plans} tabIndex={0}>
      <table className="plans">
        <thead>
          <tr>
            <th scope="col">{words.number}</th>
            {list.plans.map((plan) => (
              <th key={plan.name} scope="col">
                <span>{words.planName(plan.name)}</span>
                <button type="button" className="quiet" aria-label={words.editPlan(words.planName(plan.name))} onClick={() => onAsk(plan)}>
                  {words.edit}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {list.numbers.map((number) => {
            const [name, unit] = words.numbers[number.key] ?? [number.key, number.unit];
            return (
              <tr key={number.key}>
                <th scope="row">
                  {name} <small>{unit}</small>
                  {number.setting && <small className="setting">{words.bySetting(number.setting)}</small>}
                </th>
                {list.plans.map((plan) => {
                  const now = plan.numbers[number.key] ?? 0;
                  const shipped = plan.shipped[number.key] ?? now;
                  return (
                    <td key={plan.name} data-changed={now !== shipped || undefined}>
                      {count(now, locale)}
                      {now !== shipped && <small>{words.ships(count(shipped, locale))}</small>}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.lastChange}</th>
            {list.plans.map((plan) => (
              <td key={plan.name}>
                <small>{plan.changed_at ? words.changedBy(plan.changed_by, when(plan.changed_at, locale)) : words.asShipped}</small>
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface ActProps {
  list: PlanList;
  plan: PlanNumbers;
  onClose(): void;
  onDone(): void;
}

/** Every number of a plan; one that is emptied is as it ships. */
function PlanAct({ list, plan, onClose, onDone }: ActProps) {
  const words = usePeopleWords();
  async function act(form: FormData) {
    const change: Record<string, number | null> = {};
    for (const { key } of list.numbers) {
      const n = numberOf(form, key);
      if ((n ?? plan.shipped[key]) !== plan.numbers[key]) change[key] = n;
    }
    try {
      await changePlan(plan, change);
    } catch (error) {
      if (error instanceof Failure && error.detail('reason') === 'changed') throw new Failure(409, error.code, words.planChanged);
      throw error;
    }
    onDone();
  }
  return (
    <ActDialog title={words.editPlan(words.planName(plan.name))} act={words.save} onClose={onClose} onAct={act}>
      <p className="hint">{words.smaller}</p>
      <div className="number-fields">
        {list.numbers.map((number) => {
          const shipped = plan.shipped[number.key] ?? number.least;
          const now = plan.numbers[number.key];
          return <NumberField key={number.key} number={number} value={now === shipped ? undefined : now} beneath={shipped} />;
        })}
      </div>
    </ActDialog>
  );
}
