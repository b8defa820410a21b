// Samples by the shape of their orbit: one point per sample, laid out by the server, drawn on a canvas.

import { inkOf, letters } from '../core/inks';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { classColor, colorize, css, gains, goodness, none, type LUT, type Mark } from '../core/color';
import type { Redrawn, Table } from '../core/export';
import { traits } from '../core/layouts';
import { radius, scatter as raster } from '../core/raster';
import { toBits } from '../core/masks';
import type { State } from '../core/state';
import { tidy } from '../core/url';
import { count as counted, left, num } from '../render/text';
import { Taker } from './take';
import { notes } from './columns';
import * as fig from './figures';
import { Card, Skeleton, Trouble } from './parts';
import * as P from './plane';
import { Rank } from './rank';
import { spark } from './spark';
import './samples.css';

/** Points up to which classes have shapes; smaller ones cannot be told apart. */
const shapely = 2000;

/** The shapes of classes, in their order. With the ten colours they repeat after thirty. */
const shapes: readonly Mark[] = ['disc', 'square', 'triangle', 'diamond', 'cross', 'ring'];

/** What the plane needs to know of the points. */
export interface PlaneProps {
  xy: Float32Array;
  /** One packed colour per sample. */
  colors: Uint32Array;
  shape: Uint8Array | null;
  mask: Uint8Array | null;
  dark: boolean;
  /** The sample that is looked at, and the pinned one; -1 for none. */
  sample: number;
  pinned: number;
  /** The sample under the pointer or the keyboard's cursor; -1 for none. */
  hover: number;
  /** The lasso in data coordinates. */
  lasso: readonly number[] | null;
  /** Texts on the plane, at places in data coordinates. */
  texts: readonly { x: number; y: number; text: string; color: string }[];
  /** Factor and shift in parts of the width and height, as the address holds it; null for all points. */
  zoomed: { k: number; x: number; y: number } | null;
  onZoom: (z: { k: number; x: number; y: number } | null) => void;
  mode: 'lasso' | 'pan';
  /** Single-letter keys work. */
  letters: boolean;
  label: string;
  preview: (i: number) => ComponentChildren;
  onHover: (i: number) => void;
  onPick: (i: number) => void;
  onLasso: (poly: readonly number[]) => void;
  onSay: (text: string) => void;
  onMode: (m: 'lasso' | 'pan') => void;
  /** What the keyboard's cursor is at, in words. */
  describe: (i: number) => string;
}

const margin = 14;

const boxes = new WeakMap<Float32Array, P.Bounds>();
/** boundsOf is the box of a set of points, looked for once. */
function boundsOf(xy: Float32Array): P.Bounds {
  let b = boxes.get(xy);
  if (!b) boxes.set(xy, (b = P.bounds(xy)));
  return b;
}

