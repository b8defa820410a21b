// Orbits that have neither a circle nor a map: rotations of space by their angle, elements by rank, and lines along single axes.

import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Axis, Element, Group } from '../../core/api';
import { axisLabel } from '../../core/axis';
import { identity, nearest, spans } from '../../core/orbit';
import { angle, spatial, vector } from '../../core/rotation';
import { linePath } from '../path';
import { Frame, Mark, Tip, usePointer, type Nav, type OrbitProps, type Series } from './common';
import { open, pathOf, shapesOf } from './kinds';
import { Line } from './line';
import { bins, ranking } from './sphere';
import { Worst } from './worst';

const W = 260;
const H = 168;

/** What the two plots with dots share: where each element lies to the right, and how one goes on. */
interface Lane {
  x: readonly number[]; // by element, 0 to 1; NaN where there is none
  order: readonly number[]; // from left to right
  ticks: readonly { x: number; label: string }[];
  label: string;
}

/** Values against the angle of the rotation. */
export function Angle(p: OrbitProps) {
  const o = p.orbit;
  const lane = useMemo<Lane>(() => {
    const s = spatial(o.chart)!;
    const x = o.elements.map((e) => angle(vector(s, e)) / 180);
    return { x, order: x.map((_, k) => k).sort((a, b) => x[a] - x[b] || a - b), ticks: [0, 45, 90, 135, 180].map((v) => ({ x: v / 180, label: `${v}°` })), label: 'angle of the rotation' };
  }, [o]);
  return (
    <>
      <Dots p={p} lane={lane} lines />
      {!p.small && <p class="axisnote">a mark per element{o.kinds.length ? '; hollow: inverted' : ''}; line: median of 15° each, band: 10–90 % of the elements, dashed: the worst</p>}
      {p.focusable && !p.small && <Worst p={p} />}
    </>
  );
}

/** Elements from the worst value of the first model to the best. */
export function Ranked(p: OrbitProps) {
  const o = p.orbit;
  const first = p.series.find((s) => !s.pinned);
  const lane = useMemo<Lane>(() => {
    const order = ranking(first?.values ?? [], p.better ?? 'higher');
    const n = Math.max(1, order.length);
    const x = new Array<number>(n).fill(NaN);
    order.forEach((k, i) => (x[k] = (i + 0.5) / n));
    const ends = n > 1 ? [{ x: 0.5 / n, label: '1' }, { x: 1 - 0.5 / n, label: String(n) }] : [{ x: 0.5, label: '1' }];
    return { x, order, ticks: ends, label: `elements by rank${p.series.length > 1 ? ` of ${first?.name ?? ''}` : ''}, the worst first` };
  }, [first?.values, first?.name, p.better, p.series.length]);
  const kinds = useMemo(() => shapesOf(o.kinds), [o]);
  return (
    <>
      <Dots p={p} lane={lane} />
      {!p.small && kinds.size > 1 && lane.order.length <= most && (
        <ul class="legend kinds">
          {[...kinds].map(([k, shape]) => (
            <li key={k}>
              <svg viewBox="-6 -6 12 12" width="12" height="12" aria-hidden="true">
                <path class={`kind m2${open(shape) ? ' open' : ''}`} d={pathOf(shape, 4)} />
              </svg>
              {k}
            </li>
          ))}
        </ul>
      )}
      {p.focusable && !p.small && <Worst p={p} />}
    </>
  );
}

/** Elements up to which marks have shapes; of more they are dots of one path. */
const most = 400;

