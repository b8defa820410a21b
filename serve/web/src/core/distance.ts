// How unlike the others a sample is.

import type { Matrix } from './source';

/**
 * distances is how far the curve of each sample is from the mean curve of those in the mask: the root of the mean squared difference
 * over the orbit, in the unit of the metric. Weights are those of the mean over the orbit; none for equal ones. NaN without values.
 */
export function distances(m: Matrix, mask: ArrayLike<number>, weights: readonly number[]): Float32Array {
  const { n, e, data } = m;
  // One look into a table for every byte; what is no byte is its own value.
  const table = data instanceof Uint8Array ? Float64Array.from({ length: 256 }, (_, v) => (v === 255 ? NaN : m.lo + ((m.hi - m.lo) * v) / 254)) : null;
  const value = table ? (p: number) => table[data[p]] : (p: number) => data[p];
  const mean = new Float64Array(e), count = new Float64Array(e), out = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    if (!mask[i]) continue;
    for (let j = 0; j < e; j++) {
      const v = value(i * e + j);
      if (v === v) {
        mean[j] += v;
        count[j]++;
      }
    }
  }
  for (let j = 0; j < e; j++) mean[j] /= count[j];
  for (let i = 0; i < n; i++) {
    let t = 0, w = 0;
    for (let j = 0; j < e; j++) {
      const d = value(i * e + j) - mean[j], q = weights.length ? weights[j] : 1;
      if (d === d) {
        t += q * d * d;
        w += q;
      }
    }
    out[i] = w > 0 ? Math.sqrt(t / w) : NaN;
  }
  return out;
}
