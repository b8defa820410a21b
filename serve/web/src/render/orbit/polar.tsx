// An orbit of turns on a circle: 0 degrees to the right, counter-clockwise, as the pictures turn; the radius is the value. A second side,
// of mirrored elements, is drawn over it with dots.

import { nthOf } from '../../core/inks';
import { useMemo } from 'preact/hooks';
import { isSwitch } from '../../core/axis';
import { nearest, spans } from '../../core/orbit';
import { angleAt, arc, onDisc, polarBand, polarPath, stretches, surrounds } from '../path';
import { Frame, Mark, navKey, Tip, usePointer, type OrbitProps, type Series } from './common';

const R = 100;

interface Branch {
  mirrored: boolean;
  order: number[]; // elements by angle
  closed: boolean;
}

/** The two sides of a mirror, each by angle. */
export function branches(o: OrbitProps['orbit']): Branch[] {
  const sides: number[][] = [[], []];
  o.elements.forEach((e, k) => sides[e.length > 1 && e[1] ? 1 : 0].push(k));
  return sides
    .map((order, side) => {
      order.sort((x, y) => o.elements[x][0] - o.elements[y][0]);
      return { mirrored: side === 1, order, closed: surrounds(order.map((k) => o.elements[k][0])) };
    })
    .filter((b) => b.order.length);
}

/** The directions of the labels of the rings, off those of the angles, the upper right first. */
const rays = [67.5, 112.5, 22.5, 157.5, 202.5, 247.5, 292.5, 337.5].flatMap((a) => [a, a - 9, a + 9]);

/** The direction, between the labelled ones, in which the labels of the rings cover the least of the curves. */
export function freeRay(p: Pick<OrbitProps, 'orbit' | 'series' | 'scale' | 'small'>, sides: readonly Branch[]): number {
  let best = 67.5;
  let least = Infinity;
  if (p.small) return best; // without labels
  const points = p.series.flatMap((s) => sides.flatMap((b) => spoked(b, p) ? spokePoints(s, b, p) :
    stretches(b.order.map((k) => ({ x: p.orbit.elements[k][0], u: p.scale.pos(s.values[k]) })), (q) => Number.isNaN(q.u), b.closed).flatMap((part) => arc(part.points, part.closed, 1))));
  for (const a of rays) {
    let covered = 0;
    for (const t of p.scale.ticks) {
      const [lx, ly] = onDisc(a, p.scale.pos(t.at), 1);
      for (const [x, y] of points) if (Math.abs(x - lx) < 0.09 && Math.abs(y - ly) < 0.09) covered += Math.max(0, 1 - Math.hypot(x - lx, y - ly) / 0.09);
    }
    if (covered < least - 1e-9) {
      least = covered;
      best = a;
    }
  }
  return best;
}

