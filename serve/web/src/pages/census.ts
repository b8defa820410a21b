// What the page of data reads off its report.

import type * as api from '../core/api';
import type { Curve, Series } from '../core/audit';
import type { Fate, Pose, Report } from '../core/census';
import { onDisc } from '../render/path';

type Num = api.Num;

/** The AUC up to which data count as looking the same. */
export const mostAUC = 0.6;

/** A place on the one axis that the group has: of one that comes back, places lie around the identity. */
export function placeOn(r: Report, coords: readonly number[]): Num {
  const x = coords[0];
  if (coords.length !== 1 || x === undefined) return null;
  const period = r.valid_range.period ?? 0;
  return period > 0 && x > period / 2 ? x - period : x;
}

/** Whether elements lie on one axis. */
export const onAxis = (r: Report): boolean => !!r.valid_range.axis && r.elements.every((e) => e.coords.length === 1);

/** The elements in the order in which they are drawn, with their places. */
function laid(r: Report): { k: number; x: number }[] {
  const axis = onAxis(r);
  const all = r.elements.map((e, k) => ({ k, x: axis ? (placeOn(r, e.coords) ?? k) : k }));
  return axis ? all.sort((a, b) => a.x - b.x) : all;
}

/** What the axis along which elements lie is called. */
const along = (r: Report): Curve['x'] => (onAxis(r) ? { name: r.valid_range.axis ?? 'element', unit: r.valid_range.unit ?? '' } : { name: 'element' });

/** The AUC over the orbit: of moved samples, of those that were moved there and back, and of the control. */
export function aucCurve(r: Report): Curve {
  const at = laid(r), marks = !onAxis(r);
  const of = (name: string, area: (k: number) => { value: Num; low: Num; high: Num } | undefined): Series => {
    const is = at.filter(({ k }) => area(k));
    return { name, marks, x: is.map((p) => p.x), y: is.map((p) => area(p.k)!.value), lo: is.map((p) => area(p.k)!.low), hi: is.map((p) => area(p.k)!.high), labels: is.map((p) => `${r.elements[p.k]!.name}, ${r.elements[p.k]!.state}`) };
  };
  const series = [of('moved', (k) => r.elements[k]!.auc), of('there and back', (k) => r.elements[k]!.twin)].filter((s) => s.x.length > 0);
  const c = r.control;
  if (c && at.length > 0) {
    const ends = at.length > 1 ? [at[0]!.x, at[at.length - 1]!.x] : [at[0]!.x];
    series.push({ name: 'control', marks: at.length < 2, x: ends, y: ends.map(() => c.value), lo: ends.map(() => c.low), hi: ends.map(() => c.high), labels: ends.map(() => 'two random elements') });
  }
  return { x: along(r), y: { name: 'AUC' }, limit: mostAUC, series };
}

/** What becomes of labels over the orbit: the share of samples whose neighbors have another one, or how the error of numbers grows. */
export function labelCurve(r: Report): Curve | null {
  const l = r.labels;
  if (!l || l.elements.length !== r.elements.length) return null;
  const at = laid(r), x = at.map((p) => p.x), labels = at.map((p) => `${l.elements[p.k]!.name}, ${l.elements[p.k]!.state}`), marks = !onAxis(r);
  if (l.rest.error) {
    const g = at.map((p) => l.elements[p.k]!.error?.growth);
    return { x: along(r), y: { name: 'growth of the error, in deviations' }, series: [{ name: 'growth of the error', marks, x, y: g.map((a) => a?.value ?? null), lo: g.map((a) => a?.low ?? null), hi: g.map((a) => a?.high ?? null), labels }] };
  }
  const rest = changed(l.rest);
  return {
    x: along(r), y: { name: 'share of labels that change' },
    series: [{ name: 'moved', marks, x, y: at.map((p) => changed(l.elements[p.k]!)), labels }, { name: 'at rest', marks: x.length < 2, x: x.length > 1 ? [x[0]!, x[x.length - 1]!] : x, y: x.length > 1 ? [rest, rest] : [rest], labels: ['as they are', 'as they are'] }],
  };
}