/** The points, and what pointers and keys do on them. Knows nothing of where they come from. */
export function Plane(p: PlaneProps) {
  const host = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal({ w: 0, h: 0, d: 1 }), zoom = useSignal<P.Zoom>(P.unzoomed), trail = useSignal<number[]>([]);
  const corner = useSignal<{ at: P.Point; from: P.Point | null } | null>(null); // of a lasso drawn by keys
  const gesture = useRef({ slow: 0, at: P.unzoomed, frame: 0, late: 0 as unknown as ReturnType<typeof setTimeout> | 0 });
  const now = useRef(p);
  now.current = p;
  const bounds = boundsOf(p.xy);
  const tree = useTree(p.xy, bounds);
  const t = P.fit(bounds, size.value.w, size.value.h, margin, zoom.value);

  useLayoutEffect(() => {
    const el = host.current;
    if (!el) return;
    const measure = () => {
      const w = el.clientWidth, h = el.clientHeight, d = devicePixelRatio || 1, o = size.peek();
      if (w !== o.w || h !== o.h || d !== o.d) size.value = { w, h, d };
    };
    measure();
    const ro = new ResizeObserver(measure);
    ro.observe(el);
    addEventListener('resize', measure); // another screen or page zoom: the ratio changes and the size may not
    return () => { ro.disconnect(); removeEventListener('resize', measure); };
  }, []);

  // The zoom of an address, of Back, or of another layout: none that this picture itself reported.
  const told = useRef('');
  const text = (z: { k: number; x: number; y: number } | null) => (z ? [z.k, z.x, z.y].map((v) => v.toPrecision(6)).join() : '');
  useLayoutEffect(() => {
    const { w, h } = size.value;
    if (!w || !h || text(p.zoomed) === told.current) return;
    told.current = text(p.zoomed);
    zoom.value = p.zoomed ? { k: Math.min(P.zoomRange[1], Math.max(P.zoomRange[0], p.zoomed.k)), x: p.zoomed.x * w, y: p.zoomed.y * h } : P.unzoomed;
  }, [p.zoomed, size.value]);
  useSignalEffect(() => {
    const z = zoom.value, { w, h } = size.peek();
    if (!w || !h) return;
    const now1 = z === P.unzoomed ? null : { k: z.k, x: z.x / w, y: z.y / h };
    if (text(now1) === told.current) return;
    told.current = text(now1);
    now.current.onZoom(now1);
  });

  /** Draws all points into a canvas, with d pixels to a CSS pixel. */
  const drawInto = (c: HTMLCanvasElement, d: number): void => {
    const { w, h } = size.peek(), q = now.current, W = Math.round(w * d), H = Math.round(h * d), ctx = c.getContext('2d');
    if (!ctx || W < 4 || H < 4) return;
    if (c.width !== W || c.height !== H) { c.width = W; c.height = H; }
    const image = ctx.createImageData(W, H), z = zoom.peek(), b = boundsOf(q.xy), u = P.fit(b, w, h, margin, z);
    const faded = q.dark ? 0xff45403b : 0xffdedad6, r = Math.min(Math.round(6 * d), Math.round((radius(b.n, d) + 0.4) * Math.min(3, Math.max(1, Math.sqrt(z.k)))));
    raster(new Uint32Array(image.data.buffer), {
      width: W, height: H, xy: q.xy, at: { sx: u.sx * d, ox: u.ox * d, sy: u.sy * d, oy: u.oy * d }, colors: q.colors, mask: q.mask, dim: faded,
      radius: q.shape ? r + 1 : r, ...(q.shape ? { shapes, marks: q.shape } : {}),
      // The ends of a map of colours come near the ground of one theme or the other; of very many points an outline would be all that is seen.
      ...(b.n <= 5000 ? { rim: { color: q.dark ? 0xff95908b : 0xff7d7975, step: Math.max(1, Math.round(d * 0.8)) } } : {}),
    });
    ctx.putImageData(image, 0, 0);
  };
  const paint = () => {
    const c: Redrawn | null = canvas.current, g = gesture.current;
    g.frame = 0;
    if (!c) return;
    const t0 = performance.now();
    drawInto(c, size.peek().d);
    c.redraw = (scale) => {
      const larger = document.createElement('canvas');
      drawInto(larger, Math.max(scale, size.peek().d));
      return larger;
    };
    c.style.transform = '';
    g.at = zoom.peek();
    g.slow = performance.now() - t0;
    c.dataset['ms'] = g.slow.toFixed(1);
  };
  const soon = () => { const g = gesture.current; if (!g.frame) g.frame = requestAnimationFrame(paint); };

  // Before the frame is drawn, so that the points change in the same one as everything else.
  useLayoutEffect(soon, [p.xy, p.colors, p.shape, p.mask, p.dark]);
  useSignalEffect(() => { size.value; soon(); });
  useSignalEffect(() => {
    // While a gesture goes on, a picture that takes long to draw is only moved, and drawn when the hand rests.
    const z = zoom.value, g = gesture.current, c = canvas.current;
    if (g.slow < 12 || !c) return soon();
    const q = z.k / g.at.k;
    c.style.transform = `translate(${z.x - q * g.at.x}px, ${z.y - q * g.at.y}px) scale(${q})`;
    if (g.late) clearTimeout(g.late);
    g.late = setTimeout(soon, 90);
  });
  useEffect(() => () => { cancelAnimationFrame(gesture.current.frame); if (gesture.current.late) clearTimeout(gesture.current.late); }, []);

  const find = (x: number, y: number, touch: boolean): number => {
    const q = now.current, r = touch ? 22 : 14;
    const look = (m: Uint8Array | null) => (tree.current ? P.nearest(tree.current, q.xy, m, x, y, r, t) : P.scanNearest(q.xy, m, x, y, r, t));
    const i = look(q.mask);
    return i >= 0 || !q.mask ? i : look(null);
  };
  const local = (e: MouseEvent): P.Point => { const r = host.current!.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };

  const fingers = useRef(new Map<number, P.Point>());
  const act = useRef<{ kind: 'lasso' | 'pan' | 'pinch'; start: P.Point; zoom: P.Zoom; from: P.Point[]; moved: boolean } | null>(null);
  const down = (e: PointerEvent) => {
    if (e.button > 1) return;
    const at = local(e);
    host.current!.setPointerCapture(e.pointerId);
    fingers.current.set(e.pointerId, at);
    p.onHover(-1);
    if (fingers.current.size === 2) {
      trail.value = [];
      act.current = { kind: 'pinch', start: at, zoom: zoom.peek(), from: [...fingers.current.values()], moved: true };
    } else if (fingers.current.size === 1) {
      act.current = { kind: p.mode === 'pan' || e.button === 1 || e.shiftKey ? 'pan' : 'lasso', start: at, zoom: zoom.peek(), from: [at], moved: false };
      trail.value = [];
    }
    if (e.button === 1) e.preventDefault();
  };
  const move = (e: PointerEvent) => {
    const at = local(e), a = act.current;
    if (!a || !fingers.current.has(e.pointerId)) {
      if (e.pointerType !== 'touch') p.onHover(find(at[0], at[1], false));
      return;
    }
    fingers.current.set(e.pointerId, at);
    if (a.kind === 'pinch') {
      const f = [...fingers.current.values()];
      if (f.length === 2) zoom.value = P.pinch(a.zoom, a.from[0], a.from[1], f[0], f[1], size.peek().w, size.peek().h);
      return;
    }
    if (!a.moved && Math.hypot(at[0] - a.start[0], at[1] - a.start[1]) < 4) return;
    a.moved = true;
    if (a.kind === 'pan') zoom.value = { k: a.zoom.k, x: a.zoom.x + at[0] - a.start[0], y: a.zoom.y + at[1] - a.start[1] };
    else trail.value = [...(trail.peek().length ? trail.peek() : a.start), ...at];
  };
  const up = (e: PointerEvent) => {
    const a = act.current;
    if (!fingers.current.delete(e.pointerId) || !a) return;
    if (fingers.current.size) return; // one finger of two
    act.current = null;
    const drawn = trail.peek();
    trail.value = [];
    if (e.type === 'pointercancel') return;
    if (!a.moved) {
      const i = find(a.start[0], a.start[1], e.pointerType === 'touch');
      if (i >= 0) p.onPick(i);
      else if (p.lasso) p.onLasso([]);
    } else if (a.kind === 'lasso') {
      const poly = tidy(P.unproject(drawn, t));
      if (poly) p.onLasso(poly);
    }
  };
  useEffect(() => {
    const el = host.current!;
    const wheel = (e: WheelEvent) => {
      e.preventDefault();
      const [x, y] = local(e), lines = e.deltaMode === 1 ? 20 : e.deltaMode === 2 ? 300 : 1;
      zoom.value = P.zoomAt(zoom.peek(), Math.exp((-e.deltaY * lines) / (e.ctrlKey ? 120 : 400)), x, y, size.peek().w, size.peek().h);
    };
    el.addEventListener('wheel', wheel, { passive: false });
    return () => el.removeEventListener('wheel', wheel);
  }, []);

  const zoomBy = (f: number) => { zoom.value = P.zoomAt(zoom.peek(), f, size.peek().w / 2, size.peek().h / 2, size.peek().w, size.peek().h); };
  /** Brings a point into the picture, if the zoom left it out. */
  const show = (i: number) => {
    const { w, h } = size.peek(), [x, y] = P.px(p.xy, i, t), pad = 20;
    const dx = x < pad ? pad - x : x > w - pad ? w - pad - x : 0, dy = y < pad ? pad - y : y > h - pad ? h - pad - y : 0;
    if ((dx || dy) && x === x) zoom.value = { ...zoom.peek(), x: zoom.peek().x + dx, y: zoom.peek().y + dy };
  };
  const key = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { w, h } = size.peek(), letter = p.letters && e.key.length === 1;
    const dir = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as Record<string, [number, number]>)[e.key];
    const done = () => { e.preventDefault(); e.stopPropagation(); };
    const box = corner.peek();
    if (dir && box) {
      const f = e.shiftKey ? 50 : 10;
      corner.value = { ...box, at: [Math.max(0, Math.min(w, box.at[0] + f * dir[0])), Math.max(0, Math.min(h, box.at[1] + f * dir[1]))] };
      return done();
    }
    if (dir) {
      if (e.shiftKey) {
        zoom.value = { ...zoom.peek(), x: zoom.peek().x - 40 * dir[0], y: zoom.peek().y - 40 * dir[1] };
        return done();
      }
      const from = p.hover >= 0 ? p.hover : p.sample, i = P.neighbor(p.xy, p.mask, from, dir[0], dir[1], t, w / 2, h / 2);
      if (i >= 0) {
        p.onHover(i);
        show(i);
        const k = P.together(p.xy, p.mask, i, t);
        p.onSay(p.describe(i) + (k > 1 ? ` One of ${k} at this place.` : ''));
      } else p.onSay('No further sample that way.');
      return done();
    }
    if (e.key === 'Enter' && box) {
      if (!box.from) {
        corner.value = { at: box.at, from: box.at };
        p.onSay('First corner. Arrow keys move to the opposite corner, Enter draws the box.');
      } else {
        const poly = tidy(P.unproject(P.box(box.from, box.at), t));
        corner.value = null;
        if (poly) p.onLasso(poly);
      }
      return done();
    }
    if (e.key === 'Enter' || e.key === ' ') {
      if (p.hover >= 0) p.onPick(p.hover);
      return done();
    }
    if (e.key === 'Escape') {
      if (box) { corner.value = null; p.onSay('No box.'); return done(); }
      if (trail.peek().length) { trail.value = []; act.current = null; return done(); }
      if (p.lasso) { p.onLasso([]); return done(); }
      return;
    }
    if (!letter) return;
    switch (e.key) {
      case '+': case '=': zoomBy(1.4); return done();
      case '-': zoomBy(1 / 1.4); return done();
      case '0': zoom.value = P.unzoomed; return done();
      case 'l': case 'L': {
        const i = p.hover >= 0 ? p.hover : p.sample, [x, y] = P.px(p.xy, i, t);
        corner.value = { at: x === x ? [x, y] : [w / 2, h / 2], from: null };
        p.onSay('Lasso by keys: arrow keys move the cross, Shift moves it further, Enter sets the first corner, Escape ends.');
        return done();
      }
      case 'm': case 'M': p.onMode(p.mode === 'pan' ? 'lasso' : 'pan'); return done();
    }
  };

  const { w, h } = size.value, mark = (i: number) => (i >= 0 && i < p.xy.length / 2 ? P.px(p.xy, i, t) : ([NaN, NaN] as P.Point));
  const visible = ([x, y]: P.Point) => x >= -8 && y >= -8 && x <= w + 8 && y <= h + 8;
  const pick = mark(p.sample), pin = mark(p.pinned), hov = mark(p.hover), box = corner.value;
  const poly = trail.value.length >= 4 ? trail.value : box?.from ? P.box(box.from, box.at) : p.lasso ? P.project(p.lasso, t) : [];
  return (
    <div class="plane" ref={host} role="application" aria-roledescription="scatter plot" tabIndex={0} aria-label={p.label} data-mode={p.mode}
      onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up} onPointerLeave={() => { if (!act.current) p.onHover(-1); }}
      onKeyDown={key} onBlur={() => { corner.value = null; p.onHover(-1); }}>
      <canvas ref={canvas} aria-hidden="true" />
      <svg aria-hidden="true" width={w} height={h} viewBox={`0 0 ${Math.max(1, w)} ${Math.max(1, h)}`}>
        {poly.length >= 4 && <polygon class="plane-lasso" points={P.path(poly)} />}
        {visible(pin) && <g class="plane-pin" transform={`translate(${pin[0].toFixed(1)} ${pin[1].toFixed(1)})`}><rect x="-7" y="-7" width="14" height="14" /><path d="M0-12V-7" /></g>}
        {visible(pick) && <g class="plane-pick" transform={`translate(${pick[0].toFixed(1)} ${pick[1].toFixed(1)})`}><circle class="halo" r="8" /><circle r="8" /></g>}
        {P.spread(p.texts.map((x) => [x.x * t.sx + t.ox, x.y * t.sy + t.oy, 8 * x.text.length + 4] as const), 15).map(([u, v], k) => <text key={p.texts[k].text} class="plane-text" x={u} y={v} dy="0.35em">{p.texts[k].text}</text>)}
        {visible(hov) && <circle class="plane-hover" cx={hov[0]} cy={hov[1]} r="6" />}
        {box && <path class="plane-cross" d={`M${box.at[0] - 12} ${box.at[1]}h24M${box.at[0]} ${box.at[1] - 12}v24`} />}
      </svg>
      <div class="plane-zoom" data-noexport role="group" aria-label="Zoom" onPointerDown={(e) => e.stopPropagation()} onPointerMove={(e) => e.stopPropagation()} onKeyDown={(e) => e.stopPropagation()}>
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoomBy(1.5)}>+</button>
        <button type="button" aria-label="Zoom out" title="Zoom out (-)" onClick={() => zoomBy(1 / 1.5)}>−</button>
        {zoom.value !== P.unzoomed && <button type="button" title="Show all points (0)" onClick={() => { zoom.value = P.unzoomed; host.current?.focus(); }}>all</button>}
      </div>
      {p.hover >= 0 && visible(hov) && !trail.value.length && (
        <div class="plane-tip" role="tooltip" data-noexport style={place(hov, w, h)}>{p.preview(p.hover)}</div>
      )}
    </div>
  );
}