function Dots({ p, lane, lines }: { p: OrbitProps; lane: Lane; lines?: boolean }) {
  const { orbit: o, scale } = p;
  const y = (v: number) => H * (1 - Math.max(0, Math.min(1, scale.pos(v))));
  const own = p.series.filter((s) => !s.pinned);
  const inverted = (k: number) => o.kinds[k] === 'improper';
  const kinds = useMemo(() => shapesOf(o.kinds), [o]);
  const closest = (px: number, py: number): number => {
    let best = -1;
    let least = Infinity;
    for (const s of own)
      for (const k of lane.order) {
        if (Number.isNaN(scale.pos(s.values[k])) || Number.isNaN(lane.x[k])) continue;
        // Down and up count less: one looks for an element along the axis.
        const d = (lane.x[k] * W - px) ** 2 + ((y(s.values[k]) - py) / (lines ? 1 : 8)) ** 2;
        if (d < least) [least, best] = [d, k];
      }
    return best;
  };
  const { svg, hover, handlers } = usePointer(p, (x, yy) => { const k = closest(x, yy); return k < 0 ? null : o.elements[k]; }, (g) => o.elements.indexOf(g as never));
  const r = p.small ? 1.4 : lane.order.length > 600 ? 1.1 : lane.order.length > 120 ? 1.8 : 2.8;
  const marks = useMemo(
    () =>
      own.map((s, j) =>
        lane.order.length > most ? (
          // One path each, for thousands of elements would be thousands of nodes.
          [false, true].map((inv) => <path key={`${j}${inv}`} class={`cloud m${s.ink}${inv ? ' hollow' : ''}`} stroke-width={2 * r} d={lane.order.filter((k) => inverted(k) === inv && !Number.isNaN(scale.pos(s.values[k]))).map((k) => `M${(lane.x[k] * W).toFixed(1)},${y(s.values[k]).toFixed(1)}h0`).join('')} />)
        ) : (
          lane.order.map((k) => {
            if (Number.isNaN(scale.pos(s.values[k]))) return null;
            const [cx, cy] = [lane.x[k] * W, y(s.values[k])];
            const shape = lines ? undefined : kinds.get(o.kinds[k] ?? '');
            return (
              <g key={`${j}.${k}`} class={`m${s.ink} faint`}>
                {shape ? <path class={`kind m${s.ink}${open(shape) ? ' open' : ''}`} transform={`translate(${cx} ${cy})`} d={pathOf(shape, r)} /> : <Mark ink={s.ink} x={cx} y={cy} r={r} hollow={inverted(k)} />}
                {s.wrong?.(k) && !p.small && <Mark ink={s.ink} x={cx} y={cy} r={r + 1.6} cross />}
              </g>
            );
          })
        ),
      ),
    [lane, scale, ...own.map((s) => s.values), r],
  );
  const summed = useMemo(
    () => (lines ? own.map((s) => [false, true].map((inv) => bins(lane.x.map((x) => x * 180), s.values, p.better ?? 'higher', 15, (k) => inverted(k) === inv))) : []),
    [lane, lines, ...own.map((s) => s.values)],
  );
  const g = p.at.value;
  const here = useMemo(() => nearest(o, g, spans(o)), [o, g.join()]);
  const s3 = spatial(o.chart);
  const x = (lines && s3 ? angle(vector(s3, g)) / 180 : (lane.x[here.index] ?? NaN)) * W;
  const go = (by: number) => {
    const at = lane.order.indexOf(here.index);
    const k = lane.order[Math.max(0, Math.min(lane.order.length - 1, at + by))];
    if (k !== undefined) p.nav.moveTo(o.elements[k]);
  };
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const far = e.shiftKey ? 10 : 1;
    if (e.key === 'ArrowRight' || e.key === 'ArrowUp') go(far);
    else if (e.key === 'ArrowLeft' || e.key === 'ArrowDown') go(-far);
    else if (e.key === 'PageUp') go(15);
    else if (e.key === 'PageDown') go(-15);
    else if (e.key === 'Home') p.nav.home();
    else if (e.key === 'End') go(lane.order.length);
    else if (e.key === ' ') p.nav.play();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const slider = p.focusable
    ? { role: 'slider' as const, tabindex: 0, 'aria-label': lines ? 'Element, by the angle of the rotation' : 'Element, by rank', 'aria-valuemin': lines ? 0 : 1, 'aria-valuemax': lines ? 180 : lane.order.length, 'aria-valuenow': lines ? Math.round((x / W) * 180) : lane.order.indexOf(here.index) + 1, 'aria-valuetext': p.spoken?.value ?? '', onKeyDown: keys }
    : { 'aria-hidden': true as const };
  const path = (list: readonly { x: number; u: number }[]) => linePath(list.map((q) => ({ x: q.x, u: scale.pos(q.u) })), W, H);
  return (
    <Frame layout="line" small={p.small}>
      <svg ref={svg} viewBox={`-34 -10 ${W + 46} ${H + (p.small ? 26 : 44)}`} class="draw" {...handlers}>
        <g role="img" aria-label={p.alt}>
          <g class="grid" aria-hidden="true">
            {scale.ticks.map((t) => scale.pos(t.at) > -0.001 && scale.pos(t.at) < 1.001 && <line key={t.at} x1={0} x2={W} y1={y(t.at)} y2={y(t.at)} />)}
            <line class="rim" x1={0} x2={W} y1={H} y2={H} />
          </g>
          <g aria-hidden="true">
            {scale.ticks.map((t) => scale.pos(t.at) > -0.001 && scale.pos(t.at) < 1.001 && <text key={t.at} class="tick" x={-5} y={y(t.at)} text-anchor="end" dominant-baseline="central">{t.label}</text>)}
            {lane.ticks.map((t) => <text key={t.x} class="tick" x={t.x * W} y={H + 12} text-anchor="middle">{t.label}</text>)}
            {!p.small && <text class="tick" x={W / 2} y={H + 27} text-anchor="middle">{lane.label}</text>}
          </g>
          {p.marks?.map((m) => <line key={m.label} class="floor" x1={0} x2={W} y1={y(m.value)} y2={y(m.value)} />)}
          {summed.map((sides, j) => sides.map((list, b) => {
            if (list.length < 2 || b) return null;
            const mid = (q: { lo: number; hi: number }) => (q.lo + q.hi) / 360;
            const band = `${path(list.map((q) => ({ x: mid(q), u: q.p90 })))}L${path([...list].reverse().map((q) => ({ x: mid(q), u: q.p10 }))).slice(1)}Z`;
            return <path key={`${j}${b}`} class={`band m${own[j].ink}`} d={band} />;
          }))}
          {marks}
          {summed.map((sides, j) => sides.map((list, b) => {
            if (list.length < 2) return null;
            const mid = (q: { lo: number; hi: number }) => (q.lo + q.hi) / 360;
            return (
              <g key={`${j}${b}`}>
                <path class={`line m${own[j].ink}${b ? ' mirrored' : ''}`} d={path(list.map((q) => ({ x: mid(q), u: q.median })))} />
                <path class={`line worst m${own[j].ink}`} d={path(list.map((q) => ({ x: mid(q), u: q.worst })))} />
              </g>
            );
          }))}
        </g>
        {hover && hover.k >= 0 && <g class="under" aria-hidden="true"><line x1={lane.x[hover.k] * W} x2={lane.x[hover.k] * W} y1={0} y2={H} /></g>}
        {Number.isFinite(x) && (
          <g class={`needle${p.focusable ? '' : ' thin'}`} {...slider}>
            <line x1={x} x2={x} y1={0} y2={H} />
            {p.focusable && <circle class="hit" cx={x} cy={0} r={14} />}
            {p.focusable && <circle class="knob" cx={x} cy={0} r={6} />}
            {p.dots?.value.map((d, j) => (Number.isNaN(scale.pos(d.value)) ? null : <Mark key={j} ink={d.ink} x={x} y={y(d.value)} r={4.2} hollow={!d.live} />))}
          </g>
        )}
      </svg>
      <Tip hover={hover} lines={hover && hover.k >= 0 ? p.tip(hover.k) : []} />
    </Frame>
  );
}

