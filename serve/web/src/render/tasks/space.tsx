// Points and molecules in space: a picture that is turned by dragging, with WebGL where there is some and on a plain canvas elsewhere. In the mode
// "turn" a drag moves the element, so that the models are asked about what is seen.

import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { firstOf } from '../../core/axis';
import { goodness, luts } from '../../core/color';
import { field, type Datum, type Rows } from '../../core/datum';
import { after, spatial, type Vec3 } from '../../core/rotation';
import type { State } from '../../core/state';
import { num } from '../text';
import { basis, dot, dragged, extent, front, grabbed, type Camera, type Scene, type View3D } from './camera';
import { onCanvas } from './canvas3d';
import { looks } from './elements';
import { apart, bound, joined, type Placed } from './fields';

const camera = signal<Camera>(front);
/** A drag turns what is seen (the camera), or what is fed (the element). */
const grip = signal<'look' | 'turn'>('look');
const paint = signal<'height' | 'place' | 'error'>('height');
const showForces = signal(true);

type Viewer = typeof import('../../viewer3d');
let viewer: Promise<Viewer> | null = null;

/** Whether this machine has WebGL, asked without a word in the console. */
function capable(): boolean {
  try {
    return document.createElement('canvas').getContext('webgl2') !== null;
  } catch {
    return false;
  }
}

/** Vectors of models and their reference at the points. */
interface Pulls {
  name: string;
  list: { ink: number; of: Rows; color: readonly [number, number, number]; wide: boolean; name: string }[];
}

const inks: readonly (readonly [number, number, number])[] = [[0, 114, 178], [213, 94, 0]];

/** The vectors per point among the answers. */
function pulls(s: State, n: number): Pulls | null {
  const run = s.data.run.value;
  if (!run) return null;
  const name = run.outputs.find((p) => p.type === 'vectors')?.name ?? (run.output === 'rows' ? '' : 'forces');
  const pick = (d: Datum | undefined): Rows | null => {
    const v = d?.kind === 'record' ? field(d, name) : d;
    return v?.kind === 'rows' && v.w === 3 && v.n === n ? v : null;
  };
  const out: Pulls = { name: name || 'vectors', list: [] };
  const dark = globalThis.getComputedStyle?.(document.documentElement).getPropertyValue('--scheme').trim() === 'dark';
  s.place.models.value.forEach((_, k) => {
    const a = s.place.answer(k as 0 | 1);
    const against = k === 0 ? pick(a?.versus?.datum) : null;
    if (against) out.list.push({ ink: 2, of: against, color: dark ? [200, 200, 200] : [120, 120, 120], wide: true, name: 'reference' });
    const of = pick(a?.datum);
    if (of) out.list.push({ ink: k, of, color: inks[k], wide: false, name: 'AB'[k] });
  });
  return out.list.length ? out : null;
}