/** place puts a preview beside a point, on the side where there is room. */
function place([x, y]: P.Point, w: number, h: number): Record<string, string> {
  const right = x < w / 2, below = y < h / 2;
  return { left: right ? `${x + 12}px` : 'auto', right: right ? 'auto' : `${w - x + 12}px`, top: below ? `${y + 10}px` : 'auto', bottom: below ? 'auto' : `${h - y + 10}px` };
}

/** useTree builds the tree of a set of points, in steps, once the first picture is on the screen. */
function useTree(xy: Float32Array, b: P.Bounds) {
  const tree = useRef<P.Tree | null>(null);
  useEffect(() => {
    tree.current = null;
    const q = P.tree(xy, b), n = xy.length / 2;
    let at = 0, timer: ReturnType<typeof setTimeout>;
    const step = () => {
      const end = performance.now() + 6;
      while (at < n && performance.now() < end) { P.add(q, at, Math.min(n, at + 1000)); at += 1000; }
      if (at < n) timer = setTimeout(step, 4);
      else tree.current = q;
    };
    timer = setTimeout(step, 60);
    return () => clearTimeout(timer);
  }, [xy]);
  return tree;
}

// ---- the view -------------------------------------------------------------------------------------------------------------------

const ofNames = { a: 'A', b: 'B', ab: 'A and B' } as const;

