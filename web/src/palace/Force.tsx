import { useState } from 'react';
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
  const [asking, setAsking] = useState(false);
  const [done, setDone] = useState(false);
  const { plan } = view;
  const list = plan?.replace ?? [];
  const price = plan && words.planPrice(tokens(Math.round(plan.estimate.extra), locale), tokens(Math.round(plan.estimate.gain), locale));
  const planned = plan && list.length > 0 ? words.planned(list.length, tokens(plan.estimate.removed, locale)) : words.plannedNone;
  const asked = done || plan?.asked === true;
  return (
    <div className="force">
      <p>{words.mode[view.mode] ?? view.mode}</p>
      {view.saved && (
        <p>
          <SavedLine saved={view.saved} />
        </p>
      )}
      {view.mode !== 'off' && <p className="hint">{planned}</p>}
      {plan && list.length > 0 && (
        <p className="hint">
          {price} {asked ? words.planAsked : plan.pays ? words.planPays : words.planPaysNot}
        </p>
      )}
      {view.mode === 'view' && plan && list.length > 0 && !asked && (
        <button type="button" onClick={() => setAsking(true)}>
          {words.openEpoch}
        </button>
      )}
      <p role="status">{done ? words.opened : ''}</p>
      {asking && (
        <ActDialog
          title={words.openTitle}
          act={words.openEpoch}
          onClose={() => setAsking(false)}
          onAct={async () => {
            await openEpoch(lineage);
            setAsking(false);
            setDone(true);
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

/** What views saved, with its range; less than nothing where they cost more. */
export function SavedLine({ saved }: { saved: Saved }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const { paid_usd: paid, raw_usd: raw, low_usd: low, high_usd: high } = saved;
  if (paid === null || raw === null) return null;
  return (
    <span className="saved-line" data-tone={raw < paid ? 'bad' : 'good'}>
      {words.savedSoFar}: {usd(raw - paid, locale)}
      {low !== null && high !== null && low !== high && ` (${words.ledgerRange(usd(low - paid, locale), usd(high - paid, locale))})`}
    </span>
  );
}
