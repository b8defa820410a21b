// What the page of features reads off its report.

import type { Curve } from '../core/audit';
import type { Against, Estimate, Extrapolation, Generators, Given, Model, Plane, Recalls, Report, Retrieval, Sequences, Split } from '../core/embedding';
import type { Table } from '../core/export';
import { interval, num } from '../render/text';

/** The model that is shown: the chosen one, else the first. */
export const chosen = (r: Report, name: string): Model | undefined => r.features.find((m) => m.model === name) ?? r.features[0];

/** A share as a percentage. */
export const percent = (x: number | null | undefined): string => (typeof x === 'number' ? `${Math.round(x * 1000) / 10} %` : 'undefined');

/** A share with its interval. */
export const shared = (e: Estimate): string => `${percent(e.value)} [${percent(e.low)}, ${percent(e.high)}]`;

/** A count with its interval. */
export const counted = (e: Estimate): string => `${num0(e.value)} [${num0(e.low)}, ${num0(e.high)}]`;

const num0 = (x: number | null): string => (x === null ? '?' : String(Math.round(x)));

/** A number with its interval. */
export const estimated = (e: Estimate | undefined): string => (e ? `${num(e.value)} ${interval(e.low, e.high)}`.trim() : '');

const of = (name: string, all: readonly (Estimate | undefined)[], labels: string[], marks = true) => ({
  name, marks, x: all.map((_, k) => k + 1), y: all.map((e) => e?.value ?? null), lo: all.map((e) => e?.low ?? null), hi: all.map((e) => e?.high ?? null), labels,
});

/** How far each element takes features, with what resampling alone does. */
export function ratioCurve(m: Model): Curve | null {
  const all = m.transformations ?? [], labels = all.map((t) => t.element);
  if (all.length === 0) return null;
  const series = [of('ratio', all.map((t) => t.ratio), labels)];
  if (all.some((t) => t.floor)) series.push(of('there and back', all.map((t) => t.floor), labels));
  return { x: { name: 'element' }, y: { name: 'ratio' }, series };
}

/** How far a linear map says where each element takes features. */
export function mapCurve(m: Model): Curve | null {
  const all = m.maps?.by ?? [];
  if (all.length === 0) return null;
  return { x: { name: 'element' }, y: { name: 'R² of the map' }, series: [of('linear map', all.map((x) => x.r2), all.map((x) => x.element))] };
}

/** The transformations as a table, each with its map. */
export function moveTable(m: Model): Table {
  const by = new Map((m.maps?.by ?? []).map((x) => [x.element, x.r2]));
  const numbers = ['ratio', 'ratio_low', 'ratio_high', 'there_and_back', 'cosine', 'cosine_low', 'cosine_high', 'own', 'own_low', 'own_high', 'others', 'others_low', 'others_high', 'map_r2', 'map_r2_low', 'map_r2_high', 'nearer', 'nearer_low', 'nearer_high', 'worst_ratio'];
  return {
    title: `${m.model}: elements`, notes: [],
    columns: [{ name: 'element', kind: 'text' }, ...numbers.map((name) => ({ name, kind: 'float64' }) as const), { name: 'worst', kind: 'text' }],
    rows: (m.transformations ?? []).map((t) => {
      const r2 = by.get(t.element);
      return [t.element, t.ratio.value, t.ratio.low, t.ratio.high, t.floor?.value ?? null, t.cosine.value, t.cosine.low, t.cosine.high, t.diagonal.value, t.diagonal.low, t.diagonal.high, t.off_diagonal.value, t.off_diagonal.low, t.off_diagonal.high, r2?.value ?? null, r2?.low ?? null, r2?.high ?? null, t.auc?.value ?? null, t.auc?.low ?? null, t.auc?.high ?? null, t.worst_ratio, t.worst];
    }),
  };
}

/** What stands of a search: how often the right one comes first, beside a guess. */
export const retrievalWords = (r: Retrieval): string => `MRR ${estimated(r.mrr)}, chance ${num(r.chance)} of ${Math.round((r.candidates ?? 0) * 10) / 10} candidates; first ${shared(r.hit_1)}${(r.candidates ?? 0) > 5 ? `, among five ${shared(r.hit_5)}` : ''}`;

