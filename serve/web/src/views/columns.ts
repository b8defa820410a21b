// The columns of the table of samples: what they are called, what they sort by, what they show, and what a program gets of them.

import type { Cell, Column as Taken, Table } from '../core/export';
import { inkOf, letters, type Ink, type Nth } from '../core/inks';
import type { State } from '../core/state';
import { rendererOf } from '../render/task';
import { num, signed } from '../render/text';
import * as fig from './figures';

/** A column. */
export interface Column {
  key: string;
  /** For people, short. */
  title: string;
  /** For people, in a sentence. */
  doc: string;
  /** For programs. */
  name: string;
  /** Which figure of the store it is, if it is one: then sorting by it is ranking by it. */
  figure: fig.Figure | null;
  text: boolean;
  ink: '' | `ink m${Ink}`;
  /** What it sorts by; NaN and null come last. */
  value: (i: number) => number | string | null;
  show: (i: number) => string;
  /** Whether to mark the cell as wrong, with a cross. */
  wrong?: (i: number) => boolean;
}

/** columns is the columns for a run as it is shown. */
export function columns(s: State): Column[] {
  const r = s.data.run.value, two = s.place.b.value >= 0, ks = fig.nths(s), out: Column[] = [];
  if (!r) return out;
  const ids = s.data.ids.value, labels = s.data.labels.value, classes = s.data.classNames.value, className = (c: number | undefined) => (c === undefined || !(c >= 0) ? '' : (classes[c] ?? String(c)));
  const AB = (k: Nth) => (two ? ' ' + letters[k] : ''), ab = (k: Nth) => (two ? '_' + letters[k].toLowerCase() : ''), m = (k: Nth) => (two ? (`ink m${inkOf(k)}` as const) : '');
  out.push({ key: 'id', title: 'sample', doc: 'name of the sample', name: 'sample', figure: 'id', text: true, ink: '', value: (i) => ids[i] ?? String(i), show: (i) => ids[i] ?? `#${i}` });
  if (r.labelled) out.push({ key: 'label', title: 'class', doc: 'the true class', name: 'class', figure: 'label', text: classes.length > 0, ink: '', value: (i) => (labels[i] >= 0 ? labels[i] : null), show: (i) => className(labels[i]) || '–' });
  for (const k of rendererOf(r).columns.includes('predicted') ? ks : []) {
    const v = fig.values(s, `predicted${k}`);
    if (v) {
      out.push({
        key: `predicted${k}`, title: `answer${AB(k)}`, doc: fig.explain(s, `predicted${k}`), name: `predicted${ab(k)}`, figure: `predicted${k}`, text: true, ink: m(k),
        value: (i) => v[i], show: (i) => className(v[i]) || '–', ...(r.labelled ? { wrong: (i: number) => v[i] >= 0 && labels[i] >= 0 && v[i] !== labels[i] } : {}),
      });
    }
  }
  const add = (f: fig.Figure, name: string, ink: Column['ink'], form = num) => {
    const v = fig.values(s, f);
    if (v) out.push({ key: f, title: fig.title(s, f), doc: fig.explain(s, f), name, figure: f, text: false, ink, value: (i) => v[i], show: (i) => form(v[i]) });
  };
  for (const k of ks) add(`mean${k}`, `mean${ab(k)}`, m(k));
  for (const k of ks.slice(0, 2)) add(`sd${k}`, `spread${ab(k)}`, m(k));
  for (const k of ks) {
    add(`worst${k}`, `worst${ab(k)}`, m(k));
    const st = s.data.stats[k].state.value.value;
    if (st && k < 2) {
      out.push({
        key: `at${k}`, title: 'at', doc: `where along the orbit ${two ? letters[k] + ' ' : ''}has its worst value`, name: `worst_at${ab(k)}`, figure: null, text: true, ink: m(k),
        value: (i) => (st.worst[i] >= 0 ? st.worst[i] : null), show: (i) => (st.worst[i] >= 0 && st.max[i] - st.min[i] <= 1e-3 * Math.max(Math.abs(st.min[i]), Math.abs(st.max[i])) ? 'same all round' : (r.orbit.labels[st.worst[i]] ?? '–')),
      });
    }
  }
  if (two) add('diff', 'b_minus_a', '', signed);
  // What the samples are ranked by has a column, or nobody would see the order.
  const by = fig.figureOf(s, s.choice.rank.value.by);
  if (by !== 'index' && !out.some((c) => c.figure === by)) {
    const k = fig.nth(by);
    if (k < ks.length) add(by, `${by.replace(/[0-7]$/, '')}${/[0-7]$/.test(by) ? ab(k) : ''}`, /[0-7]$/.test(by) ? m(k) : '', by.startsWith('change') ? signed : num);
  }
  return out;
}

/** table is the table as it stands, to be taken away: texts as they are shown, numbers with all their digits. */
export function table(s: State, list: readonly Column[], order: ArrayLike<number>, notes: readonly string[]): Table {
  const r = s.data.run.value;
  const cols: Taken[] = list.map((c) => ({ name: c.name, kind: c.text ? 'text' : c.figure === 'label' ? 'integer' : 'float32' }));
  return {
    title: `Samples of ${r?.name ?? ''}: ${s.place.metricDoc.value?.title ?? ''}`,
    notes,
    columns: [{ name: 'index', kind: 'integer' }, ...cols],
    rows: rowsOf(list, order),
  };
}

function* rowsOf(list: readonly Column[], order: ArrayLike<number>): Iterable<Cell[]> {
  for (let k = 0; k < order.length; k++) {
    const i = order[k];
    yield [i, ...list.map((c) => {
      const v = c.value(i);
      return c.text ? (v === null || v !== v ? null : c.show(i)) : v;
    })];
  }
}

/** notes is what has to stand beside anything that is taken from a run: what it is of, and how it can be made again. */
export function notes(s: State): string[] {
  const r = s.data.run.value, n = s.data.n.value, c = s.choice.count.value;
  if (!r) return [];
  const d = s.place.metricDoc.value;
  const models = s.place.shown.value.map((m, k) => { const x = r.model_list[m]; return x ? `${s.place.b.value >= 0 ? letters[k] + ' ' : ''}${x.name} (sha256 ${x.sha256.slice(0, 12)})` : ''; });
  return [
    `Run ${r.name}, digest ${r.digest.slice(0, 12)}; ${r.orbit.title}${r.kernel ? `; ${r.kernel}` : ''}.`,
    `Models: ${models.join(', ')}.`,
    d ? `${d.title}${d.unit ? ` in ${d.unit}` : ''}, ${d.better} is better, against ${d.ref}.` : '',
    c === n ? `All ${n} samples.` : `${c} of ${n} samples: ${chosen(s)}.`,
    s.data.runs.state.value.value?.version ? `nero ${s.data.runs.state.value.value.version}.` : '',
  ].filter(Boolean);
}

/** chosen is the choice in words. */
export function chosen(s: State): string {
  const c = s.choice.parts.value, parts = [c.slice && `${s.data.run.value?.slices.some((x) => x.name === c.slice) ? 'class' : 'slice'} ${c.slice}`, c.rule, c.lasso && 'those in a lasso', c.picked && `${c.picked.length} picked`].filter(Boolean);
  return parts.length ? parts.join(' and ') : 'all';
}
