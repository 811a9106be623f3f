import { useState, type ReactNode } from 'react';
import { useAttempt } from '../account/useAttempt.ts';
import { settle, type OpenQuestion } from '../api/changes.ts';
import { Failure } from '../api/failure.ts';
import type { JsonSchema } from '../api/types.ts';
import { wrongOf, type Wrong } from '../forms/answer.ts';
import type { Field } from '../forms/fields.ts';
import { isText } from '../forms/schema.ts';
import { SchemaForm } from '../forms/SchemaForm.tsx';
import { useWords } from '../i18n/index.ts';

interface Props {
  question: OpenQuestion;
  onAnswered(): void;
}

/** A question of a run that has no conversation is answered where it is listed. */
export function Answer({ question, onAnswered }: Props) {
  const words = useWords();
  const attempt = useAttempt();
  const schema = question.answer_schema as JsonSchema | null | undefined;
  const give = (value: unknown) => void attempt.go(() => settle(question, value)).then((went) => went && onAnswered());

  async function giveForm(value: unknown, fields: Field[]): Promise<Wrong | null> {
    const left: { wrong: Wrong | null } = { wrong: {} };
    await attempt.go(async () => {
      left.wrong = await settleForm(question, value, fields);
    });
    if (left.wrong === null) onAnswered();
    return left.wrong;
  }

  const skip = (
    <button type="button" className="quiet" disabled={attempt.busy} onClick={() => give(null)}>
      {words.skipQuestion}
    </button>
  );
  const problem = attempt.problem && (
    <p role="alert" className="problem">
      {attempt.problem}
    </p>
  );
  if (!question.options?.length && !isText(schema)) {
    return (
      <>
        <SchemaForm id={question.interrupt_id} schema={schema!} label={question.message} busy={attempt.busy} beside={skip} onAnswer={(value, _, fields) => giveForm(value, fields)} />
        {problem}
      </>
    );
  }
  return <Words question={question} busy={attempt.busy} give={give} skip={skip} problem={problem} />;
}

/** Gives an answer; what the server found wrong with its fields, or null. */
async function settleForm(question: OpenQuestion, value: unknown, fields: Field[]): Promise<Wrong | null> {
  try {
    await settle(question, value);
    return null;
  } catch (error) {
    const wrong = error instanceof Failure ? wrongOf(fields, error.details) : {};
    if (Object.keys(wrong).length === 0) throw error;
    return wrong;
  }
}

interface WordsProps {
  question: OpenQuestion;
  busy: boolean;
  give(value: string): void;
  skip: ReactNode;
  problem: ReactNode;
}

/** An option, or words of one's own. */
function Words({ question, busy, give, skip, problem }: WordsProps) {
  const words = useWords();
  const [text, setText] = useState('');
  const options = question.options ?? [];
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        give(text);
      }}
    >
      {options.length > 0 ? (
        options.map((option) => (
          <button key={option.id} type="button" disabled={busy} onClick={() => give(option.id)}>
            {option.label}
          </button>
        ))
      ) : (
        <>
          <input aria-label={words.answerLabel} value={text} required onChange={(event) => setText(event.target.value)} />
          <button type="submit" disabled={busy}>
            {words.sendAnswer}
          </button>
        </>
      )}
      {skip}
      {problem}
    </form>
  );
}
