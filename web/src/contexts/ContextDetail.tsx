import { useState } from 'react';
import { useLocation } from 'wouter';
import { changeContext, deleteContext, useChunks, useOneContext, type OneContext } from '../api/contexts.ts';
import { Failure } from '../api/failure.ts';
import { session } from '../api/session.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { forgetContext } from '../knowledge/choice.ts';
import { useDropTarget } from '../knowledge/DropZone.tsx';
import { UploadForm } from '../knowledge/UploadForm.tsx';
import { when } from '../operate/figures.ts';
import { ActDialog, Card, Loading, Trouble } from '../operate/parts.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { ShareCard, SharedFrom } from '../sharing/ShareCard.tsx';
import { Badge } from '../ui/Badge.tsx';
import { Documents } from './Documents.tsx';

/** One context: what it is, what is in it, and the way in and out (UI-10). */
export function ContextDetail({ id }: { id: string }) {
  const words = useWords();
  const { data: context, error, isError, refetch } = useOneContext(id);
  if (isError && !context) {
    const missing = error instanceof Failure && (error.status === 404 || error.status === 400);
    return <Trouble text={missing ? words.contextMissing : sentence(error)} {...(missing ? {} : { retry: () => void refetch() })} back="/contexts" backText={words.contextBack} />;
  }
  return context ? <Shown context={context} /> : <Loading />;
}

function Shown({ context }: { context: OneContext }) {
  const words = useWords();
  const { user } = useStore(session);
  const mayChange = context.mine || (user?.role === 'admin' && context.visibility === 'global');
  const mayAdd = mayChange || context.writable;
  const [, go] = useLocation();
  useDropTarget(mayAdd ? context.id : '');
  return (
    <div className="stack">
      <Head context={context} mayChange={mayChange} />
      {!context.mine && <SharedFrom thing={{ context_id: context.id }} onLeft={() => go('/contexts', { replace: true })} />}
      {mayAdd ? (
        <Card title={words.contextAddTitle}>
          <UploadForm contextID={context.id} />
        </Card>
      ) : (
        <p className="hint">{words.contextForeign}</p>
      )}
      <Card title={words.contextDocuments} note={context.documents > 0 ? context.documents : undefined}>
        <Documents context={context.id} mayChange={mayChange} />
      </Card>
      {context.mine && <ShareCard thing={{ context_id: context.id }} />}
      <Chunks context={context} />
      <Facts context={context} mayChange={mayChange} />
    </div>
  );
}

function Head({ context, mayChange }: { context: OneContext; mayChange: boolean }) {
  const words = useWords();
  const [, go] = useLocation();
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const close = () => setOpen(null);
  return (
    <header className="detail-head">
      <h2>{context.name}</h2>
      <Badge kind={context.visibility} />
      {context.description && <p className="lead">{context.description}</p>}
      {mayChange && (
        <div className="flex-row">
          <button type="button" onClick={() => setOpen('edit')}>
            {words.contextEdit}
          </button>
          <button type="button" className="danger" onClick={() => setOpen('delete')}>
            {words.contextDelete}
          </button>
        </div>
      )}
      {open === 'edit' && (
        <ActDialog
          title={words.contextEdit}
          act={words.save}
          onClose={close}
          onAct={async (form) => {
            await changeContext(context.id, { name: String(form.get('name')).trim(), description: String(form.get('description')).trim() });
            close();
          }}
        >
          <label className="field">
            <span>{words.contextName}</span>
            <input name="name" defaultValue={context.name} required maxLength={200} pattern=".*\S.*" />
          </label>
          <label className="field">
            <span>{words.contextDescription}</span>
            <textarea name="description" defaultValue={context.description} maxLength={2000} rows={3} />
          </label>
        </ActDialog>
      )}
      {open === 'delete' && (
        <ActDialog
          title={words.contextDelete}
          act={words.contextDelete}
          danger
          onClose={close}
          onAct={async () => {
            await deleteContext(context.id);
            forgetContext(context.id);
            go('/contexts', { replace: true });
          }}
        >
          <p>{words.contextDeleteAsk(context.name, context.documents)}</p>
        </ActDialog>
      )}
    </header>
  );
}

function Facts({ context, mayChange }: { context: OneContext; mayChange: boolean }) {
  const words = useWords();
  const locale = useStore(language);
  const model = context.meta['embedding_model'];
  return (
    <Card title={words.contextFacts}>
      <dl className="facts">
        <dt>{words.factID}</dt>
        <dd>
          <code>{context.id}</code> <CopyButton text={context.id} label={words.copyID} icon />
        </dd>
        <dt>{words.contextChunks}</dt>
        <dd>{context.chunks}</dd>
        <dt>{words.factCreated}</dt>
        <dd>{when(context.created_at, locale)}</dd>
        <dt>{words.contextUpdated}</dt>
        <dd>{when(context.updated_at, locale)}</dd>
        {typeof model === 'string' && (
          <>
            <dt>{words.contextModel}</dt>
            <dd className="monospace">{model}</dd>
          </>
        )}
        {mayChange && (
          <>
            <dt>{words.contextSources}</dt>
            <dd>
              {context.sources.length === 0 && words.contextNoSources}
              <ul>
                {context.sources.map((one) => (
                  <li key={one.path}>
                    <code>{one.path}</code> {one.recursive && <small>{words.contextRecursive}</small>}
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
      {context.meta['pii_scrub'] === true && <p className="hint">{words.contextScrubbed}</p>}
    </Card>
  );
}

/** The passages indexed last, as they are found and quoted (API-15). */
function Chunks({ context }: { context: OneContext }) {
  const words = useWords();
  const chunks = useChunks(context.id, context.chunks);
  return (
    <Card title={words.contextPreview}>
      {chunks.isPending && (
        <p role="status" className="hint">
          {words.factsLoading}
        </p>
      )}
      {chunks.isError && (
        <p role="alert" className="problem">
          {sentence(chunks.error)}
        </p>
      )}
      {chunks.data?.length === 0 && <p className="nothing">{words.contextNoChunks}</p>}
      <ol className="chunks">
        {chunks.data?.map((one) => (
          <li key={one.id}>
            <small>{[one.heading, one.page > 0 ? words.page(one.page) : ''].filter(Boolean).join(' · ')}</small>
            <p>{one.content}</p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
