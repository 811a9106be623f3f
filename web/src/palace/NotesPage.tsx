import { Link, useLocation, useSearch } from 'wouter';
import { useNotes, usePalace, usePolicies, type NoteState } from '../api/palace.ts';
import { session } from '../api/session.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Loading, Pills } from '../operate/parts.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { NoteItem, useDecided } from './Notes.tsx';
import { proposing } from './notes.ts';
import { useNoteWords } from './noteWords.ts';
import { Empty, Head } from './parts.tsx';
import { usePalaceWords } from './words.ts';

const states = ['proposed', 'kept', 'dismissed'] as const;

/** What models propose to keep of histories that have ended, and what its person made of it. */
export function NotesPage() {
  const noted = useNoteWords();
  const [, go] = useLocation();
  const asked = new URLSearchParams(useSearch()).get('state');
  const state = states.find((one) => one === asked) ?? 'proposed';
  const to = (next: NoteState) => go(next === 'proposed' ? '/operate/palace/notes' : `/operate/palace/notes?state=${next}`, { replace: true });
  return (
    <>
      <Head title={noted.notes} here="notes" lead={noted.lead}>
        <div className="filters cost-tools">
          <Pills label={noted.stateOf} options={states.map((one) => [one, noted.state[one]] as const)} value={state} onChoose={to} />
        </div>
      </Head>
      <List key={state} state={state} />
    </>
  );
}

function List({ state }: { state: NoteState }) {
  const shell = useWords();
  const words = usePalaceWords();
  const noted = useNoteWords();
  const notes = useNotes({ state });
  const [shown, decided] = useDecided(notes.data?.pages.flatMap((page) => page.data) ?? []);
  return (
    <>
      {notes.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {words.loadFailed} {sentence(notes.error)}
          </p>
          <button type="button" onClick={() => void notes.refetch()}>
            {shell.tryAgain}
          </button>
        </div>
      )}
      {notes.isPending && <Loading />}
      {notes.data && shown.length === 0 && <None state={state} />}
      {shown.length > 0 && (
        <ul className="notes" aria-label={noted.notes}>
          {shown.map((one) => (
            <NoteItem key={one.id} note={one} onDecided={decided} />
          ))}
        </ul>
      )}
      {notes.hasNextPage && (
        <button type="button" disabled={notes.isFetchingNextPage} onClick={() => void notes.fetchNextPage()}>
          {words.more}
        </button>
      )}
    </>
  );
}

/** There is no note, and what brings some. */
function None({ state }: { state: NoteState }) {
  const noted = useNoteWords();
  const captured = usePalace();
  if (state === 'kept') return <p className="nothing">{noted.noneKept}</p>;
  if (state === 'dismissed') return <p className="nothing">{noted.noneDropped}</p>;
  return (
    <>
      {!captured && <Empty />}
      <section className="panel palace-empty none-waits">
        <p>{noted.noneWaits}</p>
        <Proposing />
      </section>
    </>
  );
}

const setting = '"notes": { "propose": true, "most": 5 }';

/** Whether a model proposes notes, by the policy that holds, and how it is turned on. */
function Proposing() {
  const noted = useNoteWords();
  const me = useStore(session).user?.id ?? '';
  const policies = usePolicies(true);
  if (policies.isPending) return null;
  const policy = proposing(policies.data ?? [], me);
  if (policy?.propose) {
    return (
      <>
        <p className="hint">{noted.on(policy.most)}</p>
        <p className="flex-row">
          <Link href="/operate/runs?kind=palace">{noted.runs}</Link>
          <Link href={`/artifacts/${policy.id}`}>{noted.policy}</Link>
        </p>
      </>
    );
  }
  return (
    <>
      <p className="hint">{policy ? noted.off : noted.unknown}</p>
      <p className="command">
        <code>{setting}</code> <CopyButton text={setting} label={noted.copy} />
      </p>
      <p className="hint">{noted.asked}</p>
      {policy && (
        <p>
          <Link href={`/artifacts/${policy.id}`} className="button">
            {noted.policy}
          </Link>
        </p>
      )}
    </>
  );
}
