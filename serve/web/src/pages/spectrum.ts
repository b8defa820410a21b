// What the page of a discovery reads off its document.

import type * as api from '../core/api';
import type { Curve, Series } from '../core/audit';
import type { Asked, Generators, Model, Motion, Permutations, Result, Row, Scan } from '../core/discovery';
import type { Table } from '../core/export';
import { num } from '../render/text';
import type { Matrix } from './motion';

type Num = api.Num;

/** What a part found, by the name of the part; null where its question is open. */
export function partOf(m: Model, part: 'scan'): Scan | null;
export function partOf(m: Model, part: 'generators' | 'joint'): Generators | null;
export function partOf(m: Model, part: 'finite'): Permutations | null;
export function partOf(m: Model, part: string): Scan | Generators | Permutations | null {
  return m.parts.find((p) => p.part === part)?.result ?? null;
}

/** The answer about a model in one line. */
export function answer(m: Model): string {
  if (m.why) return `Undefined: ${m.why}`;
  const all = m.parts.map((p) => p.answer ?? '').filter(Boolean);
  return all.length > 0 ? all.map((t, k) => (k === 0 ? t[0]!.toUpperCase() + t.slice(1) : t)).join('; ') + '.' : 'Nothing could be asked.';
}

/** Limits of the scan: below the first a family is approximate, above the second there is none. */
export const limits = [0.1, 0.5] as const;

/** A word with a sign that needs no colour, and what kind it is. */
export function wordOf(word: string): { sign: string; kind: string } {
  return ({ holds: { sign: '✓', kind: 'pass' }, PASS: { sign: '✓', kind: 'pass' }, approximate: { sign: '≈', kind: 'attention' }, none: { sign: '✗', kind: 'none' }, FAIL: { sign: '✗', kind: 'fail' } } as Record<string, { sign: string; kind: string }>)[word] ?? { sign: '?', kind: 'attention' };
}

/** The name of a row: its family, with the output and how that should move where there are several. */
export function rowName(r: Row, all: readonly Row[]): string {
  const twice = all.filter((q) => q.family === r.family).length > 1;
  return twice ? `${r.family}, ${[r.output, r.action].filter(Boolean).join(' ')}` : r.family;
}

/** The fastest level of a row with its unit. */
export function level(r: Row): string {
  const l = [...(r.levels ?? [])].sort((a, b) => (b.level.value ?? -1) - (a.level.value ?? -1))[0];
  return l ? `${num(l.level.value)} per ${l.unit || '1'}` : '–';
}

/** A row in words. */
export const rowWords = (r: Row, all: readonly Row[]): string => `${rowName(r, all)}, ${r.doc}: ${r.word}${r.why ? ` (${r.why})` : ''}, relative ${num(r.relative.value)} [${num(r.relative.low)}, ${num(r.relative.high)}], floor ${num(r.floor)}, level ${level(r)}, degree ${num(r.degree.value)}`;

/** The scan as a table to keep. */
export function scanTable(s: Scan, model: string): Table {
  return {
    title: `Families of ${model}`,
    columns: [...['family', 'what_moves', 'output', 'action', 'says', 'why'].map((name) => ({ name, kind: 'text' as const })), ...['relative', 'relative_lo', 'relative_hi', 'floor', 'degree', 'degree_lo', 'degree_hi'].map((name) => ({ name, kind: 'float64' as const })), { name: 'level', kind: 'text' }],
    rows: s.families.map((r) => [r.family, r.doc, r.output ?? '', r.action, r.word, r.why ?? '', r.relative.value, r.relative.low, r.relative.high, r.floor, r.degree.value, r.degree.low, r.degree.high, level(r)]),
  };
}

/** The singular values of a question with their floor, the directions by what they say. */
export function spectrum(r: Result): { curve: Curve; cut: number | null } {
  const states = ['holds', 'approximate', 'none'];
  const at = r.sigma.map((sigma, k) => ({ x: k + 1, sigma, state: states.find((w) => w === r.families[k]?.state) ?? 'none' }));
  const of = (state: string): Series => {
    const is = at.filter((d) => d.state === state);
    return { name: state === 'none' ? 'like any other' : state, marks: true, x: is.map((d) => d.x), y: is.map((d) => d.sigma) };
  };
  const series = states.map(of).filter((s) => s.x.length > 0);
  if (at.length > 0) series.push({ name: 'floor', x: [1, at.length], y: [r.floor, r.floor] });
  return { curve: { x: { name: 'direction' }, y: { name: 'σ, change beside that of any direction', log: true }, series }, cut: r.state === 'settled' && r.dimension > 0 && r.dimension < at.length ? r.dimension + 0.5 : null };
}

