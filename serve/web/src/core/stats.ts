/**
 * Statistics of values by sample and element, for the sets of samples that somebody chooses in the page. The words and rules are
 * those of the server, and both are held to the cases of testdata/estimates.json: a value that is not finite (NaN, infinite) is in no
 * mean and is counted; samples are the unit of every interval; a quantile is one of the values.
 */

import type * as api from './api';

/**
 * Values of one metric and model, row by row: n samples by e elements. Bytes stand for equally spaced values from lo (0) to hi
 * (254), 255 for what is missing; floats stand for themselves.
 */
export interface Matrix {
  n: number;
  e: number;
  data: Uint8Array | Float32Array;
  lo: number;
  hi: number;
}

/** Which samples count: 0 for those that do not; null for all. */
export type Mask = Uint8Array | null;

/** The value of a code of a matrix of bytes; NaN for 255. */
export const decoded = (m: { lo: number; hi: number }, code: number): number => (code === 255 ? NaN : m.lo + ((m.hi - m.lo) * code) / 254);

/** What an interval has to know of the values. */
export interface Kind {
  /** Between what they lie; infinite where nothing bounds them. */
  range: readonly [number, number];
  /** Every value is 0 or 1: means are proportions. */
  binary: boolean;
}

/** Values of which nothing is known. */
export const unbounded: Kind = { range: [-Infinity, Infinity], binary: false };

/** The values of a metric. */
export const kindOf = ({ range: [lo, hi], binary }: Pick<api.Metric, 'range' | 'binary'>): Kind => ({ range: [lo ?? -Infinity, hi ?? Infinity], binary: binary ?? false });

/** Differences of two values of a kind, which lie between those of the ends of its range. */
export const differing = ({ range: [lo, hi] }: Kind): Kind => ({ range: [lo - hi, hi - lo], binary: false });

/** An interval for the mean of the population that independent values come from. */
export interface Estimate {
  /** Finite values. */
  n: number;
  /** Others. */
  missing: number;
  /** NaN if there is no value. */
  mean: number;
  /** Standard deviation, with n-1; NaN below two values. */
  sd: number;
  /** The interval; all that is possible below two values, which tell nothing about their spread; NaN if there is no value. */
  lo: number;
  hi: number;
}

/** The distribution over samples at every element; lists have one entry per element. */
export interface Curve {
  n: Int32Array;
  missing: Int32Array;
  mean: Float64Array;
  sd: Float64Array;
  lo: Float64Array;
  hi: Float64Array;
  p10: Float64Array;
  p90: Float64Array;
  min: Float64Array;
  max: Float64Array;
}

function emptyCurve(e: number): Curve {
  const f = () => new Float64Array(e).fill(NaN);
  return { n: new Int32Array(e), missing: new Int32Array(e), mean: f(), sd: f(), lo: f(), hi: f(), p10: f(), p90: f(), min: f(), max: f() };
}

function check(m: Matrix, mask: Mask): void {
  if (m.data.length !== m.n * m.e) throw new RangeError(`a matrix of ${m.n} × ${m.e} has ${m.data.length} values`);
  if (mask && mask.length !== m.n) throw new RangeError(`${mask.length} entries of a mask for ${m.n} samples`);
}

/** The quantile q of n sorted values is the k-th, k = ⌈q·n⌉, at least the first (type 1 of Hyndman and Fan 1996). */
const rankOfQuantile = (q: number, n: number) => Math.max(1, Math.ceil(q * n));

/** The quantile q (0 to 1) of the finite values; NaN if there is none. */
export function quantile(values: ArrayLike<number>, q: number): number {
  const x = Float64Array.from(values).filter(Number.isFinite).sort();
  return x.length === 0 || !(q >= 0 && q <= 1) ? NaN : (x[rankOfQuantile(q, x.length) - 1] as number);
}

/** How many columns are counted at once, which bounds the memory for counts. */
const block = 2048;

/** Counts of all rows of arrays of bytes. A set of more than half of the rows is all of them less the others, which are fewer to read. */
const totals = new WeakMap<Uint8Array, WeakMap<Uint8Array, Uint32Array>>();

/** Adds rows from..to of columns lo..hi to counts by column and code, or takes them away. */
type Count = (i: number, lo: number, hi: number, counts: Uint32Array, by: 1 | -1) => void;