/** The share of samples whose neighbors have another label. */
export function changed(f: Fate): Num {
  let kept = 0, n = 0;
  for (const c of f.of_classes ?? []) [kept, n] = [kept + c.kept, n + c.n];
  return n > 0 ? 1 - kept / n : null;
}

/** The element at which most labels change; the first if none does. */
export function worst(l: NonNullable<Report['labels']>): number {
  let out = 0, most = -1;
  l.elements.forEach((f, k) => { const c = changed(f) ?? f.error?.growth.value ?? -1; if (c > most) [out, most] = [k, c]; });
  return out;
}

/** What a cell of the matrix of labels says. */
export function cellWords(f: Fate, classes: readonly string[], row: number, column: number): string {
  const n = f.matrix?.[row]?.reduce((a, b) => a + b, 0) ?? 0, k = f.matrix?.[row]?.[column] ?? 0;
  return row === column ? `${classes[row]}: ${k} of ${n} keep their label` : `${classes[row]}: ${k} of ${n} have neighbors of ${classes[column]}`;
}

/** A petal of a rose. */
export interface Petal {
  readonly path: string;
  readonly count: number;
  readonly words: string;
}

/** An axis in a rose: the plane is seen as it is; of space the mean axis stands upright, and what counts is how far axes are off. */
export interface Rose {
  readonly petals: readonly Petal[];
  /** How it would be if samples lay anyhow. */
  readonly even: string;
  /** The mean axis, and within how much of it a share of the samples lies: angles in degrees, counter-clockwise from the right. */
  readonly mean: number;
  readonly within: readonly { share: number; degrees: number }[];
  readonly flat: boolean;
}

const p2 = (p: readonly [number, number]): string => `${p[0].toFixed(2)} ${p[1].toFixed(2)}`;

/** A slice of a disc between two angles, from its middle to a radius. */
export function wedge(from: number, to: number, radius: number): string {
  const n = Math.max(1, Math.ceil(Math.abs(to - from) / 5));
  const rim = Array.from({ length: n + 1 }, (_, k) => p2(onDisc(from + ((to - from) * k) / n, 1, radius)));
  return `M0 0L${rim.join('L')}Z`;
}

/** How samples lie, as a rose of a radius; null where nothing was counted. Areas are counts. */
export function roseOf(p: Pose | undefined, radius: number): Rose | null {
  const rose = p?.rose;
  if (!p || !rose || rose.length === 0 || !rose.some((n) => n > 0)) return null;
  const flat = p.mean.length === 1, step = (flat ? 180 : 90) / rose.length, total = rose.reduce((a, b) => a + b, 0);
  // In space few axes are near one direction and many across it, where they lie anyhow: by the cosine.
  const rad = Math.PI / 180;
  const evenly = rose.map((_, k) => (flat ? total / rose.length : total * (Math.cos(k * step * rad) - Math.cos((k + 1) * step * rad))));
  const most = Math.max(...rose, ...evenly), r = (n: number) => radius * Math.sqrt(n / most);
  const spans = (k: number): [number, number][] => (flat ? [[k * step, (k + 1) * step], [k * step + 180, (k + 1) * step + 180]] : [[90 - k * step, 90 - (k + 1) * step], [90 + k * step, 90 + (k + 1) * step], [270 - k * step, 270 - (k + 1) * step], [270 + k * step, 270 + (k + 1) * step]]);
  return {
    flat, mean: flat ? (p.mean[0] ?? 90) : 90,
    petals: rose.map((n, k) => ({ count: n, path: spans(k).map(([a, b]) => wedge(a, b, r(n))).join(''), words: `${n} of ${total} samples ${flat ? 'at' : 'off the mean axis by'} ${k * step}° to ${(k + 1) * step}°` })),
    even: evenly.map((n, k) => spans(k).map(([a, b]) => { const c = Math.max(1, Math.ceil(Math.abs(b - a) / 5)); return 'M' + Array.from({ length: c + 1 }, (_, j) => p2(onDisc(a + ((b - a) * j) / c, 1, r(n)))).join('L'); }).join('')).join(''),
    within: p.quantiles.flatMap((q) => (q.degrees === null ? [] : [{ share: q.share, degrees: q.degrees }])),
  };
}
