// What the views below the table say of samples and classes: which are the worst, what was answered, what turns into what.

import type * as api from '../core/api';

/** worstSamples are the samples with the worst single value of a metric along their orbit, the worst first; of equal ones the first. */
export function worstSamples(worst: ArrayLike<number>, lower: boolean, mask: ArrayLike<number> | null, most: number): number[] {
  const all: number[] = [];
  for (let i = 0; i < worst.length; i++) if (worst[i] === worst[i] && (!mask || mask[i])) all.push(i);
  return all.sort((p, q) => (lower ? worst[q] - worst[p] : worst[p] - worst[q]) || p - q).slice(0, most);
}

/** className is a class in words. */
export const className = (classes: readonly string[], c: number | undefined): string => (c === undefined || c < 0 ? '–' : classes[c] || String(c));

/** said is what a model answers at rest and at an element: "6 → 9", "6", or nothing where it answers no classes. */
export function said(one: api.Sample, model: number, rest: number, k: number, classes: readonly string[]): string {
  const top = one.top?.[model];
  if (!top) return '';
  const now = className(classes, top[k]);
  if (rest < 0) return now;
  const was = className(classes, top[rest]);
  return was === now ? now : `${was} → ${now}`;
}

/** confused are the entries of a table of classes that are no agreement, the largest share first. */
export const confused = (t: api.Turns, most: number): api.Turn[] => t.entries.filter((e) => e.from !== e.to).slice(0, most);

/** matrix is a table of classes as rows of shares: from × to, 0 where nothing was seen. */
export function matrix(t: api.Turns): { classes: number[]; share: (from: number, to: number) => api.Turn | undefined } {
  const all = new Map<string, api.Turn>(), classes = new Set<number>(t.from.map((f) => f.class));
  for (const e of t.entries) {
    all.set(`${e.from} ${e.to}`, e);
    classes.add(e.to);
  }
  return { classes: [...classes].sort((p, q) => p - q), share: (from, to) => all.get(`${from} ${to}`) };
}

/** percent is a share for people: "31 %", "0.4 %", "< 0.1 %". */
export function percent(v: number | null): string {
  if (v === null || v !== v) return '–';
  const p = 100 * v;
  return p === 0 ? '0 %' : p < 0.1 ? '< 0.1 %' : p < 9.95 ? `${p.toFixed(1)} %` : `${Math.round(p)} %`;
}

/** pareto are the points that no other one beats in both, as indexes; x and y say for which larger is better. */
export function pareto(points: readonly (readonly [number, number])[], better: readonly ['higher' | 'lower', 'higher' | 'lower']): number[] {
  const beats = (a: number, b: number, k: 0 | 1) => (better[k] === 'higher' ? a - b : b - a);
  return points.flatMap((p, i) => (points.some((q) => beats(q[0], p[0], 0) >= 0 && beats(q[1], p[1], 1) >= 0 && (q[0] !== p[0] || q[1] !== p[1])) ? [] : [i]));
}

/** spread picks at most so many of n, evenly. */
export function spread(n: number, most: number): number[] {
  return n <= most ? Array.from({ length: n }, (_, i) => i) : Array.from({ length: most }, (_, k) => Math.floor((k * n) / most));
}
