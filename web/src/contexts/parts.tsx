// Small pieces the lists of this page have in common.

import { useEffect, useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { useAttempt } from '../account/useAttempt.ts';
import type { Pages } from '../api/contexts.ts';
import { sentence } from '../i18n/errors.ts';
import { useWords } from '../i18n/index.ts';
import { Loading } from '../operate/parts.tsx';

/** A list that comes in pages: what there is, and a button for more of it. */
export function Paged<T>({ pages, nothing, children }: { pages: Pages<T>; nothing: string; children(all: T[]): ReactNode }) {
  const words = useWords();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<Element | null>(null);
  const had = useRef<number | null>(null); // shown when more was asked for
  const { isFetchingNextPage, hasNextPage } = pages;

  function more() {
    list.current = button.current?.previousElementSibling ?? null;
    had.current = list.current?.children.length ?? null;
    void pages.fetchNextPage();
  }

  useEffect(() => {
    if (isFetchingNextPage || had.current === null) return;
    regain(hasNextPage ? button.current : list.current?.children[had.current]?.querySelector<HTMLElement>('a, button'));
    had.current = null;
  }, [isFetchingNextPage, hasNextPage]);

  return (
    <>
      {pages.isError && (
        <div className="load-problem">
          <p role="alert" className="problem">
            {sentence(pages.error)}
          </p>
          <button type="button" onClick={() => void (pages.isFetchNextPageError ? pages.fetchNextPage() : pages.refetch())}>
            {words.tryAgain}
          </button>
        </div>
      )}
      {pages.isPending && <Loading />}
      {pages.all?.length === 0 && <p className="nothing">{nothing}</p>}
      {pages.all && pages.all.length > 0 && children(pages.all)}
      {hasNextPage && (
        <button ref={button} type="button" className="quiet" disabled={isFetchingNextPage} onClick={more}>
          {words.showMore}
        </button>
      )}
    </>
  );
}

/** Gives the focus to something near when what had it is gone; who has gone elsewhere stays there. */
export function regain(near: HTMLElement | null | undefined): void {
  if (document.activeElement === null || document.activeElement === document.body) near?.focus();
}

/** A title that can be renamed: whether it is just now, and the button the focus goes back to. */
export function useRenaming() {
  const [renaming, setRenaming] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return {
    renaming,
    button,
    begin: () => setRenaming(true),
    end() {
      flushSync(() => setRenaming(false)); // the button is not there meanwhile
      button.current?.focus();
    },
  };
}

interface MakeProps {
  title: string;
  act: string;
  /** Open from the beginning, as where nothing was made yet; undefined while that is not known. */
  open: boolean | undefined;
  /** Makes it; a refusal is told here, and what was typed stays. */
  onMake(form: FormData): Promise<unknown>;
  children: ReactNode;
}

/** A form to make something, closed until it is asked for. */
export function Make({ title, act, open, onMake, children }: MakeProps) {
  const attempt = useAttempt();
  const box = useRef<HTMLDetailsElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const problem = useId();
  const decided = useRef(false);
  useLayoutEffect(() => {
    if (open === undefined || decided.current) return;
    decided.current = true; // from then on the person opens and closes it
    if (open && box.current) box.current.open = true;
  }, [open]);
  return (
    <details ref={box} className="make panel">
      <summary>{title}</summary>
      <form
        ref={form}
        aria-describedby={attempt.problem ? problem : undefined}
        onSubmit={(event) => {
          event.preventDefault();
          const said = new FormData(event.currentTarget);
          void attempt.go(async () => {
            await onMake(said);
            form.current?.reset();
            if (box.current) box.current.open = false;
          });
        }}
      >
        {children}
        {attempt.problem && (
          <p id={problem} role="alert" className="problem">
            {attempt.problem}
          </p>
        )}
        <button type="submit" className="primary" disabled={attempt.busy || attempt.rest > 0}>
          {act}
        </button>
      </form>
    </details>
  );
}

interface RetitleProps {
  value: string;
  label: string;
  /** The longest title, in characters. */
  most?: number;
  onSave(title: string): Promise<unknown>;
  onClose(): void;
}

/** A title that becomes a field when it is to be another one. Esc leaves it as it is. */
export function Retitle({ value, label, most = 200, onSave, onClose }: RetitleProps) {
  const words = useWords();
  const attempt = useAttempt();
  const [title, setTitle] = useState(value);
  return (
    <form
      className="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt.go(async () => {
          if (title.trim() !== value) await onSave(title.trim());
          onClose();
        });
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onClose();
      }}
    >
      <input aria-label={label} value={title} maxLength={most} required autoFocus onChange={(event) => setTitle(event.target.value)} />
      <button type="submit" disabled={attempt.busy}>
        {words.save}
      </button>
      <button type="button" className="quiet" onClick={onClose}>
        {words.cancel}
      </button>
      {attempt.problem && (
        <p role="alert" className="problem">
          {attempt.problem}
        </p>
      )}
    </form>
  );
}
