// A page that is one list: its head with filters, what went wrong, its rows, and more of them.

import type { ReactNode } from 'react';
import { sentence } from '../i18n/errors.ts';
import { Loading } from './parts.tsx';

/** The pages of a list as they are read, one after the other. */
interface Pages {
  isError: boolean;
  isPending: boolean;
  error: unknown;
  data: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

interface ListingProps {
  title: string;
  filters: ReactNode;
  pages: Pages;
  /** What is said when nothing is in the list. */
  nothing: string;
  more: string;
  /** The rows; null: there are none. */
  children: ReactNode;
}

export function Listing({ title, filters, pages, nothing, more, children }: ListingProps) {
  return (
    <>
      <header className="list-head">
        <h1>{title}</h1>
        {filters}
      </header>
      {pages.isError && (
        <p role="alert" className="problem">
          {sentence(pages.error)}
        </p>
      )}
      {pages.isPending && <Loading />}
      {Boolean(pages.data) && !children && <p className="nothing">{nothing}</p>}
      {children}
      {pages.hasNextPage && (
        <button type="button" className="more-rows" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {more}
        </button>
      )}
    </>
  );
}

interface ChooserProps<T extends string> {
  label: string;
  /** What stands for no choice. */
  any: string;
  value: T | '';
  options: [T, string][];
  onChoose(value: T | ''): void;
}

/** One filter: a value of several, or any. */
export function Chooser<T extends string>({ label, any, value, options, onChoose }: ChooserProps<T>) {
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.target.value as T | '')}>
        <option value="">{any}</option>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
