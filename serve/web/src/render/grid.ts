// Shifts as a map: where each element lies, dx to the right and dy down. Cells are as wide as the plan is sparse there. Pure functions, by
// which every map of a run is drawn, those of all samples and those of one.

import type { Element } from '../core/api';

/** One axis of a map: the coordinates of its cells, ascending, and the edges between them in cells, from 0 to the number of cells. */
export interface Lane {
  at: readonly number[];
  edges: readonly number[];
  /** All cells are equally wide. */
  even: boolean;
}

const distinct = (v: number[]): number[] => [...new Set(v)].sort((a, b) => a - b);

/** The axis over some coordinates: edges lie in the middle between neighbors, and the outer cells are as wide on both sides. */
export function lane(coordinates: readonly number[]): Lane {
  const at = distinct([...coordinates]);
  const n = at.length;
  if (n < 2) return { at, edges: n ? [0, 1] : [0], even: true };
  const steps = at.slice(1).map((v, k) => v - at[k]);
  const even = steps.every((s) => Math.abs(s - steps[0]) <= 1e-6 * Math.abs(steps[0]));
  const middles = at.slice(1).map((v, k) => (v + at[k]) / 2);
  const lo = at[0] - steps[0] / 2;
  const hi = at[n - 1] + steps[n - 2] / 2;
  const edges = even ? at.map((_, k) => k) : [lo, ...middles].map((v) => ((v - lo) / (hi - lo)) * n);
  return { at, edges: [...edges, n], even };
}

/** Where a coordinate lies on an axis, in cells; beyond the outer cells it goes on. */
export function along(l: Lane, v: number): number {
  const n = l.at.length;
  if (n < 2) return 0.5;
  const middle = (k: number) => (l.edges[k] + l.edges[k + 1]) / 2;
  let k = l.at.findIndex((x) => x >= v);
  if (k < 0) k = n - 1;
  if (k === 0) k = 1;
  return middle(k - 1) + ((v - l.at[k - 1]) / (l.at[k] - l.at[k - 1])) * (middle(k) - middle(k - 1));
}

/** The coordinate at a place of an axis, within its first and last one. */
export function back(l: Lane, u: number): number {
  const n = l.at.length;
  if (n < 2) return l.at[0] ?? 0;
  const middle = (k: number) => (l.edges[k] + l.edges[k + 1]) / 2;
  let k = 0;
  while (k < n - 2 && u > middle(k + 1)) k++;
  const t = (u - middle(k)) / (middle(k + 1) - middle(k));
  return l.at[k] + Math.max(0, Math.min(1, t)) * (l.at[k + 1] - l.at[k]);
}

/** The cell at a place of an axis. */
export function cellAt(l: Lane, u: number): number {
  let k = 0;
  while (k < l.at.length - 1 && u >= l.edges[k + 1]) k++;
  return k;
}

/** The widest map in pixels where cells are uneven. */
const finest = 512;

/** How many pixels an axis is drawn with: one for each cell if they are even, else so many that the narrowest has two. */
export function pixelsOf(l: Lane): number {
  const n = l.at.length;
  if (l.even || n < 2) return Math.max(1, n);
  let least = Infinity;
  for (let k = 0; k < n; k++) least = Math.min(least, l.edges[k + 1] - l.edges[k]);
  return Math.min(finest, Math.ceil((2 * n) / least));
}

/** For each pixel of a map, row by row from the top, the index of the element that lies there, -1 for none. */
export function cells(elements: readonly Element[], cols: Lane, rows: Lane): { w: number; h: number; of: Int32Array } {
  const [w, h] = [pixelsOf(cols), pixelsOf(rows)];
  const [nc, nr] = [cols.at.length, rows.at.length];
  const table = new Int32Array(nc * nr).fill(-1);
  const c = new Map(cols.at.map((v, k) => [v, k]));
  const r = new Map(rows.at.map((v, k) => [v, k]));
  elements.forEach((e, k) => (table[(r.get(e[1]) as number) * nc + (c.get(e[0]) as number)] = k));
  const of = new Int32Array(w * h);
  const column = Array.from({ length: w }, (_, x) => cellAt(cols, ((x + 0.5) / w) * nc));
  for (let y = 0; y < h; y++) {
    const row = cellAt(rows, ((y + 0.5) / h) * nr) * nc;
    for (let x = 0; x < w; x++) of[y * w + x] = table[row + column[x]];
  }
  return { w, h, of };
}
