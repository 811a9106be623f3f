import { useState } from 'react';
import { boundsOf, innerOf, nameOf, resolve, typeText, type Schema } from './model.ts';
import { useDocsWords } from './words.ts';

interface Props {
  schema: Schema;
  schemas: Record<string, Schema>;
}

/** A schema as a type: its members, and what they are made of where somebody looks into them. */
export function Shape({ schema, schemas }: Props) {
  const words = useDocsWords();
  const objects = innerOf(schema, schemas);
  return (
    <div>
      <p>
        <code>{typeText(schema)}</code> <Said schema={resolve(schema, schemas)} />
      </p>
      {objects.map((object, at) => (
        <Members key={at} of={object} schemas={schemas} />
      ))}
      {objects.length === 0 && typeText(schema) === 'Nothing' && <p className="quiet-words">{words.nothing}</p>}
    </div>
  );
}

function Members({ of, schemas }: { of: Schema; schemas: Record<string, Schema> }) {
  const required = new Set(of.required);
  const names = Object.keys(of.properties ?? {}).toSorted((a, b) => Number(required.has(b)) - Number(required.has(a)));
  return (
    <ul className="members">
      {names.map((name) => (
        <Member key={name} name={name} schema={of.properties![name]!} optional={!required.has(name)} schemas={schemas} />
      ))}
    </ul>
  );
}

function Member({ name, schema, optional, schemas }: Props & { name: string; optional: boolean }) {
  const inner = innerOf(schema, schemas);
  return (
    <li>
      <span className="member">
        <code className="member-name">
          {name}
          {optional && '?'}
        </code>{' '}
        <code className="member-type">{typeText(schema)}</code> <Said schema={schema} />
      </span>
      {inner.length > 0 && <Inside name={nameOf(schema) || name} objects={inner} schemas={schemas} />}
    </li>
  );
}

/** What a schema says of itself: in words, and what bounds it. */
export function Said({ schema }: { schema: Schema }) {
  const bounds = boundsOf(schema);
  return (
    <>
      {bounds && <span className="bounds">{bounds}</span>}
      {schema.description && (
        <span className="told" lang="en">
          {schema.description}
        </span>
      )}
    </>
  );
}

/** Made when it is opened: types refer to each other without end. */
function Inside({ name, objects, schemas }: { name: string; objects: Schema[]; schemas: Record<string, Schema> }) {
  const words = useDocsWords();
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.lookInto(name)}</summary>
      {open && objects.map((object, at) => <Members key={at} of={object} schemas={schemas} />)}
    </details>
  );
}
