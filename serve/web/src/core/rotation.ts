// Rotations of space as people and charts name them: rotation vectors in degrees, right-handed. Pure functions.

import type { Axis, Element } from './api';

/** Unit quaternion: w, x, y, z. */
export type Quat = readonly [number, number, number, number];

/** A vector of space. */
export type Vec3 = readonly [number, number, number];

/** Where a chart of motions of space keeps its coordinates; -1 where it has none. */
export interface Spatial {
  r: number;
  inversion: number;
  t: number;
}

const known = new WeakMap<readonly Axis[], Spatial | null>();

/** The rotation vector, the inversion and the shift of a chart that has nothing else; null for other charts. */
export function spatial(chart: readonly Axis[]): Spatial | null {
  let s = known.get(chart);
  if (s === undefined) known.set(chart, (s = find(chart)));
  return s;
}

function find(chart: readonly Axis[]): Spatial | null {
  const s = { r: -1, inversion: -1, t: -1 };
  for (let i = 0; i < chart.length; ) {
    const three = (kind: string) => i + 3 <= chart.length && chart.slice(i, i + 3).every((a) => a.kind?.name === kind);
    if (three('vector') && s.r < 0) [s.r, i] = [i, i + 3];
    else if (three('length') && s.t < 0) [s.t, i] = [i, i + 3];
    else if (chart[i].kind?.name === 'inversion' && s.inversion < 0) [s.inversion, i] = [i, i + 1];
    else return null;
  }
  return s.r >= 0 ? s : null;
}

/** The rotation vector of an element. */
export const vector = (s: Spatial, g: Element): Vec3 => [g[s.r], g[s.r + 1], g[s.r + 2]];

/** The angle of a rotation in degrees, 0 to 180 in the chart. */
export const angle = (v: Vec3): number => Math.hypot(v[0], v[1], v[2]);

const rad = Math.PI / 180;

/** The quaternion of a rotation vector. */
export function toQuat(v: Vec3): Quat {
  const a = angle(v);
  if (!(a > 0)) return [1, 0, 0, 0];
  const s = Math.sin((a / 2) * rad) / a;
  return [Math.cos((a / 2) * rad), v[0] * s, v[1] * s, v[2] * s];
}

/** The rotation vector of a quaternion, of the shorter way round; at half a turn the first component that is not 0 is positive. */
export function fromQuat(q: Quat): Vec3 {
  let [w, x, y, z] = q;
  if (w < 0) [w, x, y, z] = [-w, -x, -y, -z];
  const n = Math.hypot(x, y, z);
  if (n < 1e-14) return [0, 0, 0];
  const a = (2 * Math.atan2(n, w)) / rad;
  let k = a / n;
  if (a > 180 - 1e-9) {
    const first = [x, y, z].find((c) => Math.abs(c) > 1e-9) ?? 1;
    if (first < 0) k = -k;
  }
  return [x * k, y * k, z * k];
}

/** The product of two quaternions: b acts first. */
export const mul = (a: Quat, b: Quat): Quat => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
  a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
  a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
];

/** A vector after a rotation. */
export function turned(q: Quat, v: Vec3): Vec3 {
  const [w, x, y, z] = q;
  const [tx, ty, tz] = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

/** The angle between two rotations in degrees, 0 to 180. */
export function between(a: Vec3, b: Vec3): number {
  const [p, q] = [toQuat(a), toQuat(b)];
  const d = mul([p[0], -p[1], -p[2], -p[3]], q);
  return (2 * Math.atan2(Math.hypot(d[1], d[2], d[3]), Math.abs(d[0]))) / rad;
}

/** An element after h acted on it, both of the same chart: the rotation of h turns what g has turned, moved and inverted. */
export function after(s: Spatial, h: Element, g: Element): number[] {
  const out = [...g];
  const q = toQuat(vector(s, h));
  const v = fromQuat(mul(q, toQuat(vector(s, g))));
  for (let k = 0; k < 3; k++) out[s.r + k] = v[k];
  const flip = s.inversion >= 0 && h[s.inversion] ? -1 : 1;
  if (s.inversion >= 0) out[s.inversion] = (g[s.inversion] + h[s.inversion]) % 2;
  if (s.t >= 0) {
    const t = turned(q, [flip * g[s.t], flip * g[s.t + 1], flip * g[s.t + 2]]);
    for (let k = 0; k < 3; k++) out[s.t + k] = t[k] + h[s.t + k];
  }
  return out;
}

/** A rotation vector in the range of its chart, which ends at half a turn. */
export function wrapped(v: Vec3): Vec3 {
  const a = angle(v);
  return a <= 180 && !(a > 180 - 1e-9) ? v : fromQuat(toQuat(v));
}

/** How a motion of space is said: "90° about x, inverted, shifted by (1, 0, -2)". */
export function motionWords(s: Spatial, g: Element, number: (v: number, k: number) => string, ratio: (v: number) => string): string {
  const parts: string[] = [];
  const v = vector(s, g);
  const t = angle(v);
  if (t > 1e-6) {
    const at = v.findIndex((c) => Math.abs(Math.abs(c / t) - 1) < 1e-9);
    parts.push(`${number(t, s.r)}° about ${at >= 0 ? `${v[at] < 0 ? '−' : ''}${'xyz'[at]}` : triple([v[0] / t, v[1] / t, v[2] / t], ratio)}`);
  }
  if (s.inversion >= 0 && g[s.inversion]) parts.push('inverted');
  if (s.t >= 0 && (g[s.t] || g[s.t + 1] || g[s.t + 2])) parts.push(`shifted by ${triple([g[s.t], g[s.t + 1], g[s.t + 2]], (c) => number(c, s.t))}`);
  return parts.join(', ') || 'identity';
}

const triple = (v: readonly number[], text: (v: number) => string): string => `(${v.map((c) => text(Math.abs(c) < 5e-4 ? 0 : c)).join(', ')})`;
