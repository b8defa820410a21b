// Orbits whose values are colours, one plot per model: shifts as a map, dx to the right and dy down; and shifts with turns, each element a
// short stroke at its shift that points where it turns to.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { label } from '../../core/format';
import { axisLabel, firstOf, form } from '../../core/axis';
import { nearest, spans } from '../../core/orbit';
import { along, back, cells, lane } from '../grid';
import type { Scale } from '../scale';
import { Frame, navKey, Tip, usePointer, type OrbitProps, type Series } from './common';

const missing = { light: 0xffcac7c4, dark: 0xff57514c };

/** The place in a table of 256 colours, -1 for none. */
export function shade(s: Scale, v: number): number {
  const u = s.pos(v);
  return Number.isNaN(u) ? -1 : Math.max(0, Math.min(255, Math.floor(u * 256)));
}

const cssOf = (table: Uint32Array, k: number): string => {
  if (k < 0) return 'var(--none)';
  const c = table[k];
  return `rgb(${c & 255} ${(c >> 8) & 255} ${(c >> 16) & 255})`;
};

/** Ticks at whole places, about six of them, 0 among them if it is there. */
function some(v: readonly number[]): number[] {
  if (v.length <= 7) return [...v];
  const lo = v[0];
  const hi = v[v.length - 1];
  const every = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500].find((s) => (hi - lo) / s <= 6) ?? (hi - lo) / 4;
  const out: number[] = [];
  for (let t = Math.ceil(lo / every) * every; t <= hi + 1e-9; t += every) out.push(t);
  return out;
}

/** Shifts as maps with one colour scale. */
export function HeatMap(p: OrbitProps) {
  return (
    <div class={`maps n${Math.min(2, p.series.filter((s) => !s.pinned).length)}${p.small ? ' small' : ''}`}>
      {p.series.filter((s) => !s.pinned).map((s, k, all) => (
        <figure key={s.name + k} class="map">
          {all.length > 1 && <figcaption class={`ink m${s.ink}`}>{s.name}</figcaption>}
          <OneMap p={p} s={s} first={k === 0} />
        </figure>
      ))}
    </div>
  );
}

