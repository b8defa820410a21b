// What the page of repeats reads off its report.

import type { Curve } from '../core/audit';
import type { Table } from '../core/export';
import type { Asked, Contract, Correct, Estimate, Model, Report, View } from '../core/repeat';
import { count, num } from '../render/text';

/** A share as people read it; "–" for what is missing. */
export const percent = (v: number | null | undefined): string => (v === null || v === undefined || !Number.isFinite(v) ? '–' : `${(100 * v).toFixed(1)} %`);

/** How sizes of a model are written: shares of labels, distances of numbers. */
export const sizeOf = (m: Pick<Model, 'answers'>): ((v: number | null | undefined) => string) => (m.answers === 'numbers' ? num : percent);

/** An estimate with its interval. */
export function estimate(e: Estimate | undefined, say: (v: number | null | undefined) => string): string {
  if (!e) return '–';
  return e.low === null || e.high === null ? `${say(e.value)} (any)` : `${say(e.value)} (${say(e.low)} to ${say(e.high)})`;
}

/** Whether answers depend on the object, in words; empty where each was asked about once. */
export function dependsWords(m: Pick<Model, 'answers' | 'depends'>): string {
  const d = m.depends;
  if (!d) return '';
  const [one, other] = m.answers === 'numbers' ? [`are ${num(d.same)} scales apart`, num(d.other)] : [`differ in ${percent(d.same)}`, `in ${percent(d.other)}`];
  return `That answers depend on the object ${d.shown ? 'is shown' : 'is not shown'}: two about one ${one}, two about different ones ${other} (p = ${num(d.p)}).`;
}

/** By what objects are ranked. */
export type Rank = 'agreement' | 'over_views' | 'error';

/** What a rank is called, and whether a large number is good. */
export const ranks: Readonly<Record<Rank, readonly [name: string, good: boolean]>> = {
  agreement: ['agreement of repeats', true], over_views: ['agreement over views', true], error: ['largest error', false],
};

/** The ranks that objects have numbers for. */
export const ranksOf = (m: Model): Rank[] => (Object.keys(ranks) as Rank[]).filter((k) => m.objects.some((o) => o[k] !== null));

/** Objects in order, the worst first; those without a number stand at the end. */
export function ranked(m: Model, by: Rank): Asked[] {
  const sign = ranks[by][1] ? 1 : -1;
  return m.objects.map((o, k) => [o, k] as const).sort(([a, i], [b, j]) => {
    const x = a[by], y = b[by];
    if (x === null || y === null) return x === y ? i - j : x === null ? 1 : -1;
    return sign * (x - y) || i - j;
  }).map(([o]) => o);
}

/** Whether an object is answered rightly, in words; empty where nobody knows. */
export const rightWord = (o: Asked): string => (o.right === undefined || o.right === null ? '' : o.right ? 'right' : 'wrong');

/** What is said of an object below the strip. */
export function objectWords(o: Asked, m: Model): string {
  const right = rightWord(o), say = sizeOf(m);
  return [
    `${o.name}: mostly ${o.mode || 'nothing'}${right ? `, ${right}${right === 'wrong' && o.label ? `: ${o.label}` : ''}` : ''}`,
    o.agreement === null ? '' : `of repeats ${percent(o.agreement)}`, o.over_views === null ? '' : `over views ${percent(o.over_views)}`,
    o.error === null ? '' : `largest error ${say(o.error)}`,
  ].filter(Boolean).join('; ');
}

/** Objects as a table. */
export function objectTable(m: Model, by: Rank, notes: readonly string[]): Table {
  return {
    title: 'Objects', notes, columns: [{ name: 'object', kind: 'text' }, { name: 'agreement', kind: 'float64' }, { name: 'over_views', kind: 'float64' }, { name: 'error', kind: 'float64' }, { name: 'mostly', kind: 'text' }, { name: 'label', kind: 'text' }, { name: 'is', kind: 'text' }],
    rows: ranked(m, by).map((o) => [o.name, o.agreement, o.over_views, o.error, o.mode, o.label ?? '', rightWord(o)]),
  };
}

/** One cell of consistency beside being right. */
export interface Square { readonly name: string; readonly n: number; readonly share: number; readonly of: Estimate | undefined; readonly bad: boolean }

