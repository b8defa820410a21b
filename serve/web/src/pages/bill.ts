// What the page of a repair reads off its bill.

import type * as api from '../core/api';
import type { Curve, Model as Audited, Series } from '../core/audit';
import type { Bill, Of, Share } from '../core/bill';
import type { Table } from '../core/export';
import { orbitProfile } from './audit';
import { num } from '../render/text';

type Num = api.Num;

/** The name of a bill on the page. */
export const nameOf = (b: Bill): string => b.method || 'as it is';

/** What a model costs, measured if it was, else predicted; NaN if nobody knows. */
export const costOf = (b: Bill): number => [b.cost.measured, b.cost.predicted].find((v): v is number => typeof v === 'number' && v > 0) ?? NaN;

/** Whether both audits of a bill pass. */
export const passes = (b: Bill): boolean => b.verdict === 'PASS' && (!b.verdict_at_batch_1 || b.verdict_at_batch_1 === 'PASS');

/** The bills of a model: as it was, then from the cheapest on, of equally cheap ones the most exact first; refused ones last. */
export function ranked(m: Of): Bill[] {
  const rank = (a: number, b: number): number => (a === b || (Number.isNaN(a) && Number.isNaN(b)) ? 0 : Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b);
  const tried = (m.tried ?? []).map((b, k) => ({ b, k })).sort((x, y) => Number(!!x.b.refused) - Number(!!y.b.refused) || rank(costOf(x.b), costOf(y.b)) || rank(x.b.worst ?? NaN, y.b.worst ?? NaN) || x.k - y.k);
  return [m.before, ...tried.map((x) => x.b)];
}

/** The bill that is shown first: what is recommended, else that which passes and loses least on the samples to choose by, else the cheapest. */
export function best(m: Of): Bill {
  const rows = ranked(m), lost = (b: Bill): number => (b.on_choose ? (b.on_choose.lost?.value ?? b.on_choose.apart) : (b.lost?.value ?? b.apart)) ?? Infinity;
  const passed = rows.filter((b) => b.method && !b.refused && passes(b)).sort((a, b) => lost(a) - lost(b));
  return rows.find((b) => b.method && b.method === m.recommended) ?? passed[0] ?? rows.find((b) => b.method && !b.refused) ?? m.before;
}

/** How good answers are: what stands upward in the plot of costs. */
export type Quality = 'rest' | 'orbit' | 'same';

/** The qualities that a model has, and what they are called; the first is shown first. */
export function qualities(m: Of): readonly (readonly [Quality, string])[] {
  if (m.before.right && m.before.moved) return [['rest', 'right at rest'], ['orbit', 'right over the orbit']];
  if (m.before.agree || m.tried?.some((b) => b.agree)) return [['same', 'same class as before, at rest']];
  return [];
}

/** The share that is meant, null if it is not known. */
export const shareOf = (b: Bill, q: Quality): Share | null => (q === 'rest' ? b.right : q === 'orbit' ? b.moved : b.agree) ?? null;

/** A point of the plot of costs. */
export interface Dot {
  readonly bill: Bill;
  readonly name: string;
  readonly cost: number;
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  /** In pixels: error as size. */
  readonly radius: number;
  readonly recommended: boolean;
}

/** The least and the largest error that have a size of their own, and those sizes. */
const errors = [1e-7, 1] as const;
const radii = [4, 15] as const;

/** An error as a size: by its logarithm, the least for rounding and below, the largest from 1 on and where it is not finite. */
export function radius(error: Num | undefined): number {
  if (error === null || error === undefined || !Number.isFinite(error)) return radii[1];
  const u = Math.log10(Math.max(Math.abs(error), errors[0]) / errors[0]) / Math.log10(errors[1] / errors[0]);
  return radii[0] + (radii[1] - radii[0]) * Math.min(1, u);
}

/** The bills that have a place in the plot, in their order. */
export function dots(m: Of, q: Quality | null): Dot[] {
  return ranked(m).flatMap((bill) => {
    const s = q ? shareOf(bill, q) : null;
    const value = q ? (s?.value ?? NaN) : 1 - Math.min(1, bill.apart ?? NaN), cost = costOf(bill);
    if (bill.refused || !Number.isFinite(cost) || !Number.isFinite(value)) return [];
    return [{ bill, name: nameOf(bill), cost, value, lo: s?.low ?? NaN, hi: s?.high ?? NaN, radius: radius(bill.worst), recommended: !!bill.method && bill.method === m.recommended }];
  });
}

/** A share for people, with its interval. */
export function percent(s: Share | null | undefined): string {
  if (!s || s.value === null) return '–';
  const p = (v: Num) => (v === null ? '–' : (100 * v).toFixed(1).replace('-', '−'));
  return `${p(s.value)} % (${p(s.low)} to ${p(s.high)})`;
}

/** A cost for people. */
export const costText = (b: Bill): string => (b.cost.measured !== null ? `${b.cost.measured.toFixed(2)}×${b.cost.predicted !== null ? ` (predicted ${num(b.cost.predicted)})` : ''}` : b.cost.predicted !== null ? `predicted ${num(b.cost.predicted)}×` : '–');

/** A point in words. */
export function says(d: Dot, what: string): string {
  const b = d.bill;
  return [`${d.name}: ${b.verdict ?? 'no verdict'}`, `${d.cost.toFixed(2)} times the cost`, what ? `${what} ${(100 * d.value).toFixed(1)} %${Number.isFinite(d.lo) ? ` (${(100 * d.lo).toFixed(1)} to ${(100 * d.hi).toFixed(1)})` : ''}` : '', `largest error ${num(b.worst)}`, b.pareto ? 'no other is as cheap, as exact and as right' : '', d.recommended ? 'recommended' : ''].filter(Boolean).join(', ');
}