function OneMap({ p, s, first }: { p: OrbitProps; s: Series; first: boolean }) {
  const o = p.orbit;
  const cols = useMemo(() => lane(o.elements.map((e) => e[0])), [o]);
  const rows = useMemo(() => lane(o.elements.map((e) => e[1])), [o]);
  const grid = useMemo(() => cells(o.elements, cols, rows), [o]);
  const span = useMemo(() => spans(o), [o]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const w = cols.at.length;
  const h = rows.at.length;
  // Between whole pixels the picture would be resampled: who wants that types it.
  const whole = o.chart.every((a) => form(a) === 'pixels') && cols.at.every(Number.isInteger) && rows.at.every(Number.isInteger);
  const tidy = (v: number) => (whole ? Math.round(v) + 0 : +v.toPrecision(4));
  const to = (x: number, y: number) => [tidy(back(cols, x)), tidy(back(rows, y))];
  const { svg, hover, handlers } = usePointer(p, to, (g) => nearest(o, g, span).index);
  useEffect(() => {
    const ctx = canvas.current?.getContext('2d');
    if (!ctx || !p.table || !w || !h) return;
    const image = ctx.createImageData(grid.w, grid.h);
    const dark = getComputedStyle(canvas.current as Element).getPropertyValue('--scheme').trim() === 'dark';
    const px = new Uint32Array(image.data.buffer);
    const none = dark ? missing.dark : missing.light;
    for (let i = 0; i < px.length; i++) {
      const c = grid.of[i] < 0 ? -1 : shade(p.scale, s.values[grid.of[i]]);
      px[i] = c < 0 ? none : p.table[c];
    }
    ctx.putImageData(image, 0, 0);
  });
  const unit = Math.max(w, h) / 100; // one hundredth of the side, for strokes and letters
  const aspect = Math.max(0.4, Math.min(2.5, w / Math.max(1, h)));
  const g = p.at.value;
  const [cx, cy] = [along(cols, g[0]), along(rows, g[1])];
  // The cell under the cross-hair, as wide as it is.
  const here = (l: typeof cols, v: number, u: number): [number, number] => {
    const k = l.at.indexOf(v);
    return k < 0 ? [u - 0.5, 1] : [l.edges[k], l.edges[k + 1] - l.edges[k]];
  };
  const [[left, wide], [top, high]] = [here(cols, g[0], cx), here(rows, g[1], cy)];
  const focus = p.focusable && first;
  return (
    <Frame layout="heat" small={p.small}>
      <div class="axes" style={{ '--ar': String(aspect) }}>
        {!p.small && (
          <div class="ytitle" aria-hidden="true">
            {axisLabel(o.chart[1])}
          </div>
        )}
        <div class="yticks" aria-hidden="true">
          {!p.small && some(rows.at).map((v) => <span key={v} style={{ top: `${(along(rows, v) / h) * 100}%` }}>{v}</span>)}
        </div>
        <div class="field">
          <canvas ref={canvas} width={grid.w} height={grid.h} class="pix" aria-hidden="true" />
          <svg
            ref={svg}
            viewBox={`0 0 ${Math.max(1, w)} ${Math.max(1, h)}`}
            preserveAspectRatio="none"
            class="draw"
            {...handlers}
            {...(focus
              ? { tabindex: 0, role: 'application', 'aria-roledescription': 'map', 'aria-label': `${p.alt} Arrow keys move the cross-hair.`, onKeyDown: (e: KeyboardEvent) => navKey(e, o, p.nav, true) }
              : { role: 'img', 'aria-label': `${s.name}. ${p.alt}` })}
          >
            <g class={`hair${p.focusable ? '' : ' thin'}`} vector-effect="non-scaling-stroke">
              <path class="halo" d={`M${cx},0V${h}M0,${cy}H${w}`} vector-effect="non-scaling-stroke" />
              <path d={`M${cx},0V${h}M0,${cy}H${w}`} vector-effect="non-scaling-stroke" />
              <rect x={left} y={top} width={wide} height={high} vector-effect="non-scaling-stroke" />
              {p.focusable && <ellipse class="knob" cx={cx} cy={cy} rx={unit * 2.2 * Math.min(1, w / Math.max(w, h))} ry={unit * 2.2 * Math.min(1, h / Math.max(w, h))} vector-effect="non-scaling-stroke" />}
            </g>
          </svg>
        </div>
        <div class="xticks" aria-hidden="true">
          {!p.small && some(cols.at).map((v) => <span key={v} style={{ left: `${(along(cols, v) / w) * 100}%` }}>{v}</span>)}
        </div>
        {!p.small && (
          <div class="xtitle" aria-hidden="true">
            {axisLabel(o.chart[0])}
          </div>
        )}
      </div>
      <Tip hover={hover} lines={hover ? p.tip(hover.k) : []} />
    </Frame>
  );
}

/** Shifts with turns. */
export function Shifts(p: OrbitProps) {
  return (
    <div class={`maps n${Math.min(2, p.series.filter((s) => !s.pinned).length)}${p.small ? ' small' : ''}`}>
      {p.series.filter((s) => !s.pinned).map((s, k, all) => (
        <figure key={s.name + k} class="map">
          {all.length > 1 && <figcaption class={`ink m${s.ink}`}>{s.name}</figcaption>}
          <OneShifts p={p} s={s} first={k === 0} />
        </figure>
      ))}
    </div>
  );
}

function OneShifts({ p, s, first }: { p: OrbitProps; s: Series; first: boolean }) {
  const o = p.orbit;
  const [ia, ix, iy, im] = [firstOf(o.chart, 'turn'), firstOf(o.chart, 'right'), firstOf(o.chart, 'down'), firstOf(o.chart, 'mirror')];
  const box = useMemo(() => {
    let m = 1;
    for (const e of o.elements) m = Math.max(m, Math.abs(e[ix]), Math.abs(e[iy]));
    return m * 1.12;
  }, [o]);
  const S = 100;
  const px = (v: number) => (v / box) * S;
  const len = S / Math.max(8, Math.sqrt(o.elements.length) * 1.4);
  // Under the pointer: the end of the stroke that is closest.
  const ends = useMemo(() => o.elements.map((e) => ({ x: px(e[ix]) + len * 0.7 * Math.cos((e[ia] * Math.PI) / 180), y: px(e[iy]) - len * 0.7 * Math.sin((e[ia] * Math.PI) / 180) })), [o, box]);
  const closest = (x: number, y: number) => {
    let best = 0;
    let least = Infinity;
    ends.forEach((q, k) => {
      const d = (q.x - x) ** 2 + (q.y - y) ** 2;
      if (d < least) [least, best] = [d, k];
    });
    return best;
  };
  const { svg, hover, handlers } = usePointer(p, (x, y) => o.elements[closest(x, y)] ?? null, (g) => o.elements.indexOf(g as never));
  const g = p.at.value;
  const focus = p.focusable && first;
  const strokes = useMemo(
    () =>
      o.elements.map((e, k) => {
        const c = shade(p.scale, s.values[k]);
        const t = (e[ia] * Math.PI) / 180;
        const [x, y] = [px(e[ix]), px(e[iy])];
        return <path key={k} class={im >= 0 && e[im] ? 'turn mirrored' : 'turn'} d={`M${x},${y}L${x + len * Math.cos(t)},${y - len * Math.sin(t)}`} stroke={p.table ? cssOf(p.table, c) : 'currentColor'} />;
      }),
    [o, s.values, p.table, p.scale],
  );
  const [gx, gy] = [px(g[ix]), px(g[iy])];
  const t = (g[ia] * Math.PI) / 180;
  return (
    <Frame layout="shifts" small={p.small}>
      <svg
        ref={svg}
        viewBox="-116 -104 220 216"
        class="draw"
        {...handlers}
        {...(focus
          ? { tabindex: 0, role: 'application', 'aria-roledescription': 'map', 'aria-label': `${p.alt} Arrow keys turn, with Shift in larger steps.`, onKeyDown: (e: KeyboardEvent) => navKey(e, o, p.nav, false) }
          : { role: 'img', 'aria-label': `${s.name}. ${p.alt}` })}
      >
        <g class="grid" aria-hidden="true">
          <rect class="rim" x={-S} y={-S} width={2 * S} height={2 * S} fill="none" />
          <line x1={-S} x2={S} y1={0} y2={0} />
          <line x1={0} x2={0} y1={-S} y2={S} />
        </g>
        {strokes}
        <g aria-hidden="true">
          {[-1, 0, 1].map((k) => {
            const v = +(k * box * 0.9).toPrecision(1);
            return [
              <text key={`x${k}`} class="tick" x={px(v)} y={S + 8} text-anchor="middle">{v}</text>,
              <text key={`y${k}`} class="tick" x={-S - 3} y={px(v)} text-anchor="end" dominant-baseline="central">{v}</text>,
            ];
          })}
        </g>
        <g class="hair" aria-hidden="true">
          <circle cx={gx} cy={gy} r={5} />
          <line x1={gx} y1={gy} x2={gx + 14 * Math.cos(t)} y2={gy - 14 * Math.sin(t)} />
        </g>
      </svg>
      {!p.small && <p class="axisnote">dx and dy in px; a stroke points where the input is turned to</p>}
      <Tip hover={hover} lines={hover ? [label(o.chart, o.elements[hover.k]), ...p.tip(hover.k).slice(1)] : []} />
    </Frame>
  );
}
