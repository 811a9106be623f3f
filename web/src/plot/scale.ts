// How far an axis reaches, and where things stand on it.

/** The round figure an axis ends with, not under the largest value: 1, 2, 4, 6, 8 or 10 times a power of ten, so that its half is round as well. */
export function topOf(values: readonly number[], least = 1): number {
  const largest = Math.max(least, ...values.filter((value) => Number.isFinite(value)));
  const power = 10 ** Math.floor(Math.log10(largest));
  const step = [1, 2, 4, 6, 8, 10].find((times) => times * power >= largest * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** Where a column begins and how wide it is, in percent of the plot. A gap never takes more than a fifth. */
export function columnOf(index: number, count: number): { x: number; width: number } {
  const room = 100 / Math.max(1, count);
  const width = Math.min(room * 0.8, 8);
  return { x: index * room + (room - width) / 2, width };
}

/** The middle of a column, in percent. */
export function middleOf(index: number, count: number): number {
  return ((index + 0.5) * 100) / Math.max(1, count);
}

/** A line through points; where a value is missing it breaks off. One that stands alone makes none. */
export function lineOf(values: readonly (number | null)[], top: number): string {
  let path = '';
  let pen = false;
  values.forEach((value, index) => {
    if (value === null) {
      pen = false;
      return;
    }
    const [x, y] = [middleOf(index, values.length), 100 - (value / top) * 100];
    path += `${pen ? 'L' : 'M'}${round(x)} ${round(y)}`;
    pen = true;
  });
  return path;
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}

/** Which of many labels are written: the first, the last, and as many between as there is room for. */
export function labelled(count: number, most = 3): number[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: most }, (_, index) => Math.round((index * (count - 1)) / (most - 1)));
}
