// Small parts that several views are made of.

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { luts } from '../core/color';
import { label as elementLabel } from '../core/format';
import type { State } from '../core/state';
import type { Nav, Series } from '../render/orbit/common';
import { makeScale, type Scale } from '../render/scale';
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
  return useMemo<Nav>(() => ({ moveTo: (g) => s.place.moveTo(g), step: (by, axis) => s.place.step(by, axis), home: () => s.place.home(), opposite: () => s.place.opposite(), play, between: () => !s.place.stored.peek() }), [s, play]);
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

/** The name of A (0) or B (1). */
export const modelName = (s: State, k: 0 | 1): string => s.data.run.value?.model_list[s.place.models.value[k] ?? -1]?.name ?? '';

/** Whether an end of the metric is bad: the index of the worst value of a curve, -1 if it has none. */
export function worstOf(values: ArrayLike<number>, better: 'higher' | 'lower' | undefined): number {
  let w = -1;
  for (let k = 0; k < values.length; k++) {
    if (Number.isNaN(values[k])) continue;
    if (w < 0 || (better === 'lower' ? values[k] > values[w] : values[k] < values[w])) w = k;
  }
  return w;
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
  const w = worstOf(x.values, s.place.metricDoc.value?.better);
  return `${x.name}: mean ${x.about ? 'about ' : ''}${num(orbitMean(x.values, o.weights))}, ${lowest(s)} ${x.about ? 'about ' : ''}${num(x.values[w])}${w >= 0 ? ` at ${o.labels[w]}` : ''}.`;
}

/** The table of colours that is chosen. */
export const colors = (s: State): Uint32Array => luts[s.place.cmap.value];

/** The colour scale of a map: title, ends, and what is outside. */
export function ColorBar({ table, scale }: { table: Uint32Array; scale: Scale }) {
  const stops = useMemo(() => {
    const out: string[] = [];
    for (let i = 0; i < 256; i += 15) out.push(`rgb(${table[i] & 255} ${(table[i] >> 8) & 255} ${(table[i] >> 16) & 255})`);
    return `linear-gradient(to right, ${out.join(',')})`;
  }, [table]);
  const ticks = scale.ticks.filter((t) => scale.pos(t.at) >= -0.001 && scale.pos(t.at) <= 1.001);
  return (
    <div class="colorbar">
      <span class="name">{scale.label}</span>
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

/** The key of a drawing: line, marker and name of every model. */
export function Legend({ series, n }: { series: readonly Series[]; n?: string | undefined }) {
  return (
    <ul class="legend">
      {series.map((x, k) => (
        <li key={k}>
          <svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">
            <line class={`line m${x.ink}${x.pinned ? ' pinned' : ''}`} x1="1" x2="25" y1="5" y2="5" />
            {x.pinned ? null : x.ink === 1 ? <rect class="dot m1" x="10" y="2" width="6" height="6" /> : <circle class={`dot m${x.ink}`} cx="13" cy="5" r="3.2" />}
          </svg>
          <span class={`ink m${x.ink}`}>{x.name}</span>
        </li>
      ))}
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
