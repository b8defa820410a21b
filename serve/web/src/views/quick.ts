// Aggregates that the page works out by itself, at once, while the exact ones are on their way.

import { at, type Matrix } from '../core/source';

/** Mean and spread over samples at every element, n of them with a value. */
export interface Quick {
  n: Uint32Array;
  mean: Float64Array;
  lo: Float64Array;
  hi: Float64Array;
}

/** Mean, 10th and 90th percentile over the samples of a mask. Missing values are in none of them. */
export function quick(m: Matrix, mask: ArrayLike<number>): Quick {
  const q: Quick = { n: new Uint32Array(m.e), mean: new Float64Array(m.e).fill(NaN), lo: new Float64Array(m.e).fill(NaN), hi: new Float64Array(m.e).fill(NaN) };
  const rows: number[] = [];
  for (let i = 0; i < m.n; i++) if (mask[i]) rows.push(i);
  const column = new Float64Array(rows.length);
  for (let k = 0; k < m.e; k++) {
    let c = 0;
    let sum = 0;
    for (const i of rows) {
      const v = at(m, i, k);
      if (Number.isNaN(v)) continue;
      column[c++] = v;
      sum += v;
    }
    q.n[k] = c;
    if (!c) continue;
    const sorted = column.subarray(0, c).sort();
    q.mean[k] = sum / c;
    q.lo[k] = quantile(sorted, 0.1);
    q.hi[k] = quantile(sorted, 0.9);
  }
  return q;
}

function quantile(sorted: Float64Array, p: number): number {
  const t = p * (sorted.length - 1);
  const k = Math.floor(t);
  return sorted[k] + (t - k) * ((sorted[k + 1] ?? sorted[k]) - sorted[k]);
}
