import { test } from 'node:test';
import assert from 'node:assert/strict';
import table from '../../testdata/estimates.json';
import type * as api from './api';
import { clopperPearson, decoded, estimate, histogram, kindOf, order, paired, pairedCurve, perElement, perSample, quantile, ranks, student, verdict, type Curve, type Estimate, type Matrix } from './stats';
import { Random } from './random';

const near = (got: number, want: number, tol: number, what = '') =>
  assert.ok(Object.is(got, want) || Math.abs(got - want) <= tol, `${what}: ${got}, want ${want}`);

/** A matrix, some of its values missing. */
function matrix(r: Random, bytes: boolean, n = 1 + r.int(30), e = 1 + r.int(6), lo = -1, hi = 3): Matrix {
  const data = bytes
    ? Uint8Array.from({ length: n * e }, () => (r.chance(0.1) ? 255 : r.int(255)))
    : Float32Array.from({ length: n * e }, () => (r.chance(0.1) ? r.pick([NaN, Infinity, -Infinity]) : r.pick([r.normal(), 0.5, 1])));
  return { n, e, data, lo, hi };
}

const valueAt = (m: Matrix, i: number, k: number) => (m.data instanceof Uint8Array ? decoded(m, m.data[i * m.e + k]!) : m.data[i * m.e + k]!);

/** Slow references, straight from the definitions. */
function summary(all: number[]) {
  const x = all.filter(Number.isFinite).sort((a, b) => a - b);
  const mean = x.length ? x.reduce((a, b) => a + b, 0) / x.length : NaN;
  const sd = x.length < 2 ? NaN : Math.sqrt(x.reduce((s, v) => s + (v - mean) ** 2, 0) / (x.length - 1));
  const q = (p: number) => (x.length ? x.find((v) => x.filter((w) => w <= v).length >= p * x.length)! : NaN);
  return { n: x.length, missing: all.length - x.length, mean, sd, p10: q(0.1), p90: q(0.9), min: x[0] ?? NaN, max: x[x.length - 1] ?? NaN };
}

test('the distribution at an element', () => {
  const r = new Random(31);
  for (let round = 0; round < 200; round++) {
    const m = matrix(r, round % 2 === 0);
    const mask = r.chance(0.5) ? Uint8Array.from({ length: m.n }, () => r.int(2)) : null;
    const got = perElement(m, mask, 0.9);
    for (let k = 0; k < m.e; k++) {
      const want = summary(Array.from({ length: m.n }, (_, i) => i).filter((i) => !mask || mask[i]).map((i) => valueAt(m, i, k)));
      assert.deepEqual([got.n[k], got.missing[k]], [want.n, want.missing]);
      for (const f of ['mean', 'sd', 'p10', 'p90', 'min', 'max'] as const) near(got[f][k]!, want[f], 1e-12, f);
      if (want.n < 2) assert.ok(Number.isNaN(want.mean) ? Number.isNaN(got.lo[k]!) : got.lo[k] === -Infinity && got.hi[k] === Infinity);
      else near(got.hi[k]! - got.lo[k]!, 2 * student(want.n - 1, 0.9) * want.sd / Math.sqrt(want.n), 1e-12, 'interval');
    }
  }
  const many = { n: 3, e: 5000, data: Uint8Array.from({ length: 15_000 }, (_, k) => k % 255), lo: 0, hi: 254 };
  perElement(many).mean.forEach((v, k) => near(v, [0, 1, 2].reduce((s, i) => s + ((i * 5000 + k) % 255), 0) / 3, 1e-9, `element ${k} of many`));
});