/** useDark says whether the page is dark, whoever decided that. */
export function useDark(s: State) {
  const system = useSignal(matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const m = matchMedia('(prefers-color-scheme: dark)'), f = () => { system.value = m.matches; };
    m.addEventListener('change', f);
    return () => m.removeEventListener('change', f);
  }, []);
  return s.place.theme.value === 'dark' || (s.place.theme.value === 'auto' && system.value);
}

/** The view of all samples. */
export function Scatter({ s }: { s: State }) {
  const mode = useSignal<'lasso' | 'pan'>('lasso'), body = useRef<HTMLDivElement>(null);
  const dark = useDark(s), layout = s.choice.layout.state.value, r = s.data.run.value;
  const by = fig.figureOf(s, s.choice.colorBy.value);
  const value = useComputed(() => fig.values(s, fig.figureOf(s, s.choice.colorBy.value)));
  const scale = useComputed(() => fig.scaleOf(s, fig.figureOf(s, s.choice.colorBy.value)));
  const classes = scale.value.kind === 'class', sc = scale.value, v = value.value;
  const lut = lutOf(s, sc);
  const colors = useMemo(() => {
    if (!v) return new Uint32Array(s.data.n.value).fill(dark ? none.dark : none.light);
    if (classes) return Uint32Array.from(v, (k) => classColor(k, dark));
    return colorize(v, sc, lut, dark ? none.dark : none.light);
  }, [v, sc, lut, dark, s.data.n.value]);
  const shape = useMemo(() => (classes && v && v.length <= shapely ? Uint8Array.from(v, (k) => (k >= 0 ? k % shapes.length : 0)) : null), [v, classes]);
  const count = s.choice.count.value, n = s.data.n.value, mask = count === n ? null : s.choice.mask.value, xy = layout.value?.xy ?? null;
  const fits = xy !== null && xy.length === 2 * n;
  const drawn = fits ? boundsOf(xy).n : 0;
  const texts = useMemo(() => (fits && classes && v ? names(xy, v, mask, s.data.classNames.value, dark) : []), [xy, fits, v, classes, mask, dark]);
  // Counted once and not again for every point that the pointer passes.
  const legend = useMemo(() => <Legend s={s} by={by} scale={sc} lut={lut} values={v} dark={dark} shape={shape !== null} />, [by, sc, lut, v, dark, shape]);
  const z = s.place.zoom.value;
  const zoomed = useMemo(() => (z && z.layout === s.choice.layoutKey.value ? z : null), [z, s.choice.layoutKey.value]);
  const lasso = s.choice.parts.value.lasso;
  const here = lasso && lasso.layout === s.choice.layoutKey.value ? lasso.poly : null;
  if (!r) return <Card id="samples" title="Samples by orbit shape"><Skeleton label="Loading the samples" square /></Card>;
  const method = r.methods.find((m) => m.name === s.choice.embedding.value.method);
  const describe = (i: number) => {
    const c = s.data.labels.value[i] ?? -1, parts = [`Sample ${s.data.ids.value[i] ?? i}`];
    if (c >= 0) parts.push(`class ${s.data.classNames.value[c] ?? c}`);
    for (const k of fig.nths(s)) {
      const m = s.data.stats[k].state.value.value;
      if (m) parts.push(`mean ${s.place.b.value >= 0 ? letters[k] + ' ' : ''}${num(m.mean[i])}`);
    }
    return parts.join(', ') + '.';
  };
  const drawLasso = (poly: readonly number[]) => {
    s.choice.drawLasso(poly);
    s.tasks.say(poly.length ? `${s.choice.count.value} of ${n} samples in the lasso.` : 'No lasso.');
  };
  const near = (k: number) => {
    if (!fits) return;
    const list = P.nearestK(xy, mask, s.place.sample.value, k).sort((a, b) => a - b);
    if (list.length) { s.choice.choose({ picked: list, lasso: null }); s.tasks.say(`${list.length} samples chosen.`); }
  };
  const two = r.model_list.length > 1 && s.place.b.value >= 0;
  return (
    <Card id="samples" title="Samples by orbit shape" sub={fits ? `${counted(drawn)} of ${counted(n)} drawn` : `${counted(n)} sample${n === 1 ? '' : 's'}`}
      tools={<Taker name={['samples', r.name, s.choice.embedding.value.method]} plot={() => ({ root: body.current, text: { title: `Samples by orbit shape: ${short(method ?? { name: '', title: '' })} of ${s.place.metricDoc.value?.title ?? ''}`, caption: [`${counted(drawn)} of ${counted(n)} samples drawn, coloured by ${fig.title(s, by)}.`, ...notes(s)] } })} table={() => places(s, xy)} />}>
      <div class="bar" role="group" aria-label="Layout and colour">
        <select aria-label="Layout" title={method ? `${method.title}. ${method.doc}` : 'Layout'} value={s.choice.embedding.value.method} onChange={(e) => (s.choice.embedding.value = { ...s.choice.embedding.value, method: e.currentTarget.value })}>
          {r.methods.map((m) => <option key={m.name} value={m.name} title={m.doc}>{short(m)}{m.slow ? ' (slow)' : ''}</option>)}
        </select>
        {two && (
          <select aria-label="Of the curves of which models" title="Of the curves of which models" value={s.choice.embedding.value.of} onChange={(e) => (s.choice.embedding.value = { ...s.choice.embedding.value, of: e.currentTarget.value as 'a' | 'b' | 'ab' })}>
            {(['a', 'b', 'ab'] as const).map((k) => <option key={k} value={k}>{ofNames[k]}</option>)}
          </select>
        )}
        {s.client.live && (count < n || s.choice.embedding.value.fit) && (
          <select aria-label="Fitted to" title="To which samples the layout is fitted; the others are placed in it" value={s.choice.embedding.value.fit ? 'slice' : 'all'} onChange={(e) => refit(s, e.currentTarget.value === 'slice')}>
            <option value="all">fitted to all</option><option value="slice">fitted to {s.choice.embedding.value.fit ? 'a slice' : 'the slice'}</option>
          </select>
        )}
        <select aria-label="Colour" title={`Colour: ${fig.explain(s, by)}`} value={by} onChange={(e) => (s.choice.colorBy.value = fig.storeColumn(s, e.currentTarget.value as fig.Figure))}>
          {withChosen(fig.offered(s, 'color'), by).map((f) => <option key={f} value={f}>{fig.title(s, f)}</option>)}
        </select>
        <span class="segments" role="group" aria-label="What a drag does">
          {(['lasso', 'pan'] as const).map((m) => <button key={m} type="button" aria-pressed={mode.value === m} title={m === 'lasso' ? 'Drag round points to choose them; with Shift, drag moves the picture' : 'Drag moves the picture; the wheel zooms'} onClick={() => (mode.value = m)}>{m === 'lasso' ? 'Lasso' : 'Pan'}</button>)}
        </span>
        <Nearest max={count} onPick={near} />
        {(lasso || s.choice.parts.value.picked) && <button type="button" onClick={() => { s.choice.choose({ lasso: null, picked: null }); s.tasks.say('Lasso cleared.'); body.current?.querySelector<HTMLElement>('.plane')?.focus(); }}>Clear</button>}
      </div>
      <div class="plane-box" ref={body}>
        {fits && drawn > 0 ? (
          <>
            <Plane xy={xy} colors={colors} shape={shape} mask={mask} dark={dark} sample={s.place.sample.value} pinned={s.place.pinned.value} hover={s.place.hover.value} lasso={here} texts={texts}
              zoomed={zoomed} onZoom={(z) => (s.place.zoom.value = z && { layout: s.choice.layoutKey.peek(), ...z })}
              mode={mode.value} letters={s.place.shortcuts.value} describe={describe} preview={(i) => <Preview s={s} i={i} />}
              label={`Scatter plot of ${drawn} of ${n} samples, ${count} in the slice. Arrow keys move to a neighbor, Enter chooses it, L draws a box, plus and minus zoom, Escape clears.`}
              onHover={(i) => { if (s.place.hover.peek() !== i) s.place.hover.value = i; }} onPick={(i) => { s.place.setSample(i); s.tasks.say(describe(i)); }} onLasso={drawLasso} onSay={(x) => s.tasks.say(x)} onMode={(m) => (mode.value = m)} />
            <p class="plane-axes"><span>→ {layout.value!.axes[0] ?? 'first axis'}</span><span>↑ {layout.value!.axes[1] ?? 'second axis'}</span></p>
            {legend}
          </>
        ) : <Waiting s={s} none={fits} />}
      </div>
      {fits && (layout.busy || layout.error) && <Waiting s={s} none={false} />}
      <Rank s={s} />
      {fits && (n > drawn || remarks(layout.value!.notes).length > 0) && (
        <p class="note">{n > drawn && <>{counted(n - drawn)} of {counted(n)} {n - drawn === 1 ? 'has' : 'have'} no place{why(s, n - drawn)}. </>}{remarks(layout.value!.notes).join(' ')}{Number.isFinite(layout.value!.fitted) && layout.value!.fitted < n ? ` Fitted to ${counted(layout.value!.fitted)} samples.` : ''}</p>
      )}
    </Card>
  );
}

