// Rotations of space on discs, one for each plane of axes: the direction is that of the axis, the distance from the middle the angle. Every
// element has a part of the disc, the identity the middle.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Element } from '../../core/api';
import { angle, spatial, vector } from '../../core/rotation';
import { onDisc } from '../path';
import { Frame, Tip, usePointer, type OrbitProps, type Series } from './common';
import { shade } from './heatmap';
import { cellAt, direction, discsOf, lookup, type Disc } from './sphere';
import { Worst } from './worst';

const missing = { light: 0xffcac7c4, dark: 0xff57514c };

/** The discs of every model on one scale. */
export function Discs(p: OrbitProps) {
  const all = useMemo(() => discsOf(p.orbit), [p.orbit]);
  const names = [...new Set(all.map((d) => d.plane.name))];
  const one = !p.small && names.some((n) => n === p.plane?.value) ? (p.plane?.value as string) : '';
  const own = p.series.filter((s) => !s.pinned);
  const drawn = all.filter((d) => !one || d.plane.name === one);
  return (
    <div class={`discs n${own.length}${p.small ? ' small' : ''}${!p.small && !one && names.length > 1 && !all.some((d) => d.inverted) ? ' down' : ''}`}>
      {!p.small && names.length > 1 && (
        <div class="bar segments planes" role="group" aria-label="Planes of the axes">
          {['', ...names].map((n) => (
            <button key={n} aria-pressed={one === n} onClick={() => p.plane && (p.plane.value = n)} title={n ? `Rotations about axes in the plane ${n}` : 'All planes beside each other'}>
              {n || 'all planes'}
            </button>
          ))}
        </div>
      )}
      <div class="models">
      {own.map((s, j) => (
        <figure key={s.name + j} class="map">
          {own.length > 1 && <figcaption class={`ink m${s.ink}`}>{s.name}</figcaption>}
          {[false, true].map((inverted) => {
            const row = drawn.filter((d) => d.inverted === inverted);
            return row.length ? (
              <div key={String(inverted)} class={`discrow n${row.length}`}>
                {row.map((d) => <One key={d.plane.name} p={p} s={s} d={d} first={j === 0} size={one ? 480 : p.small ? 96 : 320} several={all.some((x) => x.inverted)} />)}
              </div>
            ) : null;
          })}
        </figure>
      ))}
      </div>
      {!p.small && <p class="axisnote">direction: axis of the rotation in its plane; distance from the middle: angle, {+Math.max(...all.map((d) => d.reach)).toPrecision(4)}° at the rim; middle: identity{own.some((s) => s.wrong) ? '; dots: wrong class' : ''}</p>}
      {p.focusable && !p.small && <Worst p={p} />}
    </div>
  );
}