/** Turns, with or without mirrors. */
export function Polar(p: OrbitProps) {
  const { orbit: o, scale } = p;
  const span = useMemo(() => spans(o), [o]);
  const sides = useMemo(() => branches(o), [o]);
  const mirror = o.chart.length > 1 && isSwitch(o.chart[1]);
  const to = (x: number, y: number) => {
    if (Math.hypot(x, y) < 3) return null;
    const a = Math.round(angleAt(x, y) * 10) / 10;
    return mirror ? [a, p.at.peek()[1]] : [a];
  };
  const { svg, hover, handlers } = usePointer(p, to, (g) => nearest(o, g, span).index);
  const ray = useMemo(() => freeRay(p, sides), [p.series, scale, sides]);
  const room = p.small ? 4 : 29;
  const half = R + room;
  const someExact = o.exact.some(Boolean) && !o.exact.every(Boolean);
  const angles = Array.from({ length: 8 }, (_, k) => k * 45);
  return (
    <Frame layout="polar" small={p.small}>
      <svg ref={svg} viewBox={p.small ? `${-half} ${-half} ${2 * half} ${2 * half}` : `${-half} ${-half + 8} ${2 * half} ${2 * half - 16}`} class="draw" {...handlers}>
        <g role="img" aria-label={p.alt}>
          <g class="grid" aria-hidden="true">
            {scale.ticks.map((t) => scale.pos(t.at) > 0.001 && scale.pos(t.at) < 1.001 && <circle key={t.at} r={scale.pos(t.at) * R} />)}
            <circle class="rim" r={R} />
            {angles.map((a) => {
              const [x, y] = onDisc(a, 1, R);
              return <line key={a} x1={0} y1={0} x2={x} y2={y} />;
            })}
          </g>
          <g aria-hidden="true">
            {(p.small ? [] : angles).map((a) => {
              const [x, y] = onDisc(a, 1, R + (a % 180 ? 11 : p.focusable ? 9.5 : 4));
              const anchor = a === 90 || a === 270 ? 'middle' : a < 90 || a > 270 ? 'start' : 'end';
              return (
                <text key={a} class="tick" x={x} y={y} text-anchor={anchor} dominant-baseline="central">
                  {a}°
                </text>
              );
            })}
          </g>
          {p.marks?.map((m) => <circle key={m.label} class="floor" r={Math.max(0, Math.min(1, scale.pos(m.value))) * R} />)}
          {p.series.map((s, j) => sides.map((b) => <Bands key={`${j}${b.mirrored}`} s={s} b={b} p={p} />))}
          {p.series.map((s, j) => sides.map((b) => <Curve key={`${j}${b.mirrored}`} s={s} b={b} p={p} someExact={someExact} />))}
        </g>
        {hover && <Under p={p} k={hover.k} />}
        <Needle p={p} mirror={mirror} />
        <g class="rings" aria-hidden="true">
          {scale.ticks.map((t) => {
            const u = scale.pos(t.at);
            if (u < 0.05 || u > 1.001 || p.small) return null;
            const [x, y] = onDisc(ray, u, R);
            return (
              <text key={t.at} class="tick ring" x={x} y={y} text-anchor="middle" dominant-baseline="central">
                {t.label}
              </text>
            );
          })}
        </g>
      </svg>
      <Tip hover={hover} lines={hover ? p.tip(hover.k) : []} />
    </Frame>
  );
}

function Bands({ s, b, p }: { s: Series; b: Branch; p: OrbitProps }) {
  if (spoked(b, p)) return null;
  const band = (lo: ArrayLike<number>, hi: ArrayLike<number>) =>
    polarBand(b.order.map((k) => ({ x: p.orbit.elements[k][0], lo: p.scale.pos(lo[k]), hi: p.scale.pos(hi[k]) })), b.closed, R);
  return (
    <>
      {s.lo && s.hi && <path class={`band m${s.ink}`} d={band(s.lo, s.hi)} />}
      {s.from && s.to && <path class={`band sure m${s.ink}`} d={band(s.from, s.to)} />}
    </>
  );
}

function Curve({ s, b, p, someExact }: { s: Series; b: Branch; p: OrbitProps; someExact: boolean }) {
  const o = p.orbit;
  const apart = p.comb && someExact;
  const pts = b.order.map((k) => ({ k, x: o.elements[k][0], u: apart && o.exact[k] ? NaN : p.scale.pos(s.values[k]) }));
  // Few elements with nothing between them are marks on spokes: a curve would claim values that do not exist.
  const few = spoked(b, p);
  const line = apart ? polarPath(pts.filter((q) => !o.exact[q.k]), b.closed, R) : polarPath(pts, b.closed, R);
  const crosses = s.wrong && !s.pinned;
  if (few) return <Spokes s={s} b={b} p={p} />;
  return (
    <>
      <path class={`line m${s.ink}${b.mirrored ? ' mirrored' : ''}${s.pinned ? ' pinned' : ''}`} d={line} />
      {b.order.map((k) => {
        const u = p.scale.pos(s.values[k]);
        if (Number.isNaN(u) || s.pinned) return null;
        const [x, y] = onDisc(o.elements[k][0], Math.max(0, Math.min(1, u)), R);
        const exact = someExact && o.exact[k];
        const wrong = crosses && s.wrong!(k);
        if (!exact && !wrong) return null;
        return (
          <g key={k}>
            {exact && <Mark ink={s.ink} x={x} y={y} r={p.small ? 2.2 : 2.6} hollow={b.mirrored} />}
            {wrong && !p.small && <Mark ink={s.ink} x={x} y={y} r={exact ? 4.6 : 1.7} cross />}
          </g>
        );
      })}
    </>
  );
}

/** Whether a side is drawn as spokes: few elements with nothing between them. */
const spoked = (b: Branch, p: Pick<OrbitProps, 'orbit'>): boolean => p.orbit.finite && b.order.length <= 24;