/** Counts the chosen rows of the bytes x, or of x and y, in columns lo..hi. Codes is how many codes there are. */
function tally(x: Uint8Array, y: Uint8Array, n: number, e: number, codes: number, mask: Mask, lo: number, hi: number, counts: Uint32Array, count: Count): void {
  let chosen = n;
  if (mask) for (let i = 0; i < n; i++) if (mask[i] === 0) chosen--;
  if (2 * chosen < n || e > block) {
    for (let i = 0; i < n; i++) if (!mask || mask[i] !== 0) count(i, lo, hi, counts, 1);
    return;
  }
  let of = totals.get(x);
  if (!of) totals.set(x, (of = new WeakMap()));
  let all = of.get(y);
  if (!all || all.length !== e * codes) {
    of.set(y, (all = new Uint32Array(e * codes)));
    for (let i = 0; i < n; i++) count(i, 0, e, all, 1);
  }
  counts.set(all.subarray(lo * codes, hi * codes));
  if (mask && chosen < n) for (let i = 0; i < n; i++) if (mask[i] === 0) count(i, lo, hi, counts, -1);
}

/** The distribution of the values of the chosen samples at every element. Confidence is that of lo and hi; kind says what the values are. */
export function perElement(m: Matrix, mask: Mask = null, confidence = 0.95, kind: Kind = unbounded): Curve {
  check(m, mask);
  const { n, e, data } = m;
  if (data instanceof Uint8Array) {
    const one: Count = (i, lo, hi, counts, by) => {
      for (let p = i * e + lo, end = i * e + hi, base = 0; p < end; p++, base += 256) counts[base + (data[p] as number)]! += by;
    };
    return counted(e, 256, (k) => decoded(m, k), (lo, hi, counts) => tally(data, data, n, e, 256, mask, lo, hi, counts, one), confidence, kind);
  }
  return gathered(n, e, mask, (i, k) => data[i * e + k] as number, confidence, kind);
}

/** The curve of values that are known by how often each code occurs; the last code is that of missing values. */
function counted(e: number, codes: number, value: (code: number) => number, count: (from: number, to: number, counts: Uint32Array) => void, confidence: number, kind: Kind): Curve {
  const out = emptyCurve(e);
  const values = Float64Array.from({ length: codes }, (_, k) => value(k));
  const width = Math.max(1, Math.min(e, Math.floor((block * 256) / codes)));
  const counts = new Uint32Array(width * codes);
  for (let from = 0; from < e; from += width) {
    const to = Math.min(from + width, e);
    counts.fill(0);
    count(from, to, counts);
    for (let k = from; k < to; k++) {
      const c = counts.subarray((k - from) * codes, (k - from + 1) * codes);
      let [n, sum] = [0, 0];
      for (let j = 0; j < codes - 1; j++) {
        n += c[j] as number;
        sum += (c[j] as number) * j;
      }
      out.n[k] = n;
      out.missing[k] = c[codes - 1] as number;
      if (n === 0) continue;
      // Values are linear in the codes, so their mean is that of the codes, exactly.
      const middle = sum / n;
      let squares = 0;
      for (let j = 0; j < codes - 1; j++) squares += (c[j] as number) * (j - middle) * (j - middle);
      const step = (values[1] as number) - (values[0] as number);
      const [ten, ninety] = [rankOfQuantile(0.1, n), rankOfQuantile(0.9, n)];
      for (let j = 0, below = 0; j < codes - 1; j++) {
        const here = c[j] as number;
        if (here === 0) continue;
        const v = values[j] as number;
        if (below === 0) out.min[k] = v;
        if (below < ten && below + here >= ten) out.p10[k] = v;
        if (below < ninety && below + here >= ninety) out.p90[k] = v;
        below += here;
        out.max[k] = v;
      }
      close(out, k, (values[0] as number) + step * middle, squares * step * step, confidence, kind);
    }
  }
  return out;
}

/** How many columns are collected at once: as many as lie in a cache line or two of the rows, which are far apart. */
const together = 16;

