import { useEffect, useMemo, useRef } from 'react';
import { Code } from '../markdown/Code.tsx';
import { CopyButton } from '../shell/CopyButton.tsx';
import { answerExample, curl, example, typeText, type Answer, type Operation, type Parameter, type Reference } from './model.ts';
import { Said, Shape } from './Shape.tsx';
import { useDocsWords } from './words.ts';

/** One operation, whole. */
export function OperationPage({ operation, reference }: { operation: Operation; reference: Reference }) {
  const words = useDocsWords();
  const { schemas } = reference;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
  }, [operation.id]);
  const command = useMemo(() => curl(operation, location.origin, schemas), [operation, schemas]);
  return (
    <article>
      <p className="eyebrow">{operation.group}</p>
      <h1 ref={heading} tabIndex={-1} lang="en">
        {operation.summary}
      </h1>
      <p className="address">
        <Method name={operation.method} /> <code>{operation.path}</code>
      </p>
      <p className="facts">
        <span>{operation.signedIn ? words.signedIn : words.open}</span>
        <code>{operation.id}</code>
        <CopyButton text={`${location.origin}/docs/${operation.id}`} label={words.copyLink} />
      </p>

      <h2>{words.command}</h2>
      <Code text={command} language="bash" closed />

      {operation.parameters.length > 0 && (
        <>
          <h2>{words.parameters}</h2>
          <ul className="members">
            {operation.parameters.map((one) => (
              <ParameterLine key={`${one.in} ${one.name}`} of={one} />
            ))}
          </ul>
        </>
      )}

      {operation.body && (
        <>
          <h2>{words.body}</h2>
          <p className="quiet-words">
            <code>{operation.body.type}</code> {!operation.body.required && words.optionalBody}
          </p>
          <Shape schema={operation.body.schema} schemas={schemas} />
          {operation.body.type === 'application/json' && <Example value={example(operation.body.schema, schemas, true)} />}
        </>
      )}

      <h2>{words.answer}</h2>
      {operation.answers.length === 0 && <p className="quiet-words">{words.answersOther}</p>}
      {operation.answers.map((answer) => (
        <AnswerPart key={`${answer.status} ${answer.type}`} answer={answer} reference={reference} />
      ))}
      {operation.events.length > 0 && <Events kinds={operation.events} />}

      <h2>{words.failures}</h2>
      <Failures statuses={operation.failures} />
    </article>
  );
}

export function Method({ name }: { name: string }) {
  return <span className={`method ${name.toLowerCase()}`}>{name}</span>;
}

function ParameterLine({ of }: { of: Parameter }) {
  const words = useDocsWords();
  const { description, ...schema } = of.schema;
  return (
    <li>
      <span className="member">
        <code className="member-name">
          {of.name}
          {!of.required && '?'}
        </code>{' '}
        <code className="member-type">{typeText(of.schema)}</code> <span className="bounds">{words.place(of.in)}</span> <Said schema={{ ...schema, ...((of.description ?? description) ? { description: of.description ?? description! } : {}) }} />
      </span>
    </li>
  );
}

function AnswerPart({ answer, reference: { schemas } }: { answer: Answer; reference: Reference }) {
  const words = useDocsWords();
  const json = answer.type === 'application/json';
  return (
    <section className="answer">
      <p className="quiet-words">
        <code>{`${answer.status} ${answer.type}`}</code>{' '}
        {answer.description && answer.description !== 'OK' && <span lang="en">{answer.description}. </span>}
        {json && (answer.enveloped ? words.enveloped : words.plain)}
      </p>
      <Shape schema={answer.schema} schemas={schemas} />
      {json && answer.enveloped && <Example value={answerExample(answer, schemas)} />}
    </section>
  );
}

function Example({ value }: { value: unknown }) {
  const words = useDocsWords();
  return (
    <details className="example">
      <summary>{words.example}</summary>
      <Code text={JSON.stringify(value, null, 2)} language="json" closed />
    </details>
  );
}

export function Events({ kinds }: { kinds: string[] }) {
  const words = useDocsWords();
  return (
    <>
      <h2>{words.events}</h2>
      <div className="wide" tabIndex={0} role="group" aria-label={words.events}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{words.event}</th>
              <th scope="col">{words.data}</th>
              <th scope="col">{words.meaning}</th>
            </tr>
          </thead>
          <tbody>
            {kinds.map((kind) => (
              <tr key={kind}>
                <th scope="row">
                  <code>{kind}</code>
                </th>
                <td>
                  <code>{words.kinds[kind]?.[0]}</code>
                </td>
                <td>{words.kinds[kind]?.[1]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

export function Failures({ statuses }: { statuses: string[] }) {
  const words = useDocsWords();
  return (
    <div className="wide" tabIndex={0} role="group" aria-label={words.failures}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{words.status}</th>
            <th scope="col">{words.code}</th>
            <th scope="col">{words.meaning}</th>
          </tr>
        </thead>
        <tbody>
          {statuses.map((status) => (
            <tr key={status}>
              <th scope="row">{status}</th>
              <td>
                <code>{words.failure[status]?.[0]}</code>
              </td>
              <td>{words.failure[status]?.[1]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
