import { useState } from 'react';
import { Link } from 'wouter';
import { useAttempt } from '../account/useAttempt.ts';
import { openEpoch, type LineageView, type Saved } from '../api/palace.ts';
import { language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { ActDialog } from '../operate/parts.tsx';
import { tokens, usd } from './figures.ts';
import { usePalaceWords } from './words.ts';

/** What a history's policy lets happen to its requests: what is planned, what it costs, and the way to do it now. */
export function Force({ lineage, view }: { lineage: string; view: LineageView }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const attempt = useAttempt();
  const [asking, setAsking] = useState(false);
  const { plan } = view;
  const list = plan.replace ?? [];
  const asked = view.asked_at !== null;
  const sum = list.reduce((all, one) => all + one.tokens, 0);
  const planned = list.length > 0 ? words.planned(list.length, tokens(sum, locale)) : words.plannedNone;
  const { extra, gain } = plan.estimate;
  const price = gain > 0 ? words.planPrice(tokens(Math.round(extra), locale), tokens(Math.round(gain), locale)) : '';
  return (
    <div className="force">
      <p>{words.mode[view.mode] ?? view.mode}</p>
      <p className="hint">{view.policy_id ? <Link href={`/artifacts/${view.policy_id}`}>{words.policyOwn(view.policy_version)}</Link> : words.policyShipped}</p>
      <SavedLine saved={view.saved} />
      {view.mode !== 'off' && <p className="hint">{planned}</p>}
      {list.length > 0 && (
        <p className="hint">
          {price} {plan.pays ? words.planPays : words.planPaysNot}
        </p>
      )}
      {view.mode === 'view' && asked && (
        <>
          <p role="status">{words.planAsked}</p>
          <button type="button" className="quiet" disabled={attempt.busy} onClick={() => void attempt.go(() => openEpoch(lineage, false))}>
            {words.planUnask}
          </button>
        </>
      )}
      {view.mode === 'view' && list.length > 0 && !asked && (
        <button type="button" onClick={() => setAsking(true)}>
          {words.openEpoch}
        </button>
      )}
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
      {asking && (
        <ActDialog
          title={words.openTitle}
          act={words.openEpoch}
          onClose={() => setAsking(false)}
          onAct={async () => {
            await openEpoch(lineage, true);
            setAsking(false);
          }}
        >
          <p>{words.openMeans}</p>
          <p>
            {planned} {price}
          </p>
        </ActDialog>
      )}
    </div>
  );
}

/** What the views of a history saved so far, with its range; less than nothing where they cost more. */
function SavedLine({ saved }: { saved: Saved }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  if (saved.paid_usd === null || saved.raw_usd === null) return null;
  const { paid_usd: paid, raw_usd: raw, low_usd: low, high_usd: high } = saved;
  const told = low !== null && high !== null;
  return (
    <p className="saved-line" data-tone={!told ? undefined : raw < paid ? 'bad' : 'good'}>
      {words.savedSoFar}: {told ? `${usd(raw - paid, locale)} (${words.ledgerRange(usd(low - paid, locale), usd(high - paid, locale))})` : words.cannotTell}
    </p>
  );
}