/** Points in space as the models were fed them. */
export function Space({ s, of, words }: { s: State; of: Placed; words: string }) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<View3D | null>(null);
  const [gl, setGL] = useState(() => s.client.live && capable());
  const [size, setSize] = useState<readonly [number, number]>([280, 240]);
  const p = of.positions.value;
  const arrows = pulls(s, p.n);
  const can = turnable(s);
  const errors = useMemo(() => pointErrors(arrows, p.n), [arrows?.list.map((x) => x.of).join(), arrows, p]);
  // The reach of the first picture of a sample stays, so that a cloud does not change its size while it turns.
  const reach = useRef<{ sample: number; reach: number }>({ sample: -1, reach: 1 });
  const now = extent(p.data).reach;
  if (reach.current.sample !== s.place.sample.value || now > 1.3 * reach.current.reach) reach.current = { sample: s.place.sample.value, reach: now };
  const by = errors ? paint.value : paint.value === 'error' ? 'height' : paint.value;
  const scene = useMemo<Scene>(
    () => sceneOf(of, showForces.value ? arrows : null, by === 'error' ? errors : null, by, reach.current.reach),
    [of.positions.value, of.links, of.species, arrows?.list.map((x) => x.of), by, showForces.value, reach.current.reach].flat(),
  );
  useEffect(() => {
    const el = host.current;
    if (!el) return undefined;
    const fit = () => setSize([Math.max(60, Math.round(el.clientWidth)), Math.max(60, Math.round(el.clientHeight))]);
    fit();
    const o = new ResizeObserver(fit);
    o.observe(el);
    return () => o.disconnect();
  }, []);
  useEffect(() => {
    let ended = false;
    if (!gl) view.current = canvas.current ? onCanvas(canvas.current) : null;
    else {
      viewer ??= import('../../viewer3d');
      viewer.then(
        (m) => {
          if (ended || !canvas.current) return;
          view.current = m.onWebGL(canvas.current, () => setGL(false));
          if (view.current) draw();
          else setGL(false);
        },
        () => setGL(false),
      );
    }
    draw();
    return () => {
      ended = true;
      view.current?.end();
      view.current = null;
    };
  }, [gl]);
  const latest = useRef({ scene, size });
  latest.current = { scene, size };
  const draw = () => view.current?.draw(latest.current.scene, camera.peek(), latest.current.size);
  const cam = camera.value;
  useEffect(draw, [scene, size, cam, gl]);
  const from = useRef<{ x: number; y: number; camera: Camera; g: readonly number[]; mode: 'look' | 'turn' } | null>(null);
  const pinch = useRef(new Map<number, [number, number]>());
  const turnBy = (g0: readonly number[], dx: number, dy: number) => {
    const o = s.data.group.peek();
    if (!o) return;
    const at = spatial(o.chart);
    if (at) {
      const h = o.chart.map(() => 0);
      grabbed(camera.peek(), dx, dy).forEach((v, k) => (h[at.r + k] = v));
      const g = after(at, h, g0);
      s.place.moveTo(g.map((v, k) => (k >= at.r && k < at.r + 3 ? +v.toPrecision(6) : v)));
      return;
    }
    const k = firstOf(o.chart, 'turn');
    if (k >= 0) s.place.moveTo(g0.map((v, j) => (j === k ? +(v + 0.6 * dx).toFixed(1) : v)));
  };
  const wheel = (e: WheelEvent) => {
    if (!host.current?.contains(document.activeElement) || e.ctrlKey) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1 / 1.1 : 1.1);
  };
  const zoom = (f: number) => (camera.value = { ...camera.peek(), zoom: Math.max(0.3, Math.min(12, camera.peek().zoom * f)) });
  useEffect(() => {
    const el = host.current;
    el?.addEventListener('wheel', wheel, { passive: false });
    return () => el?.removeEventListener('wheel', wheel);
  }, []);
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const n = (e.shiftKey ? 30 : 5) / 0.6;
    const way = { ArrowLeft: [-n, 0], ArrowRight: [n, 0], ArrowUp: [0, -n], ArrowDown: [0, n] }[e.key];
    if (way) {
      if (grip.peek() === 'turn' && can) turnBy(s.place.g.peek(), way[0], way[1]);
      else camera.value = dragged(camera.peek(), way[0], way[1]);
    } else if (e.key === '+' || e.key === '=') zoom(1.15);
    else if (e.key === '-') zoom(1 / 1.15);
    else if (e.key === '0') camera.value = front;
    else if (e.key === 'Home' && grip.peek() === 'turn') s.place.home();
    else if (e.key === 't' && can) grip.value = grip.peek() === 'turn' ? 'look' : 'turn';
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const mode = can ? grip.value : 'look';
  return (
    <div class="inspace">
      <div class="bar">
        {can && (
          <span class="segments" role="group" aria-label="What a drag does">
            <button aria-pressed={mode === 'look'} onClick={() => (grip.value = 'look')} title="Drag to look from elsewhere: changes the view only">look</button>
            <button aria-pressed={mode === 'turn'} onClick={() => (grip.value = 'turn')} title="Drag to turn what the models are fed (t)">turn</button>
          </span>
        )}
        <select aria-label="Colour of the points" value={by} onChange={(e) => (paint.value = e.currentTarget.value as 'height')} disabled={of.species !== null && !errors}>
          <option value="height">{of.species ? 'element' : 'colour: height'}</option>
          {!of.species && <option value="place">colour: order</option>}
          {errors && <option value="error">colour: error</option>}
        </select>
        <button onClick={() => (camera.value = front)} title="The view from the front (0)">reset</button>
        {arrows && (
          <label class="switch">
            <input type="checkbox" checked={showForces.value} onChange={(e) => (showForces.value = e.currentTarget.checked)} /> {arrows.name}
          </label>
        )}
      </div>
      <div
        ref={host}
        class={`view3d ${mode}`}
        data-gl={String(gl)}
        tabIndex={0}
        role="application"
        aria-roledescription="view in space"
        aria-label={`${describe(of, s.place.sample.value, words)} ${mode === 'turn' ? 'Arrow keys turn the input' : 'Arrow keys turn the view'}, plus and minus zoom, 0 resets${can ? ', t changes what the arrows turn' : ''}.`}
        onKeyDown={keys}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          host.current?.setPointerCapture(e.pointerId);
          host.current?.focus({ preventScroll: true });
          pinch.current.set(e.pointerId, [e.clientX, e.clientY]);
          from.current = { x: e.clientX, y: e.clientY, camera: camera.peek(), g: s.place.g.peek(), mode: e.shiftKey && can ? (mode === 'turn' ? 'look' : 'turn') : mode };
          e.preventDefault();
        }}
        onPointerMove={(e) => {
          const f = from.current;
          const old = pinch.current;
          if (!f || !old.has(e.pointerId)) return;
          if (old.size === 2) {
            const other = [...old.entries()].find(([id]) => id !== e.pointerId)![1];
            const was = old.get(e.pointerId)!;
            const d = (q: readonly number[]) => Math.hypot(q[0] - other[0], q[1] - other[1]) || 1;
            zoom(d([e.clientX, e.clientY]) / d(was));
            old.set(e.pointerId, [e.clientX, e.clientY]);
            return;
          }
          const [dx, dy] = [e.clientX - f.x, e.clientY - f.y];
          if (f.mode === 'turn') turnBy(f.g, dx, dy);
          else camera.value = { ...dragged(f.camera, dx, dy), zoom: camera.peek().zoom };
        }}
        onPointerUp={(e) => { pinch.current.delete(e.pointerId); from.current = null; }}
        onPointerCancel={(e) => { pinch.current.delete(e.pointerId); from.current = null; }}
      >
        <canvas key={String(gl)} ref={canvas} aria-hidden="true" />
        <Labels scene={scene} cam={cam} size={size} />
      </div>
      <p class="axisnote">{legend(of, arrows && showForces.value ? arrows : null, by, errors)}{gl ? '' : ' · drawn without WebGL'}</p>
    </div>
  );
}

