// How a view looks, held to how it looked. A screenshot is compared as a small
// picture of it: fonts are drawn differently by every build of a browser, and
// times, ids and figures are different in every run, so that single pixels say
// nothing. What is left at a fifth or a third of the size is where things stand
// and which colours they have, and that is what breaks without anybody meaning it.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, type Page, type TestInfo } from '@playwright/test';

const folder = fileURLToPath(new URL('views/', import.meta.url));
const update = process.env['VIEWS'] === 'update';

const cellSize = 6; // pixels of the small picture that are compared as one: 30 of a desk's screen, 18 of a phone's
const tolerance = 20; // of 255: how far the colour of a cell may go
const most = 0.06; // the share of cells that may go further

interface Compared {
  png: string; // the small picture, base64
  off: number; // the share of cells that differ; 1 where the sizes do
}

/** Fails where a view does not look like its picture in views/. VIEWS=update makes the pictures anew. */
export async function looksLike(page: Page, name: string, shrink: number, info: TestInfo): Promise<void> {
  const shot = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64');
  const file = `${folder}${name}.png`;
  const known = existsSync(file);
  const before = known ? readFileSync(file).toString('base64') : '';
  // In a page of its own, which no policy binds.
  const bench = await page.context().newPage();
  const { png, off } = await bench.evaluate(compare, { shot, before, shrink, cell: cellSize, step: tolerance });
  await bench.close();
  if (update) {
    mkdirSync(folder, { recursive: true });
    if (!known || off > most / 3) writeFileSync(file, Buffer.from(png, 'base64')); // what looks the same stays as it is
    return;
  }
  await info.attach(`${name}.png`, { body: Buffer.from(png, 'base64'), contentType: 'image/png' });
  expect.soft(known, `there is no picture of ${name}; VIEWS=update makes one`).toBe(true);
  if (known) expect.soft(off, `${name} does not look as it did: the share of it that differs`).toBeLessThanOrEqual(most);
}

/** Runs in the browser. */
async function compare({ shot, before, shrink, cell, step }: { shot: string; before: string; shrink: number; cell: number; step: number }): Promise<Compared> {
  const read = async (base64: string) => createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
  const draw = (image: ImageBitmap, by: number) => {
    const canvas = new OffscreenCanvas(Math.round(image.width / by), Math.round(image.height / by));
    const brush = canvas.getContext('2d')!;
    brush.imageSmoothingQuality = 'high';
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  };
  /** The mean colour of each cell. */
  const cells = (canvas: OffscreenCanvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, width, height);
    const across = Math.ceil(width / cell);
    const sums = Array.from({ length: across * Math.ceil(height / cell) }, () => [0, 0, 0, 0]);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const sum = sums[Math.floor(y / cell) * across + Math.floor(x / cell)]!;
        for (let c = 0; c < 3; c++) sum[c]! += data[(y * width + x) * 4 + c]!;
        sum[3]!++;
      }
    }
    return sums.map((sum) => sum.slice(0, 3).map((one) => one / sum[3]!));
  };
  const is = draw(await read(shot), shrink);
  const bytes = new Uint8Array(await (await is.convertToBlob({ type: 'image/png' })).arrayBuffer());
  const png = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  if (!before) return { png, off: 1 };
  const was = draw(await read(before), 1);
  if (was.width !== is.width || was.height !== is.height) return { png, off: 1 };
  const [a, b] = [cells(was), cells(is)];
  const differ = a.filter((one, index) => one.some((value, c) => Math.abs(value - b[index]![c]!) > step));
  return { png, off: differ.length / a.length };
}
