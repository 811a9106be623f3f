import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { unsettled, useOpenPatches, useOpenQuestions, usePatches, waits, type OpenQuestion, type PatchRow } from '../api/changes.ts';
import type { PatchStatus } from '../api/types.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { useSaid } from '../learning/remarks.ts';
import { TypeBadge } from '../ui/Badge.tsx';
import { Answer } from './Answer.tsx';
import { Versions } from './Changes.tsx';
import { Ago, Loading, useAdmin } from './parts.tsx';
import { proposerOf } from './PatchPage.tsx';

type Shown = 'open' | 'all' | PatchStatus;

const settled: PatchStatus[] = ['applied', 'rejected', 'invalid', 'expired', 'withdrawn', 'superseded', 'rolled_back'];

/** What waits for somebody's decision, oldest first; and how earlier decisions ended. */
export function Decisions() {
  const words = useWords();
  const admin = useAdmin();
  const search = useSearch();
  const [, go] = useLocation();
  const chosen = new URLSearchParams(search).get('status') ?? 'open';
  const shown: Shown = chosen === 'all' || settled.includes(chosen as PatchStatus) ? (chosen as Shown) : 'open';
  const open = useOpenPatches(shown === 'open');
  const closed = usePatches(shown === 'open' || shown === 'all' ? '' : shown, '', shown !== 'open');
  const questions = useOpenQuestions(admin && shown === 'open');
  const list = shown === 'open' ? open : closed;
  const asked = questions.data ?? [];
  const [said, setSaid] = useState('');

  return (
    <>
      <header className="list-head">
        <h1>{admin ? words.decisions : words.proposals}</h1>
        <label className="filter">
          <span>{words.patchStatus}</span>
          <select value={shown} onChange={(event) => go(event.target.value === 'open' ? '/operate' : `/operate?status=${event.target.value}`)}>
            <option value="open">{words.stillOpen}</option>
            <option value="all">{words.everyStatus}</option>
            {settled.map((status) => (
              <option key={status} value={status}>
                {words.statusOfPatch(status, 'settled')}
              </option>
            ))}
          </select>
        </label>
      </header>
      {list.isError && (
        <p role="alert" className="problem">
          {sentence(list.error)}
        </p>
      )}
      {list.isPending && <Loading />}
      {list.data && list.data.length > 0 && <PatchList title={words.proposedChanges} patches={list.data} />}
      {list.data?.length === 0 && asked.length === 0 && <Nothing shown={shown} admin={admin} />}
      {asked.length > 0 && shown === 'open' && <Questions questions={asked} onAnswered={() => setSaid(words.answerSent)} />}
      <p className="hidden" role="status">
        {said}
      </p>
    </>
  );
}

function Nothing({ shown, admin }: { shown: Shown; admin: boolean }) {
  const words = useWords();
  if (shown !== 'open') return <p className="nothing">{words.noneOfStatus}</p>;
  if (!admin) return <p className="nothing">{words.nothingProposed}</p>;
  return (
    <div className="nothing">
      <p>{words.nothingWaits}</p>
      <p className="hint">{words.nothingWaitsMore}</p>
    </div>
  );
}

function PatchList({ title, patches }: { title: string; patches: PatchRow[] }) {
  return (
    <ul className="rows" aria-label={title}>
      {patches.map((patch) => (
        <Row key={patch.id} patch={patch} />
      ))}
    </ul>
  );
}

function Row({ patch }: { patch: PatchRow }) {
  const words = useWords();
  const said = useSaid();
  const [first] = patch.changes;
  const state = waits(patch) ? 'wait' : patch.stage === 'settled' ? 'settled' : 'live';
  return (
    <li data-state={state}>
      <span className="dot" aria-hidden="true" />
      <div className="row-main">
        <p className="row-title">
          <Link href={`/operate/patches/${patch.id}`}>
            {first ? (
              <>
                {first.name} <Versions change={first} />
              </>
            ) : (
              words.patchTitle(patch.id)
            )}
          </Link>
          {first && <TypeBadge type={first.kind || first.type} />}
          {patch.changes.length > 1 && <small>{words.andOthers(patch.changes.length - 1)}</small>}
        </p>
        <p className="row-why">{said(patch.why, patch.justification)}</p>
        {unsettled(patch) && <Marks patch={patch} />}
      </div>
      <p className="row-facts">
        <span className="row-status">{words.statusOfPatch(patch.status, patch.stage)}</span>
        <span>
          #{patch.id} · {proposerOf(patch, words)} · <Ago time={patch.created_at} />
        </span>
      </p>
    </li>
  );
}

/** What the rehearsal found, as far as a list tells it. */
function rehearsed(patch: PatchRow): string[] {
  const check = patch.checks.find((one) => one.name === 'rehearsal');
  return (check?.problems ?? []).map((problem) => problem.message);
}

/** What makes a patch worth a second look. */
function Marks({ patch }: { patch: PatchRow }) {
  const words = useWords();
  const told = useTold();
  const risky = patch.verdict === 'warn' || patch.verdict === 'second' || patch.verdict === 'block' ? patch.verdict : null;
  const [reason] = rehearsed(patch);
  if (!risky && patch.needs < 2) return null;
  return (
    <p className="marks">
      {risky && (
        <b className="risk" data-verdict={risky}>
          {words.verdictMark(risky)}
        </b>
      )}
      {patch.needs > 1 && patch.stage === 'deciding' && <span>{words.approvalsOf(patch.approvals.length, patch.needs)}</span>}
      {reason && <span>{told(reason)}</span>}
    </p>
  );
}

function Questions({ questions, onAnswered }: { questions: OpenQuestion[]; onAnswered(): void }) {
  const words = useWords();
  return (
    <section className="questions" aria-labelledby="open-questions">
      <h2 id="open-questions">{words.openQuestions}</h2>
      <ul className="rows">
        {questions.map((one) => (
          <QuestionRow key={one.interrupt_id} question={one} onAnswered={onAnswered} />
        ))}
      </ul>
    </section>
  );
}

interface QuestionProps {
  question: OpenQuestion;
  onAnswered(): void;
}

function QuestionRow({ question, onAnswered }: QuestionProps) {
  const words = useWords();
  return (
    <li data-state="wait">
      <span className="dot" aria-hidden="true" />
      <div className="row-main">
        <p className="asked-words">{question.message}</p>
        {question.asked && <p className="hint">{words.askedBy(question.asked)}</p>}
        {question.conversation_id ? <Link href={`/c/${question.conversation_id}`}>{words.openConversation}</Link> : <Answer question={question} onAnswered={onAnswered} />}
      </div>
      <p className="row-facts">
        <Link href={`/operate/runs/${question.run_id}`}>{words.ofRun}</Link>
        <Ago time={question.created_at} />
      </p>
    </li>
  );
}
