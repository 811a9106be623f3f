import { useState, type ReactNode } from 'react';
import { Failure } from '../api/failure.ts';
import { changePerson, clearFactor, signOutPerson, usePlans, type Account, type PlanNumber, type PlanNumbers } from '../api/people.ts';
import { session } from '../api/session.ts';
import { useStore } from '../lib/store.ts';
import { ActDialog } from '../operate/parts.tsx';
import { NumberField, numberOf } from './NumberField.tsx';
import { usePeopleWords, type Role } from './words.ts';

export type ActName = 'role' | 'budget' | 'limits' | 'signOut' | 'suspend' | 'reactivate' | 'clearFactor';

interface Props {
  act: ActName;
  person: Account;
  onClose(): void;
  onDone(): void;
}

/** Asks for what an act needs, and says what it will lead to. */
export function PersonAct(props: Props) {
  if (props.act === 'role') return <RoleAct {...props} />;
  if (props.act === 'budget') return <BudgetAct {...props} />;
  if (props.act === 'limits') return <LimitsAct {...props} />;
  return <PlainAct {...props} act={props.act} />;
}

interface DialogProps extends Props {
  title: string;
  label: string;
  danger?: boolean;
  work(form: FormData): Promise<unknown>;
  children: ReactNode;
}

function Dialog({ title, label, danger = false, work, onClose, onDone, children }: DialogProps) {
  const words = usePeopleWords();
  async function act(form: FormData) {
    try {
      await work(form);
    } catch (error) {
      if (error instanceof Failure && error.detail('reason') === 'last_administrator') throw new Failure(409, error.code, words.lastAdministrator);
      throw error;
    }
    onDone();
  }
  return (
    <ActDialog title={title} act={label} danger={danger} onClose={onClose} onAct={act}>
      {children}
    </ActDialog>
  );
}

/** Acts that need nothing but a yes. */
function PlainAct(props: Props & { act: 'signOut' | 'suspend' | 'reactivate' | 'clearFactor' }) {
  const words = usePeopleWords();
  const { act, person } = props;
  const works = {
    signOut: () => signOutPerson(person.id),
    suspend: () => changePerson(person.id, { active: false }),
    reactivate: () => changePerson(person.id, { active: true }),
    clearFactor: () => clearFactor(person.id),
  };
  const means = { signOut: words.signOutMeans(person.sign_ins), suspend: words.suspendMeans, reactivate: words.reactivateMeans, clearFactor: words.clearFactorMeans };
  const title = { signOut: words.signOutOf, suspend: words.suspendOf, reactivate: words.reactivateOf, clearFactor: words.clearFactorOf }[act](person.email);
  return (
    <Dialog {...props} title={title} label={words[act]} danger={act !== 'reactivate'} work={works[act]}>
      <p>{means[act]}</p>
    </Dialog>
  );
}

const roles: Role[] = ['user', 'power', 'admin'];

function RoleAct(props: Props) {
  const words = usePeopleWords();
  const { person } = props;
  const self = useStore(session).user?.id === person.id;
  const [role, setRole] = useState<Role>(person.role);
  const plans = usePlans().data?.plans.map((one) => one.name) ?? [person.plan];
  const work = (form: FormData) => changePerson(person.id, { role, plan: String(form.get('plan')) });
  return (
    <Dialog {...props} title={words.changeRoleOf(person.email)} label={words.save} danger={self && role !== 'admin'} work={work}>
      <fieldset>
        <legend>{words.role}</legend>
        {roles.map((one) => (
          <label key={one} className="choice-line">
            <input type="radio" name="role" value={one} checked={role === one} onChange={() => setRole(one)} />
            <span>
              {words.roleName(one)} <small>{words.roleMeans(one)}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <label className="field">
        <span>{words.plan}</span>
        <select name="plan" defaultValue={person.plan}>
          {plans.filter((one) => one !== 'unverified').map((one) => (
            <option key={one} value={one}>
              {words.planName(one)}
            </option>
          ))}
        </select>
      </label>
      <p className="hint">{self && role !== 'admin' ? words.stepDown : words.changeRoleMeans}</p>
    </Dialog>
  );
}

function BudgetAct(props: Props) {
  const words = usePeopleWords();
  const { person } = props;
  const [own, setOwn] = useState(person.budget !== null);
  const work = (form: FormData) =>
    changePerson(person.id, { budget: own ? { tokens_per_day: Number(form.get('tokens_per_day')), usd_per_month: Number(form.get('usd_per_month')) } : null });
  return (
    <Dialog {...props} title={words.changeBudgetOf(person.email)} label={words.save} work={work}>
      <fieldset>
        <legend>{words.changeBudget}</legend>
        {[false, true].map((one) => (
          <label key={String(one)} className="choice-line">
            <input type="radio" name="own" checked={own === one} onChange={() => setOwn(one)} />
            <span>{one ? words.budgetOwn : words.budgetOfPlan}</span>
          </label>
        ))}
      </fieldset>
      {own && (
        <div className="pair">
          <label className="field">
            <span>{words.tokensPerDay}</span>
            <input name="tokens_per_day" type="number" min={0} max={2 ** 50} step={1} required defaultValue={(person.budget ?? person.allowed).tokens_per_day} />
          </label>
          <label className="field">
            <span>{words.usdPerMonth}</span>
            <input name="usd_per_month" type="number" min={0} max={1e9} step="any" required defaultValue={(person.budget ?? person.allowed).usd_per_month} />
          </label>
        </div>
      )}
      {own && <p className="hint">{words.zeroIsNone}</p>}
    </Dialog>
  );
}

function LimitsAct(props: Props) {
  const words = usePeopleWords();
  const { person } = props;
  const plans = usePlans().data;
  if (!plans) return null;
  const plan: PlanNumbers | undefined = plans.plans.find((one) => one.name === person.plan) ?? plans.plans.find((one) => one.name === 'free');
  const personal = plans.numbers.filter((one) => one.personal);
  const work = (form: FormData) => changePerson(person.id, { limits: given(personal, form) });
  return (
    <Dialog {...props} title={words.changeLimitsOf(person.email)} label={words.save} work={work}>
      <p className="hint">
        {words.changeLimitsMeans} {person.unverified && words.limitsUnverified}
      </p>
      <div className="number-fields">
        {personal.map((one) => (
          <NumberField key={one.key} number={one} value={person.limits[one.key]} beneath={plan?.numbers[one.key] ?? one.least} />
        ))}
      </div>
    </Dialog>
  );
}

/** The numbers that are filled in. */
function given(numbers: readonly PlanNumber[], form: FormData): Record<string, number> {
  const own: Record<string, number> = {};
  for (const { key } of numbers) {
    const n = numberOf(form, key);
    if (n !== null) own[key] = n;
  }
  return own;
}
