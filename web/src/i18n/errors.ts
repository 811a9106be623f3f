import { Failure } from '../api/failure.ts';
import { words } from './index.ts';

/** What is said to a person about an error: the server's own sentence, where it wrote one. */
export function sentence(error: unknown): string {
  if (error instanceof Failure) return error.unreachable ? words().unreachable : error.message;
  return String(error);
}
