// How long the aggregates of a lasso take: the median of 15, in milliseconds. Run by hand; no test asserts a time.
import { pairedCurve, perElement, perSample, type Matrix } from './stats';

const median = (f: () => void) => {
  const t = Array.from({ length: 15 }, () => {
    const start = performance.now();
    f();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  return (t[7] as number).toFixed(2).padStart(12);
};

console.log('   samples  elements type   perElement   perSample  pairedCurve');
for (const [n, e] of [[10_000, 72], [10_000, 360], [100_000, 72], [10_000, 1089]] as const) {
  for (const bytes of [true, false]) {
    const data = bytes ? Uint8Array.from({ length: n * e }, (_, k) => (k * 7919) % 255) : Float32Array.from({ length: n * e }, (_, k) => ((k * 7919) % 10_007) / 10_007);
    const m: Matrix = { n, e, data, lo: 0, hi: 1 };
    const mask = Uint8Array.from({ length: n }, (_, i) => (i % 3 ? 1 : 0));
    console.log(String(n).padStart(10), String(e).padStart(9), bytes ? 'u8 ' : 'f32', median(() => perElement(m, mask)), median(() => perSample(m)), median(() => pairedCurve(m, m, mask)));
    if (n * e > 5e6) break;
  }
}
