// Figures by sample: what colours the scatter, ranks the samples and fills the columns of the table, with the names they go by.

import type { Column } from '../core/choice';
import { letters, type Nth } from '../core/inks';
import type { State } from '../core/state';

/** A figure of every sample: a column of the store, or the worst value, which is the least or the greatest as the metric has it. */
export type Figure = Column | `worst${Nth}`;

/** How a figure is drawn. */
export interface Scale {
  kind: 'value' | 'difference' | 'class';
  lo: number;
  hi: number;
  log: boolean;
  /** The bright end of the colours is that of low values. */
  reversed: boolean;
}

/** Which end of the metric is bad: the least value along an orbit, or the greatest. */
export const worstOf = (s: State): 'min' | 'max' => (s.place.metricDoc.value?.better === 'lower' ? 'max' : 'min');

/** The place of the model that a figure is of; 0 for one of none. */
export const nth = (f: string): Nth => (/[0-7]$/.test(f) ? (Number(f.slice(-1)) as Nth) : 0);

/** The places of the models that are shown. */
export const nths = (s: State): Nth[] => s.place.shown.value.map((_, k) => k as Nth);

/** storeColumn is the store's column for a figure. */
export function storeColumn(s: State, f: Figure): Column {
  return f.startsWith('worst') ? `${worstOf(s)}${nth(f)}` : (f as Column);
}

/** figureOf is the figure that a column of the store is shown as: the least or greatest value as the worst one. */
export function figureOf(s: State, c: string): Figure {
  const m = /^(mean|sd|min|max|identity|change|similar|corr|ssim|predicted|worst)([0-7])$/.exec(c);
  if (!m) return c === 'diff' || c === 'label' || c === 'id' || c === 'index' ? c : 'mean0';
  const k = nth(c);
  return m[1] === worstOf(s) ? `worst${k}` : (c as Figure);
}

/** values is a figure by sample, NaN where it is missing; null as long as it is not there. */
export const values = (s: State, f: Figure): Float32Array | null => s.choice.column(storeColumn(s, f));

/** scaleOf is the scale of a figure, the same for both models, so that their colours can be compared. */
export function scaleOf(s: State, f: Figure): Scale {
  const wide = s.place.metricDoc.value?.wide ?? false, lower = s.place.metricDoc.value?.better === 'lower';
  if (f === 'label' || f.startsWith('predicted')) return { kind: 'class', lo: 0, hi: Math.max(1, s.data.classNames.value.length - 1), log: false, reversed: false };
  if (f === 'diff' || f.startsWith('change')) {
    let m = 0;
    for (const g of f === 'diff' ? [f] : nths(s).map((k): Figure => `change${k}`)) for (const v of values(s, g) ?? []) if (Math.abs(v) > m && Math.abs(v) < Infinity) m = Math.abs(v);
    return { kind: 'difference', lo: -(m || 1), hi: m || 1, log: false, reversed: lower };
  }
  if (/^(corr|ssim)/.test(f)) return { kind: 'value', lo: -1, hi: 1, log: false, reversed: false };
  let lo = Infinity, hi = -Infinity, positive = true;
  const both = /[0-7]$/.test(f) ? nths(s).map((k) => f.slice(0, -1) + String(k)) : [f];
  for (const g of both) {
    for (const v of values(s, g as Figure) ?? []) {
      if (!Number.isFinite(v)) continue;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
      positive &&= v > 0;
    }
  }
  if (!(hi >= lo)) [lo, hi] = [0, 1];
  return { kind: 'value', lo, hi, log: wide && positive && hi / lo > 10, reversed: /^(sd)/.test(f) || (lower && !f.startsWith('similar')) };
}

/** about is whether a figure comes from the steps of a drawing, here or in the file of a report: it is about right, and says so. */
export function about(s: State, f: Figure): boolean {
  const of = f === 'diff' ? [0, 1] : [nth(f)];
  if (/^(similar|corr|ssim)/.test(f)) return of.some((k) => s.data.curves[k].state.value.value?.exact === false);
  return /^(mean|sd|worst|min|max|identity|change|diff)/.test(f) && of.some((k) => s.data.stats[k].state.value.value?.drawn === true);
}

/** title is a figure in words; A and B are only told apart where there are two. One that is about right has a sign before it. */
export const title = (s: State, f: Figure): string => (about(s, f) ? '≈ ' : '') + words(s, f);

function words(s: State, f: Figure): string {
  const two = s.place.b.value >= 0, m = two ? ` ${letters[nth(f)]}` : '';
  const name = f.replace(/[0-7]$/, '');
  switch (name) {
    case 'mean': return `mean${m}`;
    case 'sd': return `spread${m}`;
    case 'worst': return `worst value${m}`;
    case 'min': return `lowest${m}`;
    case 'max': return `highest${m}`;
    case 'identity': return `unmoved${m}`;
    case 'change': return `change when moved${m}`;
    case 'similar': return `distance from the mean curve${m}`;
    case 'corr': return `correlation with the mean curve${m}`;
    case 'ssim': return `structural similarity to the mean curve${m}`;
    case 'predicted': return `answer to the unmoved input${m}`;
    case 'diff': return 'B − A';
    case 'label': return 'class';
    case 'id': return 'name';
    default: return 'position';
  }
}

/** explain says what a figure is, for a tooltip. */
export const explain = (s: State, f: Figure): string => meaning(s, f) + (about(s, f) ? '; about right: from the steps of the drawings' : '');

function meaning(s: State, f: Figure): string {
  const d = s.place.metricDoc.value, metric = d ? d.title : 'the metric', w = worstOf(s) === 'min' ? 'lowest' : 'highest';
  switch (f.replace(/[0-7]$/, '')) {
    case 'mean': return `${metric}, mean over the orbit`;
    case 'sd': return `${metric}, standard deviation over the orbit`;
    case 'worst': return `${metric}, the ${w} value along the orbit`;
    case 'identity': return `${metric} of the unmoved input`;
    case 'change': return `${metric}, mean over the orbit less the value of the unmoved input`;
    case 'similar': return 'distance of the curve from the mean curve of the slice: root of the mean squared difference over the orbit';
    case 'corr': return 'correlation of the curve with the mean curve of the slice, over the orbit; no value where either is level';
    case 'ssim': return 'how alike the curve and the mean curve of the slice are in level, spread and shape, 1 for the same (SSIM over the whole orbit); no value where either is level';
    case 'predicted': return 'the class that the model answers for the unmoved input';
    case 'diff': return `${metric}, mean over the orbit of B less that of A`;
    case 'label': return 'the true class';
    default: return '';
  }
}

/** offered is the figures that can be chosen for a run as it is shown: one model or two, classes or none, curves here or not. */
export function offered(s: State, what: 'color' | 'rank'): Figure[] {
  const two = s.place.b.value >= 0, out: Figure[] = [], ks = nths(s);
  for (const k of ks) out.push(`mean${k}`);
  for (const k of ks) out.push(`sd${k}`);
  for (const k of ks) out.push(`worst${k}`);
  // What moving does to it: the worst moved sample is not the one that is bad anyway.
  if ((s.data.group.value?.identity ?? -1) >= 0) for (const k of ks) out.push(`change${k}`);
  if (two) out.push('diff');
  if (what === 'color') {
    if (s.data.run.value?.labelled) out.push('label');
    for (const k of ks) if (s.data.top[k].state.value.value) out.push(`predicted${k}`);
  }
  for (const of of ['similar', 'corr', 'ssim'] as const) for (const k of ks) if (s.data.curves[k].state.value.value) out.push(`${of}${k}`);
  return out;
}
