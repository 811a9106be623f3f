// The shapes the server speaks. They are generated from its document (gen.ts);
// here stands what the document leaves open, and the names the client uses.

import type * as gen from './gen.ts';

export type {
  Account,
  ActiveRun,
  Budget,
  Context,
  Credentials,
  Document,
  Enrolment,
  Linked,
  Option,
  Passage,
  Pinned,
  Provider,
  Proved,
  Run,
  SignedInOn,
  TraceStep,
  UIConfig,
  Uploaded,
  Use,
  User,
} from './gen.ts';

export type Limits = gen.FileLimits;

/** Why a run failed; empty where nobody knows. */
export type RunProblem = gen.RunError & { retry_at?: string };

/** What a person used of a day or a month, and may use (OBS-09). */
export type Spending = gen.Usage;

/** What a turn was accepted as. */
export type Accepted = gen.ChatAnswer;

/** A sign-up gives credentials, or a mail whose link comes first. */
export type SignedUp = (gen.Credentials & { confirm_email?: false }) | { confirm_email: true };

/** One of the two: six digits of the authenticator, or a recovery code. */
export type Proof = { code: string } | { recovery_code: string };

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

export type Conversation = gen.Conversation;

export type PatchStatus = gen.Patch['status'];
export type PatchStage = gen.Patch['stage'];

/** What a person may do with a proposed change. */
export type Act = keyof gen.May;

/** A workflow that turns may run. */
export type Workflow = gen.Artifact;

export type Citation = gen.Citation;
export type Segment = gen.Segment;

/** What a turn used. */
export type Usage = gen.UsageData;

/** What the assistant's graph says of its answer beside the text. */
export interface AnswerData {
  action?: string;
  inference_confidence?: string | null;
  retrieval_confidence?: string | null;
  web_query?: string | null;
  docs?: { id: string; title: string }[] | null;
  [key: string]: unknown;
}

export interface MessageMeta {
  type?: string;
  model?: string;
  usage?: Usage;
  suppressed?: boolean;
  data?: AnswerData;
  truncated?: boolean;
  cancelled?: boolean;
  interrupt_id?: string;
  [key: string]: unknown;
}

export interface Message extends gen.Message {
  content_struct: (gen.Content & { citations?: Citation[] | null }) | null;
  meta: MessageMeta;
}

/** A JSON Schema, as far as a page reads it; written by a person, so that any member may be anything. */
export interface JsonSchema {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  default?: unknown;
  format?: unknown;
  properties?: unknown;
  required?: unknown;
  items?: unknown;
  [keyword: string]: unknown;
}

/** A question of a conversation: a chat knows no others. One that has just been asked does not say where it stands. */
export interface Interrupt extends gen.InterruptData {
  conversation_id: string;
  answer_schema?: JsonSchema | null;
}

export interface Thread extends Omit<gen.Thread, 'pending_interrupt' | 'pending_interrupts'> {
  data: Message[];
  pending_interrupt: Interrupt | null;
  pending_interrupts: Interrupt[];
}

/** One event of a run's log (STREAM-03): a frame without what only its way needed. Its kind says what its data is. */
export type RunEvent = Of<Exclude<gen.Frame, { event: 'ping' }>>;

type Of<F> = F extends { event: infer Kind; data: infer Data } ? { seq: number; kind: Kind; data: Data; node?: string; attempt?: number } : never;

/** What the events of a kind say. */
export type DataOf<Kind extends RunEvent['kind']> = Extract<RunEvent, { kind: Kind }>['data'];
