import { language } from '../i18n/index.ts';
import { useStore } from '../lib/store.ts';
import { tokens, types, type Part } from './figures.ts';
import { usePalaceWords } from './words.ts';

const windows = [200_000, 1_000_000]; // tokens that a context may have

/** What fills a context, by the types of its blocks, beside the room there is. */
export function ContextBar({ parts }: { parts: readonly Part[] }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const whole = parts.reduce((sum, part) => sum + part.tokens, 0);
  const room = windows.find((one) => one >= whole) ?? whole;
  const said = parts.map((part) => `${words.type[part.type]} ${tokens(part.tokens, locale)}`);
  return (
    <div className="context-bar" role="img" aria-label={whole > 0 ? `${words.contextNow(tokens(whole, locale))}: ${said.join(', ')}` : words.contextNone}>
      {parts.map((part, at) => (
        <span key={part.type} data-type={part.type} title={said[at]} style={{ width: `${Math.max(0.4, (part.tokens / room) * 100)}%` }} />
      ))}
    </div>
  );
}

/** Which colour is what. */
export function TypeKey() {
  const words = usePalaceWords();
  return (
    <ul className="type-key" aria-hidden="true">
      {types
        .filter((type) => type !== 'Unknown' && type !== 'Media')
        .map((type) => (
          <li key={type} data-type={type}>
            {words.type[type]}
          </li>
        ))}
    </ul>
  );
}