/** The bill of a model as a table to keep. */
export function billTable(m: Of, group: string): Table {
  const cell = (s: Share | null | undefined): (Num | null)[] => [s?.value ?? null, s?.low ?? null, s?.high ?? null];
  const shares = (name: string) => ['', '_lo', '_hi'].map((end) => ({ name: name + end, kind: 'float64' as const }));
  return {
    title: `Repairs of ${m.model} under ${group}`,
    notes: [m.sentence],
    columns: [{ name: 'method', kind: 'text' }, { name: 'verdict', kind: 'text' }, { name: 'error', kind: 'float64' }, { name: 'worst', kind: 'float64' }, { name: 'cost', kind: 'float64' }, { name: 'cost_predicted', kind: 'float64' }, ...shares('right'), ...shares('right_over_orbit'), ...shares('lost'), { name: 'nodes_added', kind: 'integer' }, { name: 'bytes', kind: 'integer' }, { name: 'pareto', kind: 'text' }, { name: 'why_refused', kind: 'text' }],
    rows: ranked(m).map((b) => (b.refused ? [nameOf(b), 'refused', ...Array<null>(15).fill(null), '', b.refused] : [nameOf(b), b.verdict ?? '', b.error, b.worst, b.cost.measured, b.cost.predicted, ...cell(b.right), ...cell(b.moved), ...cell(b.lost), b.nodes_added, b.bytes, b.pareto ? 'yes' : 'no', ''])),
  };
}

/** The errors of two audits along the orbit as one plot: before and after. Elements that one of them alone visited stand where they are. */
export function beforeAfter(before: Audited, after: Audited, name: string): Curve | null {
  const p = orbitProfile(before), q = orbitProfile(after);
  if (!p || !q) return null;
  const axes = p.points[0]?.coordinates.length ?? 0;
  const places = new Map<string, number>(); // by coordinates, in the order of the first audit
  const key = (c: readonly Num[]): string => c.join(',');
  for (const x of [...p.points, ...q.points]) if (!places.has(key(x.coordinates))) places.set(key(x.coordinates), places.size);
  const label = (curve: Curve): Map<string, string> => new Map(curve.series.flatMap((s) => s.x.map((x, k) => [String(x), s.labels?.[k] ?? ''] as const)));
  const series = (title: string, points: typeof p.points, curve: Curve, y: 'mean' | 'max'): Series => {
    const words = label(curve);
    const at = points.map((x, k) => ({ x: axes === 1 ? (x.coordinates[0] ?? null) : (places.get(key(x.coordinates)) ?? k), y: x[y], label: words.get(String(axes === 1 ? x.coordinates[0] : k)) || x.element }));
    return { name: `${title}, ${y === 'mean' ? 'mean' : 'largest'}`, marks: axes !== 1 || points.length < 3, x: at.map((a) => a.x), y: at.map((a) => a.y), labels: at.map((a) => a.label) };
  };
  return {
    x: p.curve.x, y: p.curve.y, ...(p.curve.limit !== undefined ? { limit: p.curve.limit } : {}),
    series: [series('as it is', p.points, p.curve, 'mean'), series('as it is', p.points, p.curve, 'max'), series(name, q.points, q.curve, 'mean'), series(name, q.points, q.curve, 'max')],
  };
}

/** What a bill says beyond the table, as pairs of a word and what it says. */
export function facts(b: Bill, before: Bill): [string, string][] {
  const out: [string, string][] = [];
  const add = (k: string, v: string | undefined) => { if (v) out.push([k, v]); };
  add('not finite at', b.not_finite);
  add('why', b.verdict !== 'PASS' ? b.reasons?.[0] : '');
  if (!b.method) return out;
  add('done', b.done);
  add('refitted', b.refitted ? 'a layer was learned anew from samples to learn from (fit): this is another model in part' : '');
  add('file', b.file);
  add('SHA-256', b.digest);
  const form = ({ once: 'runs the model once', batch: 'runs it at all elements at once, along the batch', copies: 'runs it at all elements, in copies that share their weights' } as Record<string, string>)[b.form ?? ''];
  add('form', [form, `${b.nodes} nodes, ${b.nodes_added} more than before`, `${b.bytes.toLocaleString('en')} bytes`, `version ${b.opset} of the operators`].filter(Boolean).join('; '));
  add('answers at rest', `${num(b.apart)} away from those before${b.agree ? `; the class is the same for ${percent(b.agree)}` : ''}`);
  if (b.pairs) add('by sample', `${b.pairs.lost} lost, ${b.pairs.won} won; sign test p = ${num(b.pairs.p_value)}`);
  add('classes that lose', b.losers?.map((l) => `${l.class}: ${l.right_after} of ${l.of} right, ${l.right_before} before`).join('; '));
  add('taken for another', b.mixed?.map((x) => `${x.class} as ${x.answered}: ${x.times_after}, ${x.times_before} before`).join('; '));
  if (b.near) add('near a jump', `${percent(b.near.share)} of the samples: ${b.near.rule}; ${b.near.ties} ${b.near.ties === 1 ? 'tie' : 'ties'}`);
  if (b.largest_jump !== null) add('largest change when a sample changes by a thousandth', `${num(b.largest_jump)}, ${num(before.largest_jump)} before`);
  if (b.crossing !== undefined) add('largest jump where the method changes its mind', num(b.crossing));
  add('derivatives', b.gradient && `${b.gradient}; before: ${before.gradient ?? 'not asked'}`);
  add('energies and forces', b.forces);
  add('what the method does to these', b.aside);
  if (b.on_choose) add('on the samples to choose by', `${b.on_choose.samples} samples: error ${num(b.on_choose.error)}, lost ${percent(b.on_choose.lost)}`);
  return out;
}