test('quantiles of many values, in order, in few kinds and mixed', () => {
  const r = new Random(34);
  for (let round = 0; round < 60; round++) {
    const n = 50 + r.int(3000);
    const kinds = r.pick([2, 5, 1e9]);
    const all = Float32Array.from({ length: n }, (_, i) => (round % 3 === 0 ? i : round % 3 === 1 ? n - i : r.int(kinds) / kinds));
    const got = perElement({ n, e: 1, data: all, lo: 0, hi: 1 });
    const x = all.slice().sort();
    assert.deepEqual([got.min[0], got.p10[0], got.p90[0], got.max[0]], [x[0], x[Math.ceil(0.1 * n) - 1], x[Math.ceil(0.9 * n) - 1], x[n - 1]], `${n} values of ${kinds} kinds`);
  }
});

test('a set and the same one after others have been summed up', () => {
  const r = new Random(35);
  for (let round = 0; round < 40; round++) {
    const [a, b] = [matrix(r, true, 40, 5), matrix(r, true, 40, 5)];
    for (const share of [0, 3, 37, 40, 20, 39]) {
      const mask = Uint8Array.from({ length: 40 }, (_, i) => +(i < share));
      const alone = (m: Matrix) => ({ ...m, data: m.data.slice() });
      assert.deepEqual(perElement(a, mask), perElement(alone(a), mask));
      assert.deepEqual(pairedCurve(a, b, mask), pairedCurve(alone(a), alone(b), mask));
      const some = { ...alone(a), n: share, data: a.data.slice(0, share * 5) };
      assert.deepEqual(perElement(a, mask), perElement(some));
    }
  }
});

test('the distribution of differences', () => {
  const r = new Random(32);
  for (let round = 0; round < 200; round++) {
    const a = matrix(r, r.chance(0.7));
    const b = matrix(r, r.chance(0.7), a.n, a.e, r.pick([-1, -2]), 3);
    const mask = r.chance(0.5) ? Uint8Array.from({ length: a.n }, () => r.int(2)) : null;
    const got = pairedCurve(a, b, mask);
    for (let k = 0; k < a.e; k++) {
      const want = summary(Array.from({ length: a.n }, (_, i) => i).filter((i) => !mask || mask[i]).map((i) => valueAt(b, i, k) - valueAt(a, i, k)));
      assert.deepEqual([got.n[k], got.missing[k]], [want.n, want.missing]);
      for (const f of ['mean', 'sd', 'p10', 'p90', 'min', 'max'] as const) near(got[f][k]!, want[f], 1e-12, f);
    }
  }
});

test('a sample over its orbit', () => {
  const r = new Random(33);
  for (let round = 0; round < 200; round++) {
    const m = matrix(r, round % 2 === 0);
    const weights = r.chance(0.5) ? Float64Array.from({ length: m.e }, () => r.int(3) + 0.5) : null;
    const got = perSample(m, weights);
    for (let i = 0; i < m.n; i++) {
      const row = Array.from({ length: m.e }, (_, k) => valueAt(m, i, k));
      const finite = row.filter(Number.isFinite);
      assert.equal(got.missing[i], m.e - finite.length);
      near(got.min[i]!, finite.length ? Math.min(...finite) : NaN, 0, 'min');
      near(got.max[i]!, finite.length ? Math.max(...finite) : NaN, 0, 'max');
      assert.equal(got.argmin[i], finite.length ? row.indexOf(Math.min(...finite)) : -1);
      assert.equal(got.argmax[i], finite.length ? row.indexOf(Math.max(...finite)) : -1);
      if (finite.length < m.e) {
        assert.ok(Number.isNaN(got.mean[i]!) && Number.isNaN(got.variance[i]!), 'a hole is not averaged away');
        continue;
      }
      const w = weights ? [...weights] : row.map(() => 1);
      const total = w.reduce((a, b) => a + b, 0);
      const mean = row.reduce((s, v, k) => s + v * w[k]!, 0) / total;
      near(got.mean[i]!, mean, 1e-12, 'mean');
      near(got.variance[i]!, row.reduce((s, v, k) => s + w[k]! * (v - mean) ** 2, 0) / total, 1e-12, 'variance');
    }
  }
});

