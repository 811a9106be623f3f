import { useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { Link, useLocation } from 'wouter';
import { apply, approve, promote, rebase, reject, rollBack, withdraw, type Change, type Patch, type PatchEvent } from '../api/changes.ts';
import { Failure } from '../api/failure.ts';
import { session } from '../api/session.ts';
import type { Act, User } from '../api/types.ts';
import type { Dictionary } from '../i18n/en.ts';
import { language, useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { remarksIn, useSaid } from '../learning/remarks.ts';
import { useStore } from '../lib/store.ts';
import { when } from './figures.ts';
import { ActDialog } from './parts.tsx';
import { Rework } from './Rework.tsx';
import { TrialFields, trialOf } from './TrialFields.tsx';

/** The changes whose artifact has got another version since: they cannot be applied as they are. */
export function movedOn(patch: Patch): Change[] {
  if (patch.status !== 'pending' && patch.status !== 'approved') return [];
  return patch.changes.filter((change) => change.current_version !== change.base_version);
}

/** The versions an act makes. */
function made(patch: Patch): string {
  return patch.changes.map((change) => `${change.name} v${change.base_version + 1}`).join(', ');
}

/** Whether a patch only makes what was not there: taken back, that is a draft again. */
function onlyMakes(patch: Patch): boolean {
  return patch.changes.every((change) => change.creates);
}

/** The versions a roll back restores; what the patch created has none before it. */
function restored(patch: Patch): string {
  const older = patch.changes.filter((change) => !change.creates);
  return (older.length > 0 ? older : patch.changes).map((change) => `${change.name} v${change.base_version}`).join(', ');
}

/** Says in the reader's language that a patch no longer stands where an act needs it. */
function overtaken(error: unknown, words: Dictionary): unknown {
  if (!(error instanceof Failure) || error.status !== 409) return error;
  const { status, stage } = (error.details ?? {}) as Partial<Pick<Patch, 'status' | 'stage'>>;
  return status && stage ? new Failure(409, error.code, words.overtaken(words.statusOfPatch(status, stage))) : error;
}

type Tone = 'wait' | 'live' | 'settled' | 'good' | 'bad';

function toneOf(patch: Patch): Tone {
  if (patch.stage === 'deciding' || patch.stage === 'applying') return 'wait';
  if (patch.stage !== 'settled') return 'live';
  if (patch.status === 'applied') return 'good';
  return patch.status === 'invalid' || patch.status === 'rejected' ? 'bad' : 'settled';
}

/** Where a patch stands and what can be done about it; ochre while it waits for a person. */
export function DecisionCard({ patch }: { patch: Patch }) {
  const words = useWords();
  const [, go] = useLocation();
  const [asked, setAsked] = useState<Act | null>(null);
  const [said, setSaid] = useState('');
  const title = useRef<HTMLHeadingElement>(null);
  const tone = toneOf(patch);

  /** Does an act; what it led to is said aloud, and the focus stays where the next act is. */
  async function settle(act: Act, work: () => Promise<Patch>) {
    const after = await work().catch((error: unknown) => {
      throw overtaken(error, words);
    });
    flushSync(() => setAsked(null)); // behind a dialog nothing takes the focus
    setSaid(words.told(act));
    title.current?.focus();
    if (after.id !== patch.id) go(`/operate/patches/${after.id}`);
  }

  return (
    <section className="decision" data-tone={tone} aria-labelledby="decision">
      <h2 id="decision" ref={title} tabIndex={-1}>
        <span className={tone === 'wait' ? 'dot wait' : 'dot'} aria-hidden="true" />
        {words.statusOfPatch(patch.status, patch.stage)}
      </h2>
      <Standing patch={patch} />
      <Acts patch={patch} onAsk={setAsked} />
      <Rework patch={patch} />
      <p className="hidden" role="status">
        {said}
      </p>
      {asked && <Question key={asked} act={asked} patch={patch} onClose={() => setAsked(null)} settle={settle} />}
    </section>
  );
}

function Standing({ patch }: { patch: Patch }) {
  const words = useWords();
  const locale = useStore(language);
  const approvals = patch.approvals ?? [];
  const { stage } = patch;
  if (stage === 'settled' || stage === 'watching') return <Ended patch={patch} />;
  return (
    <>
      {stage === 'deciding' && patch.needs > 1 && (
        <p>
          {words.approvalsOf(approvals.length, patch.needs)}
          {approvals.map((one) => (
            <small key={one.by.id}> {words.approvedByName(one.by.name, when(one.at, locale))}</small>
          ))}
        </p>
      )}
      {stage === 'deciding' && <Reasons patch={patch} />}
      {movedOn(patch).map((change) => (
        <p key={change.artifact_id}>{words.baseMoved(change.name, change.base_version, change.current_version)}</p>
      ))}
      {(stage === 'deciding' || stage === 'applying') && patch.expires_at && <small>{words.decideUntil(when(patch.expires_at, locale))}</small>}
    </>
  );
}

/** Why the rehearsal asks for more than one person's yes. */
function Reasons({ patch }: { patch: Patch }) {
  const words = useWords();
  const told = useTold();
  const reasons = patch.reasons ?? [];
  if (reasons.length === 0 || !patch.verdict || patch.verdict === 'pass') return null;
  // How many have to approve is told above.
  const lead = { warn: words.careful, second: '', block: words.blocked }[patch.verdict];
  return (
    <div className="reasons" data-verdict={patch.verdict}>
      {lead && <p>{lead}</p>}
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{told(reason)}</li>
        ))}
      </ul>
    </div>
  );
}

