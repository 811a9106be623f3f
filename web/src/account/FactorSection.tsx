import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { accountKeys, disableFactor, enableFactor, enrolFactor, renewRecovery, useFactor, useLinks } from '../api/account.ts';
import type { Enrolment } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { CopyButton } from '../shell/CopyButton.tsx';
import { Form, PasswordField, proofOf, ProofField } from './fields.tsx';
import { Qr } from './Qr.tsx';
import { RecoveryCodes } from './RecoveryCodes.tsx';
import { Section } from './Section.tsx';
import { accountSentence } from './errors.ts';
import { useFactorWords } from './factorWords.ts';
import { useAttempt } from './useAttempt.ts';

type Stage =
  | { at: 'rest' }
  | { at: 'enrol'; enrolment: Enrolment }
  | { at: 'codes'; codes: string[] }
  | { at: 'renew' }
  | { at: 'off' };

/** The second factor: putting it to use, new recovery codes, giving it up (AUTH-12, AUTH-13). */
export function FactorSection() {
  const words = useWords();
  const own = useFactorWords();
  const client = useQueryClient();
  const factor = useFactor();
  const attempt = useAttempt();
  const [stage, setStage] = useState<Stage>({ at: 'rest' });

  const go = (next: Stage) => {
    attempt.clear();
    setStage(next);
    void client.invalidateQueries({ queryKey: accountKeys.factor });
    void client.invalidateQueries({ queryKey: accountKeys.sessions });
  };
  const rest = () => go({ at: 'rest' });
  const attempted = (work: () => Promise<Stage>) => void attempt.go(async () => go(await work()));
  const enrol = () => attempted(async () => ({ at: 'enrol', enrolment: await enrolFactor() }));

  return (
    <Section title={own.twoSteps} stage={stage.at}>
      {stage.at === 'rest' && factor.data && (
        <>
          <p className="hint">{factor.data.enabled ? own.twoStepsOn(factor.data.recovery_codes_left) : own.twoStepsOff}</p>
          <div className="flex-row">
            {factor.data.enabled ? (
              <>
                <button type="button" onClick={() => go({ at: 'renew' })}>
                  {words.newCodes}
                </button>
                <button type="button" onClick={() => go({ at: 'off' })}>
                  {words.turnOff}
                </button>
              </>
            ) : (
              <button type="button" disabled={attempt.busy || attempt.rest > 0} onClick={enrol}>
                {words.turnOn}
              </button>
            )}
          </div>
        </>
      )}
      {stage.at === 'rest' && (attempt.problem || factor.isError) && (
        <p role="alert" className="problem">
          {attempt.problem || accountSentence(factor.error)}
        </p>
      )}
      {stage.at === 'enrol' && (
        <Enrol
          enrolment={stage.enrolment}
          attempt={attempt}
          onCancel={rest}
          onCode={(code) => attempted(async () => ({ at: 'codes', codes: await enableFactor(code) }))}
        />
      )}
      {stage.at === 'codes' && <RecoveryCodes codes={stage.codes} onKept={rest} />}
      {stage.at === 'renew' && (
        <Prove
          act={words.newCodes}
          note={words.newCodesAsk}
          attempt={attempt}
          onCancel={rest}
          onProof={(form, recovery) => attempted(async () => ({ at: 'codes', codes: await renewRecovery(proofOf(form, recovery)) }))}
        />
      )}
      {stage.at === 'off' && (
        <Prove
          act={words.turnOff}
          note={words.turnOffAsk}
          attempt={attempt}
          password
          onCancel={rest}
          onProof={(form, recovery) =>
            attempted(async () => {
              await disableFactor(proofOf(form, recovery), String(form.get('password')));
              return { at: 'rest' };
            })
          }
        />
      )}
    </Section>
  );
}

interface EnrolProps {
  enrolment: Enrolment;
  attempt: ReturnType<typeof useAttempt>;
  onCode(code: string): void;
  onCancel(): void;
}

/** The secret in a picture and in letters, then the first code made from it. */
function Enrol({ enrolment, attempt, onCode, onCancel }: EnrolProps) {
  const words = useWords();
  const own = useFactorWords();
  return (
    <ol className="enrol">
      <li>
        <p>{words.scan}</p>
        <Qr text={enrolment.otpauth_uri} label={words.qr} />
        <p className="hint">{own.secretText}</p>
        <p className="secret">
          <code>{enrolment.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
          <CopyButton text={enrolment.secret} label={own.copySecret} />
        </p>
      </li>
      <li>
        <p>{own.firstCode}</p>
        <Form attempt={attempt} act={words.turnOn} onSubmit={(form) => onCode(String(form.get('proof')).replace(/\s/g, ''))} onCancel={onCancel}>
          <ProofField recovery={false} />
        </Form>
      </li>
    </ol>
  );
}

interface ProveProps {
  act: string;
  note: string;
  attempt: ReturnType<typeof useAttempt>;
  password?: boolean;
  onProof(form: FormData, recovery: boolean): void;
  onCancel(): void;
}

/** Shows what has to be shown before the second factor changes. */
function Prove({ act, note, attempt, password, onProof, onCancel }: ProveProps) {
  const words = useWords();
  const links = useLinks();
  const [recovery, setRecovery] = useState(false);
  return (
    <>
      <Form attempt={attempt} act={act} danger={password} onSubmit={(form) => onProof(form, recovery)} onCancel={onCancel}>
        <p className="hint">{note}</p>
        <ProofField recovery={recovery} />
        {password && <PasswordField name="password" label={words.password} optional={(links.data?.length ?? 0) > 0} />}
      </Form>
      <button
        type="button"
        className="link"
        onClick={() => {
          attempt.clear();
          setRecovery(!recovery);
        }}
      >
        {recovery ? words.useCode : words.useRecovery}
      </button>
    </>
  );
}
