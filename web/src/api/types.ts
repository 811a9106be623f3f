// The shapes the server speaks, as the contract of issue 2 gives them.

export interface User {
  id: string;
  email: string;
  handle?: string;
  role: string;
  plan?: string;
  locale?: string;
  /** The address is yet to be confirmed. */
  unverified?: boolean;
  mfa_enabled?: boolean;
}

export interface Credentials {
  user: User;
  access_token: string;
  session_id: string;
  session_expires_at: string;
}

/** A sign-up gives credentials, or a mail whose link comes first. */
export type SignedUp = (Credentials & { confirm_email?: false }) | { confirm_email: true };

/** One of the two: six digits of the authenticator, or a recovery code. */
export type Proof = { code: string } | { recovery_code: string };

/** A session that has shown its second factor; the codes are told once, when it is put to use. */
export interface Proved extends Credentials {
  recovery_codes?: string[] | null;
  recovery_codes_left: number;
}

export interface FactorState {
  enabled: boolean;
  recovery_codes_left: number;
}

export interface Enrolment {
  secret: string;
  otpauth_uri: string;
  qr: string; // a data: URL of a PNG
}

export interface Provider {
  name: string;
  label: string;
}

export interface Linked {
  provider: string;
  email: string;
  linked_at: string;
}

export interface SignedInOn {
  id: string;
  client: string;
  user_agent: string;
  address: string;
  signed_in_at: string;
  used_at: string;
  expires_at: string;
  current: boolean;
}

export interface UIConfig {
  version: string;
  model: { name: string; generative: boolean };
  temporal_ui: { base: string; namespace: string } | null;
  first_run: boolean;
  sign_up: boolean;
  upload: Limits;
}

export interface Limits {
  max_bytes: number;
  extensions: string[];
}

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

export interface Conversation {
  id: string;
  title: string;
  status: string;
  active_context_id?: string | null;
  created_at: string;
  updated_at: string;
  pending: boolean;
}

/** A workflow that turns may run; the schema is the artifact's document. */
export interface Workflow {
  id: string;
  type: string;
  name: string;
  visibility: string;
  owner_id?: string | null;
  schema?: { title?: unknown } | null;
}

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

export interface Segment {
  type: string;
  text?: string;
  name?: string;
  arguments?: unknown;
  result?: unknown;
  duration_ms?: number;
  status?: string;
  /** redaction: what was taken out, in a few words, and which rules said so */
  reason?: string;
  policy?: string;
}

export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  /** of all classes, those from caches too */
  tokens_used?: number;
  /** null: no price is known */
  cost_usd?: number | null;
  [key: string]: unknown;
}

/** What a person used of a day or a month, and may use (OBS-09). */
export interface Use {
  tokens_used: number;
  cost_usd: number;
}

export interface Spending {
  today: Use;
  month: Use;
  /** 0: no bound */
  budget: { tokens_per_day: number; usd_per_month: number };
  today_renews_at: string;
  month_renews_at: string;
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

export interface Message {
  id: string;
  role: 'user' | 'assistant' | 'system' | 'tool';
  sender: string;
  content: string;
  content_struct?: { segments?: Segment[] | null; citations?: Citation[] | null } | null;
  seq: number;
  created_at: string;
  run_id?: string | null;
  meta?: MessageMeta | null;
}

export interface Option {
  id: string;
  label: string;
}

export interface Interrupt {
  interrupt_id: string;
  run_id: string;
  conversation_id: string;
  interrupt_type: string;
  message: string;
  options: Option[] | null;
  answer_schema?: { type?: string } | null;
  created_at: string;
  expires_at?: string | null;
}

export interface ActiveRun {
  id: string;
  status: string;
  request_id: string;
  last_seq: number;
}

export interface Thread {
  data: Message[];
  next_cursor: string | null;
  pending_interrupt: Interrupt | null;
  pending_interrupts?: Interrupt[] | null;
  active_run: ActiveRun | null;
}

export interface Accepted {
  conversation_id: string;
  user_message_id: string;
  run_id: string;
}

export interface TraceStep {
  node: string;
  type: string;
  started?: string;
  ended?: string;
  outcome?: string;
}

/** Why a run failed: the sentence for people, and for programs the code and what it says more closely. */
export interface RunProblem {
  code: string;
  message: string;
  node?: string;
  reason?: string;
}

export interface Run {
  id: string;
  kind: string;
  status: string;
  workflow_id: string;
  trace?: TraceStep[] | { steps?: TraceStep[] | null } | null;
  error?: RunProblem | null;
  created_at: string;
  started_at?: string | null;
  ended_at?: string | null;
  temporal_url?: string | null;
}

export interface Context {
  id: string;
  name: string;
  description?: string;
  visibility: string;
  documents: number;
  chunks: number;
  created_at: string;
}

export interface Document {
  id: string;
  context_id: string;
  title: string;
  path: string;
  mime: string;
  size: number;
  status: 'waiting' | 'reading' | 'ready' | 'failed' | 'skipped';
  error?: string;
  pages?: number;
  chunks?: number;
  chunks_done?: number;
  run_id?: string;
}

export interface Passage {
  title: string;
  start: number;
  end: number;
  before: string;
  quote: string;
  after: string;
  heading?: string;
  page?: number;
  length: number;
}

export interface Uploaded {
  file: { path: string; name: string; size: number };
  document?: Document;
  run_id?: string;
}

/** One event of a run's log (STREAM-03). */
export interface RunEvent {
  seq: number;
  kind: string;
  data: unknown;
  node?: string;
  attempt?: number;
}
