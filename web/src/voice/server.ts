// What the server hears and says (CHAT-21).

import { authorized } from '../api/call.ts';

/** What was said in a recording, as text. */
export async function transcribe(sound: Blob, signal: AbortSignal): Promise<string> {
  const form = new FormData();
  form.set('file', sound, `recording${extension(sound.type)}`);
  const response = await authorized('/v1/audio/transcriptions', { method: 'POST', headers: { Accept: 'application/json' }, body: form, signal }, 1);
  return ((await response.json()) as { text: string }).text.trim(); // OpenAI's shape, without the envelope
}

/** By which speech servers tell what a recording is. */
export function extension(type: string): string {
  const kind = type.split(';')[0]!.trim();
  return { 'audio/webm': '.webm', 'audio/ogg': '.ogg', 'audio/mp4': '.m4a' }[kind] ?? '';
}

/** A text spoken. */
export async function speak(input: string, signal: AbortSignal): Promise<ArrayBuffer> {
  const headers = { Accept: 'audio/mpeg, application/json', 'Content-Type': 'application/json' };
  const response = await authorized('/v1/audio/speech', { method: 'POST', headers, body: JSON.stringify({ input }), signal }, 1);
  return response.arrayBuffer();
}
