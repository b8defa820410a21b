// The export menu: plots and tables of what is shown.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { saveFigure, saveTable, type Cell, type Table, type TableFormat } from '../core/export';
import type { State } from '../core/state';
import { columns, notes, table } from '../views/columns';
import { orbitMean, quantity } from '../views/parts';

const formats: [TableFormat, string][] = [
  ['csv', 'CSV'],
  ['jsonl', 'JSON Lines'],
  ['md', 'Markdown'],
  ['tex', 'LaTeX'],
];

const plots: [id: string, title: string][] = [
  ['aggregate', 'Aggregate'],
  ['samples', 'Samples'],
  ['individual', 'Individual'],
];

/** The export menu. */
export function Export({ s }: { s: State }) {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open.value) return undefined;
    const away = (e: Event) => {
      if (!box.current?.contains(e.target as Node)) open.value = false;
    };
    addEventListener('pointerdown', away);
    return () => removeEventListener('pointerdown', away);
  }, [open.value]);
  const run = s.run.value;
  if (!run) return null;
  const tables: [string, string, () => Table | null][] = [
    ['samples', 'Samples', () => table(s, columns(s), s.order.peek(), notes(s))],
    ['aggregate', 'Aggregate curves', () => aggregateTable(s)],
    ['orbit', 'This sample’s orbit', () => orbitTable(s)],
  ];
  const done = () => (open.value = false);
  return (
    <div
      class="menu"
      ref={box}
      onKeyDown={(e) => {
        if (e.key === 'Escape' && open.value) {
          open.value = false;
          box.current?.querySelector('button')?.focus();
          e.stopPropagation();
        }
      }}
    >
      <button id="export" aria-expanded={open.value} aria-haspopup="true" onClick={() => (open.value = !open.value)} title="Take plots and tables away (e)">
        Export
      </button>
      {open.value && (
        <div class="sheet" role="group" aria-label="Export">
          <h2>Plots</h2>
          {plots.map(([id, title]) => (
            <div class="line" key={id}>
              <span>{title}</span>
              {(['svg', 'png'] as const).map((f) => (
                <button
                  key={f}
                  aria-label={`${title} as ${f.toUpperCase()}`}
                  onClick={() => {
                    const root = document.querySelector(`#${id} .body, #${id} .plane-box`);
                    if (root) void saveFigure(root, { title: `${title}: ${quantity(s)}`, caption: notes(s), background: 'white' }, f, [run.name, id]).catch((e) => s.notify('error', `The plot was not exported. ${e instanceof Error ? e.message : e}`));
                    else s.notify('warn', `There is no plot of ${title.toLowerCase()} to export.`);
                    done();
                  }}
                >
                  {f.toUpperCase()}
                </button>
              ))}
            </div>
          ))}
          <h2>Tables</h2>
          {tables.map(([id, title, make]) => (
            <div class="line" key={id}>
              <span>{title}</span>
              {formats.map(([f, name]) => (
                <button
                  key={f}
                  aria-label={`${title} as ${name}`}
                  onClick={() => {
                    const t = make();
                    if (t) saveTable(t, f, [run.name, id]);
                    else s.notify('warn', `${title}: not loaded yet.`);
                    done();
                  }}
                >
                  {name}
                </button>
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

const slug = (t: string): string => t.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '') || 'x';

/** The columns of an element: its coordinates in the chart. */
function chart(s: State): { columns: { name: string; title: string }[]; cells: (k: number) => Cell[] } {
  const o = s.group.peek()!;
  return {
    columns: [{ name: 'element', title: 'element' }, ...o.chart.map((a) => ({ name: slug(a.name + (a.unit ? `_${a.unit}` : '')), title: a.name }))],
    cells: (k) => [o.labels[k] ?? k, ...o.elements[k]],
  };
}

function aggregateTable(s: State): Table | null {
  const { doc, fresh } = s.aggregate.peek();
  const run = s.run.peek();
  if (!doc || !fresh || !run) return null;
  const c = chart(s);
  const names = ['n', 'mean', 'lo', 'hi', 'p10', 'p90'] as const;
  return {
    title: `${quantity(s)} along the orbit, ${doc.n} samples`,
    notes: notes(s),
    columns: [...c.columns, ...doc.curves.flatMap((x) => names.map((n) => ({ name: `${slug(run.models[x.model] ?? '')}_${n}`, title: `${run.models[x.model]} ${n}` }))), ...(doc.pair ? (['mean', 'lo', 'hi'] as const).map((n) => ({ name: `difference_${n}`, title: `B − A ${n}` })) : [])],
    rows: run.orbit.elements.map((_, k) => [...c.cells(k), ...doc.curves.flatMap((x) => names.map((n) => x[n][k] ?? null)), ...(doc.pair ? (['mean', 'lo', 'hi'] as const).map((n) => doc.pair![n][k] ?? null) : [])]),
  };
}

function orbitTable(s: State): Table | null {
  const one = s.one.value;
  const run = s.run.peek();
  if (!one || !run || one.index !== s.sample.peek()) return null;
  const c = chart(s);
  const means = run.model_list.map((_, m) => orbitMean((one.curves[m]?.[s.metric.peek()] ?? []).map((v) => v ?? NaN), run.orbit.weights));
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