test("Student's quantiles", () => {
  // Tables of the t distribution, and closed forms for one and two degrees of freedom.
  for (const [df, confidence, want] of [
    [1, 0.95, 12.706204736], [2, 0.95, 4.302652730], [5, 0.99, 4.032142984], [10, 0.95, 2.228138852], [10, 0.9, 1.812461123], [30, 0.95, 2.042272456],
    [120, 0.99, 2.617421145], [999, 0.95, 1.962341461], [1e6, 0.95, 1.959966357], [3, 0.999, 12.92397864],
  ] as const) near(student(df, confidence), want, 2e-9 * want, `t of ${df}, ${confidence}`);
  for (const c of [1e-6, 0.1, 0.5, 0.9, 0.999, 0.9999999]) {
    near(student(1, c) / Math.tan((Math.PI * c) / 2), 1, 1e-8, 'Cauchy');
    near(student(2, c) / ((c * Math.SQRT2) / Math.sqrt(1 - c * c)), 1, 1e-8, 'two degrees');
  }
  assert.ok(Number.isNaN(student(0, 0.95)) && Number.isNaN(student(3, 1)));
});

test('paired differences are clustered by sample', () => {
  // Student's sleep data, 1908: the gain of ten patients under two drugs. The known result: mean 1.58, t = 4.0621, interval 0.70 to 2.46.
  const a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
  const b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
  const d = paired(a, b);
  near(d.mean, 1.58, 1e-12);
  near(d.mean / (d.sd / Math.sqrt(10)), 4.0621, 5e-5);
  near(d.lo, 0.7001142, 1e-6);
  near(d.hi, 2.4598858, 1e-6);
  assert.deepEqual([verdict(d, 'higher'), verdict(d, 'lower')], ['better', 'worse']);
  assert.deepEqual(verdict(paired(b, a), 'higher'), 'worse');
  assert.deepEqual(verdict(paired([1, 2, 3], [1, 3, 2]), 'higher'), 'no clear difference');
  assert.deepEqual(paired([...a, NaN, 1], [...b, 1, Infinity]), { ...d, missing: 2 });
  assert.deepEqual(paired([...a, 3], [...b, -90], Uint8Array.from([...a.map(() => 1), 0])), d);
  const one = paired([1], [2]);
  assert.deepEqual([one.lo, one.hi, verdict(one, 'higher')], [-Infinity, Infinity, 'no clear difference']);
  assert.ok(Number.isNaN(paired([], []).mean));
  assert.throws(() => paired([1], []), /cannot be paired/);
  // Many values of few samples are no more evidence than few: each sample counts once.
  const r = new Random(34);
  const rows = Array.from({ length: 6 }, () => r.normal());
  const m = (shift: number, e: number): Matrix => ({ n: 6, e, lo: 0, hi: 1, data: Float32Array.from({ length: 6 * e }, (_, k) => shift * rows[Math.floor(k / e)]!) });
  const widths = [1, 100].map((e) => paired(perSample(m(0, e)).mean, perSample(m(1, e)).mean)).map((x) => x.hi - x.lo);
  near(widths[0]!, widths[1]!, 1e-6);
});

test('an interval holds the mean as often as it says', () => {
  const r = new Random(35);
  let held = 0;
  for (let k = 0; k < 4000; k++) {
    const e = estimate(Array.from({ length: 8 }, () => r.normal()), null, 0.9);
    held += Number(e.lo <= 0 && 0 <= e.hi);
  }
  assert.ok(Math.abs(held / 4000 - 0.9) < 0.02, String(held / 4000));
});

/** Cases of the file: null is what is missing. */
const listed = (values: readonly api.Num[], times: number): number[] => Array.from({ length: times }, () => values.map((v) => v ?? NaN)).flat();
const metrics = new Map((table.metrics as unknown as api.Metric[]).map((m) => [m.name, m]));
const column = (values: number[], data: Float32Array | Float64Array = Float64Array.from(values)): Matrix => ({ n: values.length, e: 1, lo: 0, hi: 1, data: data as Float32Array });