/** Directions from those that stay to those that hold no object, and those that are the same for every object. */
export function splitCurve(s: Split): Curve {
  const line = (name: string, y: readonly (number | null)[]) => ({ name, marks: true, x: y.map((_, k) => k + 1), y: [...y] });
  return { x: { name: 'direction' }, y: { name: 'share of its variance' }, series: [line('μ, within orbits', s.mu), line('ν, the same for every object', s.nu)] };
}

/** A sample in a plane: where it lies at each element, and where the generator says that it would. */
export interface Drawn { sample: string; at: readonly { t: number; x: number; y: number; label: string; said: { x: number; y: number } | null }[]; path: string; start: { x: number; y: number } | null }

/** The plane that is shown where none is chosen: that which holds most. */
export function planeOf(g: Generators, asked: string): Plane | undefined {
  const most = g.planes.reduce<Plane | undefined>((a, p) => (a && (a.spread ?? 0) >= (p.spread ?? 0) ? a : p), undefined);
  return g.planes[Number(asked) - 1] ?? most;
}

/** The orbits of samples in a plane, and how far from the middle the furthest lies. */
export function orbitsOf(p: Plane, g: Generators, elements: readonly string[]): { orbits: Drawn[]; reach: number } {
  let reach = 1;
  const orbits = p.samples.map((s) => {
    const here = g.t.flatMap((t, k) => {
      const x = s.x[k], y = s.y[k];
      return t === null || x === null || x === undefined || y === null || y === undefined ? [] : [{ t, x, y, label: elements[k] ?? '' }];
    }).sort((a, b) => a.t - b.t);
    const start = here.find((q) => q.t === 0) ?? null, at = here.map((q) => ({ ...q, said: start ? along(p, start, q.t) : null }));
    for (const q of at) reach = Math.max(reach, Math.hypot(q.x, q.y), q.said ? Math.hypot(q.said.x, q.said.y) : 0);
    return { sample: s.sample, at, path: start ? predicted(p, at, start) : '', start };
  });
  return { orbits, reach };
}

/** Where the generator says that a sample goes: exp(t (growth + i frequency)) times where it begins. */
export function along(p: Pick<Plane, 'frequency_fit' | 'growth_fit'>, start: { x: number; y: number }, t: number): { x: number; y: number } {
  const e = Math.exp((p.growth_fit ?? 0) * t), a = (p.frequency_fit ?? 0) * t, c = Math.cos(a) * e, s = Math.sin(a) * e;
  return { x: c * start.x - s * start.y, y: s * start.x + c * start.y };
}

function predicted(p: Plane, at: readonly { t: number }[], start: { x: number; y: number }): string {
  const lo = at[0]?.t ?? 0, hi = at[at.length - 1]?.t ?? 0, steps = 96;
  return Array.from({ length: steps + 1 }, (_, k) => along(p, start, lo + ((hi - lo) * k) / steps)).map((q, k) => `${k === 0 ? 'M' : 'L'}${q.x.toFixed(4)} ${(-q.y).toFixed(4)}`).join('');
}

/** The orbits in a plane as a table. */
export const planeTable = (title: string, orbits: readonly Drawn[]): Table => ({
  title, notes: [], columns: [{ name: 'sample', kind: 'text' }, { name: 'element', kind: 'text' }, ...(['t', 'x', 'y', 'said_x', 'said_y'] as const).map((name) => ({ name, kind: 'float64' }) as const)],
  rows: orbits.flatMap((o) => o.at.map((q) => [o.sample, q.label, q.t, q.x, q.y, q.said?.x ?? null, q.said?.y ?? null])),
});

