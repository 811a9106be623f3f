import './BackendsPage.css';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { ask, type Data } from '../api/ask.ts';
import { queryClient } from '../api/queries.ts';
import { sentence } from '../i18n/errors.ts';
import { language, useWords } from '../i18n/index.ts';
import { regional } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Confirm } from '../shell/Confirm.tsx';
import { BackendForm } from './BackendForm.tsx';
import { useBackendWords } from './backendWords.ts';
import { Ago, Card, Loading } from './parts.tsx';

type Backends = Data<'backends'>;
type Backend = Backends['data'][number];
type Answer = Data<'testBackend'>;

/** The model backends, for administrators: what answers, with which key, and who may choose it. */
export default function BackendsPage() {
  const words = useWords();
  const own = useBackendWords();
  const [adding, setAdding] = useState(false);
  const all = useQuery({ queryKey: ['backends', 'all'], queryFn: ({ signal }) => ask('backends', { signal }) });
  return (
    <>
      <header className="list-head">
        <h1>{own.title}</h1>
        <button type="button" className="primary" disabled={!all.data} onClick={() => setAdding(true)}>
          {own.add}
        </button>
      </header>
      {all.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {sentence(all.error)}
          </p>
          <button type="button" onClick={() => void all.refetch()}>
            {words.tryAgain}
          </button>
        </div>
      )}
      {all.isPending && <Loading />}
      {all.data && (
        <div className="backends">
          <p className="hint">{own.lead}</p>
          {all.data.data.map((one) => (
            <BackendCard key={one.name} backend={one} protocols={all.data.protocols} />
          ))}
          <Done />
        </div>
      )}
      {adding && all.data && <BackendForm backend={null} protocols={all.data.protocols} onClose={() => setAdding(false)} onSaved={changed} />}
    </>
  );
}

/** What is known of backends is asked for again, here and in the box to write in. */
async function changed(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['backends'] });
  await queryClient.invalidateQueries({ queryKey: ['ui'] });
}