/** An estimate as the file has it: whatever is not finite is null. */
function agrees(got: Omit<Estimate, 'missing'> & { missing?: number }, want: api.Estimate, missing: number, what: string) {
  assert.deepEqual([got.n, got.missing], [want.n, missing], what);
  for (const f of ['mean', 'sd', 'lo', 'hi'] as const) {
    const w = want[f];
    if (w === null) assert.ok(!Number.isFinite(got[f]), `${what}: ${f} is ${got[f]}, want none`);
    else near(got[f], w, 1e-9 * Math.max(1, Math.abs(w)), `${what}: ${f}`);
  }
}
const first = (c: Curve): Estimate => ({ n: c.n[0]!, missing: c.missing[0]!, mean: c.mean[0]!, sd: c.sd[0]!, lo: c.lo[0]!, hi: c.hi[0]! });

test('the estimates that the server and the page are both held to', () => {
  assert.ok(table.estimates.length > 50 && metrics.size > 12);
  for (const c of table.estimates as { what: string; metric: string; confidence: number; values: api.Num[]; times: number; missing: number; want: api.Estimate }[]) {
    const [values, kind, what] = [listed(c.values, c.times), kindOf(metrics.get(c.metric)!), `${c.metric}, ${c.what}`];
    agrees(estimate(values, null, c.confidence, kind), c.want, c.missing, what);
    agrees(estimate([...values, 0.7], Uint8Array.from([...values.map(() => 1), 0]), c.confidence, kind), c.want, c.missing, `${what}, among others`);
    agrees(first(perElement(column(values), null, c.confidence, kind)), c.want, c.missing, `${what}, at an element`);
    // Where the steps of bytes hold the values, the sums of bytes are the same.
    if (!values.every((v) => Number.isNaN(v) || v === 0 || v === 1)) continue;
    const bytes = { ...column(values), data: Uint8Array.from(values, (v) => (Number.isNaN(v) ? 255 : 254 * v)) };
    agrees(first(perElement(bytes, null, c.confidence, kind)), c.want, c.missing, `${what}, as bytes`);
  }
  const none = estimate([], null, 0.95, kindOf(metrics.get('accuracy')!));
  assert.ok(Number.isNaN(none.lo) && Number.isNaN(none.hi) && verdict(none, 'higher') === 'no clear difference');
});

test('the differences that the server and the page are both held to', () => {
  const said = new Set<string>();
  for (const c of table.pairs as { what: string; metric: string; confidence: number; a: api.Num[]; b: api.Num[]; times: number; missing: number; want: api.Estimate; verdict: string }[]) {
    const m = metrics.get(c.metric)!;
    const [a, b, what] = [listed(c.a, c.times), listed(c.b, c.times), `${c.metric}, ${c.what}`];
    const d = paired(a, b, null, c.confidence, kindOf(m));
    agrees(d, c.want, c.missing, what);
    assert.equal(verdict(d, m.better), c.verdict, what);
    agrees(first(pairedCurve(column(a), column(b), null, c.confidence, kindOf(m))), c.want, c.missing, `${what}, at an element`);
    said.add(`${m.better} ${c.verdict}`);
  }
  assert.deepEqual([...said].sort(), ['higher better', 'higher no clear difference', 'higher worse', 'lower better', 'lower no clear difference', 'lower worse']);
});

