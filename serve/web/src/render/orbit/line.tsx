// An orbit along one axis, and one in the order of the plan where the chart has no better picture: to the right the element, upward the value.

import { scaleLinear, scaleLog } from 'd3-scale';
import { useMemo } from 'preact/hooks';
import { tick } from '../../core/format';
import { axisLabel, isAngle, isFactor, isSwitch, period } from '../../core/axis';
import { canonical, nearest, reach, spans } from '../../core/orbit';
import { lineBand, linePath } from '../path';
import { tickText } from '../scale';
import { Frame, Mark, navKey, Tip, usePointer, type OrbitProps } from './common';

const W = 260;
const H = 168;

interface Axis {
  /** Fraction of the way to the right of an element. */
  x(k: number): number;
  of(g: readonly number[]): number;
  element(x: number): readonly number[] | null;
  ticks: { x: number; label: string }[];
  label: string;
  order: number[];
  bars: boolean;
}

function alongAxis(o: OrbitProps['orbit'], now: OrbitProps['at']): Axis {
  const m = Math.max(0, o.chart.findIndex((a) => !isSwitch(a)));
  const a = o.chart[m];
  let [lo, hi] = reach(o, m);
  if (isAngle(a) && period(a) > 0) [lo, hi] = [a.min as number, a.max as number];
  const order = o.elements.map((_, k) => k).sort((x, y) => o.elements[x][m] - o.elements[y][m]);
  const factor = isFactor(a) && lo > 0;
  if (!(hi > lo)) [lo, hi] = factor ? [lo / 2, hi * 2] : [lo - 1, hi + 1];
  const s = factor ? scaleLog().domain([lo, hi]).range([0, 1]) : scaleLinear().domain([lo, hi]).range([0, 1]);
  const at = isAngle(a) && hi - lo >= 90 ? Array.from({ length: Math.floor((hi - lo) / 90 + 1e-9) + 1 }, (_, k) => lo + k * 90) : factor ? [0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 4].filter((v) => v >= lo * 0.999 && v <= hi * 1.001) : s.ticks(5);
  const thin = Math.ceil(at.length / 7);
  return {
    x: (k) => s(o.elements[k][m]),
    of: (g) => s(g[m]),
    element: (x) => {
      const v = Math.max(lo, Math.min(hi, +s.invert(Math.max(0, Math.min(1, x))).toPrecision(4)));
      return canonical(o.chart, o.steps, o.chart.map((_, k) => (k === m ? v : (now.peek()[k] ?? 0))));
    },
    ticks: at.filter((_, k) => k % thin === 0).map((v) => ({ x: s(v), label: isAngle(a) ? `${+v.toPrecision(4)}°` : factor ? `×${+v.toPrecision(3)}` : tickText(v) })),
    label: axisLabel(a),
    order,
    bars: false,
  };
}

function inOrder(o: OrbitProps['orbit'], at: OrbitProps['at']): Axis {
  const n = Math.max(1, o.elements.length);
  const x = (k: number) => (k + 0.5) / n;
  const names = n <= 12;
  const every = Math.max(1, Math.ceil(n / 6));
  const span = spans(o);
  return {
    x,
    of: (g) => x(Math.max(0, nearest(o, g, span).index)),
    element: (u) => o.elements[Math.max(0, Math.min(n - 1, Math.floor(u * n)))] ?? at.peek(),
    ticks: o.elements.map((e, k) => ({ x: x(k), label: names ? tick(o.chart, e) : String(k + 1) })).filter((_, k) => names || k % every === 0),
    label: names ? '' : 'element, in the order of the plan',
    order: o.elements.map((_, k) => k),
    bars: n <= 40,
  };
}

/** One axis to the right. */
export const Line = (p: OrbitProps) => <Cartesian p={p} strip={false} />;

/** The elements side by side. */
export const Strip = (p: OrbitProps) => <Cartesian p={p} strip />;