/** How it ended, in one line, with what was said about it. */
function Ended({ patch }: { patch: Patch }) {
  const words = useWords();
  const locale = useStore(language);
  const name = (event: PatchEvent | undefined) => event?.by?.name ?? words.byItself;
  const last = (what: string) => (patch.events ?? []).findLast((event) => event.what === what);
  const said = useSaid();
  const reason = (event: PatchEvent | undefined) => event && said(remarksIn(event.data), event.reason);
  switch (patch.status) {
    case 'rejected':
      return <Said text={words.rejectedBy(name(last('rejected')))} reason={last('rejected')?.reason} />;
    case 'withdrawn':
      return <Said text={words.withdrawnBy(name(last('withdrawn')))} reason={reason(last('withdrawn'))} />;
    case 'rolled_back':
      return <Said text={words.rolledBackWords(name(last('rolled_back')))} reason={reason(last('rolled_back'))} />;
    case 'expired':
      return <Said text={words.expiredWords} />;
    case 'invalid':
      return <Said text={words.invalidWords} />;
    case 'superseded':
      return (
        <p>
          {words.supersededBy} {patch.rebased_to && <Link href={`/operate/patches/${patch.rebased_to}`}>#{patch.rebased_to}</Link>}
        </p>
      );
    default:
      return (
        <>
          {patch.applied_at && <p>{words.appliedOn(when(patch.applied_at, locale))}</p>}
          {patch.stage === 'watching' && <Trying patch={patch} />}
        </>
      );
  }
}

function Said({ text, reason }: { text: string; reason?: string | undefined }) {
  return (
    <>
      <p>{text}</p>
      {reason && <blockquote>{reason}</blockquote>}
    </>
  );
}

/** Whether only a share of new runs follows it. */
function onTrial({ trial }: Patch): boolean {
  return trial !== null && trial !== undefined && trial.share > 0 && trial.share < 100;
}

function Trying({ patch }: { patch: Patch }) {
  const words = useWords();
  const locale = useStore(language);
  const trial = patch.trial;
  if (!trial) return null;
  const until = patch.applied_at && trial.hours > 0 ? new Date(Date.parse(patch.applied_at) + trial.hours * 3_600_000).toISOString() : '';
  return (
    <p>
      {onTrial(patch) && `${words.onTrial(trial.share)} `}
      {until && `${words.watchedUntil(when(until, locale))} `}
      {trial.roll_back && words.byRule}
    </p>
  );
}

/** The acts of each stage, the first one the usual next step. */
const acts: Record<Patch['stage'], Act[]> = {
  checking: ['withdraw'],
  rehearsing: ['withdraw'],
  deciding: ['approve', 'reject', 'rebase', 'withdraw'],
  applying: ['apply', 'rebase', 'withdraw'],
  watching: ['promote', 'roll_back'],
  settled: ['roll_back'],
};

/** Whose absence needs a word: the act the stage is there for. */
const expected: Partial<Record<Patch['stage'], Act>> = { deciding: 'approve', applying: 'apply', watching: 'roll_back' };

/** Why the act that is due is not this person's; the server's sentence where the page has none. */
function whyNot(patch: Patch, act: Act, user: User | null, words: Dictionary): string {
  const permission = patch.may?.[act];
  if (!permission || permission.ok) return '';
  if (user && user.role !== 'admin') return act === 'approve' ? words.adminsApprove : act === 'apply' ? words.adminsApply : words.adminsRollBack;
  const own = user !== null && patch.proposed_by?.id === user.id;
  if (act === 'roll_back' && own) return words.notOnesOwnBack;
  if (act !== 'approve') return permission.why;
  if (own) return words.notOnesOwn;
  return (patch.approvals ?? []).some((one) => one.by.id === user?.id) ? words.anotherApproves : permission.why;
}

function Acts({ patch, onAsk }: { patch: Patch; onAsk(act: Act): void }) {
  const words = useWords();
  const moved = movedOn(patch).length > 0;
  const names: Partial<Record<Act, string>> = {
    approve: words.approve,
    reject: words.reject,
    apply: words.applyIt,
    withdraw: words.withdraw,
    rebase: words.rebaseIt,
    promote: onTrial(patch) ? words.promote : words.keepIt,
    roll_back: onlyMakes(patch) ? words.draftAgain : words.rollBackTo(restored(patch)),
  };
  const may = (act: Act) => patch.may?.[act] ?? { ok: false, why: '' };
  // What was made for another version is not applied, and not approved either: it is made anew.
  const offered = acts[patch.stage].filter((act) => may(act).ok && !(moved && (act === 'apply' || act === 'approve')) && (act !== 'rebase' || moved));
  const missed = expected[patch.stage];
  const { user } = useStore(session);
  const why = missed && !moved ? whyNot(patch, missed, user, words) : '';
  const needless = patch.verdict === 'block' && patch.stage === 'deciding' && (patch.reasons ?? []).length > 0;
  return (
    <>
      {offered.length > 0 && (
        <div className="flex-row">
          {offered.map((act) => (
            <button key={act} type="button" className={className(act)} onClick={() => onAsk(act)}>
              {names[act]}
            </button>
          ))}
        </div>
      )}
      {why && !needless && <p className="why-not">{why}</p>}
    </>
  );
}

function className(act: Act): string | undefined {
  if (act === 'withdraw') return 'quiet';
  return act === 'approve' || act === 'apply' || act === 'rebase' ? 'primary' : undefined;
}

interface QuestionProps {
  act: Act;
  patch: Patch;
  onClose(): void;
  settle(act: Act, work: () => Promise<Patch>): Promise<void>;
}

/** What an act asks before it is done. */
function Question({ act, patch, onClose, settle }: QuestionProps) {
  const words = useWords();
  const { id } = patch;
  const trial = onTrial(patch);
  const reason = (form: FormData) => String(form.get('reason') ?? '').trim();
  const shared = { onClose };
  switch (act) {
    case 'approve': {
      const name = patch.changes[0]?.name ?? '';
      return (
        <ActDialog
          {...shared}
          title={words.approve}
          act={words.approve}
          onAct={(form) => settle(act, () => approve(id, reason(form), patch.verdict === 'warn' ? String(form.get('confirm')) : undefined))}
        >
          <p>{patch.needs > 1 && (patch.approvals ?? []).length + 1 < patch.needs ? words.approveSecondAsk : words.approveAsk}</p>
          {patch.verdict === 'warn' && <Field name="confirm" label={words.confirmName(name)} pattern={name} />}
          <Field name="reason" label={words.noteOptional} long optional />
        </ActDialog>
      );
    }
    case 'reject':
      return (
        <ActDialog {...shared} title={words.reject} act={words.reject} danger onAct={(form) => settle(act, () => reject(id, reason(form)))}>
          <p>{words.rejectAsk}</p>
          <Field name="reason" label={words.reasonNeeded} long />
        </ActDialog>
      );
    case 'withdraw':
      return (
        <ActDialog {...shared} title={words.withdraw} act={words.withdraw} danger onAct={(form) => settle(act, () => withdraw(id, reason(form)))}>
          <p>{words.withdrawAsk}</p>
          <Field name="reason" label={words.noteOptional} long optional />
        </ActDialog>
      );
    case 'apply':
      return (
        <ActDialog {...shared} title={words.applyIt} act={words.applyIt} onAct={(form) => settle(act, () => apply(id, trialOf(form)))}>
          <p>{words.applyAsk(made(patch))}</p>
          <TrialFields share={patch.changes.some((change) => tried.has(change.kind || change.type))} />
        </ActDialog>
      );
    case 'roll_back': {
      const names = restored(patch);
      return (
        <ActDialog {...shared} title={onlyMakes(patch) ? words.draftAgain : words.rollBackTo(names)} act={words.rollBack} danger onAct={(form) => settle(act, () => rollBack(id, reason(form)))}>
          <p>{onlyMakes(patch) ? words.draftAgainAsk : words.rollBackAsk(names)}</p>
          <Field name="reason" label={words.reasonNeeded} long />
        </ActDialog>
      );
    }
    case 'promote':
      return (
        <ActDialog {...shared} title={trial ? words.promote : words.keepIt} act={trial ? words.promote : words.keepIt} onAct={() => settle(act, () => promote(id))}>
          <p>{trial ? words.promoteAsk : words.keepAsk}</p>
        </ActDialog>
      );
    default:
      return (
        <ActDialog {...shared} title={words.rebaseIt} act={words.rebaseIt} onAct={() => settle(act, () => rebase(id))}>
          <p>{words.rebaseAsk}</p>
        </ActDialog>
      );
  }
}

/** Kinds that runs choose a version of, so that a share of them can be given another. */
const tried: ReadonlySet<string> = new Set(['workflow.chat', 'policy.routing', 'adapter.lora']);

interface FieldProps {
  name: string;
  label: string;
  long?: boolean;
  optional?: boolean;
  pattern?: string; // word for word
}

function Field({ name, label, long, optional, pattern }: FieldProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      {long ? (
        <textarea name={name} rows={3} maxLength={4000} required={!optional} />
      ) : (
        <input name={name} autoComplete="off" spellCheck={false} required={!optional} pattern={pattern?.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')} />
      )}
    </label>
  );
}
