/** A refusal or a failure, with the sentence the server wrote for a person. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: unknown;

  constructor(status: number, code: string, message: string, details?: unknown) {
    super(message);
    this.name = 'Failure';
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** Nothing answered: the network or the server is away. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

/** Reads a failure out of a response; the envelope first, then older forms (UI-35). */
export async function failureOf(response: Response): Promise<Failure> {
  const text = await response.text().catch(() => '');
  return failureFrom(response.status, text);
}

export function failureFrom(status: number, text: string): Failure {
  try {
    const body = JSON.parse(text) as { error?: { code?: string; message?: string; details?: unknown }; detail?: string };
    const message = body.error?.message ?? body.detail;
    if (message) return new Failure(status, body.error?.code ?? codeOf(status), message, body.error?.details);
  } catch {
    // Not JSON: a proxy or a crash answered. The status has to do.
  }
  return new Failure(status, codeOf(status), `HTTP ${status}`);
}

function codeOf(status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not_found';
  if (status === 409) return 'conflict';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server_error' : 'validation_error';
}
