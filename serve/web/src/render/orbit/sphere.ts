// Geometry of rotations on discs, and figures of rotations by their angle: pure functions. The same rules as the pictures of the reports.

import type { Group } from '../../core/api';
import { angle, spatial, vector, type Spatial } from '../../core/rotation';

/** The planes in which axes lie: which component of the rotation vector is to the right, upward, and 0. */
export const planes = [
  { name: 'xy', x: 0, y: 1, out: 2 },
  { name: 'xz', x: 0, y: 2, out: 1 },
  { name: 'yz', x: 1, y: 2, out: 0 },
] as const;

export type Plane = (typeof planes)[number];

/** A ring of a disc: up to which angle it reaches, and its elements by the direction of the axis. */
interface Ring {
  outer: number;
  at: number[]; // ascending, 0 to 360
  k: number[];
}

/** One disc: the elements whose axis lies in a plane, with or without inversion. */
export interface Disc {
  plane: Plane;
  inverted: boolean;
  rings: Ring[];
  /** The largest angle, at the rim. */
  reach: number;
  /** Where each element lies, half turns in two places: direction and angle in degrees. */
  places: { k: number; psi: number; omega: number }[];
}

const flat = 1e-6;
const circle = (a: number): number => ((a % 360) + 360) % 360;

/** The direction in a plane of a rotation vector, in degrees. */
export const direction = (v: readonly number[], p: Plane): number => circle((Math.atan2(v[p.y], v[p.x]) * 180) / Math.PI);

/** The discs of a plan: those of planes in which axes have three directions or more. */
export function discsOf(o: Pick<Group, 'chart' | 'elements'>): Disc[] {
  const s = spatial(o.chart);
  if (!s) return [];
  const out: Disc[] = [];
  for (const inverted of [false, true])
    for (const plane of planes) {
      const d = disc(o, s, plane, inverted);
      if (d) out.push(d);
    }
  return out;
}

function disc(o: Pick<Group, 'elements'>, s: Spatial, plane: Plane, inverted: boolean): Disc | null {
  const rings = new Map<number, { psi: number; k: number }[]>();
  const places: Disc['places'] = [];
  const ways = new Set<number>();
  o.elements.forEach((e, k) => {
    if ((s.inversion >= 0 && e[s.inversion] !== 0) !== inverted) return;
    const v = vector(s, e);
    if (Math.abs(v[plane.out]) > flat) return;
    const omega = angle(v);
    const key = Math.round(omega / flat);
    const ring = rings.get(key) ?? [];
    rings.set(key, ring);
    const psi = direction(v, plane);
    if (omega > flat) ways.add(Math.round(psi / flat));
    const all = Math.abs(omega - 180) <= flat ? [psi, circle(psi + 180)] : [psi];
    for (const at of all) {
      ring.push({ psi: at, k });
      places.push({ k, psi: at, omega });
    }
  });
  if (ways.size < 3) return null; // the axis that it shares with another plane
  const turns = [...rings.keys()].sort((a, b) => a - b);
  return {
    plane,
    inverted,
    places,
    reach: turns[turns.length - 1] * flat,
    rings: turns.map((t, i) => {
      const cells = rings.get(t)!.sort((a, b) => a.psi - b.psi);
      const outer = i + 1 < turns.length ? ((t + turns[i + 1]) / 2) * flat : t * flat;
      const one = t === 0 ? cells.slice(0, 1) : cells;
      return { outer, at: one.map((c) => c.psi), k: one.map((c) => c.k) };
    }),
  };
}

/** The element whose sector holds a direction and an angle, -1 beyond the rim. */
export function cellAt(d: Disc, psi: number, omega: number): number {
  const ring = d.rings.find((r) => omega < r.outer) ?? (omega <= d.reach + flat ? d.rings[d.rings.length - 1] : undefined);
  if (!ring) return -1;
  const a = circle(psi);
  let best = 0;
  let least = Infinity;
  // Few enough to look at all; plans whose axes are evenly spaced need two.
  const guess = Math.floor((a / 360) * ring.at.length);
  for (let t = -1; t <= 1; t++) {
    const j = (((guess + t) % ring.at.length) + ring.at.length) % ring.at.length;
    const off = gap(a, ring.at[j]);
    if (off < least) [least, best] = [off, j];
  }
  if (least > 360 / ring.at.length)
    ring.at.forEach((at, j) => {
      const off = gap(a, at);
      if (off < least) [least, best] = [off, j];
    });
  return ring.k[best];
}

const gap = (a: number, b: number): number => Math.min(Math.abs(a - b), 360 - Math.abs(a - b));

/** The element at every pixel of a square picture of a disc, row by row; -1 outside. */
export function lookup(d: Disc, size: number): Int32Array {
  const out = new Int32Array(size * size).fill(-1);
  const c = (size - 1) / 2;
  for (let r = 0; r < size; r++)
    for (let q = 0; q < size; q++) {
      const [x, y] = [q - c, c - r];
      const u = Math.hypot(x, y) / (size / 2);
      if (u <= 1) out[r * size + q] = cellAt(d, (Math.atan2(y, x) * 180) / Math.PI, u * d.reach);
    }
  return out;
}

/** Figures of the values at elements whose angle lies in a part of the range. */
export interface Bin {
  lo: number;
  hi: number;
  n: number;
  p10: number;
  median: number;
  p90: number;
  worst: number;
}

/** Sums up values by an angle of 0 to 180 degrees; parts without a value are left out. */
export function bins(angles: ArrayLike<number>, values: ArrayLike<number>, better: 'higher' | 'lower', width = 15, which: (k: number) => boolean = () => true): Bin[] {
  const out: Bin[] = [];
  for (let lo = 0; lo < 180; lo += width) {
    const v: number[] = [];
    for (let k = 0; k < angles.length; k++) if (angles[k] >= lo && (angles[k] < lo + width || lo + width >= 180) && Number.isFinite(values[k]) && which(k)) v.push(values[k]);
    if (!v.length) continue;
    v.sort((a, b) => a - b);
    const q = (f: number) => {
      const at = f * (v.length - 1);
      const i = Math.floor(at);
      return v[i] + (at - i) * ((v[i + 1] ?? v[i]) - v[i]);
    };
    out.push({ lo, hi: lo + width, n: v.length, p10: q(0.1), median: q(0.5), p90: q(0.9), worst: better === 'lower' ? v[v.length - 1] : v[0] });
  }
  return out;
}

/** The elements from the worst value to the best; what has none comes last, ties in the order of the plan. */
export function ranking(values: ArrayLike<number>, better: 'higher' | 'lower'): number[] {
  const sign = better === 'lower' ? -1 : 1;
  return Array.from({ length: values.length }, (_, k) => k).sort((a, b) => {
    const [x, y] = [values[a], values[b]];
    if (Number.isNaN(x) || Number.isNaN(y)) return +Number.isNaN(x) - +Number.isNaN(y) || a - b;
    return sign * (x - y) || a - b;
  });
}
