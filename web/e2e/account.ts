// What the specs about accounts need beside the stage: an authenticator, a
// mailbox, and the ways in and out.

import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';

export const password = 'correct horse battery'; // what enter() gives everybody

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A one-time code (RFC 6238: SHA-1, six digits, 30 s), some steps from now. A code counts once, and one step early. */
export function code(secret: string, steps = 0): string {
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const mac = createHmac('sha1', key).update(counter).digest();
  const at = mac.readUInt8(19) & 15;
  return String((mac.readUInt32BE(at) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

/** The link to a page of the client in the newest letter to an address; waits for a letter after the ones known. */
export async function linkFor(email: string, page: 'reset' | 'verify', known = 0): Promise<string> {
  let links: string[] = [];
  await expect
    .poll(() => {
      links = lettersTo(email).flatMap((letter) => new RegExp(`/${page}#[A-Z2-7]+`).exec(letter) ?? []);
      return links.length;
    })
    .toBeGreaterThan(known);
  return links.at(-1)!;
}

/** Letters to an address, the oldest first; none before the first letter, which makes the folder and is sent after the answer. */
function lettersTo(email: string): string[] {
  const folder = process.env['LETTERS'] ?? '';
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.name.endsWith('.eml') ? [entry.name] : []));
  const letters = names.toSorted().map((name) => readFileSync(join(folder, name), 'utf8'));
  // Quoted-printable, as far as links need it.
  return letters.filter((letter) => letter.includes(email)).map((letter) => letter.replaceAll('=\r\n', '').replaceAll('=3D', '='));
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
}

/** Gives a name and a password; what comes then is the test's. */
export async function knock(page: Page, email: string, secret = password): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(secret);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function security(page: Page) {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('dialog', { name: 'Account' }).getByRole('link', { name: 'Settings' }).click();
  const part = page.getByRole('region', { name: 'Security' });
  await expect(part.getByText('This one')).toBeVisible();
  return part;
}

/** Puts a second factor to use. */
export async function secure(page: Page): Promise<{ secret: string; recovery: string[] }> {
  const part = await security(page);
  await part.getByRole('button', { name: 'Turn on' }).click();
  const secret = (await part.locator('.secret code').innerText()).replaceAll(/\s/g, '');
  await part.getByLabel('Six-digit code').fill(code(secret));
  await part.getByRole('button', { name: 'Turn on' }).click();
  const codes = part.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await expect(codes).toHaveCount(10);
  const recovery = await codes.allInnerTexts();
  await part.getByRole('button', { name: 'I have kept them' }).click();
  await expect(part.getByText('10 recovery codes are left')).toBeVisible();
  return { secret, recovery };
}

export async function inside(page: Page): Promise<void> {
  // Exactly: at the door there is “Create account”.
  await expect(page.getByRole('button', { name: 'Account', exact: true })).toBeVisible();
}