/** The curve of values that have to be collected element by element. */
function gathered(n: number, e: number, mask: Mask, value: (i: number, k: number) => number, confidence: number, kind: Kind): Curve {
  const out = emptyCurve(e);
  const columns = Array.from({ length: Math.min(e, together) }, () => new Float64Array(n));
  for (let from = 0; from < e; from += together) {
    const width = Math.min(together, e - from);
    for (let i = 0; i < n; i++) {
      if (mask && mask[i] === 0) continue;
      for (let j = 0; j < width; j++) {
        const k = from + j;
        const v = value(i, k);
        if (Number.isFinite(v)) (columns[j] as Float64Array)[out.n[k]!++] = v;
        else out.missing[k]!++;
      }
    }
    for (let j = 0; j < width; j++) {
      const k = from + j;
      const count = out.n[k] as number;
      if (count === 0) continue;
      const x = (columns[j] as Float64Array).subarray(0, count);
      let [sum, squares, lo, hi] = [0, 0, Infinity, -Infinity];
      for (let i = 0; i < count; i++) {
        const v = x[i] as number;
        sum += v;
        if (v < lo) lo = v;
        if (v > hi) hi = v;
      }
      const mean = sum / count;
      for (let i = 0; i < count; i++) squares += ((x[i] as number) - mean) * ((x[i] as number) - mean);
      out.min[k] = lo;
      out.max[k] = hi;
      const [ten, ninety] = [rankOfQuantile(0.1, count) - 1, rankOfQuantile(0.9, count) - 1];
      out.p10[k] = select(x, ten, 0);
      out.p90[k] = select(x, ninety, ten); // what is before ten is not greater
      close(out, k, mean, squares, confidence, kind);
    }
  }
  return out;
}

/** Puts the value in place that x would have at k if it were sorted, with none greater before it and none less behind, and returns it. What lies before from stays. */
function select(x: Float64Array, k: number, from: number): number {
  let [lo, hi] = [from, x.length - 1];
  while (hi - lo > 16) {
    // The middle one of three, so that values in order and values in few kinds take no longer.
    const [a, b, c] = [x[lo] as number, x[(lo + hi) >> 1] as number, x[hi] as number];
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    let [i, j] = [lo, hi];
    while (i <= j) {
      while ((x[i] as number) < pivot) i++;
      while ((x[j] as number) > pivot) j--;
      if (i <= j) {
        const t = x[i] as number;
        x[i++] = x[j] as number;
        x[j--] = t;
      }
    }
    if (k <= j) hi = j;
    else if (k >= i) lo = i;
    else return pivot;
  }
  x.subarray(lo, hi + 1).sort();
  return x[k] as number;
}

/** Fills in what follows from a mean and the sum of squares around it, with the extremes there already. */
function close(out: Curve, k: number, mean: number, squares: number, confidence: number, kind: Kind): void {
  const e = concluded(out.n[k] as number, out.missing[k] as number, mean, squares, out.min[k] as number, out.max[k] as number, kind, confidence);
  out.mean[k] = e.mean;
  out.sd[k] = e.sd;
  out.lo[k] = e.lo;
  out.hi[k] = e.hi;
}

/**
 * The mean of n values with its interval, as EstimateOf of the Go package run/fold has it: Clopper and Pearson's for values that are 0 or
 * 1, else Student's (1908), which ends where the range does. Values that are all the same would make Student's certain of anything: if
 * they are bounded, [a, b], a sample has the value v with a probability of at least q, the lower limit for n of n successes, and is at
 * worst at either end otherwise, so the mean lies in [qv + (1-q)a, qv + (1-q)b].
 */
function concluded(n: number, missing: number, mean: number, squares: number, min: number, max: number, kind: Kind, confidence: number): Estimate {
  if (n === 0) return { n, missing, mean: NaN, sd: NaN, lo: NaN, hi: NaN };
  const [a, b] = kind.range;
  const alike = min === max;
  if (alike) [mean, squares] = [min, 0]; // sums round
  const sd = n < 2 ? NaN : Math.sqrt(squares / (n - 1));
  let [lo, hi] = [-Infinity, Infinity];
  if (kind.binary) [lo, hi] = clopperPearson(Math.round(mean * n), n, confidence);
  else if (n > 1 && alike && Number.isFinite(a) && Number.isFinite(b)) {
    const [q] = clopperPearson(n, n, confidence);
    [lo, hi] = [q * mean + (1 - q) * a, q * mean + (1 - q) * b];
  } else if (n > 1) {
    const half = (student(n - 1, confidence) * sd) / Math.sqrt(n);
    [lo, hi] = [mean - half, mean + half];
  }
  return { n, missing, mean, sd, lo: Math.max(lo, a), hi: Math.min(hi, b) };
}