/** places is where the samples lie. */
function places(s: State, xy: Float32Array | null): Table {
  const ids = s.data.ids.value, mask = s.choice.mask.value, rows: (string | number | boolean)[][] = [];
  if (xy) for (let i = 0; i < ids.length; i++) rows.push([i, ids[i], xy[2 * i], xy[2 * i + 1], mask[i] === 1]);
  return {
    title: `Samples laid out by ${s.choice.embedding.value.method}`, notes: notes(s), rows,
    columns: [{ name: 'index', kind: 'integer' }, { name: 'sample', kind: 'text' }, { name: 'x', kind: 'float32' }, { name: 'y', kind: 'float32' }, { name: 'in_slice', kind: 'text' }],
  };
}

/** short is a method in a menu: its title, or its initials where the title is long. */
const short = (m: { name: string; title: string }): string => ({ pca: 'PCA', ica: 'ICA', isomap: 'Isomap', tsne: 't-SNE', umap: 'UMAP' })[m.name] ?? m.title;

/** refit has the layout fitted to the slice as it is now, or to all samples again. */
function refit(s: State, slice: boolean): void {
  const { fit: _, ...rest } = s.choice.embedding.peek();
  s.choice.embedding.value = slice ? { ...rest, fit: JSON.stringify(s.choice.set.peek().bits === undefined ? s.choice.set.peek() : { bits: toBits(s.choice.mask.peek()) }) } : rest;
}

