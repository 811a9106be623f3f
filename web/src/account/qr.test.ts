import { expect, it } from 'vitest';
import decodeQR from 'qr/decode.js';
import { drawQR } from './qr.ts';

const uri = 'otpauth://totp/Liminal:ada%40example.org?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Liminal&algorithm=SHA1&digits=6&period=30';

/** Paints the path as a camera would see it: a picture of so many points a module. */
function painted({ size, path }: { size: number; path: string }, scale: number) {
  const side = size * scale;
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)) {
    for (let down = 0; down < scale; down++) {
      for (let right = 0; right < Number(width) * scale; right++) data.fill(0, 4 * ((Number(y) * scale + down) * side + Number(x) * scale + right), 4 * ((Number(y) * scale + down) * side + Number(x) * scale + right) + 3);
    }
  }
  return { width: side, height: side, data };
}

// Requirements: AUTH-12
it('a camera reads from the drawing what was written', () => {
  expect(decodeQR(painted(drawQR(uri), 4))).toBe(uri);
});

it('three corners have finders and the border is quiet', () => {
  const { size, path } = drawQR('HELLO WORLD');
  expect(size).toBe(21 + 8); // version 1
  expect(path).toContain('M4 4h7v1H4z');
  expect(path).toContain('M18 4h7v1H18z');
  expect(path).toContain('M4 24h7v1H4z');
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)) {
    expect(Math.min(Number(x), Number(y))).toBeGreaterThanOrEqual(4);
    expect(Math.max(Number(x) + Number(width), Number(y) + 1)).toBeLessThanOrEqual(size - 4);
  }
});