/** What the orbits of single samples come to; lists have one entry per sample, of the mask's others too. */
export interface PerSample {
  /** Mean over the orbit; NaN if a value is missing, since leaving it out would flatter or blame the model. */
  mean: Float64Array;
  /** Variance over the orbit, divided by the sum of the weights; NaN like the mean. */
  variance: Float64Array;
  /** The least finite value and its element, the first of several; NaN and -1 if there is none. */
  min: Float64Array;
  argmin: Int32Array;
  /** The greatest finite value and its element. */
  max: Float64Array;
  argmax: Int32Array;
  /** Values that are missing. */
  missing: Int32Array;
}

/** The statistics of every sample over its orbit, under weights of the elements or equal ones. */
export function perSample(m: Matrix, weights: ArrayLike<number> | null = null): PerSample {
  check(m, null);
  if (weights && weights.length !== m.e) throw new RangeError(`${weights.length} weights for ${m.e} elements`);
  const f = () => new Float64Array(m.n).fill(NaN);
  const out: PerSample = { mean: f(), variance: f(), min: f(), argmin: new Int32Array(m.n).fill(-1), max: f(), argmax: new Int32Array(m.n).fill(-1), missing: new Int32Array(m.n) };
  const table = m.data instanceof Uint8Array ? Float64Array.from({ length: 256 }, (_, k) => decoded(m, k)) : null;
  const row = new Float64Array(m.e);
  for (let i = 0; i < m.n; i++) {
    let [sum, weight, lo, hi, argmin, argmax, missing] = [0, 0, Infinity, -Infinity, -1, -1, 0];
    for (let k = 0; k < m.e; k++) {
      const raw = m.data[i * m.e + k] as number;
      const v = table ? (table[raw] as number) : raw;
      row[k] = v;
      if (!Number.isFinite(v)) {
        missing++;
        continue;
      }
      const w = weights ? (weights[k] as number) : 1;
      sum += w * v;
      weight += w;
      if (v < lo) [lo, argmin] = [v, k];
      if (v > hi) [hi, argmax] = [v, k];
    }
    out.missing[i] = missing;
    if (argmin < 0) continue;
    [out.min[i], out.argmin[i], out.max[i], out.argmax[i]] = [lo, argmin, hi, argmax];
    if (missing > 0 || !(weight > 0)) continue;
    const mean = sum / weight;
    let squares = 0;
    for (let k = 0; k < m.e; k++) {
      const d = (row[k] as number) - mean;
      squares += (weights ? (weights[k] as number) : 1) * d * d;
    }
    out.mean[i] = mean;
    out.variance[i] = squares / weight;
  }
  return out;
}

/** The mean of independent values of a kind, one per sample, with its interval. */
export function estimate(values: ArrayLike<number>, mask: Mask = null, confidence = 0.95, kind: Kind = unbounded): Estimate {
  let [n, missing, sum, min, max] = [0, 0, 0, Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (mask && mask[i] === 0) continue;
    const v = values[i] as number;
    if (Number.isFinite(v)) {
      n++;
      sum += v;
      if (v < min) min = v;
      if (v > max) max = v;
    } else missing++;
  }
  const mean = sum / n;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    if (mask && mask[i] === 0) continue;
    const v = values[i] as number;
    if (Number.isFinite(v)) squares += (v - mean) * (v - mean);
  }
  return concluded(n, missing, mean, squares, min, max, kind, confidence);
}

/**
 * The mean difference of two models on the same samples, b less a, clustered by sample: the values of one sample along its orbit
 * depend on each other, so each sample is reduced to its own mean first. a and b are those means, one per sample, and kind says what
 * the values are. A sample without one of them is counted as missing.
 */
export function paired(a: ArrayLike<number>, b: ArrayLike<number>, mask: Mask = null, confidence = 0.95, kind: Kind = unbounded): Estimate {
  if (a.length !== b.length) throw new RangeError(`${a.length} and ${b.length} samples cannot be paired`);
  return estimate(Float64Array.from({ length: a.length }, (_, i) => (b[i] as number) - (a[i] as number)), mask, confidence, differing(kind));
}