function Cartesian({ p, strip }: { p: OrbitProps; strip: boolean }) {
  const { orbit: o, scale } = p;
  const axis = useMemo(() => (strip ? inOrder(o, p.at) : alongAxis(o, p.at)), [o, strip]);
  const span = useMemo(() => spans(o), [o]);
  const { svg, hover, handlers } = usePointer(p, (x) => axis.element(x / W), (g) => nearest(o, g, span).index);
  const long = axis.bars && axis.ticks.some((t) => t.label.length > 5);
  const left = 34;
  const bottom = p.small ? 16 : long ? 58 : 34;
  const someExact = o.exact.some(Boolean) && !o.exact.every(Boolean);
  const y = (v: number) => H * (1 - Math.max(0, Math.min(1, scale.pos(v))));
  const zero = scale.lo < 0 && scale.hi > 0 ? y(0) : H;
  const shown = p.series.filter((s) => !s.pinned);
  return (
    <Frame layout={strip ? 'strip' : 'line'} small={p.small}>
      <svg ref={svg} viewBox={`${-left} -10 ${W + left + 12} ${H + 10 + bottom}`} class="draw" {...handlers}>
        <g role="img" aria-label={p.alt}>
          <g class="grid" aria-hidden="true">
            {scale.ticks.map((t) => scale.pos(t.at) > -0.001 && scale.pos(t.at) < 1.001 && <line key={t.at} x1={0} x2={W} y1={y(t.at)} y2={y(t.at)} />)}
            <line class="rim" x1={0} x2={W} y1={H} y2={H} />
            {scale.lo < 0 && <line class="rim" x1={0} x2={W} y1={zero} y2={zero} />}
          </g>
          <g aria-hidden="true">
            {scale.ticks.map((t) => scale.pos(t.at) > -0.001 && scale.pos(t.at) < 1.001 && (
              <text key={t.at} class="tick" x={-5} y={y(t.at)} text-anchor="end" dominant-baseline="central">
                {t.label}
              </text>
            ))}
            {axis.ticks.map((t) => (
              <text key={t.x} class="tick" x={t.x * W} y={H + 12} text-anchor={long ? 'end' : 'middle'} {...(long ? { transform: `rotate(-35 ${t.x * W} ${H + 12})` } : {})}>
                {t.label}
              </text>
            ))}
            {!p.small && axis.label && (
              <text class="tick" x={W / 2} y={H + 27} text-anchor="middle">
                {axis.label}
              </text>
            )}
          </g>
          {p.marks?.map((m) => <line key={m.label} class="floor" x1={0} x2={W} y1={y(m.value)} y2={y(m.value)} />)}
          {p.series.map((s, j) => {
            const side = strip ? -1 : o.chart.findIndex(isSwitch);
            const branches = side < 0 ? [axis.order] : [0, 1].map((b) => axis.order.filter((k) => (o.elements[k][side] ? 1 : 0) === b));
            const at = (v: ArrayLike<number>, w: ArrayLike<number>, order = branches[0]) => lineBand(order.map((k) => ({ x: axis.x(k), lo: scale.pos(v[k]), hi: scale.pos(w[k]) })), W, H);
            if (axis.bars && !s.pinned) {
              const width = (W / o.elements.length) * (0.8 / shown.length);
              const shift = (shown.indexOf(s) - (shown.length - 1) / 2) * width;
              return (
                <g key={j}>
                  {axis.order.map((k) => {
                    const v = s.values[k];
                    const x = axis.x(k) * W + shift;
                    if (Number.isNaN(scale.pos(v))) return null;
                    return (
                      <g key={k}>
                        <rect class={`bar m${s.ink}`} x={x - width / 2} width={Math.max(0.5, width - 0.5)} y={Math.min(zero, y(v))} height={Math.max(0.5, Math.abs(zero - y(v)))} />
                        {s.lo && s.hi && <line class="whisker" x1={x} x2={x} y1={y(s.lo[k])} y2={y(s.hi[k])} />}
                        {s.wrong?.(k) && !p.small && <Mark ink={s.ink} x={x} y={y(v) - 5} r={2.5} cross />}
                      </g>
                    );
                  })}
                </g>
              );
            }
            return (
              <g key={j}>
                {s.lo && s.hi && <path class={`band m${s.ink}`} d={at(s.lo, s.hi)} />}
                {s.from && s.to && <path class={`band sure m${s.ink}`} d={at(s.from, s.to)} />}
                {branches.map((order, b) => <path key={b} class={`line m${s.ink}${b ? ' mirrored' : ''}${s.pinned ? ' pinned' : ''}`} d={linePath(order.filter((k) => !(p.comb && someExact && o.exact[k])).map((k) => ({ x: axis.x(k), u: scale.pos(s.values[k]) })), W, H)} />)}
                {!s.pinned &&
                  axis.order.map((k) => {
                    const exact = someExact && o.exact[k];
                    const wrong = s.wrong?.(k) && !p.small;
                    if ((!exact && !wrong) || Number.isNaN(scale.pos(s.values[k]))) return null;
                    return (
                      <g key={k}>
                        {exact && <Mark ink={s.ink} x={axis.x(k) * W} y={y(s.values[k])} r={2.6} />}
                        {wrong && <Mark ink={s.ink} x={axis.x(k) * W} y={y(s.values[k])} r={exact ? 4.6 : 1.9} cross />}
                      </g>
                    );
                  })}
              </g>
            );
          })}
        </g>
        {hover && (
          <g class="under" aria-hidden="true">
            <line x1={axis.x(hover.k) * W} x2={axis.x(hover.k) * W} y1={0} y2={H} />
          </g>
        )}
        <Needle p={p} axis={axis} y={y} mirror={o.chart.length > 1 && isSwitch(o.chart[1])} />
      </svg>
      <Tip hover={hover} lines={hover ? p.tip(hover.k) : []} />
    </Frame>
  );
}

function Needle({ p, axis, y }: { p: OrbitProps; axis: Axis; y: (v: number) => number; mirror: boolean }) {
  const x = axis.of(p.at.value) * W;
  if (!Number.isFinite(x)) return null;
  const [lo, hi] = axis.order.length ? [axis.x(axis.order[0]), axis.x(axis.order[axis.order.length - 1])] : [0, 1];
  const slider = p.focusable
    ? {
        role: 'slider' as const,
        tabindex: 0,
        'aria-label': 'Element',
        'aria-valuemin': Math.round(lo * 1000) / 10,
        'aria-valuemax': Math.round(hi * 1000) / 10,
        'aria-valuenow': Math.round((x / W) * 1000) / 10,
        'aria-valuetext': p.spoken?.value ?? '',
        onKeyDown: (e: KeyboardEvent) => navKey(e, p.orbit, p.nav, false),
      }
    : { 'aria-hidden': true as const };
  return (
    <g class={`needle${p.focusable ? '' : ' thin'}`} {...slider}>
      <line x1={x} x2={x} y1={0} y2={H} />
      {p.focusable && <circle class="hit" cx={x} cy={0} r={14} />}
      {p.focusable && <circle class="knob" cx={x} cy={0} r={6} />}
      {p.dots?.value.map((d, j) => (Number.isNaN(p.scale.pos(d.value)) ? null : <Mark key={j} ink={d.ink} x={axis.of(d.g) * W} y={y(d.value)} r={4.2} hollow={!d.live} />))}
    </g>
  );
}