/** How often listed pairs are nearer than two things, by how many listed pairs lie between them; null for one number alone. */
export function nearCurve(g: Given): Curve | null {
  const all = g.steps;
  if (all.length === 0) return null;
  const line = of('AUC', all.map((n) => n.auc), all.map((n) => (n.steps === 1 ? 'listed' : `over ${n.steps} pairs`)));
  return { x: { name: 'listed pairs between' }, y: { name: 'AUC' }, limit: null, series: [{ ...line, x: all.map((n) => n.steps) }] };
}

/** How far the vector of a sequence goes with order, route and length, by how many views there are. */
export function lengthCurve(s: Sequences): Curve {
  const names = s.lengths.map((l) => `${l.views} views`), x = s.lengths.map((l) => l.views);
  const series = (['order', 'route', 'longest'] as const)
    .filter((k) => s.lengths.some((l) => l[k]))
    .map((k) => ({ ...of(k === 'longest' ? 'from the longest' : k, s.lengths.map((l) => l[k]?.ratio), names, false), x }));
  return { x: { name: 'views' }, y: { name: 'ratio' }, series };
}

/** What is known of a generator. */
export function generatorFacts(g: Generators): [string, string][] {
  return [
    ['generator', `${g.of}, per ${g.unit}`], ['directions', `${g.axes}, which hold ${percent(g.held_fit)} of the variance`], ['R² at unseen elements', estimated(g.r2_unseen)], ['R² at those that were fitted', estimated(g.r2_seen)],
    ['R² of a map for each element', estimated(g.r2_ridge)], ['growth', num(g.growth_fit)], ...(g.most_frequency ? [['planes look slower from', num(g.most_frequency)] as [string, string]] : []), ...(g.period === undefined ? [] : [['after a whole turn', num(g.period)] as [string, string]]),
  ];
}

/** What reads the parameter inside and beyond. */
export const beyondWords = (x: Extrapolation): string => `Fitted up to ${num(x.half)} ${x.unit}, a linear map reads the element there with R² ${estimated(x.r2_inside)}, and beyond with ${estimated(x.r2_outside)}.`;

/** What is known of two releases. */
export function releaseFacts(a: Against): [string, string][] {
  return [
    ...(a.r2_as_it_is ? [['R² as they are', estimated(a.r2_as_it_is)] as [string, string]] : []), ['R² of a turn', estimated(a.r2_isometry)], ['of a turn with a factor', `${estimated(a.r2_similarity)} (factor ${num(a.factor_fit)})`], ['of an affine map', estimated(a.r2_affine)], ['of one from old to new', estimated(a.r2_back)],
    ['CKA, debiased', `${estimated(a.cka)} of ${num0(a.n)} samples`], ['places among anchors', `cosine ${estimated(a.relative.cosine)}, shared neighbors ${estimated(a.relative.jaccard)} (${num0(a.relative.anchors)} anchors)`],
    ['the affine map is from a turn', `${num(a.spread_fit)} in logarithms of its stretch`],
  ];
}

/** What maps explain that are held near a turn. */
export function heldCurve(a: Against): Curve | null {
  const all = a.orthogonality.filter((h) => h.departure_fit !== null);
  if (all.length < 2) return null;
  return { x: { name: 'departure from a turn' }, y: { name: 'R²' }, series: [{ ...of('held near a turn', all.map((h) => h.r2), all.map((h) => `penalty ${num(h.penalty)}`)), x: all.map((h) => h.departure_fit) }] };
}

/** What queries find, as a table. */
export const recallTable = (a: readonly Recalls[]): Table => ({
  title: 'Queries by new features in the old index', notes: [],
  columns: [{ name: 'adapter', kind: 'text' }, { name: 'right', kind: 'text' }, ...(['k', 'new', 'new_low', 'new_high', 'old', 'old_low', 'old_high', 'difference', 'low', 'high', 'candidates', 'chance'] as const).map((name) => ({ name, kind: 'float64' }) as const), { name: 'state', kind: 'text' }],
  rows: a.map((r) => [r.adapter, r.right, r.k, r.new.value, r.new.low, r.new.high, r.old.value, r.old.low, r.old.high, r.difference.value, r.difference.low, r.difference.high, r.candidates, r.chance, r.state]),
});
