// The export menu: plots and tables of what is shown.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { saveFigure, saveTable, type Table, type TableFormat } from '../core/export';
import { words } from '../core/source';
import type { State } from '../core/state';
import { columns, notes, table } from '../views/columns';
import { quantity } from '../views/parts';
import { aggregateTable, orbitTable } from '../views/tables';

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
  const run = s.data.run.value;
  if (!run) return null;
  const tables: [string, string, () => Table][] = [
    ['samples', 'Samples', () => table(s, columns(s), s.choice.order.peek(), notes(s))],
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
                    if (root) void saveFigure(root, { title: `${title}: ${quantity(s)}`, caption: notes(s), background: 'white' }, f, [run.name, id]).catch((e) => s.tasks.notify('error', `The plot was not exported. ${e instanceof Error ? e.message : e}`));
                    else s.tasks.notify('warn', `There is no plot of ${title.toLowerCase()} to export.`);
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
                    try {
                      saveTable(make(), f, [run.name, id]);
                    } catch (e) {
                      s.tasks.notify('warn', `${title}: ${words(e)}`);
                    }
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
