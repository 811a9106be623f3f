// The API by its operations: what one takes and gives is typed by the document
// (gen.ts), and an address is never put together by hand.

import { dataOf } from './call.ts';
import { places, type Ops } from './gen.ts';

export type Op = keyof Ops;

/** What an operation gives. */
export type Data<O extends Op> = Ops[O]['data'];

/** What an operation takes as its body. */
export type Body<O extends Op> = Ops[O] extends { body?: infer B } ? Exclude<B, undefined> : never;

/** A query may say that it has nothing to say of a parameter. */
type Loose<Q> = { [K in keyof Q]: Q[K] | null };

/** An address is text: a number in it may come out of another one. */
type Segments<P> = { [K in keyof P]: P[K] | string };

type Parts<O extends Op> = (Ops[O] extends { path: infer P } ? { path: Segments<P> } : unknown) &
  (Ops[O] extends { query: infer Q } ? (Partial<Q> extends Q ? { query?: Loose<Q> } : { query: Loose<Q> }) : unknown) &
  (Ops[O] extends { body: infer B } ? { body: B } : Ops[O] extends { body?: infer B } ? { body?: B } : unknown);

interface Manner {
  signal?: AbortSignal;
  /** Names a write so that trying it again cannot do it twice (API-05). */
  key?: string;
  /** A failure is an answer: it is not tried again. */
  once?: boolean;
}

/** What is to be said to ask for an operation, and how. */
export type Asking<O extends Op> = Parts<O> & Manner;

/** Nothing need be said where everything that can be said is optional. */
type Rest<O extends Op> = Partial<Asking<O>> extends Asking<O> ? [asking?: Asking<O>] : [asking: Asking<O>];

/** What an operation gives, without its envelope; a refusal is a Failure. */
export function ask<O extends Op>(op: O, ...[asking]: Rest<O>): Promise<Data<O>> {
  const { path, query, body, signal, key, once } = (asking ?? {}) as Manner & { path?: Values; query?: Values; body?: unknown };
  const [method, template] = places[op];
  return dataOf<Data<O>>(method, address(template, path, query), { body, signal, key, once });
}

type Values = Record<string, unknown>;

/** Where an operation is. A parameter of the path is one segment, whatever is in it; a query without a value is left out. */
export function address(template: string, path: Values = {}, query: Values = {}): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, path[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${filled}?${text}` : filled;
}

/** Dots alone would be walked by the browser: another operation would be asked. */
function segment(name: string, value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value);
  if (text === '' || text === '.' || text === '..') throw new Error(`no value for {${name}}`);
  return encodeURIComponent(text);
}
