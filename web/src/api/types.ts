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
export type RunProblem = gen.RunError;

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

/** A workflow that turns may run. */
export type Workflow = gen.Artifact;

export interface Citation {
  n: number;
  document_id: string;
  context_id: string;
  chunk_id: string;
  title: string;
  path: string;
  heading?: string;
  page?: number;
  start: number;
  end: number;
  text: string;
  score?: number;
}

export type Segment = gen.Segment;

export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  /** of all classes, those from caches too */
  tokens_used?: number;
  /** null: no price is known */
  cost_usd?: number | null;
  [key: string]: unknown;
}

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

/** A question of a conversation: a chat knows no others. */
export interface Interrupt extends gen.Interrupt {
  conversation_id: string;
  answer_schema?: { type?: string } | null;
}

export interface Thread extends gen.Thread {
  data: Message[];
  pending_interrupt: Interrupt | null;
  pending_interrupts: Interrupt[];
}

/** One event of a run's log (STREAM-03). */
export interface RunEvent {
  seq: number;
  kind: string;
  data: unknown;
  node?: string;
  attempt?: number;
}