function BackendCard({ backend, protocols }: { backend: Backend; protocols: Backends['protocols'] }) {
  const own = useBackendWords();
  const [open, setOpen] = useState<'' | 'edit' | 'remove'>('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const [wanted, setWanted] = useState<boolean | null>(null); // until the server has it
  const [answer, setAnswer] = useState<Answer | null>(null);

  async function act(work: () => Promise<unknown>) {
    setBusy(true);
    setProblem('');
    try {
      await work();
      await changed();
    } catch (error) {
      setProblem(sentence(error));
    } finally {
      setBusy(false);
    }
  }
  const path = { name: backend.name };
  return (
    <Card title={backend.title} note={backend.title === backend.name ? undefined : backend.name} extra={<Marks backend={backend} />}>
      <Facts backend={backend} />
      <label className="switch">
        <input
          type="checkbox"
          checked={wanted ?? backend.people_may_choose}
          disabled={busy}
          onChange={(event) => {
            const people_may_choose = event.target.checked;
            setWanted(people_may_choose);
            void act(() => ask('changeBackend', { path, body: { people_may_choose } })).finally(() => setWanted(null));
          }}
        />
        <span>{own.choosable}</span>
      </label>
      {problem && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      {answer && <Answered answer={answer} />}
      <div className="flex-row">
        <button
          type="button"
          disabled={busy}
          onClick={() => {
            setAnswer(null);
            void act(async () => setAnswer(await ask('testBackend', { path, once: true })));
          }}
        >
          {busy ? own.testing : own.test}
        </button>
        {backend.changeable && (
          <button type="button" disabled={busy} onClick={() => setOpen('edit')}>
            {own.edit}
          </button>
        )}
        {!backend.is_default && (
          <button type="button" disabled={busy} onClick={() => void act(() => ask('defaultBackend', { path }))}>
            {own.makeDefault}
          </button>
        )}
        {backend.changeable && !backend.is_default && (
          <button type="button" className="quiet bad" disabled={busy} onClick={() => setOpen('remove')}>
            {own.remove}
          </button>
        )}
      </div>
      {open === 'edit' && <BackendForm backend={backend} protocols={protocols} onClose={() => setOpen('')} onSaved={changed} />}
      {open === 'remove' && (
        <Confirm
          text={own.removeThis(backend.title)}
          act={own.remove}
          onCancel={() => setOpen('')}
          onAct={() => {
            setOpen('');
            void act(() => ask('removeBackend', { path }));
          }}
        />
      )}
    </Card>
  );
}

function Marks({ backend }: { backend: Backend }) {
  const own = useBackendWords();
  return (
    <span className="marks">
      {backend.is_default && <span className="badge visibility-badge global">{own.isDefault}</span>}
      {!backend.changeable && <span className="badge">{own.fixed}</span>}
    </span>
  );
}

function Facts({ backend }: { backend: Backend }) {
  const own = useBackendWords();
  const locale = useStore(language);
  const dollars = (n: number) => n.toLocaleString(regional(locale), { maximumFractionDigits: 4 });
  const tiers = Object.entries(backend.models).toSorted(([a], [b]) => a.localeCompare(b));
  return (
    <dl className="facts">
      <dt>{own.protocol}</dt>
      <dd>{backend.protocol}</dd>
      {(backend.changeable || backend.url) && (
        <>
          <dt>{own.url}</dt>
          <dd>{backend.url ? <code>{backend.url}</code> : own.usual}</dd>
        </>
      )}
      {(backend.changeable || backend.model) && (
        <>
          <dt>{own.model}</dt>
          <dd>{backend.model || own.serverChoice}</dd>
        </>
      )}
      {tiers.length > 0 && (
        <>
          <dt>{own.models}</dt>
          <dd>{tiers.map(([tier, name]) => `${tier} = ${name}`).join(', ')}</dd>
        </>
      )}
      {(backend.changeable || backend.key_set) && (
        <>
          <dt>{own.key}</dt>
          <dd>{backend.key_set ? own.keySet(backend.key_end) : own.keyNone}</dd>
        </>
      )}
      {backend.max_tokens > 0 && (
        <>
          <dt>{own.tokens}</dt>
          <dd>{backend.max_tokens.toLocaleString(regional(locale))}</dd>
        </>
      )}
      {backend.price && (
        <>
          <dt>{own.price}</dt>
          <dd>{own.priceSays(dollars(backend.price.input), dollars(backend.price.output))}</dd>
        </>
      )}
    </dl>
  );
}

/** What came of a test: who answered and what they said, or why nobody did. */
function Answered({ answer }: { answer: Answer }) {
  const own = useBackendWords();
  const locale = useStore(language);
  const seconds = ((answer.ms ?? 0) / 1000).toLocaleString(regional(locale), { maximumFractionDigits: 1 });
  return (
    <div className="answered" role="status">
      {answer.ok && answer.model && (
        <p>
          <strong>{own.answered(answer.model, seconds)}</strong>
          {answer.text && `: “${answer.text}”`}
        </p>
      )}
      <p className={answer.ok ? 'hint' : 'problem'}>
        {answer.says}
        {answer.hint && ` – ${answer.hint}`}
      </p>
      {answer.models && answer.models.length > 0 && <p className="hint">{own.has(answer.models.length)}</p>}
    </div>
  );
}

/** The latest of what administrators did to backends. */
function Done() {
  const own = useBackendWords();
  const entries = useQuery({ queryKey: ['backends', 'changes'], queryFn: async ({ signal }) => (await ask('backendChanges', { signal })).data });
  if (!entries.data) return null;
  return (
    <Card title={own.changes}>
      {entries.data.length === 0 && <p className="hint">{own.changesNone}</p>}
      <ul className="done">
        {entries.data.map((one) => (
          <li key={one.id}>
            {own.did(one.actor || own.gone, one.action, one.backend, one.fields.map(own.field).join(', '))} <Ago time={one.at} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
