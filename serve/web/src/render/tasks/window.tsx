// The input where a crop window moves over a larger picture: the picture with all but the window dimmed. The window can be dragged; what it shows
// moves the other way.

import { useRef } from 'preact/hooks';
import type { Element } from '../../core/api';
import { firstOf } from '../../core/axis';
import type { State } from '../../core/state';
import { found } from './boxes';
import { done, PictureInput } from './input';
import { painter, Stage } from './stage';

/** The shift at which the window has moved by so many pixels from where it was at g, as far as it stays within the picture. */
export function shiftOf(g: Element, by: readonly [number, number], axes: readonly [number, number], size: readonly [number, number], window: readonly [number, number, number, number]): number[] {
  const out = [...g];
  for (const a of [0, 1] as const) {
    const k = axes[a];
    if (k < 0) continue;
    // The window lies at window[a] - t; it may go from 0 to the size less its own.
    const most = window[a];
    const least = window[a] + window[a + 2] - size[a];
    out[k] = Math.max(least, Math.min(most, Math.round(g[k] - by[a]))) + 0;
  }
  return out;
}

/** The picture around the window. Without it, as in a report that has none, what was fed is shown. */
export function WindowInput({ s }: { s: State }) {
  const start = useRef<{ x: number; y: number; g: Element } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const run = s.data.run.value;
  const o = s.data.group.value;
  const scene = s.data.scene.state.value.value;
  if (!run || !o) return <></>;
  const ix = firstOf(o.chart, 'right');
  const iy = firstOf(o.chart, 'down');
  if (!scene || scene.sample !== s.place.sample.value || !scene.window || ix < 0 || iy < 0 || o.chart.length !== 2) return <PictureInput s={s} />;
  const { picture: p, window: win } = scene;
  const g = s.place.g.value;
  const [x, y] = [win[0] - g[ix], win[1] - g[iy]];
  const [w, h] = [win[2], win[3]];
  const key = found(s).find((f) => f.ref === 'target')?.against[0];
  const words = done(o.chart, g);
  const under = (e: PointerEvent): Element | null => {
    const from = start.current;
    const el = box.current?.querySelector('svg');
    if (!from || !el) return null;
    const r = el.getBoundingClientRect();
    return shiftOf(from.g, [((e.clientX - from.x) * p.w) / r.width, ((e.clientY - from.y) * p.h) / r.height], [ix, iy], [p.w, p.h], win);
  };
  const drag = (e: PointerEvent) => {
    const g = under(e);
    if (g) s.place.moveTo(g);
  };
  const near = (e: PointerEvent) => {
    const g = under(e);
    if (g) s.place.soon(g);
  };
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const far = e.shiftKey ? 10 : 1;
    // The window goes where the arrow points, so the shift of what is seen is the opposite.
    const to: Record<string, () => void> = {
      ArrowRight: () => s.place.step(-far, ix), ArrowLeft: () => s.place.step(far, ix), ArrowDown: () => s.place.step(-far, iy), ArrowUp: () => s.place.step(far, iy), Home: () => s.place.home(),
    };
    const act = to[e.key];
    if (!act) return;
    act();
    e.preventDefault();
    e.stopPropagation();
  };
  const sign = (v: number): string => String(v + 0).replace('-', '−');
  return (
    <div class="input-view window-view">
      <div
        ref={box}
        class="windowed"
        role="application"
        aria-roledescription="crop window"
        tabindex={0}
        aria-label={`Window of ${w} by ${h} pixels over a picture of ${p.w} by ${p.h}, its left top corner at ${sign(x)}, ${sign(y)}. What it shows is ${words}. Arrow keys move the window; what it shows moves the other way.`}
        onKeyDown={keys}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          start.current = { x: e.clientX, y: e.clientY, g: s.place.g.peek() };
          box.current?.setPointerCapture(e.pointerId);
          box.current?.focus({ preventScroll: true });
          e.preventDefault();
        }}
        onPointerMove={drag}
        {...{ onPointerRawUpdate: near }}
        onPointerUp={() => (start.current = null)}
        onPointerCancel={() => (start.current = null)}
      >
        <Stage w={p.w} h={p.h} label={`Sample ${s.place.sample.value} around the window`} draw={painter(p)} svg={{ 'aria-hidden': true }}>
          <path class="mask" fill-rule="evenodd" d={`M0,0H${p.w}V${p.h}H0ZM${x},${y}v${h}h${w}v${-h}Z`} />
          {key && <rect class="refbox" x={key.x1 + x} y={key.y1 + y} width={Math.max(0, key.x2 - key.x1)} height={Math.max(0, key.y2 - key.y1)} vector-effect="non-scaling-stroke" />}
          <rect class="window halo" x={x} y={y} width={w} height={h} vector-effect="non-scaling-stroke" />
          <rect class="window" x={x} y={y} width={w} height={h} vector-effect="non-scaling-stroke" />
        </Stage>
      </div>
      <ul class="facts">
        <li>
          <strong>{words}</strong>
        </li>
        <li>
          window at {sign(x)}, {sign(y)} of {p.w} × {p.h}
        </li>
        <li>Drag the window: to the right, and the object goes to the left within it (dx falls).</li>
        <li>{s.place.element.value >= 0 && !o.exact[s.place.element.value] ? run.kernel : 'whole pixels, without resampling'}</li>
      </ul>
    </div>
  );
}