/** By how many degrees the spokes of a model stand beside their angle, so that none covers another. */
function aside(s: Series, b: Branch, p: Pick<OrbitProps, 'orbit' | 'series'>): number {
  const models = p.series.filter((x) => !x.pinned).length;
  const mirrors = p.orbit.elements.some((e) => e.length > 1 && e[1]) ? 2 : 1;
  const step = Math.min(7, 60 / p.orbit.elements.length + 2);
  return ((Math.max(0, nthOf(s.ink)) % models) * mirrors + (b.mirrored ? 1 : 0) - (models * mirrors - 1) / 2) * step;
}

/** Points along the spokes of a side, on a disc of radius 1, the tip with its mark more than once. */
const spokePoints = (s: Series, b: Branch, p: Pick<OrbitProps, 'orbit' | 'series' | 'scale'>): [number, number][] =>
  b.order.flatMap((k) => {
    const u = Math.min(1, p.scale.pos(s.values[k])), at = p.orbit.elements[k][0] + aside(s, b, p);
    return Number.isNaN(u) ? [] : [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1].map((f): [number, number] => { const [x, y] = onDisc(at, f * u, 1); return [x, y]; });
  });

/** Few elements with nothing between them: a spoke each, side by side where models and mirrors share an angle. */
function Spokes({ s, b, p }: { s: Series; b: Branch; p: OrbitProps }) {
  const shift = aside(s, b, p);
  return (
    <>
      {b.order.map((k) => {
        const u = p.scale.pos(s.values[k]);
        if (Number.isNaN(u)) return null;
        const at = p.orbit.elements[k][0] + shift;
        const zero = p.scale.lo < 0 ? p.scale.pos(0) : 0;
        const [x0, y0] = onDisc(at, zero, R);
        const [x, y] = onDisc(at, Math.max(0, Math.min(1, u)), R);
        return (
          <g key={k} class={s.pinned ? 'pinned' : ''}>
            <line class={`spoke m${s.ink}${b.mirrored ? ' mirrored' : ''}`} x1={x0} y1={y0} x2={x} y2={y} />
            {!s.pinned && <Mark ink={s.ink} x={x} y={y} r={p.small ? 2.4 : 3.6} hollow={b.mirrored} />}
            {s.wrong?.(k) && !s.pinned && !p.small && <Mark ink={s.ink} x={x} y={y} r={5.4} cross />}
          </g>
        );
      })}
    </>
  );
}

function Under({ p, k }: { p: OrbitProps; k: number }) {
  const [x, y] = onDisc(p.orbit.elements[k][0], 1, R);
  return (
    <g class="under" aria-hidden="true">
      <line x1={0} y1={0} x2={x} y2={y} />
      {p.series.map((s, j) => {
        const u = p.scale.pos(s.values[k]);
        if (Number.isNaN(u)) return null;
        const [a, b] = onDisc(p.orbit.elements[k][0], Math.max(0, Math.min(1, u)), R);
        return <Mark key={j} ink={s.ink} x={a} y={b} r={3} />;
      })}
    </g>
  );
}

function Needle({ p, mirror }: { p: OrbitProps; mirror: boolean }) {
  const g = p.at.value;
  const a = g[0] ?? 0;
  const [x, y] = onDisc(a, 1, R);
  const slider = p.focusable
    ? {
        role: 'slider' as const,
        tabindex: 0,
        'aria-label': mirror && g[1] ? 'Element, mirrored' : 'Element',
        'aria-valuemin': 0,
        'aria-valuemax': 360,
        'aria-valuenow': Math.round(a * 10) / 10,
        'aria-valuetext': p.spoken?.value ?? `${a}°`,
        onKeyDown: (e: KeyboardEvent) => navKey(e, p.orbit, p.nav, false),
      }
    : { 'aria-hidden': true as const };
  return (
    <g class={`needle${p.focusable ? '' : ' thin'}`} {...slider}>
      <line x1={0} y1={0} x2={x} y2={y} />
      {p.focusable && <circle class="hit" cx={x} cy={y} r={14} />}
      {p.focusable && <circle class="knob" cx={x} cy={y} r={6.5} />}
      {p.dots?.value.map((d, j) => {
        const u = p.scale.pos(d.value);
        if (Number.isNaN(u)) return null;
        const [dx, dy] = onDisc(d.g[0], Math.max(0, Math.min(1, u)), R);
        return <Mark key={j} ink={d.ink} x={dx} y={dy} r={4.2} hollow={!d.live} />;
      })}
    </g>
  );
}