/** What was asked, in words. */
export function askedWords(a: Asked): string {
  const r = a.result;
  if (!r) return `not asked: ${a.why}`;
  if (r.state === 'undetermined') return `cannot tell: ${r.why}`;
  if (r.state === 'between') return `between ${r.low} and ${r.high} families: ${r.why}`;
  return r.dimension === 0 ? 'no one-parameter family' : `${r.dimension} independent ${r.dimension === 1 ? 'family' : 'families'}: ${r.algebra?.name ?? 'unnamed'}`;
}

/** A family that can be drawn: its number, its matrix for each field, and what is known of it. */
export interface Drawn {
  readonly name: string;
  readonly moves: readonly Matrix[];
  readonly turns: string;
}

/** The families of a question: the basis of the algebra, else the directions that hold or nearly do. */
export function familiesOf(r: Result | undefined): Drawn[] {
  if (!r) return [];
  const moves = (m: Motion): readonly Matrix[] => m.a ?? [];
  const a = r.algebra;
  if (a && a.basis.length > 0)
    return a.basis.map((m, k) => {
      const t = a.turns[k], f = t?.frequencies ?? [];
      return { name: `family ${k + 1}`, moves: moves(m), turns: [f.length > 0 ? `turns at ${f.map((v) => num(v)).join(', ')}` : 'does not turn', t?.grows ? 'grows' : '', t?.period ? `is back after ${num(t.period)}` : ''].filter(Boolean).join(', ') };
    });
  return r.families.map((f, k) => ({ name: `direction ${k + 1}`, moves: moves(f.moves), turns: `σ = ${num(f.sigma)}, ${f.state}` }));
}

/** The facts of an algebra. */
export function algebraFacts(r: Result): [string, string][] {
  const a = r.algebra, out: [string, string][] = [['equations', `${r.rows} in ${r.unknowns} unknowns, at ${r.objects} samples; derivatives: ${r.derivative}`], ['agreement', `${Math.round(100 * r.agree)} % of ${r.bootstraps} bootstraps count the same`]];
  for (const q of r.quotients ?? []) out.push(['taken out', `${(q.directions ?? []).length} directions (${q.kind === 'unspanned' ? 'the data do not span them, so nobody can tell' : 'the model does not look at them'}), ${q.unknowns} unknowns${q.block ? ` of ${q.block}` : ''}`]);
  for (const q of r.still ?? []) out.push(['never changes', `coordinate ${q.coordinate}${q.block ? ` of ${q.block}` : ''}, ${num(q.value)}`]);
  if (!a) return out;
  out.push(['name', a.name], ['closes', `${a.closed ? 'yes' : 'no: rank or data are wrong'}; what commutators leave over is ${num(a.closure_defect)} of them`]);
  const s = a.structure;
  if (s) out.push(['structure', `dimension ${s.dimension}, centre ${s.centre}, derived algebra ${s.derived}, Killing form (${s.killing[0]}, ${s.killing[1]}) with ${s.killing[2]} zero${s.solvable ? ', solvable' : ''}`]);
  if (a.form) out.push(['form that all keep', a.form.map((row) => `(${row.map((v) => num(Math.abs(v) < 1e-4 ? 0 : v)).join(', ')})`).join(' ')]);
  if (a.fixed) out.push(['point that all leave', `(${a.fixed.map((v) => num(v)).join(', ')})`]);
  if ((a.spins ?? []).length > 0) out.push(['answers are of l', a.spins!.map((v) => num(v)).join(', ')]);
  const near = [...(a.angles ?? [])].sort((x, y) => x.degrees - y.degrees)[0];
  if (near) out.push(['nearest known families', `${near.name}, at ${num(near.degrees)}°`]);
  return out;
}

/** Places on a logarithmic axis of a scan. */
export function extent(rows: readonly Row[]): [number, number] {
  const all = rows.flatMap((r) => [r.relative.value, r.relative.low, r.relative.high, r.floor]).filter((v): v is number => v !== null && v > 0);
  return [Math.min(1e-3, ...all) / 2, Math.max(1, ...all) * 2];
}

export const finite = (v: Num | undefined): v is number => typeof v === 'number' && Number.isFinite(v);
