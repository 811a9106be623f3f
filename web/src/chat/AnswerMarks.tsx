import type { Usage } from '../api/types.ts';
import { language, useWords } from '../i18n/index.ts';
import { count, money } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { Icon } from '../shell/Icon.tsx';
import type { Confidence } from './thread.ts';

/** How well the documents carry an answer: a dot, and the same in words. */
export function ConfidenceMark({ level }: { level: Confidence }) {
  const words = useWords();
  return (
    <span className="confidence" data-level={level} title={words.confidenceTitle}>
      {words.confidence(level)}
    </span>
  );
}

/**
 * What the answer used of models, and what that cost, as far as it is known. The
 * coin is drawn, because the fonts of many machines lack it: it is there for who
 * copies the line or has it read.
 */
export function SpentMark({ usage }: { usage: Usage | undefined }) {
  const words = useWords();
  const locale = useStore(language);
  const tokens = usage?.tokens_used ?? (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  const cost = usage?.cost_usd ?? 0;
  const facts = [tokens > 0 ? words.tokens(tokens, count(tokens, locale)) : '', cost > 0 ? money(cost, locale) : ''].filter(Boolean);
  return (
    facts.length > 0 && (
      <span className="spent">
        <Icon name="coin" />
        <span className="hidden">🪙 </span>
        {facts.join(' · ')}
      </span>
    )
  );
}