/** What an interval of b less a is evidence of. */
export function verdict(d: Estimate, better: 'higher' | 'lower'): 'better' | 'worse' | 'no clear difference' {
  if (d.lo > 0) return better === 'higher' ? 'better' : 'worse';
  if (d.hi < 0) return better === 'higher' ? 'worse' : 'better';
  return 'no clear difference';
}

/** The distribution over samples of the difference of two models, b less a, at every element. kind says what the values of both are. */
export function pairedCurve(a: Matrix, b: Matrix, mask: Mask = null, confidence = 0.95, kind: Kind = unbounded): Curve {
  check(a, mask);
  check(b, mask);
  if (a.n !== b.n || a.e !== b.e) throw new RangeError(`${a.n} × ${a.e} and ${b.n} × ${b.e} cannot be paired`);
  const [x, y] = [a.data, b.data];
  if (x instanceof Uint8Array && y instanceof Uint8Array && a.lo === b.lo && a.hi === b.hi) {
    const step = (a.hi - a.lo) / 254;
    const { n, e } = a;
    const one: Count = (i, lo, hi, counts, by) => {
      for (let p = i * e + lo, end = i * e + hi, base = 0; p < end; p++, base += 510) {
        const [u, v] = [x[p] as number, y[p] as number];
        counts[base + (u === 255 || v === 255 ? 509 : v - u + 254)]! += by;
      }
    };
    return counted(e, 510, (k) => step * (k - 254), (lo, hi, counts) => tally(x, y, n, e, 510, mask, lo, hi, counts, one), confidence, differing(kind));
  }
  const value = (m: Matrix) => (m.data instanceof Uint8Array ? (p: number) => decoded(m, m.data[p] as number) : (p: number) => m.data[p] as number);
  const [u, v] = [value(a), value(b)];
  return gathered(a.n, a.e, mask, (i, k) => v(i * a.e + k) - u(i * a.e + k), confidence, differing(kind));
}

/** Indexes of the values in ascending order, or descending; equal values by index, NaN last in both. Those outside the mask are left out. */
export function order(values: ArrayLike<number>, descending = false, mask: Mask = null): Int32Array {
  const index: number[] = [];
  for (let i = 0; i < values.length; i++) if (!mask || mask[i] !== 0) index.push(i);
  const sign = descending ? -1 : 1;
  return Int32Array.from(index.sort((i, j) => {
    const [x, y] = [values[i] as number, values[j] as number];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || i - j;
    return x < y ? -sign : x > y ? sign : i - j;
  }));
}

/** The place of each of n samples in an order, from 0; -1 for those that are not in it. */
export function ranks(order: Int32Array, n: number): Int32Array {
  const out = new Int32Array(n).fill(-1);
  order.forEach((i, k) => (out[i] = k));
  return out;
}

/** How many values fall where. */
export interface Histogram {
  counts: Int32Array;
  /** One more than there are counts: bin k holds edges[k] <= v < edges[k+1], the last one also its end. */
  edges: Float64Array;
  below: number;
  above: number;
  /** Values that are NaN. */
  missing: number;
}

/** Counts the values in equal bins from lo to hi. */
export function histogram(values: ArrayLike<number>, bins: number, lo: number, hi: number, mask: Mask = null): Histogram {
  if (!(bins >= 1 && hi > lo)) throw new RangeError(`${bins} bins from ${lo} to ${hi}`);
  const edges = Float64Array.from({ length: bins + 1 }, (_, k) => (k === bins ? hi : lo + ((hi - lo) * k) / bins));
  const out: Histogram = { counts: new Int32Array(bins), edges, below: 0, above: 0, missing: 0 };
  for (let i = 0; i < values.length; i++) {
    if (mask && mask[i] === 0) continue;
    const v = values[i] as number;
    if (Number.isNaN(v)) out.missing++;
    else if (v < lo) out.below++;
    else if (v > hi) out.above++;
    else {
      let k = Math.min(bins - 1, Math.floor(((v - lo) / (hi - lo)) * bins));
      // The division rounds; the edges decide.
      while (k > 0 && v < (edges[k] as number)) k--;
      while (k < bins - 1 && v >= (edges[k + 1] as number)) k++;
      out.counts[k]!++;
    }
  }
  return out;
}