const turnable = (s: State): boolean => {
  const o = s.data.group.value;
  return !!o && !o.indexed && (spatial(o.chart) !== null || firstOf(o.chart, 'turn') >= 0);
};

function pointErrors(a: Pulls | null, n: number): Float32Array | null {
  const ref = a?.list.find((x) => x.ink === 2);
  const one = a?.list.find((x) => x.ink === 0);
  return ref && one ? Float32Array.from({ length: n }, (_, i) => apart(one.of, ref.of, i)) : null;
}

function legend(of: Placed, arrows: Pulls | null, by: string, errors: Float32Array | null): string {
  const parts = [of.species && by !== 'error' ? 'balls: atoms by element' : by === 'error' && errors ? `colour: error of A, bright is 0, dark is ${num(errors.reduce((m, v) => (v > m ? v : m), 0))}` : by === 'place' ? 'colour: order of the rows' : 'colour: height, bright is up'];
  if (arrows) parts.push(`arrows: ${arrows.name}, ${[...arrows.list].sort((x, y) => x.ink - y.ink).map((x) => (x.ink === 2 ? 'reference grey and wide' : x.ink === 0 ? 'A blue' : 'B orange')).join(', ')}`);
  return parts.join(' · ');
}

/** A scene in a sentence. */
function describe(of: Placed, sample: number, words: string): string {
  const p = of.positions.value;
  const ends = [0, 1, 2].map((c) => {
    let [lo, hi] = [Infinity, -Infinity];
    for (let i = c; i < p.data.length; i += 3) { lo = Math.min(lo, p.data[i]); hi = Math.max(hi, p.data[i]); }
    return `${'xyz'[c]} from ${num(lo)} to ${num(hi)}`;
  });
  return `Sample ${sample}, ${p.n} ${of.species ? 'atoms' : 'points'} as the models were fed them, ${words}: ${ends.join(', ')}.`;
}