/** withChosen makes sure that a menu has the entry that is chosen, while what it needs is still on its way. */
function withChosen(list: fig.Figure[], f: fig.Figure): fig.Figure[] {
  return list.includes(f) ? list : [...list, f];
}

/** lutOf is the table of a scale. */
function lutOf(s: State, sc: fig.Scale): LUT {
  const better = sc.reversed ? 'lower' : 'higher';
  return sc.kind === 'difference' ? gains(better) : goodness(s.place.cmap.value, better);
}

/** remarks are the notes of a layout but the one that why says in words: what is not computed is no NaN. */
const remarks = (notes: readonly string[]): string[] => notes.filter((x) => !/ with a NaN or an infinity /.test(x));

/** why says what keeps samples from having a place, as far as is known. */
function why(s: State, missing: number): string {
  // Counted when they were laid out: what was computed since is not known to be missing for another reason.
  const failed = Object.keys(s.data.samples.state.value.value?.errors ?? {}).length, done = s.data.samples.state.value.value?.done ?? s.data.n.value, waiting = s.data.n.value - done;
  const parts: string[] = [];
  if (waiting > 0) {
    const late = Math.max(0, missing - failed);
    if (late > 0) parts.push(`${counted(late)} ${late === 1 ? 'was' : 'were'} not computed yet when they were laid out`);
  }
  if (failed > 0) parts.push(`${counted(failed)} could not be evaluated`);
  const others = missing - failed;
  if (others > 0 && !(waiting > 0)) parts.push(`${counted(others)} ${others === 1 ? 'has' : 'have'} values along the orbit that are not numbers`);
  return parts.length ? ': ' + parts.join(', ') : '';
}

