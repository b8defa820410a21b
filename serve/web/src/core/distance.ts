// How like the others, or how unlike them, a sample is: its curve beside the mean curve of the choice.

import type { Matrix } from './source';

/** Values one by one: one look into a table for every byte; what is no byte is its own value. */
function reader(m: Matrix): (p: number) => number {
  const { data } = m;
  if (!(data instanceof Uint8Array)) return (p) => data[p];
  const table = Float64Array.from({ length: 256 }, (_, v) => (v === 255 ? NaN : m.lo + ((m.hi - m.lo) * v) / 254));
  return (p) => table[data[p]];
}

/** The mean curve of the samples in the mask, NaN where none of them has a value. */
function meanCurve(m: Matrix, mask: ArrayLike<number>): Float64Array {
  const { n, e } = m, value = reader(m), mean = new Float64Array(e), count = new Float64Array(e);
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
  return mean;
}

/**
 * distances is how far the curve of each sample is from the mean curve of those in the mask: the root of the mean squared difference
 * over the orbit, in the unit of the metric. Weights are those of the mean over the orbit; none for equal ones. NaN without values.
 */
export function distances(m: Matrix, mask: ArrayLike<number>, weights: readonly number[]): Float32Array {
  const { n, e } = m, value = reader(m), mean = meanCurve(m, mask), out = new Float32Array(n);
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

/** What two curves are together, over the orbit: means, variances and the covariance. */
interface Together {
  x: number;
  y: number;
  xx: number;
  yy: number;
  xy: number;
}

/** A curve that varies by less than this part of its largest value is level: what is left is rounding. */
const level = 1e-6;

/**
 * The moments of two curves with the weights of the plan. Elements at which the second has no value count for neither. Null where the
 * first lacks a value that the second has, where fewer than three elements are left, and where one of the two is level: nothing is like it.
 */
export function together(x: (j: number) => number, y: ArrayLike<number>, weights: readonly number[]): Together | null {
  let [w, sx, sy, n] = [0, 0, 0, 0];
  const ends = [Infinity, -Infinity, Infinity, -Infinity];
  for (let j = 0; j < y.length; j++) {
    const [a, b, q] = [x(j), y[j], weights.length ? weights[j] : 1];
    if (b !== b) continue;
    if (!Number.isFinite(a) || !Number.isFinite(b)) return null;
    n++;
    w += q;
    sx += q * a;
    sy += q * b;
    ends[0] = Math.min(ends[0], a);
    ends[1] = Math.max(ends[1], a);
    ends[2] = Math.min(ends[2], b);
    ends[3] = Math.max(ends[3], b);
  }
  const flat = (lo: number, hi: number) => hi - lo <= level * Math.max(Math.abs(lo), Math.abs(hi));
  if (n < 3 || !(w > 0) || flat(ends[0], ends[1]) || flat(ends[2], ends[3])) return null;
  const [mx, my] = [sx / w, sy / w];
  let [xx, yy, xy] = [0, 0, 0];
  for (let j = 0; j < y.length; j++) {
    if (y[j] !== y[j]) continue;
    const [a, b, q] = [x(j) - mx, y[j] - my, weights.length ? weights[j] : 1];
    xx += q * a * a;
    yy += q * b * b;
    xy += q * a * b;
  }
  return xx > 0 && yy > 0 ? { x: mx, y: my, xx: xx / w, yy: yy / w, xy: xy / w } : null;
}

function likeness(m: Matrix, mask: ArrayLike<number>, weights: readonly number[], of: (t: Together) => number): Float32Array {
  const { n, e } = m, value = reader(m), mean = meanCurve(m, mask), out = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const t = together((j) => value(i * e + j), mean, weights);
    out[i] = t ? Math.max(-1, Math.min(1, of(t))) : NaN;
  }
  return out;
}

/**
 * correlations is how the curve of each sample goes with the mean curve of those in the mask: Pearson's coefficient over the orbit, −1 to 1,
 * whatever their level and size. NaN where a value is missing or a curve is level.
 */
export const correlations = (m: Matrix, mask: ArrayLike<number>, weights: readonly number[]): Float32Array => likeness(m, mask, weights, (t) => t.xy / Math.sqrt(t.xx * t.yy));

/**
 * similarities is how alike the curve of each sample and the mean curve of those in the mask are in level, spread and shape: the universal
 * index of Wang and Bovik (2002), SSIM without its constants, over the whole orbit as one window. 1 only for the same curve; −1 to 1.
 * NaN where a value is missing or a curve is level, which the constants of SSIM would call alike.
 */
export const similarities = (m: Matrix, mask: ArrayLike<number>, weights: readonly number[]): Float32Array =>
  likeness(m, mask, weights, (t) => {
    const [spread, place] = [(2 * t.xy) / (t.xx + t.yy), t.x * t.x + t.y * t.y];
    return place > 0 ? (spread * 2 * t.x * t.y) / place : spread;
  });
