import { useState, type FormEvent } from 'react';
import { Link, useLocation } from 'wouter';
import { ask } from '../api/ask.ts';
import { exportConversation, type ExportFormat } from '../api/conversations.ts';
import { keys, queryClient, type ConversationPages } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { dropDraftsOf } from '../chat/change.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { stamp } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Confirm } from './Confirm.tsx';
import { Icon } from './Icon.tsx';

type Mode = 'plain' | 'actions' | 'rename' | 'remove';

/** Renaming, pinning, exporting and deleting, and what went wrong with it. */
function useDeeds(conversation: Conversation, active: boolean, done: () => void) {
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState('');
  const path = { id: conversation.id };

  async function attempt(work: () => Promise<void>) {
    setProblem('');
    try {
      await work();
      done();
    } catch (error) {
      setProblem(sentence(error));
    } finally {
      void queryClient.invalidateQueries({ queryKey: keys.conversations });
    }
  }

  const rename = (title: string) =>
    void attempt(async () => {
      await ask('changeConversation', { path, body: { title } });
      patchRow(conversation.id, { title });
    });
  const remove = () =>
    void attempt(async () => {
      await ask('deleteConversation', { path });
      dropDraftsOf(conversation.id);
      if (active) navigate('/');
    });
  const pin = (pinned: boolean) =>
    void attempt(async () => {
      await ask('changeConversation', { path, body: { pinned } });
    });
  const keep = (format: ExportFormat) => void attempt(() => exportConversation(conversation.id, format));
  return { problem, rename, remove, pin, keep };
}

export function ConversationRow({ conversation, active }: { conversation: Conversation; active: boolean }) {
  const words = useWords();
  const locale = useStore(language);
  const [mode, setMode] = useState<Mode>('plain');
  const { problem, rename, remove, pin, keep } = useDeeds(conversation, active, () => setMode('plain'));
  const title = conversation.title || words.untitled;

  return (
    <li className="row" data-active={active || undefined}>
      {mode === 'rename' ? (
        <Rename title={title} save={rename} cancel={() => setMode('plain')} />
      ) : (
        <>
          <Link href={`/c/${conversation.id}`} aria-current={active ? 'page' : undefined}>
            {conversation.pending && <span className="dot wait" role="img" aria-label={words.waitsForYou} title={words.waitsForYou} />}
            <span className="name">{title}</span>
            <time dateTime={conversation.updated_at}>{stamp(conversation.updated_at, new Date(), locale)}</time>
          </Link>
          <button
            type="button"
            className="icon-button more"
            aria-expanded={mode === 'actions'}
            aria-label={words.actionsFor(title)}
            onClick={() => setMode(mode === 'actions' ? 'plain' : 'actions')}
          >
            <Icon name="more" />
          </button>
        </>
      )}
      {mode === 'actions' && (
        <div className="row-actions">
          <button type="button" className="quiet" onClick={() => setMode('rename')}>
            {words.rename}
          </button>
          <button type="button" className="quiet" onClick={() => pin(!conversation.pinned)}>
            {conversation.pinned ? words.unpin : words.pin}
          </button>
          <button type="button" className="quiet" aria-label={words.exportAs('Markdown')} title={words.exportAs('Markdown')} onClick={() => keep('markdown')}>
            ↓ Markdown
          </button>
          <button type="button" className="quiet" aria-label={words.exportAs('JSON')} title={words.exportAs('JSON')} onClick={() => keep('json')}>
            ↓ JSON
          </button>
          <button type="button" className="quiet bad" onClick={() => setMode('remove')}>
            {words.remove}
          </button>
        </div>
      )}
      {problem && (
        <p className="hint problem" role="alert">
          {problem}
        </p>
      )}
      {mode === 'remove' && (
        <Confirm text={words.removeConversation(title)} act={words.remove} onAct={remove} onCancel={() => setMode('plain')} />
      )}
    </li>
  );
}

function patchRow(id: string, change: Partial<Conversation>): void {
  for (const key of [keys.conversations, keys.programs]) {
    queryClient.setQueryData<ConversationPages>(key, (pages) =>
      pages && {
        ...pages,
        pages: pages.pages.map((page) => ({
          ...page,
          data: page.data.map((one) => (one.id === id ? { ...one, ...change } : one)),
        })),
      },
    );
  }
}

function Rename({ title, save, cancel }: { title: string; save(next: string): void; cancel(): void }) {
  const words = useWords();
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const next = String(new FormData(event.currentTarget).get('title')).trim();
    if (next === '' || next === title) cancel();
    else save(next);
  }
  return (
    <form
      className="rename"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel();
      }}
    >
      <input name="title" defaultValue={title} aria-label={words.renameLabel} maxLength={200} autoFocus onFocus={(event) => event.target.select()} />
      <button type="submit" className="quiet">
        {words.save}
      </button>
    </form>
  );
}