/** names puts the name of every class in the slice at the middle of its points, so that colours are not needed to tell them apart. */
function names(xy: Float32Array, v: Float32Array, mask: Uint8Array | null, classes: readonly string[], dark: boolean) {
  const xs = new Map<number, number[]>(), ys = new Map<number, number[]>(), every = Math.max(1, Math.floor(v.length / 20_000));
  for (let i = 0; i < v.length; i += every) {
    if ((mask && !mask[i]) || !(v[i] >= 0) || xy[2 * i] !== xy[2 * i]) continue;
    if (!xs.has(v[i])) { xs.set(v[i], []); ys.set(v[i], []); }
    xs.get(v[i])!.push(xy[2 * i]);
    ys.get(v[i])!.push(xy[2 * i + 1]);
  }
  if (xs.size > 40) return [];
  const median = (a: number[]) => a.sort((p, q) => p - q)[a.length >> 1];
  return [...xs.keys()].sort((a, b) => a - b).map((k) => ({ x: median(xs.get(k)!), y: median(ys.get(k)!), text: classes[k] ?? String(k), color: css(classColor(k, dark)) }));
}

/** The keyboard's other way to a set of points: so many of the nearest ones. */
function Nearest({ max, onPick }: { max: number; onPick: (k: number) => void }) {
  const k = useSignal(20);
  return (
    <form class="nearest" onSubmit={(e) => { e.preventDefault(); onPick(k.value); }}>
      <button type="submit" title="Choose the samples whose points are nearest to the one that is looked at">Nearest</button>
      <input type="number" min={1} max={Math.max(1, max)} step={1} value={k.value} aria-label="How many of the nearest samples" onInput={(e) => { const n = Math.floor(+e.currentTarget.value); if (n >= 1) k.value = n; }} />
    </form>
  );
}

/** What is shown while there is no layout, or another one is on its way. */
function Waiting({ s, none: nothing }: { s: State; none: boolean }) {
  const l = s.choice.layout.state.value, task = s.choice.layoutTask.value;
  const title = s.data.run.value?.methods.find((m) => m.name === s.choice.embedding.value.method)?.title ?? s.choice.embedding.value.method;
  if (task) {
    const percent = Math.round(100 * task.fraction);
    return (
      <div class="waiting" role="status">
        <p>{task.title || `${title} is being computed.`} {task.state === 'waiting' ? 'It waits for its turn.' : ''}</p>
        <progress max={100} value={percent} aria-label={`${title}: ${percent} %`} />
        <p class="note">{percent} %{task.seconds !== null && task.seconds > 0 ? `, ${left(task.seconds)}` : ''} <button type="button" onClick={() => void s.client.cancelTask(task.id)}>Cancel</button></p>
      </div>
    );
  }
  if (l.busy) return <div class="waiting" role="status"><p>Laying out the samples…</p></div>;
  if (l.error) {
    return (
      <div class="waiting">
        <Trouble text={`${title}: ${l.error}`} retry={() => s.reload()} />
        {s.choice.embedding.value.method !== 'pca' && <p><button type="button" onClick={() => (s.choice.embedding.value = { ...s.choice.embedding.value, method: 'pca' })}>Show PCA instead</button></p>}
      </div>
    );
  }
  return <div class="waiting"><p>{nothing ? `No sample has a place${why(s, s.data.n.value) || ' yet'}.` : 'There is no layout yet.'}</p></div>;
}

/** What hovering over a point shows. */
function Preview({ s, i }: { s: State; i: number }) {
  const o = s.data.group.value, c = s.data.labels.value[i] ?? -1, range = s.place.range.value, side = 64, url = s.data.run.value?.live.inputs || !s.client.live ? s.client.thumb(s.data.runID.value, i) : '';
  const two = s.place.b.value >= 0;
  return (
    <>
      <div class="tip-pictures">
        {url && <img key={i} src={url} width={side} height={side} alt="" loading="lazy" onError={(e) => { e.currentTarget.hidden = true; }} />}
        {o && (
          <svg class="spark" width={side} height={side} viewBox={`0 0 ${side} ${side}`} aria-hidden="true">
            {traits(o.layout).round ? <circle class="spark-frame" cx={side / 2} cy={side / 2} r={side / 2 - 1} /> : <rect class="spark-frame" x="0.5" y="0.5" width={side - 1} height={side - 1} />}
            {fig.nths(s).map((k) => { const row = s.place.orbitOf(k, i); return row && <path key={k} class={`spark-line m${inkOf(k)}`} d={spark(row, o, range.lo, range.hi, side)} />; })}
          </svg>
        )}
      </div>
      <p><b>{s.data.ids.value[i] ?? `#${i}`}</b>{c >= 0 && <> class {s.data.classNames.value[c] ?? c}</>}{s.data.samples.state.value.value?.errors?.[i] && <> could not be evaluated</>}</p>
      <p>mean{fig.nths(s).map((k) => { const m = s.data.stats[k].state.value.value; return m && <span key={k} class={`ink m${inkOf(k)}`}> {two ? letters[k] + ' ' : ''}{num(m.mean[i])}</span>; })}</p>
    </>
  );
}

