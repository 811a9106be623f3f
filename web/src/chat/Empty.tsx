import { useContext } from 'react';
import { useContexts } from '../api/queries.ts';
import { useWords } from '../i18n/index.ts';
import { SurfaceContext } from '../knowledge/surface.ts';

/** Nothing said yet: what one may begin with, in the chosen workflow's own words where it has some. bare: files have no part in it. */
export function Empty({ start, bare }: { start(text: string): void; bare?: boolean }) {
  const words = useWords();
  const surface = useContext(SurfaceContext);
  const contexts = useContexts().data;
  const nothingToRead = contexts?.every((one) => one.documents === 0) ?? false;
  const starters = surface ? surface.starters : words.starters;
  return (
    <section className="empty" aria-labelledby="empty-title">
      <h2 id="empty-title">{surface?.empty || words.emptyTitle}</h2>
      <p>{words.emptyPromise}</p>
      {nothingToRead && !bare && <p className="first">{words.emptyFirst}</p>}
      {starters.length > 0 && (
        <ul>
          {starters.map((starter) => (
            <li key={starter}>
              <button type="button" onClick={() => start(starter)}>
                {starter}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
