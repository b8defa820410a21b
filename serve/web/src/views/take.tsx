// The button that takes things away: a plot as a picture, a table in the forms that others read, the link to what is shown.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { copy, saveFigure, saveTable, tableText, type FigureText, type Table, type TableFormat } from '../core/export';
import { addressed } from '../core/history';
import { words } from '../core/source';
import './take.css';

/** A plot to be saved: an element of the page and what stands around it. */
export interface Plot {
  root: Element | null;
  text: Omit<FigureText, 'background'>;
}

const forms: readonly [TableFormat, string, string][] = [
  ['csv', 'CSV', 'for spreadsheets and programs, with all digits'],
  ['jsonl', 'JSON Lines', 'one object per row, with all digits'],
  ['md', 'Markdown', 'for notes and issues, with four digits'],
  ['tex', 'LaTeX', 'a tabular, with four digits'],
];

/** The button and what it offers. name is the words of which the names of files are made. */
export function Taker({ name, plot, table, label = 'Save' }: { name: readonly (string | number)[]; plot?: () => Plot; table?: () => Table; label?: string }) {
  const box = useRef<HTMLDetailsElement>(null), open = useSignal(false), said = useSignal(''), dark = useSignal(false), text = useSignal('');
  const close = () => { if (box.current) box.current.open = false; };
  useEffect(() => {
    if (!open.value) return;
    const outside = (e: Event) => { if (e.target instanceof Element && !box.current?.contains(e.target) && !e.target.matches('.offscreen')) close(); };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => { document.removeEventListener('pointerdown', outside); document.removeEventListener('focusin', outside); };
  }, [open.value]);
  const done = (what: string) => { said.value = what; setTimeout(() => { if (said.peek() === what) said.value = ''; }, 4000); };
  const attempt = async (what: string, f: () => void | Promise<void>) => {
    try {
      await f();
      done(what);
    } catch (e) {
      said.value = `That did not work. ${words(e)}`;
    }
  };
  const picture = (form: 'svg' | 'png') => attempt(`Saved as ${form.toUpperCase()}.`, async () => {
    const p = plot!();
    if (!p.root) throw new Error('There is no plot on the page yet.');
    await saveFigure(p.root, { ...p.text, background: dark.peek() ? 'dark' : 'white' }, form, name);
  });
  const put = async (t: string, what: string) => {
    if (await copy(t)) done(`${what} copied.`);
    else { text.value = t; said.value = 'The browser does not let pages copy here. Select the text and copy it.'; }
  };
  return (
    <details class="taker" ref={box} data-noexport onToggle={(e) => { open.value = e.currentTarget.open; if (!e.currentTarget.open) { said.value = ''; text.value = ''; } }}
      onKeyDown={(e) => { if (e.key === 'Escape' && box.current?.open) { e.stopPropagation(); close(); box.current.querySelector('summary')?.focus(); } }}>
      <summary title="Save or copy what is shown here">{label}</summary>
      {open.value && (
        <div class="taker-list" role="group" aria-label="Save or copy">
          {plot && (
            <>
              <button type="button" onClick={() => void picture('svg')}>SVG <small>picture that stays sharp</small></button>
              <button type="button" onClick={() => void picture('png')}>PNG <small>picture, twice the size</small></button>
              <label class="taker-check"><input type="checkbox" checked={dark.value} onChange={(e) => (dark.value = e.currentTarget.checked)} /> dark background</label>
            </>
          )}
          {table && forms.map(([f, title, doc]) => <button key={f} type="button" onClick={() => void attempt(`Saved as ${title}.`, () => saveTable(table(), f, name))}>{title} <small>{doc}</small></button>)}
          {table && <button type="button" onClick={() => void put(spreadsheet(table()), 'Table')}>Copy table <small>to paste into a spreadsheet</small></button>}
          {addressed() && <button type="button" onClick={() => void put(location.href, 'Link')}>Copy link <small>to what is shown now</small></button>}
          {text.value && <textarea class="taker-text" readOnly rows={4} aria-label="Text to copy" value={text.value} ref={(t) => t?.select()} />}
          <p class="taker-said" role="status">{said.value}</p>
        </div>
      )}
    </details>
  );
}

/** spreadsheet is a table with tabs between the cells, which spreadsheets paste into cells. */
export function spreadsheet(t: Table): string {
  const csv = tableText({ ...t, rows: clean(t.rows) }, 'csv');
  // No cell holds a comma, a quote or a line end any more but those of clean, so that commas between cells are the only ones.
  return csv.replaceAll(',', '\t').replaceAll('\u0001', ',').replaceAll('\u0002', '"');
}

function* clean(rows: Table['rows']): Table['rows'] {
  for (const r of rows) yield r.map((c) => (typeof c === 'string' ? c.replace(/\s+/g, ' ').replaceAll(',', '\u0001').replaceAll('"', '\u0002').trim() : c));
}
