// A QR code as one path of an SVG: it is drawn in this page, so that the secret
// in it goes to nobody who makes pictures, and no picture has to be let in.

import encodeQR from 'qr';

export interface Drawing {
  /** Modules along each side, the quiet border among them. */
  size: number;
  /** Every dark run of a row as a rectangle, one module a unit. */
  path: string;
}

const quiet = 4; // modules around it (ISO/IEC 18004)

/** The code of a text. A phone that sees a part of it badly still reads it: a sixth may be lost (level M). */
export function drawQR(text: string): Drawing {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: quiet });
  return { size: rows.length, path: rows.map(runs).join('') };
}

function runs(row: boolean[], y: number): string {
  let path = '';
  for (let x = 0; x < row.length; x++) {
    if (!row[x]) continue;
    const start = x;
    while (row[x + 1]) x++;
    path += `M${start} ${y}h${x - start + 1}v1H${start}z`;
  }
  return path;
}
