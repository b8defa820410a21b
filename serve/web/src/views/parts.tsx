// Small parts that several views are made of.

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { gains, goodness } from '../core/color';
import { label as elementLabel } from '../core/format';
import type { State } from '../core/state';
import { Mark, type Nav, type Series } from '../render/orbit/common';
import { makeScale, type Scale } from '../render/scale';
import { letters, nthOf } from '../core/inks';
import { count, num } from '../render/text';

/** A card of the page: a landmark with a heading. */
export function Card({ id, title, sub, children, class: c, tools }: { id: string; title: string; sub?: ComponentChildren; children: ComponentChildren; class?: string; tools?: ComponentChildren }) {
  return (
    <section class={`card ${c ?? id}`} aria-labelledby={`${id}-title`} id={id}>
      <div class="head">
        <h2 id={`${id}-title`}>{title}</h2>
        {sub && <span class="sub">{sub}</span>}
        {tools && <span class="tools">{tools}</span>}
      </div>
      {children}
    </section>
  );
}

/** What moves the needle of a store, for drawings. */
export function useNav(s: State, play: () => void = () => undefined): Nav {
  return useMemo<Nav>(() => ({ moveTo: (g) => s.place.moveTo(g), soon: (g) => s.place.soon(g), step: (by, axis) => s.place.step(by, axis), home: () => s.place.home(), opposite: () => s.place.opposite(), play, between: () => !s.place.stored.peek() }), [s, play]);
}

/** The scale of the metric, shared by all models and views of a run. */
export function useScale(s: State): Scale {
  const r = s.place.range.value;
  const label = quantity(s);
  return useMemo(() => makeScale(r, label), [r.lo, r.hi, r.log, label]);
}

/** The metric with its unit. */
export function quantity(s: State): string {
  const m = s.place.metricDoc.value;
  return m ? m.title + (m.unit ? ` in ${m.unit}` : '') : '';
}

/** The name of a model on show. */
export const modelName = (s: State, k: number): string => s.data.run.value?.model_list[s.place.shown.value[k] ?? -1]?.name ?? '';

/** The letter of a model on show, where it is not alone. */
export const letter = (s: State, k: number): string => (s.place.b.value >= 0 ? letters[k] : '');

/** Whether an end of the metric is bad: the index of the worst value of a curve, -1 if it has none. */
export function worstOf(values: ArrayLike<number>, better: 'higher' | 'lower' | undefined): number {
  let w = -1;
  for (let k = 0; k < values.length; k++) {
    if (Number.isNaN(values[k])) continue;
    if (w < 0 || (better === 'lower' ? values[k] > values[w] : values[k] < values[w])) w = k;
  }
  return w;
}

/** Where a curve is worst: the first element, how many are as bad, and whether it is level, the same all the way round as far as it is shown. */
export function worstPlace(values: ArrayLike<number>, better: 'higher' | 'lower' | undefined): { k: number; ties: number; level: boolean } {
  const k = worstOf(values, better);
  if (k < 0) return { k, ties: 0, level: false };
  let [lo, hi, ties, n] = [Infinity, -Infinity, 0, 0];
  const w = values[k] as number;
  const near = 1e-6 * Math.abs(w);
  for (let j = 0; j < values.length; j++) {
    const v = values[j] as number;
    if (Number.isNaN(v)) continue;
    n++;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
    if (Math.abs(v - w) <= near) ties++;
  }
  return { k, ties, level: n > 1 && hi - lo <= 1e-3 * Math.max(Math.abs(lo), Math.abs(hi)) };
}

/** Where a curve is worst, in words. */
export function worstWords(o: { labels: readonly string[] }, w: { k: number; ties: number; level: boolean }): string {
  if (w.k < 0) return '';
  if (w.level) return 'the same at every element';
  return w.ties > 1 ? `${count(w.ties)} of ${count(o.labels.length)} elements alike` : `at ${o.labels[w.k]}`;
}

/** The place where a curve is worst, to go to; that several are as bad, or all alike, is said. */
export function WorstAt({ s, values }: { s: State; values: ArrayLike<number> }) {
  const o = s.data.group.value;
  const w = worstPlace(values, s.place.metricDoc.value?.better);
  if (!o || w.k < 0) return <>–</>;
  if (w.level) return <span class="level" title="No spread: the values differ by less than is shown">same all round</span>;
  return (
    <button class="link" onClick={() => s.place.moveToIndex(w.k)} title={w.ties > 1 ? `As bad at ${count(w.ties)} of ${count(o.labels.length)} elements; go to the first, ${o.labels[w.k]}` : `Go to ${o.labels[w.k]}`}>
      {w.ties > 1 ? `${count(w.ties)} of ${count(o.labels.length)} elements` : o.labels[w.k]}
    </button>
  );
}

export const lowest = (s: State): string => (s.place.metricDoc.value?.better === 'lower' ? 'highest' : 'lowest');