function One({ p, s, d, first, size, several }: { p: OrbitProps; s: Series; d: Disc; first: boolean; size: number; several: boolean }) {
  const o = p.orbit;
  const at3 = spatial(o.chart)!;
  const canvas = useRef<HTMLCanvasElement>(null);
  const of = useMemo(() => lookup(d, size), [d, size]);
  const psi0 = useRef(0);
  /** The element at a direction and an angle on this disc. */
  const element = (psi: number, omega: number): number[] => {
    const [x, y] = onDisc(psi, omega, 1);
    const clean = (v: number) => (Math.abs(v) < 1e-9 ? 0 : v);
    return o.chart.map((_, k) => (k === at3.r + d.plane.x ? clean(x) : k === at3.r + d.plane.y ? clean(-y) : k === at3.inversion && d.inverted ? 1 : 0));
  };
  const place = (g: Element): { psi: number; omega: number; off: number } => {
    const v = vector(at3, g);
    const turn = angle(v);
    const flat = Math.hypot(v[d.plane.x], v[d.plane.y]);
    return { psi: flat > 1e-9 ? direction(v, d.plane) : psi0.current, omega: flat, off: turn - flat };
  };
  const to = (x: number, y: number) => {
    const omega = Math.min(d.reach, (Math.hypot(x, y) / 100) * d.reach);
    const psi = (Math.atan2(-y, x) * 180) / Math.PI;
    // Between the elements of the plan only where something can be shown there.
    if (!p.nav.between?.()) return o.elements[cellAt(d, psi, omega)] ?? null;
    return element(Math.round(psi), Math.round(omega));
  };
  const { svg, hover, handlers } = usePointer(p, to, (g) => { const q = place(g); return cellAt(d, q.psi, q.omega); });
  useEffect(() => {
    const ctx = canvas.current?.getContext('2d');
    if (!ctx || !p.table) return;
    const image = ctx.createImageData(size, size);
    const dark = getComputedStyle(canvas.current as globalThis.Element).getPropertyValue('--scheme').trim() === 'dark';
    const px = new Uint32Array(image.data.buffer);
    const none = dark ? missing.dark : missing.light;
    const colors = Uint32Array.from(s.values as ArrayLike<number>, (v) => { const c = shade(p.scale, v); return c < 0 ? none : (p.table as Uint32Array)[c]; });
    for (let i = 0; i < of.length; i++) if (of[i] >= 0) px[i] = colors[of[i]];
    ctx.putImageData(image, 0, 0);
  });
  const wrong = useMemo(() => {
    if (!s.wrong || p.small) return '';
    return d.places.filter((q) => s.wrong?.(q.k)).map((q) => { const [x, y] = onDisc(q.psi, Math.min(0.985, q.omega / d.reach), 100); return `M${x.toFixed(1)},${y.toFixed(1)}h0`; }).join('');
  }, [s.wrong, d, p.small]);
  const g = p.at.value;
  const now = place(g);
  if (now.omega > 1e-9) psi0.current = now.psi;
  const here = (at3.inversion >= 0 && g[at3.inversion] !== 0) === d.inverted;
  const inPlane = now.off < 0.5;
  const [cx, cy] = onDisc(now.psi, Math.min(1, now.omega / d.reach), 100);
  const focus = p.focusable && first;
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const free = p.nav.between?.() ?? false;
    const far = e.shiftKey ? (free ? 10 : 3) : 1;
    const by = (turn: number, out: number) => {
      const q = place(p.at.peek());
      if (free) return p.nav.moveTo(element(q.psi + turn * far, Math.max(0, Math.min(d.reach, q.omega + out * far))));
      // From cell to cell.
      const i = Math.max(0, d.rings.findIndex((r) => q.omega < r.outer || r.outer >= d.reach));
      const j = Math.max(0, Math.min(d.rings.length - 1, i + out * far));
      const ring = d.rings[j];
      if (out !== 0) return p.nav.moveTo(o.elements[cellAt(d, q.psi, j === 0 && ring.k.length === 1 ? 0 : (ring.outer + (d.rings[j - 1]?.outer ?? 0)) / 2)]);
      const at = ring.at.reduce((b, a, t) => (Math.abs(((a - q.psi + 540) % 360) - 180) < Math.abs(((ring.at[b] - q.psi + 540) % 360) - 180) ? t : b), 0);
      const n = ring.at.length;
      const next = (((at + turn * far) % n) + n) % n;
      psi0.current = ring.at[next];
      p.nav.moveTo(o.elements[ring.k[next]]);
    };
    switch (e.key) {
      case 'ArrowLeft': by(1, 0); break; // counter-clockwise, as on every circle here
      case 'ArrowRight': by(-1, 0); break;
      case 'ArrowUp': by(0, 1); break;
      case 'ArrowDown': by(0, -1); break;
      case 'PageUp': free ? by(0, 15 / far) : by(0, 3 / far); break;
      case 'PageDown': free ? by(0, -15 / far) : by(0, -3 / far); break;
      case 'Home': p.nav.home(); break;
      case 'End': p.nav.opposite(); break;
      case ' ': p.nav.play(); break;
      default: return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  const [a, b] = d.plane.name;
  const what = `Rotations about axes in the plane ${d.plane.name}${d.inverted ? ', inverted' : ''}`;
  const role = focus
    ? { tabindex: 0, role: 'slider' as const, 'aria-label': `${what}. Left and right turn the axis, up and down the angle.`, 'aria-valuemin': 0, 'aria-valuemax': Math.round(d.reach), 'aria-valuenow': Math.round(now.omega), 'aria-valuetext': p.spoken?.value ?? '', onKeyDown: keys }
    : { role: 'img' as const, 'aria-label': `${s.name}. ${what}. ${p.alt}` };
  return (
    <Frame layout="disc" small={p.small}>
      <div class="discfield">
        <canvas ref={canvas} width={size} height={size} aria-hidden="true" />
        <svg ref={svg} viewBox="-100 -100 200 200" class="draw" data-plane={`${d.plane.name}${d.inverted ? '-' : ''}`} {...handlers} {...role}>
          <circle class="rim" r={99.6} />
          {wrong && <path class="wrongs" d={wrong} />}
          {here && (
            <g class={`hair${p.focusable ? '' : ' thin'}`}>
              <path class="halo" d={`M0,0L${cx},${cy}`} />
              <path d={`M0,0L${cx},${cy}`} stroke-dasharray={inPlane ? undefined : '3 3'} />
              {now.omega > 179.5 && <circle class="twin" cx={-cx} cy={-cy} r={4} />}
              <circle class={`spot${inPlane ? '' : ' off'}`} cx={cx} cy={cy} r={p.small ? 7 : 6} />
            </g>
          )}
        </svg>
      </div>
      {!p.small && <p class="axisnote">{a} →, {b} ↑{several ? (d.inverted ? ', inverted' : ', proper') : ''}</p>}
      <Tip hover={hover} lines={hover ? p.tip(hover.k) : []} />
    </Frame>
  );
}