const axisColors: readonly (readonly [number, number, number])[] = [[200, 60, 60], [60, 150, 60], [70, 110, 220]];

function sceneOf(of: Placed, arrows: Pulls | null, errors: Float32Array | null, by: string, reach: number): Scene {
  const p = of.positions.value;
  const n = p.n;
  const colors = new Uint8Array(3 * n);
  let [lo, hi] = [Infinity, -Infinity];
  const value = (i: number) => (errors ? errors[i] : by === 'place' ? i : p.data[3 * i + 2]);
  for (let i = 0; i < n; i++) { const v = value(i); if (v < lo) lo = v; if (v > hi) hi = v; }
  if (!errors && by !== 'place') [lo, hi] = [-reach, reach]; // heights are the same colours from element to element
  if (errors) lo = 0;
  for (let i = 0; i < n; i++) {
    if (of.species && !errors) colors.set(looks(of.species[i]).slice(0, 3), 3 * i);
    else {
      const u = (value(i) - lo) / (hi - lo || 1);
      // The darkest and the brightest of the table vanish before one of the grounds.
      const c = (errors ? goodness('viridis', 'lower') : luts.viridis)[Math.max(0, Math.min(255, Math.round(20 + 225 * u)))] ?? 0;
      colors.set([c & 255, (c >> 8) & 255, (c >> 16) & 255], 3 * i);
    }
  }
  const scene: Scene = { points: p.data, colors, arrows: [], lines: [], middle: [0, 0, 0], reach };
  if (of.species) {
    scene.radii = Float32Array.from(of.species, (z) => 0.42 * looks(z)[3]);
    scene.bonds = of.links && of.links.from.length <= 4 * n ? joined(of.links) : bound(p.data, (i) => looks(of.species![i])[3]);
    scene.reach = reach + 0.6;
  } else if (of.links) {
    scene.bonds = joined(of.links).slice(0, 5000);
    if (n <= 200) scene.radii = new Float32Array(n).fill(0.035 * reach);
  }
  const origin: Vec3 = [0, 0, 0];
  [0, 1, 2].forEach((k) => {
    const to: Vec3 = [0, 0, 0].map((_, j) => (j === k ? 1.02 * scene.reach : 0)) as unknown as Vec3;
    (scene.lines as { from: Vec3; to: Vec3; color: readonly [number, number, number] }[]).push({ from: origin, to, color: axisColors[k] });
  });
  if (arrows) {
    let longest = 0;
    for (const a of arrows.list) for (let i = 0; i < n; i++) longest = Math.max(longest, Math.hypot(a.of.data[3 * i], a.of.data[3 * i + 1], a.of.data[3 * i + 2]) || 0);
    const k = longest > 0 ? (0.55 * reach) / longest : 0;
    const all = arrows.list.flatMap((a) => Array.from({ length: n }, (_, i) => ({ from: [p.data[3 * i], p.data[3 * i + 1], p.data[3 * i + 2]] as Vec3, by: [k * a.of.data[3 * i], k * a.of.data[3 * i + 1], k * a.of.data[3 * i + 2]] as Vec3, color: a.color, wide: a.wide })));
    scene.arrows = n <= 400 ? all : all.filter((_, j) => j % Math.ceil(n / 400) === 0);
  }
  return scene;
}

/** The names of the axes where they end, over the canvas. */
function Labels({ scene, cam, size: [w, h] }: { scene: Scene; cam: Camera; size: readonly [number, number] }) {
  const [right, up] = basis(cam);
  const k = (Math.min(w, h) / 2 / (scene.reach * 1.12)) * cam.zoom;
  return (
    <svg viewBox={`0 0 ${w} ${h}`} aria-hidden="true">
      {[0, 1, 2].map((a) => {
        const e: Vec3 = [0, 0, 0].map((_, j) => (j === a ? 1.07 * scene.reach : 0)) as unknown as Vec3;
        return <text key={a} x={w / 2 + k * dot(e, right)} y={h / 2 - k * dot(e, up)} text-anchor="middle" dominant-baseline="central">{'xyz'[a]}</text>;
      })}
    </svg>
  );
}