test('limits of proportions', () => {
  // 8 of 20 successes (Clopper and Pearson 1934): 0.1912 to 0.6395. With k = 0 and k = n the closed forms.
  const [lo, hi] = clopperPearson(8, 20, 0.95);
  near(lo, 0.19119, 5e-6);
  near(hi, 0.63946, 5e-6);
  near(clopperPearson(0, 10, 0.95)[1], 1 - Math.pow(0.025, 0.1), 1e-15);
  near(clopperPearson(10, 10, 0.95)[0], Math.pow(0.025, 0.1), 1e-15);
  // At the limits the tail of the binomial distribution is what is left of the confidence.
  const r = new Random(37);
  for (let round = 0; round < 200; round++) {
    const [n, confidence] = [2 + r.int(40), r.pick([0.5, 0.9, 0.95, 0.999])];
    const k = 1 + r.int(n - 1);
    const [p, q] = clopperPearson(k, n, confidence);
    const chance = (p: number, j: number) => {
      let c = 1;
      for (let i = 1; i <= j; i++) c *= (n - j + i) / i;
      return c * Math.pow(p, j) * Math.pow(1 - p, n - j);
    };
    const tail = (p: number, from: number, to: number) => Array.from({ length: to - from + 1 }, (_, j) => chance(p, from + j)).reduce((a, b) => a + b, 0);
    near(tail(p, k, n), (1 - confidence) / 2, 1e-10, `${k} of ${n}, lower`);
    near(tail(q, 0, k), (1 - confidence) / 2, 1e-10, `${k} of ${n}, upper`);
  }
  assert.ok(Number.isNaN(clopperPearson(3, 2, 0.95)[0]));
});

test('orders are stable, ties by index, NaN last', () => {
  const v = [3, NaN, 1, 3, -Infinity, 1, NaN, Infinity, 0, -0];
  assert.deepEqual([...order(v)], [4, 8, 9, 2, 5, 0, 3, 7, 1, 6]);
  assert.deepEqual([...order(v, true)], [7, 0, 3, 2, 5, 8, 9, 4, 1, 6]);
  const mask = Uint8Array.from([1, 1, 0, 1, 0, 0, 0, 0, 0, 1]);
  assert.deepEqual([...order(v, false, mask)], [9, 0, 3, 1]);
  assert.deepEqual([...ranks(order(v, false, mask), 10)], [1, 3, -1, 2, -1, -1, -1, -1, -1, 0]);
});

test('histograms', () => {
  const r = new Random(36);
  for (let round = 0; round < 100; round++) {
    const [bins, lo] = [1 + r.int(20), r.normal()];
    const hi = lo + 0.1 + r.float();
    const h0 = histogram([], bins, lo, hi);
    const edge = () => h0.edges[r.int(bins + 1)]!;
    const v = Array.from({ length: 200 }, () => r.pick([lo + 2 * r.normal(), NaN, lo, hi, edge(), edge() * (1 - 2 ** -53), edge() * (1 + 2 ** -52)]));
    const mask = Uint8Array.from(v, () => r.int(2));
    const h = histogram(v, bins, lo, hi, mask);
    const chosen = v.filter((_, i) => mask[i]);
    for (let k = 0; k < bins; k++) {
      assert.equal(h.counts[k], chosen.filter((x) => x >= h.edges[k]! && (x < h.edges[k + 1]! || (k === bins - 1 && x === h.edges[bins]))).length);
    }
    assert.equal(h.below, chosen.filter((x) => x < lo).length);
    assert.equal(h.above, chosen.filter((x) => x > hi).length);
    assert.equal(h.missing, chosen.filter(Number.isNaN).length);
  }
  assert.throws(() => histogram([], 3, 1, 1), RangeError);
});

test('quantiles are values', () => {
  assert.deepEqual([0, 0.1, 0.25, 0.5, 0.75, 1].map((q) => quantile([4, 1, NaN, 3, 2], q)), [1, 1, 1, 2, 3, 4]);
  assert.ok(Number.isNaN(quantile([], 0.5)) && Number.isNaN(quantile([1], 2)));
});

test('wrong sizes are refused', () => {
  const m: Matrix = { n: 2, e: 2, data: new Uint8Array(3), lo: 0, hi: 1 };
  assert.throws(() => perElement(m), /2 × 2 has 3/);
  assert.throws(() => perElement({ ...m, data: new Uint8Array(4) }, new Uint8Array(3)), /3 entries of a mask for 2/);
  assert.throws(() => perSample({ ...m, data: new Uint8Array(4) }, [1]), /1 weights for 2/);
});
