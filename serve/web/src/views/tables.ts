// The tables behind the drawings: the aggregate curves and the orbit of a sample, for those who take them away.

import type { Cell, Table } from '../core/export';
import type { ReportAggregate } from '../core/report';
import type { State } from '../core/state';
import { notes } from './columns';
import { orbitMean, quantity } from './parts';

const slug = (t: string): string => t.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '') || 'x';

/** The columns of an element: its coordinates in the chart. */
function chart(s: State): { columns: { name: string; title: string }[]; cells: (k: number) => Cell[] } {
  const o = s.data.group.peek()!;
  return {
    columns: [{ name: 'element', title: 'element' }, ...o.chart.map((a) => ({ name: slug(a.name + (a.unit ? `_${a.unit}` : '')), title: a.name }))],
    cells: (k) => [o.labels[k] ?? k, ...o.elements[k]],
  };
}

/** The curves of the choice with their spread and intervals, and the paired difference. Throws while they are not there. */
export function aggregateTable(s: State): Table {
  const { doc, fresh } = s.choice.aggregate.peek();
  const run = s.data.run.peek();
  if (!doc || !fresh || !run) throw new Error('The exact curves are not there yet.');
  const c = chart(s);
  const names = ['n', 'mean', 'lo', 'hi', 'p10', 'p90'] as const;
  return {
    title: `${quantity(s)} along the orbit, ${doc.n} samples`,
    notes: [...notes(s), ...((doc as ReportAggregate).rough ? ['Values are about right: some are summed up from the steps of the drawings in the report.'] : [])],
    columns: [...c.columns, ...doc.curves.flatMap((x) => names.map((n) => ({ name: `${slug(run.models[x.model] ?? '')}_${n}`, title: `${run.models[x.model]} ${n}` }))), ...(doc.pair ? (['mean', 'lo', 'hi'] as const).map((n) => ({ name: `difference_${n}`, title: `B − A ${n}` })) : [])],
    rows: run.orbit.elements.map((_, k) => [...c.cells(k), ...doc.curves.flatMap((x) => names.map((n) => x[n][k] ?? null)), ...(doc.pair ? (['mean', 'lo', 'hi'] as const).map((n) => doc.pair![n][k] ?? null) : [])]),
  };
}

/** The orbit of the sample: every metric of every model at every element. Throws while it is not there. */
export function orbitTable(s: State): Table {
  const one = s.data.one.value;
  const run = s.data.run.peek();
  if (!one || !run || one.index !== s.place.sample.peek()) throw new Error('The orbit is not there yet.');
  const c = chart(s);
  const means = run.model_list.map((_, m) => orbitMean((one.curves[m]?.[s.place.metric.peek()] ?? []).map((v) => v ?? NaN), run.orbit.weights));
  return {
    title: `Orbit of sample ${one.id}`,
    notes: [...notes(s), ...run.model_list.map((m, k) => `${m.name}: mean ${means[k]} of ${quantity(s)}`)],
    columns: [...c.columns, ...run.model_list.flatMap((m) => [...run.metric_list.map((x) => ({ name: `${slug(m.name)}_${slug(x.name)}`, title: `${m.name} ${x.title}` })), ...(one.top ? [{ name: `${slug(m.name)}_class`, title: `${m.name} class` }] : [])])],
    rows: run.orbit.elements.map((_, k) => [
      ...c.cells(k),
      ...run.model_list.flatMap((_m, m) => [...run.metric_list.map((_x, j) => one.curves[m]?.[j]?.[k] ?? null), ...(one.top ? [one.top[m] && one.top[m][k] >= 0 ? (run.classes[one.top[m][k]] ?? one.top[m][k]) : null] : [])]),
    ]),
  };
}
