import { useState } from 'react';
import { flushSync } from 'react-dom';
import { Link } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { decideNote, useNotes, type Block, type Note } from '../api/palace.ts';
import { language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { Ago } from '../operate/parts.tsx';
import { nameOf, tokens, typeOf } from './figures.ts';
import { priceOf, withDecided } from './notes.ts';
import { useNoteWords } from './noteWords.ts';
import { usePalaceWords } from './words.ts';

/** What its person decided on since a list was opened stays in it, so that nothing jumps away below the next click. */
export function useDecided(list: readonly Note[]): [shown: Note[], decide: (note: Note) => void] {
  const [decided, setDecided] = useState<ReadonlyMap<string, Note>>(new Map());
  return [withDecided(list, decided), (note) => setDecided((before) => new Map(before).set(note.id, note))];
}

/** A note: what it says, what it is drawn from, what keeping it changes, and the decision. */
export function NoteItem({ note, onDecided, beside }: { note: Note; onDecided(note: Note): void; beside?: boolean }) {
  const words = usePalaceWords();
  const noted = useNoteWords();
  const attempt = useAttempt();
  const [says, outcome] = [`note-${note.id}`, `outcome-${note.id}`];

  // The buttons go with the decision, and the focus with what came of it. A list that is
  // read again meanwhile may have had no such note: then another one of it is on the page.
  async function decide(keep: boolean) {
    await attempt.go(() =>
      decideNote(note.id, keep, (now) => {
        flushSync(() => onDecided(now));
        document.getElementById(outcome)?.focus();
      }),
    );
  }

  const act = (name: string, keep: boolean, main: boolean) => (
    <button type="button" className={main ? 'primary' : undefined} disabled={attempt.busy || attempt.rest > 0} aria-describedby={says} onClick={() => void decide(keep)}>
      {name}
    </button>
  );
  return (
    <li className={beside ? 'note' : 'panel note'} data-state={note.state}>
      <p className="note-says" id={says}>
        {note.says}
      </p>
      <p className="byline">
        {!beside && <Link href={`/operate/palace/agents/${note.agent_id}?lineage=${note.lineage}`}>{words.agent(note.agent_id)}</Link>}
        {note.model && <span>{noted.by(note.model)}</span>}
        <Ago time={note.made_at} />
      </p>
      <Sources list={note.sources} beside={beside} />
      {note.state === 'proposed' && <Price note={note} />}
      {note.state !== 'proposed' && (
        <p id={outcome} role="status" tabIndex={-1} className="hint note-outcome">
          {note.state === 'kept' ? `${noted.kept(note.sources.length)} ${noted.keptMore}` : noted.dropped}
        </p>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      {note.state !== 'kept' && (
        <div className="flex-row">
          {note.state === 'proposed' ? act(noted.keep, true, true) : act(noted.keepAfterAll, true, false)}
          {note.state === 'proposed' && act(noted.drop, false, false)}
        </div>
      )}
    </li>
  );
}

/** The blocks that a note is drawn from, each with the request that it came in. */
function Sources({ list, beside }: { list: Block[]; beside: boolean | undefined }) {
  const words = usePalaceWords();
  const noted = useNoteWords();
  const locale = useStore(language);
  return (
    <ul className="note-sources" aria-label={noted.sources}>
      {list.map((block) => (
        <li key={block.uuid} data-type={typeOf(block.block_type)}>
          <span className="type-word">{words.type[typeOf(block.block_type)]}</span>
          <Link href={`/operate/palace/blocks/${block.uuid}`} title={words.block(nameOf(block))}>
            {block.label || words.block(nameOf(block))}
          </Link>
          {!beside && (
            <span className="note-facts">
              <span>{words.tier[block.retention_tier] ?? block.retention_tier}</span>
              <span>{words.tokensOf(tokens(block.tokens, locale))}</span>
              <Link href={`/operate/palace/exchanges/${block.exchange}`} aria-label={noted.request(nameOf(block))}>
                {noted.requestShort}
              </Link>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Price({ note }: { note: Note }) {
  const words = usePalaceWords();
  const noted = useNoteWords();
  const locale = useStore(language);
  const price = priceOf(note);
  const now = noted.now(price.now.map(([tier, n]) => [words.tier[tier] ?? tier, n]));
  return <p className="hint">{price.now.length > 0 ? noted.costs(note.sources.length, tokens(price.tokens, locale), now) : noted.costsNothing(note.sources.length)}</p>;
}

/** The notes of a history that wait or were kept. */
export function useHistoryNotes(lineage: string): Note[] {
  const list = useNotes({ lineage }, lineage !== '');
  return list.data?.pages.flatMap((page) => page.data) ?? none;
}

const none: Note[] = [];

/** The notes of a history beside it: those that were dropped before are on the page of all. */
export function HistoryNotes({ notes }: { notes: Note[] }) {
  const noted = useNoteWords();
  const [shown, decided] = useDecided(notes);
  const [dropped] = useState(() => new Set(notes.filter((one) => one.state === 'dismissed').map((one) => one.id)));
  return (
    <>
      <ul className="notes notes-beside" aria-label={noted.notes}>
        {shown
          .filter((one) => !dropped.has(one.id))
          .map((one) => (
            <NoteItem key={one.id} note={one} onDecided={decided} beside />
          ))}
      </ul>
      <p>
        <Link href="/operate/palace/notes">{noted.all}</Link>
      </p>
    </>
  );
}