/** Consistency beside being right: rows are consistent and varying, columns right and wrong. */
export function squares(c: Correct): Square[][] {
  const ns = [c.consistent_right, c.consistent_wrong, c.varying_right, c.varying_wrong], all = ns.reduce((a, b) => a + b, 0);
  const cell = (k: number, name: string): Square => ({ name, n: ns[k]!, share: all > 0 ? ns[k]! / all : 0, of: c.shares?.[k], bad: k % 2 === 1 });
  return [[cell(0, 'consistent and right'), cell(1, 'consistent and wrong')], [cell(2, 'varying and right'), cell(3, 'varying and wrong')]];
}

/** The effect by which a view is judged: what differs more than by chance, or, asked once, what differs. */
export const effectOf = (v: View): Estimate | undefined => v.excess ?? v.difference;

/** What is said of a view below the plot. */
export function viewWords(v: View, m: Model): string {
  if (v.reference) return `${v.name}: the reference${v.accuracy ? `, right in ${percent(v.accuracy.value)}` : ''}`;
  const p = v.p_holm ?? null;
  return [
    `${v.name}: ${v.state || 'not judged'}`, `answers differ by ${estimate(v.difference, sizeOf(m))}`, v.excess ? `more than by chance ${estimate(v.excess, num)}` : '',
    p === null ? '' : `p ${num(p)}`, v.accuracy ? `right in ${percent(v.accuracy.value)}` : '',
  ].filter(Boolean).join('; ');
}

/** Views as a table, in the order of the report: those that differ most first. */
export function viewTable(m: Model, notes: readonly string[]): Table {
  const three = (name: string) => [name, `${name}_low`, `${name}_high`].map((n) => ({ name: n, kind: 'float64' }) as const);
  const cells = (e: Estimate | undefined) => (e ? [e.value, e.low, e.high] : [null, null, null]);
  return {
    title: 'Views', notes,
    columns: [{ name: 'view', kind: 'text' }, { name: 'objects', kind: 'integer' }, ...three('difference'), ...three('excess'), { name: 'p_holm', kind: 'float64' }, ...three('right'), { name: 'state', kind: 'text' }],
    rows: (m.views ?? []).map((v) => [v.name, v.objects, ...cells(v.difference), ...cells(v.excess), v.p_holm ?? null, ...cells(v.accuracy), v.reference ? 'reference' : (v.state ?? '')]),
  };
}

/** From where to where effects of views are drawn: with 0, the threshold and every limit that is finite. */
export function span(r: Pick<Report, 'threshold'>, views: readonly View[]): [lo: number, hi: number] {
  const all = [0, r.threshold, ...views.flatMap((v) => [v.difference?.value, effectOf(v)?.value, effectOf(v)?.low, effectOf(v)?.high])].filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  const lo = Math.min(...all), hi = Math.max(...all);
  return [lo < 0 ? lo * 1.05 : 0, hi > 0 ? hi * 1.05 : 1];
}

/** The evidence as objects came, both ways, beside what is due; null where the report has none of it. */
export function courseCurve(c: Contract): Curve | null {
  const s = c.stream, all = [...(c.course ?? [])], ten = (x: number | null | undefined) => (x === null || x === undefined ? null : x / Math.LN10);
  if (all.length > 0 && all[all.length - 1]!.n < s.n) all.push({ n: s.n, over: s.over, log_e_kept: s.log_e_kept ?? null, log_e_broken: s.log_e_broken ?? null });
  if (all.length < 2 || c.confidence === null) return null;
  const x = all.map((p) => p.n), of = (name: string, key: 'log_e_kept' | 'log_e_broken') => ({ name, x, y: all.map((p) => ten(p[key])), labels: all.map((p) => `${count(p.over)} of ${count(p.n)} above`) });
  return { x: { name: `${c.unit}s so far` }, y: { name: 'evidence, power of ten' }, limit: -Math.log10(1 - c.confidence), series: [of('kept', 'log_e_kept'), of('broken', 'log_e_broken')] };
}

/** How many numbers have so many digits in common; null for answers that are no numbers. */
export function digitCurve(m: Model): Curve | null {
  const d = m.repeats?.digits ?? [];
  if (d.length === 0) return null;
  return { x: { name: 'significant digits' }, y: { name: 'share of numbers that have them in common' }, series: [{ name: 'at least so many', x: d.map((_, k) => k + 1), y: d }] };
}
