// Which fields of a sample are what: positions to draw, atoms, edges, vectors. Pure functions.

import type { Port } from '../../core/api';
import { named, type Datum, type Links, type Rows, type Signal } from '../../core/datum';

/** A field with what the study says of it. */
export interface Named {
  name: string;
  value: Datum;
  type: string;
  unit: string;
  per: string;
}

/** The fields of a value, with what the study says of them. */
export function fieldsOf(d: Datum, ports: readonly Port[], name: string): Named[] {
  const list = named(d, ports[0]?.name ?? name);
  return list.map((f) => {
    const p = ports.find((x) => x.name === f.name) ?? (list.length === 1 ? ports[0] : undefined);
    return { ...f, type: p?.type ?? '', unit: p?.unit ?? '', per: p?.per ?? '' };
  });
}

/** What can be drawn in space. */
export interface Placed {
  positions: Named & { value: Rows };
  species: Int32Array | null;
  links: Links | null;
  vectors: (Named & { value: Rows })[];
}

const isRows = (f: Named): f is Named & { value: Rows } => f.value.kind === 'rows';

/** Points in space among fields: those of type positions, or else the first rows of three numbers that are not said to be anything else. */
export function placed(fields: readonly Named[]): Placed | null {
  const three = fields.filter(isRows).filter((f) => f.value.w === 3);
  const positions = three.find((f) => f.type === 'positions' && f.value.n > 1) ?? three.find((f) => f.type === 'positions') ?? three.find((f) => f.type === '' && f.value.n > 1);
  if (!positions) return null;
  const n = positions.value.n;
  const atoms = fields.filter(isRows).find((f) => f.value.n === n && f.value.w === 1 && /^(species|numbers|atoms?|atomic_numbers|z)$/i.test(f.name) && f.value.data.every((v) => Number.isInteger(v) && v >= 0 && v < 119));
  const links = fields.find((f) => f.value.kind === 'links')?.value as Links | undefined;
  return {
    positions,
    species: atoms ? Int32Array.from(atoms.value.data) : null,
    links: links ?? null,
    vectors: three.filter((f) => f !== positions && (f.type === 'vectors' || f.type === 'pseudovectors')),
  };
}

/** Pairs of atoms that are bound: closer than the sum of their radii and a little; at most eight of each. */
export function bound(p: Float32Array, radius: (i: number) => number): [number, number][] {
  const n = p.length / 3;
  const out: [number, number][] = [];
  if (n > 400) return out;
  for (let i = 0; i < n; i++)
    for (let j = i + 1; j < n; j++) {
      const d = Math.hypot(p[3 * i] - p[3 * j], p[3 * i + 1] - p[3 * j + 1], p[3 * i + 2] - p[3 * j + 2]);
      if (d > 0.3 && d <= 1.25 * (radius(i) + radius(j))) out.push([i, j]);
    }
  return out;
}

/** Edges once each, whichever way they point; those of a node with itself are left out. */
export function joined(l: Links): [number, number][] {
  const seen = new Set<number>();
  const out: [number, number][] = [];
  for (let k = 0; k < l.from.length; k++) {
    const [a, b] = [Math.min(l.from[k], l.to[k]), Math.max(l.from[k], l.to[k])];
    const key = a * 65536 + b;
    if (a === b || a < 0 || seen.has(key)) continue;
    seen.add(key);
    out.push([a, b]);
  }
  return out;
}

/** The lowest and the highest value of each of so many stretches of one channel of a signal: what a drawing of many numbers shows. */
export function envelope(s: Signal, channel: number, parts: number): { lo: Float32Array; hi: Float32Array } {
  const m = Math.max(1, Math.min(parts, s.t));
  const [lo, hi] = [new Float32Array(m), new Float32Array(m)];
  for (let j = 0; j < m; j++) {
    const [from, to] = [Math.floor((j * s.t) / m), Math.max(Math.floor(((j + 1) * s.t) / m), Math.floor((j * s.t) / m) + 1)];
    let a = Infinity;
    let b = -Infinity;
    for (let k = from; k < Math.min(to, s.t); k++) {
      const v = s.data[channel * s.t + k];
      if (v < a) a = v;
      if (v > b) b = v;
    }
    lo[j] = a <= b ? a : NaN;
    hi[j] = a <= b ? b : NaN;
  }
  return { lo, hi };
}

/** The length of the difference of two rows; NaN where one is missing. */
export function apart(x: Rows, y: Rows | undefined, i: number): number {
  if (!y || y.w !== x.w || i >= y.n) return NaN;
  let d = 0;
  for (let c = 0; c < x.w; c++) d += (x.data[i * x.w + c] - y.data[i * x.w + c]) ** 2;
  return Math.sqrt(d);
}
