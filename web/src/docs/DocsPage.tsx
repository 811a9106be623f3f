// The reference of the API, for whoever writes a program against it. It is made
// of the document this very server serves, asks nobody else, and needs no
// sign-in.

import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { flushSync } from 'react-dom';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useRoute } from 'wouter';
import { Failure } from '../api/failure.ts';
import { LanguageSwitch } from '../shell/LanguageSwitch.tsx';
import { Mark } from '../shell/Mark.tsx';
import { ThemeSelect } from '../shell/ThemeSelect.tsx';
import { fits, read, type ApiDocument, type Group, type Reference } from './model.ts';
import { Method, OperationPage } from './OperationPage.tsx';
import { Overview } from './Overview.tsx';
import { useDocsWords } from './words.ts';
import './docs.css';

async function load(signal: AbortSignal): Promise<Reference> {
  const response = await fetch('/v1/openapi.json', { signal });
  if (!response.ok) throw new Failure(response.status, '', '');
  return read((await response.json()) as ApiDocument);
}

export default function DocsPage() {
  const words = useDocsWords();
  const [, params] = useRoute('/docs/:operation');
  const document = useQuery({ queryKey: ['openapi'], queryFn: ({ signal }) => load(signal), staleTime: Infinity, gcTime: Infinity });
  const chosen = params?.operation ?? '';
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    void main.current?.scrollTo(0, 0); // newer browsers return a promise, which is no clean-up
  }, [chosen]);
  const operation = useMemo(() => document.data?.groups.flatMap((group) => group.operations).find((one) => one.id === chosen), [document.data, chosen]);
  useTitle(operation ? `${operation.method} ${operation.path}` : words.title);
  return (
    <div className="docs">
      <a className="skip" href="#reference">
        {words.skip}
      </a>
      <header>
        <Link href="/docs" className="docs-home">
          <Mark />
          <span>{words.title}</span>
        </Link>
        <div className="docs-look">
          <ThemeSelect />
          <LanguageSwitch />
          <a href="/" className="button">
            {words.back}
          </a>
        </div>
      </header>
      {document.data && <Navigation groups={document.data.groups} chosen={chosen} />}
      <main id="reference" ref={main} tabIndex={-1}>
        {document.isPending && <p role="status">{words.loading}</p>}
        {document.isError && (
          <p role="alert" className="problem">
            {words.failed}{' '}
            <button type="button" onClick={() => void document.refetch()}>
              {words.again}
            </button>
          </p>
        )}
        {document.data && (operation ? <OperationPage operation={operation} reference={document.data} /> : chosen ? <p role="alert">{words.unknown}</p> : <Overview reference={document.data} />)}
      </main>
    </div>
  );
}

function useTitle(title: string): void {
  useEffect(() => {
    const before = document.title;
    document.title = `${title} – Liminal`;
    return () => {
      document.title = before;
    };
  }, [title]);
}

/** All operations, or those with the words looked for. On a phone it is folded until it is wanted. */
function Navigation({ groups, chosen }: { groups: Group[]; chosen: string }) {
  const words = useDocsWords();
  const [, go] = useLocation();
  const [find, setFind] = useState('');
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => setOpen(false), [chosen]);
  useEffect(() => {
    function slash(event: globalThis.KeyboardEvent) {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).closest('input, textarea, select')) return;
      event.preventDefault();
      flushSync(() => setOpen(true)); // what is folded cannot be focused
      box.current?.focus();
    }
    window.addEventListener('keydown', slash);
    return () => window.removeEventListener('keydown', slash);
  }, []);
  const found = useMemo(
    () =>
      groups
        .map((group) => ({ ...group, operations: find.trim() ? group.operations.filter((one) => fits(one, find.trim())) : group.operations }))
        .filter((group) => group.operations.length > 0),
    [groups, find],
  );
  const number = found.reduce((sum, group) => sum + group.operations.length, 0);
  function press(event: KeyboardEvent) {
    if (event.key === 'Escape') setFind('');
    const first = found[0]?.operations[0];
    if (event.key === 'Enter' && find.trim() && first) go(`/docs/${first.id}`);
  }
  return (
    <nav aria-label={words.operations} className={open ? 'open' : ''}>
      <button type="button" className="docs-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        {words.operations}
      </button>
      <div className="docs-find">
        <label>
          <span>{words.find}</span>
          <input ref={box} type="search" value={find} onFocus={() => setOpen(true)} onChange={(event) => setFind(event.target.value)} onKeyDown={press} aria-describedby="docs-hint" />
        </label>
        <small id="docs-hint">{words.findHint}</small>
        <small role="status">{find.trim() ? (number > 0 ? words.found(number) : words.none) : ''}</small>
      </div>
      <div className="docs-list">
        <Link href="/docs" aria-current={chosen === '' ? 'page' : undefined}>
          {words.overview}
        </Link>
        {found.map((group) => (
          <section key={group.name} aria-labelledby={`group-${group.name}`}>
            <h2 id={`group-${group.name}`}>{group.name}</h2>
            <ul>
              {group.operations.map((one) => (
                <li key={one.id}>
                  <Link href={`/docs/${one.id}`} aria-current={one.id === chosen ? 'page' : undefined}>
                    <Method name={one.method} /> <span lang="en">{one.summary}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  );
}
