import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from 'react';
import type { JsonSchema } from '../api/types.ts';
import { answerOf, initialEntries, wordsOf, type Entries, type Wrong } from './answer.ts';
import { approvalOf, fieldsOf, type Field } from './fields.ts';
import { dropEntries, keepEntries, keptEntries } from './kept.ts';
import { useFormWords } from './words.ts';

interface Props {
  /** Names the form, so that what stands in it is kept. */
  id: string;
  schema: JsonSchema;
  /** What is above the form and says what it is for. */
  label: string;
  busy: boolean;
  /** Focuses the first field when the form appears. */
  focus?: boolean;
  /** Gives the answer and its words. What comes back is what the server found wrong; null: the form is done. */
  onAnswer(value: unknown, words: string, fields: Field[]): Promise<Wrong | null>;
  /** What stands beside the button that sends it. */
  beside?: ReactNode;
}

/** A form with a field for whatever a JSON Schema asks for. */
export function SchemaForm({ id, schema, label, busy, focus, onAnswer, beside }: Props) {
  const words = useFormWords();
  const approval = useMemo(() => approvalOf(schema), [schema]);
  const fields = useMemo(() => fieldsOf(approval ?? schema), [approval, schema]);
  const [entries, setEntries] = useState<Entries>(() => ({ ...initialEntries(fields), ...keptEntries(id) }));
  const [wrong, setWrong] = useState<Wrong>({});
  const form = useRef<HTMLFormElement>(null);

  useEffect(() => {
    if (focus) form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus({ preventScroll: true });
    // Once, when the form appears: later the focus is the reader's.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);

  useEffect(() => {
    // To the first field that is wrong; there, its sentence is read.
    if (Object.keys(wrong).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [wrong]);

  function change(path: string, entry: Entries[string]) {
    const next = { ...entries, [path]: entry };
    setEntries(next);
    keepEntries(id, next);
  }

  async function submit() {
    const answer = answerOf(fields, entries, words);
    setWrong(answer.wrong);
    if (busy || Object.keys(answer.wrong).length > 0) return;
    if (approval) await send({ ...(answer.value as object), decision: 'approve' }, `${words.formApprove}: ${wordsOf(fields, answer.value)}`);
    else await send(answer.value, wordsOf(fields, answer.value));
  }

  async function send(value: unknown, shown: string) {
    const found = await onAnswer(value, shown, fields);
    if (found === null) dropEntries(id);
    else setWrong(found);
  }

  const shared = { entries, wrong, change };
  return (
    <form
      ref={form}
      className="schema-form"
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {fields.map((field) => (field.kind === 'group' ? <Group key={field.path} field={field} {...shared} /> : <One key={field.path} field={field} {...shared} />))}
      {wrong[''] && (
        <p role="alert" className="problem">
          {wrong['']}
        </p>
      )}
      <div className="options">
        <button type="submit" className="primary" disabled={busy}>
          {approval ? words.formApprove : words.sendAnswer}
        </button>
        {approval && (
          <button type="button" disabled={busy} onClick={() => void send({ decision: 'decline' }, words.formDecline)}>
            {words.formDecline}
          </button>
        )}
        {beside}
      </div>
    </form>
  );
}

interface Shared {
  field: Field;
  entries: Entries;
  wrong: Wrong;
  change(path: string, entry: Entries[string]): void;
}

function Group({ field, ...shared }: Shared) {
  const words = useFormWords();
  return (
    <fieldset className="form-group">
      <legend>
        {field.title} {!field.required && <small className="optional">{words.formOptional}</small>}
      </legend>
      {field.description && <small>{field.description}</small>}
      {field.fields.map((one) => (
        <One key={one.path} field={one} {...shared} />
      ))}
    </fieldset>
  );
}

/** One field with its title, what is said about it, and what is wrong with it. */
function One(props: Shared) {
  const { field, wrong } = props;
  const words = useFormWords();
  const about = useId();
  const problem = wrong[field.path];
  const optional = !field.required && field.kind !== 'boolean' && <small className="optional">{words.formOptional}</small>;
  const notes = (
    <>
      {field.description && <small id={about}>{field.description}</small>}
      {field.path !== '' && problem && (
        <span id={`${about}-wrong`} className="problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
  const described = [field.description && about, problem && `${about}-wrong`].filter(Boolean).join(' ') || undefined;
  if (field.kind === 'many') {
    return (
      <fieldset className="form-many" aria-describedby={described}>
        <legend>
          {field.title || words.formWholeAnswer} {optional}
        </legend>
        <Many {...props} />
        {notes}
      </fieldset>
    );
  }
  if (field.kind === 'boolean') {
    return (
      <div className="form-field">
        <label className="form-check">
          <input type="checkbox" checked={props.entries[field.path] === true} aria-describedby={described} aria-invalid={problem ? true : undefined} onChange={(event) => props.change(field.path, event.target.checked)} />
          <span>{field.title}</span>
        </label>
        {notes}
      </div>
    );
  }
  return (
    <div className="form-field">
      <label>
        <span>
          {field.title || words.formWholeAnswer} {optional}
        </span>
        <Control {...props} described={described} />
      </label>
      {notes}
    </div>
  );
}

function Many({ field, entries, wrong, change }: Shared) {
  const entry = entries[field.path];
  const chosen = Array.isArray(entry) ? entry : [];
  const toggle = (number: string, on: boolean) => change(field.path, field.choices.map((_, n) => String(n)).filter((n) => (n === number ? on : chosen.includes(n))));
  return (
    <div className="form-choices">
      {field.choices.map((choice, n) => (
        <label key={choice.label} className="form-check">
          <input type="checkbox" checked={chosen.includes(String(n))} aria-invalid={wrong[field.path] ? true : undefined} onChange={(event) => toggle(String(n), event.target.checked)} />
          <span>{choice.label}</span>
        </label>
      ))}
    </div>
  );
}

function Control({ field, entries, wrong, change, described }: Shared & { described: string | undefined }) {
  const words = useFormWords();
  const shared = {
    value: String(entries[field.path] ?? ''),
    required: field.required,
    'aria-describedby': described,
    'aria-invalid': wrong[field.path] ? (true as const) : undefined,
    onChange: (event: { target: { value: string } }) => change(field.path, event.target.value),
  };
  switch (field.kind) {
    case 'choice':
      return (
        <select {...shared}>
          <option value="">{field.required ? words.formChoose : '–'}</option>
          {field.choices.map((choice, n) => (
            <option key={choice.label} value={n}>
              {choice.label}
            </option>
          ))}
        </select>
      );
    case 'number':
    case 'integer':
      // Not of the type number: that gives nothing at all for a comma, and turns with the wheel.
      return <input type="text" inputMode={field.kind === 'integer' && (field.min ?? -1) >= 0 ? 'numeric' : 'text'} autoComplete="off" className="form-number" placeholder={range(field)} {...shared} />;
    case 'date':
      return <input type="date" className="form-number" {...shared} />;
    case 'long':
      return <textarea rows={4} {...shared} />;
    case 'lines':
      return <textarea rows={3} placeholder={words.formLines} {...shared} />;
    case 'json':
      return <textarea rows={6} className="monospace" spellCheck={false} placeholder="{ }" {...shared} />;
    default:
      return <input type="text" autoComplete="off" {...shared} />;
  }
}

function range({ min, max }: Field): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  return `${min ?? ''} – ${max ?? ''}`.trim();
}