/** The mean over the orbit with the weights of the plan; NaN if a value is missing, as in the table and the reports: a mean over what is left is of another orbit. */
export function orbitMean(values: ArrayLike<number>, weights: readonly number[]): number {
  let t = 0;
  let w = 0;
  for (let k = 0; k < values.length; k++) {
    const u = weights.length ? weights[k] : 1;
    t += u * values[k];
    w += u;
  }
  return w > 0 && Number.isFinite(t) ? t / w : NaN;
}

/** How many values of a model are not numbers, in words; nothing if all are. */
export function Missing({ name, bad, of: all, first }: { name: string; bad: number; of: number; first?: string | undefined }) {
  if (!(bad > 0)) return null;
  return (
    <p class="note missing">
      {name}: {count(bad)} of {count(all)} values are not numbers and are in no mean{first ? `; the first: ${first}` : ''}.
    </p>
  );
}

/** The lines of a tooltip at an element. */
export function tipLines(s: State, series: readonly Series[], k: number): string[] {
  const o = s.data.group.value;
  if (!o) return [];
  const out = [o.labels[k] ?? elementLabel(o.chart, o.elements[k]) + ''];
  if (o.exact[k] && !o.exact.every(Boolean)) out[0] += ' · exact';
  for (const x of series) out.push(`${x.name} ${x.about ? '≈ ' : ''}${num(x.values[k])}${x.lo && x.hi ? ` (${num(x.lo[k])} to ${num(x.hi[k])})` : ''}${x.wrong?.(k) ? ' ✗' : ''}`);
  return out;
}

/** A series in a sentence: mean, worst and where. */
export function sentence(s: State, x: Series): string {
  const o = s.data.group.value;
  if (!o) return '';
  const w = worstPlace(x.values, s.place.metricDoc.value?.better);
  return `${x.name}: mean ${x.about ? 'about ' : ''}${num(orbitMean(x.values, o.weights))}, ${lowest(s)} ${x.about ? 'about ' : ''}${num(x.values[w.k])}${w.k >= 0 ? `, ${worstWords(o, w)}`.replace(/^, at /, ' at ') : ''}.`;
}

/** The table of colours of the metric: bright is good. */
export const colors = (s: State): Uint32Array => goodness(s.place.cmap.value, s.place.metricDoc.value?.better);

/** The table of colours of B − A: orange where B is better. */
export const gainColors = (s: State): Uint32Array => gains(s.place.metricDoc.value?.better);

/** The colour scale of a map: title, ends, and what is outside. */
export function ColorBar({ table, scale, note = 'bright is good' }: { table: Uint32Array; scale: Scale; note?: string }) {
  const stops = useMemo(() => {
    const out: string[] = [];
    for (let i = 0; i < 256; i += 15) out.push(`rgb(${table[i] & 255} ${(table[i] >> 8) & 255} ${(table[i] >> 16) & 255})`);
    return `linear-gradient(to right, ${out.join(',')})`;
  }, [table]);
  const ticks = scale.ticks.filter((t) => scale.pos(t.at) >= -0.001 && scale.pos(t.at) <= 1.001);
  return (
    <div class="colorbar">
      <span class="name">{scale.label}; {note}</span>
      <div class="ramp" style={{ backgroundImage: stops }} aria-hidden="true" />
      <div class="ends">
        {ticks.map((t) => (
          <span key={t.at} style={{ left: `${scale.pos(t.at) * 100}%` }}>
            {t.label}
          </span>
        ))}
      </div>
    </div>
  );
}

/** The key of a drawing: line, marker and name of every model. With a store, the models of several are buttons: one lets the others of the card fade. */
export function Legend({ series, n, s }: { series: readonly Series[]; n?: string | undefined; s?: State }) {
  const several = s && series.filter((x) => !x.pinned && nthOf(x.ink) >= 0).length > 1;
  return (
    <ul class="legend">
      {series.map((x, k) => {
        const lit = several && s.place.lit.value === x.ink;
        const key = (
          <>
            <svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">
              <line class={`line m${x.ink}${x.pinned ? ' pinned' : ''}`} x1="1" x2="25" y1="5" y2="5" />
              {!x.pinned && <Mark ink={x.ink} x={13} y={5} r={3.3} />}
            </svg>
            <span class={`ink m${x.ink}`}>{x.name}</span>
          </>
        );
        return <li key={k}>{several && !x.pinned ? <button type="button" class="legend-key" aria-pressed={lit} title={lit ? 'Show all alike' : `Let all but ${x.name} fade`} onClick={() => (s.place.lit.value = lit ? -1 : x.ink)}>{key}</button> : key}</li>;
      })}
      {n && <li class="count">{n}</li>}
    </ul>
  );
}

/** What stands where something is being loaded. */
export function Skeleton({ label, square }: { label: string; square?: boolean }) {
  return (
    <div class={`skeleton${square ? ' square' : ''}`} role="status">
      <span>{label}</span>
    </div>
  );
}

/** What stands where something could not be loaded, with the way to try again. */
export function Trouble({ text, retry }: { text: string; retry?: () => void }) {
  return (
    <div class="trouble" role="alert">
      <p>{text}</p>
      {retry && <button onClick={retry}>Try again</button>}
    </div>
  );
}
