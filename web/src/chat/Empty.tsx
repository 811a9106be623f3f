import { useWords } from '../i18n/index.ts';

export function Empty({ start }: { start(text: string): void }) {
  const words = useWords();
  return (
    <section className="empty" aria-labelledby="empty-title">
      <h2 id="empty-title">{words.emptyTitle}</h2>
      <p>{words.emptyPromise}</p>
      <ul>
        {words.starters.map((starter) => (
          <li key={starter}>
            <button type="button" onClick={() => start(starter)}>
              {starter}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