/** A line for each axis that elements move along, the others at rest. */
export function Axes(p: OrbitProps) {
  const o = p.orbit;
  const rest = useMemo(() => identity(o.chart), [o]);
  const parts = useMemo(
    () =>
      o.chart.flatMap((a, axis) => {
        const of = o.elements.map((_, k) => k).filter((k) => o.elements[k].every((v, j) => j === axis || v === rest[j]));
        return new Set(of.map((k) => o.elements[k][axis])).size > 1 ? [{ axis, of, orbit: along(o, a, axis, of) }] : [];
      }),
    [o],
  );
  return (
    <div class={`side lanes${p.small ? ' small' : ''}`}>
      {parts.map(({ axis, of, orbit }, j) => (
        <figure key={axis}>
          {!p.small && <figcaption>{axisLabel(o.chart[axis])}</figcaption>}
          <OneAxis p={p} axis={axis} of={of} orbit={orbit} rest={rest} first={j === 0} />
        </figure>
      ))}
    </div>
  );
}

const along = (o: Group, a: Axis, axis: number, of: readonly number[]): Group => ({
  ...o, chart: [a], steps: [o.steps[axis]], layout: 'line', elements: of.map((k) => [o.elements[k][axis]]), labels: of.map((k) => o.labels[k]), exact: of.map((k) => o.exact[k]), kinds: [], weights: [], moves: [], identity: of.indexOf(o.identity),
});

function OneAxis({ p, axis, of, orbit, rest, first }: { p: OrbitProps; axis: number; of: readonly number[]; orbit: Group; rest: readonly number[]; first: boolean }) {
  const pick = (v: ArrayLike<number> | undefined) => (v ? of.map((k) => v[k]) : undefined);
  const series = useMemo(
    () =>
      p.series.map((s): Series => {
        const { lo, hi, from, to, wrong, ...more } = s;
        const out: Series = { ...more, values: pick(s.values)! };
        for (const [name, v] of Object.entries({ lo, hi, from, to })) if (v) out[name as 'lo'] = pick(v)!;
        if (wrong) out.wrong = (k) => wrong(of[k]);
        return out;
      }),
    [p.series, of],
  );
  const back = (g: Element) => rest.map((v, j) => (j === axis ? g[0] : v));
  const at = useMemo(() => computed<Element>(() => [p.at.value[axis] ?? 0]), [p.at, axis]);
  const nav = useMemo<Nav>(() => ({ ...p.nav, moveTo: (g) => p.nav.moveTo(back(g)), soon: (g) => p.nav.soon?.(back(g)), step: (by) => p.nav.step(by, axis) }), [p.nav, axis]);
  const dots = p.dots;
  const shown = useMemo(() => dots && computed(() => (p.at.value.every((v, j) => j === axis || v === rest[j]) ? dots.value.map((d) => ({ ...d, g: [d.g[axis] ?? 0] })) : [])), [dots, axis]);
  const { dots: _, spoken, ...others } = p;
  return <Line {...others} orbit={orbit} series={series} at={at} nav={nav} tip={(k) => p.tip(of[k])} focusable={p.focusable === true && first} {...(shown ? { dots: shown } : {})} {...(spoken ? { spoken } : {})} {...(p.small ? { small: true } : {})} />;
}
