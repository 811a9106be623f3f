import { useState } from 'react';
import { useAttempt } from '../account/useAttempt.ts';
import { erase, setKeep, setStar, setTier, type Content } from '../api/palace.ts';
import { ActDialog, Card, Pills } from '../operate/parts.tsx';
import { usePalaceWords } from './words.ts';

const tiers = ['SHORT', 'MEDIUM', 'LONG'] as const;
type Tier = (typeof tiers)[number];

const wishes = ['', '++', '--'];

/** What a person says of a block: how long it stays, a star, whether it may be set aside, and that it is to be gone. */
export function Acts({ block }: { block: Content }) {
  const words = usePalaceWords();
  const attempt = useAttempt();
  const [erasing, setErasing] = useState(false);
  const [said, setSaid] = useState('');
  const tier = block.retention_tier as Tier;

  async function say(work: () => Promise<void>) {
    setSaid('');
    if (await attempt.go(work)) setSaid(words.saved);
  }

  const means = { '': '', '++': words.keepMeans, '--': words.dropMeans }[block.wish];
  return (
    <Card title={words.acts} className="block-acts">
      <div className="act-row">
        <h3>{words.tierOf}</h3>
        <Pills label={words.tierOf} options={tiers.map((one) => [one, words.tier[one]!] as const)} value={tier} onChoose={(one) => void say(() => setTier(block.uuid, one))} />
        <p className="hint">{words.tierMeans[tier]}</p>
      </div>
      <div className="act-row">
        <button type="button" aria-pressed={block.starred} disabled={attempt.busy} onClick={() => void say(() => setStar(block.uuid, !block.starred))}>
          <span aria-hidden="true">{block.starred ? '★' : '☆'}</span>
          {words.star}
        </button>
        <p className="hint">{words.starMeans}</p>
      </div>
      <div className="act-row">
        <h3>{words.keepTitle}</h3>
        <Pills label={words.keepTitle} options={wishes.map((one) => [one, words.wish[one]!] as const)} value={block.wish} onChoose={(one: string) => void say(() => setKeep(block.uuid, one === '' ? null : one === '++'))} />
        {means && <p className="hint">{means}</p>}
      </div>
      <p role="status" className="hint">
        {said}
      </p>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      <div>
        <button type="button" className="danger" onClick={() => setErasing(true)}>
          {words.erase}
        </button>
      </div>
      {erasing && (
        <ActDialog
          title={words.eraseTitle}
          act={words.erase}
          danger
          onClose={() => setErasing(false)}
          onAct={async () => {
            await erase(block.uuid);
            setErasing(false);
            setSaid(words.eraseDone);
          }}
        >
          <p>{words.eraseMeans}</p>
        </ActDialog>
      )}
    </Card>
  );
}
