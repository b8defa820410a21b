// Signals as lines over time: where there are more values than pixels, from the lowest to the highest of each stretch.

import { useMemo } from 'preact/hooks';
import { firstOf } from '../../core/axis';
import type { Signal } from '../../core/datum';
import type { State } from '../../core/state';
import { num } from '../text';
import { envelope } from './fields';

const W = 300;

/** A line that is drawn. */
export interface Trace {
  of: Signal;
  class: string;
  name: string;
}

const seconds = (v: number): string => (v < 1 ? `${+(1000 * v).toPrecision(3)} ms` : `${+v.toPrecision(4)} s`);

/** Where a time is said: in seconds if the rate is known, else as the number of the value. */
const when = (s: Signal, k: number): string => (s.rate ? seconds(k / s.rate) : String(Math.round(k)));

/** The channels of a signal, or several signals over each other, channel by channel. */
export function Traces({ list, words, height = 60, lo, hi, marks = [] }: { list: readonly Trace[]; words: string; height?: number; lo?: number; hi?: number; marks?: readonly { at: number; label: string; class?: string; to?: number }[] }) {
  const first = list[0]?.of;
  const drawn = useMemo(() => list.map((x) => Array.from({ length: Math.min(8, x.of.c) }, (_, c) => envelope(x.of, c, W))), list.map((x) => x.of));
  if (!first) return null;
  const channels = Math.max(...list.map((x) => Math.min(8, x.of.c)));
  let [a, b] = [Infinity, -Infinity];
  for (const x of drawn) for (const e of x) { for (const v of e.lo) if (v < a) a = v; for (const v of e.hi) if (v > b) b = v; }
  [a, b] = [lo ?? (a <= b ? a : 0), hi ?? (a <= b ? b : 1)];
  if (!(b > a)) [a, b] = [a - 0.5, a + 0.5];
  const y = (v: number, c: number) => c * (height + 8) + height * (1 - (Math.max(a, Math.min(b, v)) - a) / (b - a));
  const H = channels * (height + 8);
  return (
    <svg class="wave" viewBox={`-30 -4 ${W + 36} ${H + 16}`} role="img" aria-label={`${list.map((x) => x.name).join(', ')} over ${first.rate ? seconds(first.t / first.rate) : `${first.t} values`}, from ${num(a)} to ${num(b)}, ${words}.${marks.map((m) => ` ${m.label}.`).join('')}`}>
      {Array.from({ length: channels }, (_, c) => (
        <g key={c}>
          <line class="base" x1={0} x2={W} y1={y(a, c)} y2={y(a, c)} />
          {a < 0 && b > 0 && <line class="base zero" x1={0} x2={W} y1={y(0, c)} y2={y(0, c)} />}
          <text class="tick" x={-3} y={y(b, c) + 4} text-anchor="end">{num(b)}</text>
          <text class="tick" x={-3} y={y(a, c)} text-anchor="end">{num(a)}</text>
        </g>
      ))}
      {marks.map((m) => m.to !== undefined ? <rect key={m.label} class={`stretch ${m.class ?? ''}`} x={m.at * W} width={Math.max(0.5, (m.to - m.at) * W)} y={-2} height={H - 6}><title>{m.label}</title></rect> : <line key={m.label} class={`moment ${m.class ?? ''}`} x1={m.at * W} x2={m.at * W} y1={-2} y2={H - 8}><title>{m.label}</title></line>)}
      {list.map((x, j) => drawn[j].map((e, c) => {
        const n = e.lo.length;
        const at = (k: number) => ((k + 0.5) / n) * W;
        const whole = x.of.t <= W;
        const up: string[] = [];
        const down: string[] = [];
        for (let k = 0; k < n; k++) {
          if (Number.isNaN(e.lo[k])) continue;
          up.push(`${at(k).toFixed(1)},${y(e.hi[k], c).toFixed(1)}`);
          if (!whole) down.push(`${at(k).toFixed(1)},${(y(e.lo[k], c) + 0.4).toFixed(1)}`);
        }
        return up.length ? <path key={`${j}.${c}`} class={`${x.class}${whole ? '' : ' filled'}`} d={`M${up.join('L')}${whole ? '' : `L${down.reverse().join('L')}Z`}`} /> : null;
      }))}
      <text class="tick" x={0} y={H + 6}>{when(first, 0)}</text>
      <text class="tick" x={W} y={H + 6} text-anchor="end">{when(first, first.t)}</text>
    </svg>
  );
}

/** Where in a moved signal its first moment came to lie: the shift of time of the chart, in values; null if the element does not shift. */
export function shiftOf(s: State): number | null {
  const o = s.data.group.value;
  const k = o ? firstOf(o.chart, 'delay') : -1;
  const v = k < 0 ? NaN : s.place.g.value[k];
  return Number.isFinite(v) && v !== 0 ? v : null;
}

/** A signal as it was fed. */
export function Wave({ s, name, of, words }: { s: State; name: string; of: Signal; moved?: boolean; words: string }) {
  const dt = shiftOf(s);
  const at = dt === null ? NaN : (((dt % of.t) + of.t) % of.t) / of.t;
  const marks = Number.isFinite(at) ? [{ at, label: `what was at the beginning lies at ${when(of, ((dt! % of.t) + of.t) % of.t)}`, class: 'moved' }] : [];
  return (
    <>
      <Traces list={[{ of, class: 'trace', name }]} words={words} marks={marks} />
      {marks.map((m) => <p key={m.label} class="axisnote">dashed: {m.label}</p>)}
    </>
  );
}