/** The (1+confidence)/2 quantile of Student's distribution with df degrees of freedom: an interval is the mean ± this · s/√n. */
export function student(df: number, confidence: number): number {
  if (!(df > 0 && confidence > 0 && confidence < 1)) return NaN;
  // The elements of an orbit have as many values as each other where none is missing.
  if (last.df === df && last.confidence === confidence) return last.t;
  const t = quantileOfStudent(df, confidence);
  last = { df, confidence, t };
  return t;
}

let last = { df: NaN, confidence: NaN, t: NaN };

function quantileOfStudent(df: number, confidence: number): number {
  // P(|T| > t) = I(df/(df+t²); df/2, 1/2). Of the two probabilities the smaller one keeps its digits.
  const below = (t: number) =>
    confidence < 0.5 ? incompleteBeta((t * t) / (df + t * t), 0.5, df / 2) < confidence : incompleteBeta(df / (df + t * t), df / 2, 0.5) > 1 - confidence;
  let [lo, hi] = [0, 2];
  while (below(hi) && hi < 1e150) [lo, hi] = [hi, 2 * hi];
  for (let k = 0; k < 100 && hi - lo > 1e-14 * hi; k++) {
    const t = (lo + hi) / 2;
    if (below(t)) lo = t;
    else hi = t;
  }
  return (lo + hi) / 2;
}

/**
 * The interval for a probability of which k of n independent trials were successes: its coverage is at least the confidence for every
 * probability (Clopper and Pearson 1934). Without trials it is everything from 0 to 1.
 */
export function clopperPearson(k: number, n: number, confidence: number): [number, number] {
  if (!(n >= 0 && k >= 0 && k <= n && confidence > 0 && confidence < 1)) return [NaN, NaN];
  const tail = (1 - confidence) / 2;
  const lo = k === 0 ? 0 : k === n ? Math.pow(tail, 1 / n) : quantileOfBeta(tail, k, n - k + 1);
  // What is above p of one distribution is below 1 - p of the mirrored one, and a small tail keeps its digits.
  const hi = k === n ? 1 : k === 0 ? -Math.expm1(Math.log(tail) / n) : 1 - quantileOfBeta(tail, n - k, k + 1);
  return [lo, hi];
}

/** The p with I(p; a, b) = q. Steps of Newton, halving where one would leave what is left. */
function quantileOfBeta(q: number, a: number, b: number): number {
  const scale = logGamma(a) + logGamma(b) - logGamma(a + b);
  let [lo, hi, p] = [0, 1, a / (a + b)];
  for (let k = 0; k < 200 && hi - lo > 1e-14 * hi; k++) {
    const d = incompleteBeta(p, a, b) - q;
    if (d === 0) return p;
    if (d < 0) lo = p;
    else hi = p;
    const next = p - d / Math.exp((a - 1) * Math.log(p) + (b - 1) * Math.log1p(-p) - scale);
    if (Math.abs(next - p) <= 1e-13 * p) return next;
    p = next > lo && next < hi ? next : (lo + hi) / 2;
  }
  return p;
}

/** ln Γ(x), x > 0 (Lanczos 1964, the coefficients of g = 7, n = 9). */
function logGamma(x: number): number {
  const c = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const z = x - 1;
  let sum = c[0] as number;
  for (let k = 1; k < 9; k++) sum += (c[k] as number) / (z + k);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The regularised incomplete beta function I(x; a, b), by its continued fraction (Lentz 1976; NIST DLMF 8.17.22). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - (logGamma(a) + logGamma(b) - logGamma(a + b))) / a;
  const tiny = 1e-300;
  let f = 1;
  let c = 1;
  let d = 0;
  for (let k = 0; k < 1000; k++) {
    const m = k >> 1;
    const n = k === 0 ? 1 : k % 2 === 0 ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)) : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + n * d;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = 1 + n / c;
    if (Math.abs(c) < tiny) c = tiny;
    f *= c * d;
    if (Math.abs(1 - c * d) < 1e-15) break;
  }
  return front * (f - 1);
}
