// What the page of weights reads off its report.

import type { Curve } from '../core/audit';
import type { Table } from '../core/export';
import type { Aligned, Report, Symmetry } from '../core/weights';
import { num } from '../render/text';

/** How far answers moved, in words. */
export const apartWords = (a: { error: number | null; equal: boolean; bad?: string }): string => (a.bad ? 'undefined' : a.equal ? '0, bit for bit' : num(a.error));

/** What is said of a symmetry beside its state. */
export function noteOf(s: Symmetry): string {
  return [
    s.exact_up_to === 'epsilon' ? `up to epsilon ${num(s.epsilon)}` : '', s.radial !== undefined ? `gradient along the weights ${num(s.radial)}` : '',
    s.alone ? `the weights alone: ${apartWords(s.alone)}` : '', s.why ?? '',
  ].filter(Boolean).join('; ');
}

/** The straight line between two models: how far its models answer from either end, as stored and with units paired. */
export function pathCurve(a: Aligned): Curve {
  const x = a.path.map((p) => p.t), of = (name: string, y: (p: Aligned['path'][number]) => number | null) => ({ name, x, y: a.path.map(y) });
  return {
    x: { name: 't' }, y: { name: 'answers apart, of their scale' },
    series: [of('stored, from the first', (p) => p.stored.to_first), of('stored, from the second', (p) => p.stored.to_second), of('paired, from the first', (p) => p.aligned.to_first), of('paired, from the second', (p) => p.aligned.to_second)],
  };
}

/** The loss on the line; null where probes have no labels. */
export function lossCurve(a: Aligned): Curve | null {
  if (!a.loss) return null;
  const x = a.path.map((p) => p.t);
  return { x: { name: 't' }, y: { name: 'loss' }, series: [{ name: 'as stored', x, y: a.path.map((p) => p.stored.loss) }, { name: 'paired', x, y: a.path.map((p) => p.aligned.loss) }] };
}

/** Tensors as a table: how far they are apart as stored and with units paired. */
export const layerTable = (a: Aligned): Table => ({
  title: 'Layers', notes: [], columns: [{ name: 'tensor', kind: 'text' }, { name: 'shape', kind: 'text' }, { name: 'stored', kind: 'float64' }, { name: 'paired', kind: 'float64' }],
  rows: a.layers.map((l) => [l.tensor, l.shape.join('×'), l.before, l.after]),
});

/** The axes that may change their order, and why others keep it. */
export function axesOf(r: Report): { free: Report['axes']; fixed: { why: string; n: number }[] } {
  const fixed: { why: string; n: number }[] = [];
  for (const a of r.axes) {
    if (!a.fixed) continue;
    const had = fixed.find((f) => f.why === a.fixed);
    if (had) had.n += 1;
    else fixed.push({ why: a.fixed, n: 1 });
  }
  return { free: r.axes.filter((a) => !a.fixed), fixed };
}
