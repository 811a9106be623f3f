import type { Sentence } from './gen.ts';

/** A refusal or a failure, with the sentence the server wrote for a person. */
export class Failure extends Error {
  /** The message taken apart, where the server did so. */
  said: Sentence | undefined;
  readonly status: number;
  readonly code: string;
  readonly details: unknown;
  /** Seconds until it makes sense to ask again; 0 when nothing says so. */
  readonly retryAfter: number;

  constructor(status: number, code: string, message: string, details?: unknown, retryAfter = 0) {
    super(message);
    this.retryAfter = retryAfter;
    this.name = 'Failure';
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** Nothing answered: the network or the server is away. */
  get unreachable(): boolean {
    return this.status === 0;
  }

  /** The member of the details that programs read: why, which field, or what is in the way. */
  detail(name: 'rule' | 'reason' | 'field' | 'ticket' | 'run_id'): string {
    const value = (this.details as Record<string, unknown> | null | undefined)?.[name];
    return typeof value === 'string' ? value : '';
  }
}

/** Reads a failure out of a response; the envelope first, then older forms (UI-35), and OpenAI's at its paths. */
export async function failureOf(response: Response): Promise<Failure> {
  const text = await response.text().catch(() => '');
  return failureFrom(response.status, text, secondsOf(response.headers.get('Retry-After')));
}

/** The seconds of a Retry-After; 0 where there is none. */
export function secondsOf(header: string | null): number {
  const seconds = Number(header ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : 0; // a date, from a proxy, counts as none
}

export function failureFrom(status: number, text: string, retryAfter = 0): Failure {
  try {
    const body = JSON.parse(text) as { error?: { code?: string; message?: string; details?: unknown; type?: string; said?: Sentence }; detail?: string };
    const message = body.error?.message ?? body.detail;
    // OpenAI's shape: its code says why, and the status what it is here.
    if (message && body.error?.type) {
      const { code } = body.error;
      return new Failure(status, codeOf(status), message, code === 'rate_limit_exceeded' ? { rule: code } : { reason: code }, retryAfter);
    }
    if (message) {
      const failure = new Failure(status, body.error?.code ?? codeOf(status), message, body.error?.details, retryAfter);
      failure.said = body.error?.said;
      return failure;
    }
  } catch {
    // Not JSON: a proxy or a crash answered. The status has to do.
  }
  return new Failure(status, codeOf(status), `HTTP ${status}`, undefined, retryAfter);
}

const statuses: Record<string, number> = {
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
};

/** A refusal that came as a frame: no status says what it is, its code does. */
export function failureOfCode(code: string, message: string, details?: unknown): Failure {
  const after = Number((details as { retry_after?: unknown } | null | undefined)?.retry_after ?? 0);
  return new Failure(statuses[code] ?? 500, code, message, details, Number.isFinite(after) && after > 0 ? Math.ceil(after) : 0);
}

function codeOf(status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not_found';
  if (status === 409) return 'conflict';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_error' : 'validation_error';
}
