// How long drawing and choosing take: the median of 15, in milliseconds. Run by hand; no test asserts a time.
import { colorize, luts } from './color';
import { fit, lasso, radius, scatter } from './raster';

const median = (f: () => void) => {
  const t = Array.from({ length: 15 }, () => {
    const start = performance.now();
    f();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  return (t[7] as number).toFixed(2).padStart(8);
};

console.log('  points   colors   raster    lasso   radius');
for (const n of [10_000, 100_000, 1_000_000]) {
  const [w, h] = [700, 700];
  const xy = new Float32Array(2 * n);
  const v = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const [t, r] = [i * 2.399963, Math.sqrt(i / n)]; // a sunflower
    xy[2 * i] = r * Math.cos(t) + 0.1 * Math.sin(i);
    xy[2 * i + 1] = r * Math.sin(t);
    v[i] = (i * 0.61803) % 1;
  }
  const poly: number[] = [];
  for (let k = 0; k < 60; k++) {
    const t = (k / 60) * 2 * Math.PI;
    poly.push(0.2 + 0.5 * Math.cos(t) * (1 + 0.2 * Math.sin(k)), 0.5 * Math.sin(t));
  }
  const [colors, mask, px] = [new Uint32Array(n), new Uint8Array(n), new Uint32Array(w * h)];
  const color = median(() => colorize(v, { lo: 0, hi: 1 }, luts.viridis, 0, colors));
  const choose = median(() => lasso(xy, poly, mask));
  const at = fit(xy, w, h, 12);
  const draw = median(() => scatter(px, { width: w, height: h, xy, at, colors, mask, dim: 0xffd9d6d3, radius: radius(n, 1) }));
  console.log(String(n).padStart(8), color, draw, choose, String(radius(n, 1)).padStart(8));
}