/** The key: what the colours mean, with true values. */
function Legend({ s, by, scale: sc, lut, values: v, dark, shape }: { s: State; by: fig.Figure; scale: fig.Scale; lut: LUT; values: Float32Array | null; dark: boolean; shape: boolean }) {
  if (!v) return <p class="colour-key note">The colours are on their way.</p>;
  const unit = s.place.metricDoc.value?.unit;
  if (sc.kind === 'class') {
    const counts = new Map<number, number>(), mask = s.choice.mask.value;
    let without = 0;
    for (let i = 0; i < v.length; i++) {
      if (!mask[i]) continue;
      if (v[i] >= 0) counts.set(v[i], (counts.get(v[i]) ?? 0) + 1);
      else without++;
    }
    const all = [...counts.keys()].sort((a, b) => a - b), some = all.slice(0, 24);
    const slices = s.data.run.value?.slices ?? [];
    return (
      <div class="colour-key class-key" role="group" aria-label={`Colour and shape: ${fig.title(s, by)}`}>
        <span class="key-title">{fig.title(s, by)}</span>
        {some.map((k) => {
          const slice = by === 'label' ? slices.find((x) => x.label === k) : undefined, name = s.data.classNames.value[k] ?? String(k);
          const swatch = <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><path d={markPath(shape ? shapes[k % shapes.length] : 'disc', 5)} fill={css(classColor(k, dark))} fill-rule="evenodd" stroke={css(classColor(k, dark))} stroke-width="1.2" /></svg>;
          return slice ? (
            <button key={k} type="button" data-export class="swatch" aria-pressed={s.choice.parts.value.slice === slice.name} title={`Show only class ${name}`} onClick={() => s.choice.choose({ slice: s.choice.parts.value.slice === slice.name ? '' : slice.name })}>{swatch}<span>{name}</span> <small>{counts.get(k)}</small></button>
          ) : <span key={k} class="swatch">{swatch}<span>{name}</span> <small>{counts.get(k)}</small></span>;
        })}
        {all.length > some.length && <span>and {all.length - some.length} more</span>}
        {without > 0 && <span>{counted(without)} without a class, grey</span>}
        {all.length > 10 && <span>Colours repeat after ten classes.</span>}
      </div>
    );
  }
  const mid = sc.kind === 'difference' ? 0 : sc.log ? Math.sqrt(sc.lo * sc.hi) : (sc.lo + sc.hi) / 2;
  const stops = Array.from({ length: 17 }, (_, k) => <stop key={k} offset={`${(100 * k) / 16}%`} stop-color={css(lut[Math.round((255 * k) / 16)])} />);
  const missing = v.reduce((t, x) => t + (x === x ? 0 : 1), 0);
  return (
    <div class="colour-key scale">
      <span class="key-title" title={fig.explain(s, by)}>{fig.title(s, by)}{unit ? ` in ${unit}` : ''}{sc.log ? ', logarithmic' : ''}</span>
      <span class="key-bar">
        <svg class="key-ramp" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><defs><linearGradient id="key-ramp">{stops}</linearGradient></defs><rect width="100" height="10" fill="url(#key-ramp)" /></svg>
        <span class="key-ticks"><span>{num(sc.lo)}</span><span>{num(mid)}</span><span>{num(sc.hi)}</span></span>
      </span>
      {sc.kind === 'difference' ? <span>{by === 'diff' ? 'orange: B is better' : 'orange: better when moved'}</span> : !/^(similar|corr|ssim)/.test(by) && <span>bright is good</span>}
      {missing > 0 && <span>{counted(missing)} without a value, grey</span>}
    </div>
  );
}

/** markPath is a mark of the raster as an SVG path of radius r around the origin. */
function markPath(m: Mark, r: number): string {
  const circle = (q: number) => `M${q} 0A${q} ${q} 0 1 0 ${-q} 0A${q} ${q} 0 1 0 ${q} 0Z`;
  switch (m) {
    case 'disc': return circle(r);
    case 'ring': return circle(r) + circle(r * 0.6);
    case 'square': return `M${-r * 0.9} ${-r * 0.9}H${r * 0.9}V${r * 0.9}H${-r * 0.9}Z`;
    case 'triangle': return `M0 ${-r}L${r} ${r}H${-r}Z`;
    case 'diamond': return `M0 ${-r}L${r} 0L0 ${r}L${-r} 0Z`;
    case 'cross': return `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}`;
  }
}
