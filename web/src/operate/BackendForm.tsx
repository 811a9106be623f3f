import { useState } from 'react';
import { ask, type Body, type Data } from '../api/ask.ts';
import { useBackendWords } from './backendWords.ts';
import { ActDialog } from './parts.tsx';

type Backends = Data<'backends'>;
type Backend = Backends['data'][number];
type Edit = Body<'changeBackend'>;

interface Props {
  backend: Backend | null; // null: a new one
  protocols: Backends['protocols'];
  onClose(): void;
  onSaved(): Promise<void>;
}

/** What a backend is made of. Its key is written here and read nowhere. */
export function BackendForm({ backend, protocols, onClose, onSaved }: Props) {
  const own = useBackendWords();
  const [protocol, setProtocol] = useState(backend?.protocol ?? 'openai');
  const [url, setURL] = useState(backend?.url ?? '');
  const usual = protocols.find((one) => one.name === protocol)?.url ?? '';
  const moves = backend?.key_set && (protocol !== backend.protocol || url.trim() !== backend.url);

  async function save(form: FormData) {
    const edit = editOf(form, backend);
    if (backend) await ask('changeBackend', { path: { name: backend.name }, body: edit });
    else await ask('addBackend', { body: { name: text(form, 'name'), ...edit } });
    await onSaved();
    onClose();
  }
  return (
    <ActDialog title={backend ? own.editTitle(backend.title) : own.addTitle} act={own.save} onClose={onClose} onAct={save}>
      <div className="backend-form">
        <div className="two">
          {!backend && (
            <label>
              <span>{own.name}</span>
              <input name="name" required autoFocus maxLength={40} pattern="[a-z0-9][a-z0-9._\-]*" spellCheck={false} autoCapitalize="off" />
              <small>{own.nameNote}</small>
            </label>
          )}
          <label>
            <span>{own.shown}</span>
            <input name="title" maxLength={80} defaultValue={backend?.title ?? ''} />
            <small>{own.shownNote}</small>
          </label>
        </div>
        <div className="two">
          <label>
            <span>{own.protocol}</span>
            <select value={protocol} name="protocol" onChange={(event) => setProtocol(event.target.value)}>
              {protocols.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          </label>
          {protocol === 'azure' && (
            <label>
              <span>{own.version}</span>
              <input name="api_version" maxLength={80} defaultValue={backend?.api_version ?? ''} placeholder="2024-10-21" />
            </label>
          )}
        </div>
        <label>
          <span>{own.url}</span>
          <input name="url" type="url" maxLength={500} required={usual === ''} value={url} spellCheck={false} onChange={(event) => setURL(event.target.value)} />
          <small>{own.urlNote(usual)}</small>
        </label>
        <label>
          <span>{own.key}</span>
          <input name="api_key" type="password" autoComplete="off" maxLength={4096} />
          <small>{moves ? own.keyMoves : backend?.key_set ? own.keyKeep(backend.key_end) : own.keyNote}</small>
        </label>
        {backend?.key_set && !moves && (
          <label className="switch">
            <input type="checkbox" name="forget" />
            <span>{own.keyForget}</span>
          </label>
        )}
        <label>
          <span>{own.model}</span>
          <input name="model" maxLength={256} defaultValue={backend?.model ?? ''} spellCheck={false} autoCapitalize="off" />
          <small>{own.modelNote}</small>
        </label>
        <label>
          <span>{own.models}</span>
          <textarea name="models" rows={2} spellCheck={false} defaultValue={linesOf(backend)} />
          <small>{own.modelsNote}</small>
        </label>
        <div className="two">
          <label>
            <span>{own.tokens}</span>
            <input name="max_tokens" type="number" min={0} max={1_000_000} defaultValue={backend?.max_tokens ?? 0} />
            <small>{own.tokensNote}</small>
          </label>
        </div>
        <fieldset className="two">
          <legend>{own.price}</legend>
          <label>
            <span>{own.priceIn}</span>
            <input name="input" type="number" min={0} step="any" defaultValue={backend?.price?.input ?? ''} />
          </label>
          <label>
            <span>{own.priceOut}</span>
            <input name="output" type="number" min={0} step="any" defaultValue={backend?.price?.output ?? ''} />
          </label>
        </fieldset>
        <small>{own.priceNote}</small>
        <label className="switch">
          <input type="checkbox" name="people_may_choose" defaultChecked={backend?.people_may_choose ?? false} />
          <span>{own.choosable}</span>
        </label>
      </div>
    </ActDialog>
  );
}

function text(form: FormData, name: string): string {
  return String(form.get(name) ?? '').trim();
}

function linesOf(backend: Backend | null): string {
  return Object.entries(backend?.models ?? {})
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([tier, name]) => `${tier} = ${name}`)
    .join('\n');
}

/** What the form says, as the API takes it. What a price holds beside what is asked here stays. */
export function editOf(form: FormData, backend: Backend | null): Edit {
  const key = text(form, 'api_key');
  const [input, output] = [text(form, 'input'), text(form, 'output')];
  return {
    title: text(form, 'title'),
    protocol: text(form, 'protocol'),
    url: text(form, 'url'),
    model: text(form, 'model'),
    models: modelsOf(text(form, 'models')),
    api_version: text(form, 'api_version'),
    max_tokens: Number(text(form, 'max_tokens')) || 0,
    people_may_choose: form.get('people_may_choose') !== null,
    ...(key ? { api_key: key } : form.get('forget') !== null ? { api_key: '' } : {}),
    ...(input || output ? { price: { ...backend?.price, input: Number(input), output: Number(output) } } : { no_price: true }),
  };
}

/** "small = name", one a line. */
export function modelsOf(lines: string): Record<string, string> {
  const pairs = lines
    .split('\n')
    .map((line) => line.split('=').map((part) => part.trim()))
    .filter((pair) => pair[0] || pair[1]);
  return Object.fromEntries(pairs.map(([tier = '', ...name]) => [tier, name.join('=')]));
}
