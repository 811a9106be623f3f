import { Code } from '../markdown/Code.tsx';
import type { Reference } from './model.ts';
import { Events, Failures } from './OperationPage.tsx';
import { useDocsWords } from './words.ts';

const envelope = `{"status": "ok", "data": { … }, "request_id": "0199a1b2-…"}

{"status": "error", "error": {"code": "not_found", "message": "…", "details": null}, "request_id": "0199a1b2-…"}`;

const frame = `id: 7
event: token
data: {"event": "token", "data": "Hello", "run_id": "0199a1b2-…", "node": "answer"}`;

/** What holds for every operation. */
export function Overview({ reference }: { reference: Reference }) {
  const words = useDocsWords();
  const header = `TOKEN=$(curl -s ${location.origin}/v1/auth/login -H 'Content-Type: application/json' \\
  -d '{"email":"ada@example.org","password":"…"}' | jq -r .data.access_token)

curl ${location.origin}/v1/auth/me -H "Authorization: Bearer $TOKEN"`;
  const kinds = reference.groups.flatMap((group) => group.operations).find((one) => one.id === 'runEvents')?.events ?? [];
  return (
    <article>
      <p className="eyebrow">{words.version(reference.version)}</p>
      <h1>{words.title}</h1>
      <p>
        <a href="/v1/openapi.json">{words.document}</a>
      </p>
      <h2>{words.signIn.title}</h2>
      <p>{words.signIn.text[0]}</p>
      <Code text={header} language="bash" closed />
      <p>{words.signIn.text[1]}</p>
      <p>{words.signIn.text[2]}</p>
      <h2>{words.envelope.title}</h2>
      <p>{words.envelope.text[0]}</p>
      <Code text={envelope} language="json" closed />
      <p>{words.envelope.text[1]}</p>
      <Failures statuses={Object.keys(words.failure)} />
      {[words.writes, words.pages].map((part) => (
        <section key={part.title}>
          <h2>{part.title}</h2>
          {part.text.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </section>
      ))}
      <h2>{words.streams.title}</h2>
      <p>{words.streams.text[0]}</p>
      <Code text={frame} language="text" closed />
      <p>{words.streams.text[1]}</p>
      {kinds.length > 0 && <Events kinds={kinds} />}
    </article>
  );
}
