// The input of a model as a picture: what it was fed, pixel by pixel. Dragging it moves the element: round the middle for turns, along for
// shifts, away from the middle for scales.

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Axis, Element, Group } from '../../core/api';
import { firstOf, isFactor } from '../../core/axis';
import { label, position } from '../../core/format';
import { nearest } from '../../core/orbit';
import { spatial } from '../../core/rotation';
import type { Picture } from '../../core/source';
import type { State } from '../../core/state';
import { pixels } from '../picture';

/** The newest moved input of the sample, and of which element it is. */
export function inputOf(s: State): { picture: Picture; g: Element; exact: boolean } | null {
  const i = s.place.sample.value;
  const l = s.place.canProbe.value ? s.place.live.answer.value : null;
  const m = s.place.moved.answer.value;
  const live = l && l.want.sample === i && l.value.input ? { picture: l.value.input, g: l.want.g, exact: l.value.exact, seq: 1 } : null;
  const alone = m && m.want.sample === i ? { picture: m.value, g: m.want.g, exact: m.value.exact, seq: 0 } : null;
  if (live && alone && s.place.live.error.value) return alone;
  return live ?? alone;
}

/** An element as what was done to the input: "rotated 152°", "shifted by 3, −1 px". */
export function done(chart: readonly Axis[], g: Element): string {
  const parts: string[] = [];
  const shift: string[] = [];
  if (spatial(chart)) return position(chart, g).replace(/^identity$/, 'not moved');
  chart.forEach((a, k) => {
    const v = num2(g[k]);
    const kind = a.kind?.name;
    if (kind === 'turn') parts.push(`rotated ${v}°`);
    else if (kind === 'right' || kind === 'down') shift.push(v);
    else if (isFactor(a)) parts.push(`${kind === 'scale' ? 'scaled' : a.name} ×${v}`);
    else if (kind === 'mirror') g[k] && parts.push('mirrored');
    else if (kind === 'time reversal') g[k] && parts.push('time reversed');
    else parts.push(label([a], [g[k]]));
  });
  if (shift.length) parts.push(`shifted by ${shift.join(', ')} px`);
  return parts.join(', ') || 'not moved';
}

/** What was done to the input, by the name that the element has elsewhere if it has one in words. */
export function called(o: Group, g: Element): string {
  const k = o.finite ? nearest(o, g) : { index: -1, same: false };
  const name = k.same ? (o.labels[k.index] ?? '') : '';
  return /[a-z]{3}/.test(name) ? name.replace(/^identity$/, 'not moved') : done(o.chart, g);
}

const range = (v: number): string => String(+v.toPrecision(6)).replace('-', '−');

const num2 = (v: number): string => String(+v.toFixed(Math.abs(v) < 10 ? 2 : 1)).replace('-', '−');

/** A picture as pixels. */
export function Raster({ of, label: text, class: c }: { of: () => { w: number; h: number; draw(px: Uint32Array): void } | null; label: string; class?: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const p = of();
  // After every rendering: what of closes over is not all made of signals.
  useLayoutEffect(() => {
    const el = canvas.current;
    if (!p || !el) return;
    if (el.width !== p.w) el.width = p.w;
    if (el.height !== p.h) el.height = p.h;
    const ctx = el.getContext('2d');
    if (!ctx) return;
    const image = ctx.createImageData(p.w, p.h);
    p.draw(new Uint32Array(image.data.buffer));
    ctx.putImageData(image, 0, 0);
  });
  return <canvas ref={canvas} class={`pix ${p && p.w >= 160 ? 'smooth' : ''} ${c ?? ''}`} width={1} height={1} role="img" aria-label={text} style={{ aspectRatio: p ? `${p.w} / ${p.h}` : '1' }} />;
}

/** The moved input with its caption. */
export function PictureInput({ s }: { s: State }) {
  const start = useRef<{ x: number; y: number; g: Element } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const o = s.data.group.value;
  const run = s.data.run.value;
  const now = inputOf(s);
  if (!o || !run) return <></>;
  const able = s.data.ability.value;
  if (s.client.live && !able.inputs && !now) return /being opened/.test(able.reason ?? '') ? <div class="skeleton square" role="status"><span>Opening the models</span></div> : <p class="note">The input cannot be shown{able.reason ? `: ${able.reason}` : ''}.</p>;
  const [ia, ix, iy, is] = [firstOf(o.chart, 'turn'), firstOf(o.chart, 'right'), firstOf(o.chart, 'down'), o.chart.findIndex(isFactor)];
  const can = ia >= 0 || ix >= 0 || iy >= 0 || is >= 0 || o.chart.length > 0;
  const under = (e: PointerEvent): Element | null => {
    const from = start.current;
    const el = box.current;
    if (!from || !el || !now) return null;
    const r = el.getBoundingClientRect();
    const g = [...from.g];
    const px = now.picture.w / r.width;
    const c = [r.left + r.width / 2, r.top + r.height / 2];
    if (ix >= 0 || iy >= 0) {
      if (ix >= 0) g[ix] += +((e.clientX - from.x) * px).toFixed(2);
      if (iy >= 0) g[iy] += +((e.clientY - from.y) * px).toFixed(2);
    } else if (ia >= 0) {
      const at = (x: number, y: number) => (Math.atan2(-(y - c[1]), x - c[0]) * 180) / Math.PI;
      // A mirror comes before the turn, so the hand turns the same way as what it holds.
      g[ia] = +(g[ia] + at(e.clientX, e.clientY) - at(from.x, from.y)).toFixed(1);
    } else if (is >= 0) {
      const far = (x: number, y: number) => Math.max(8, Math.hypot(x - c[0], y - c[1]));
      g[is] = +((g[is] * far(e.clientX, e.clientY)) / far(from.x, from.y)).toPrecision(3);
    } else {
      g[0] += ((e.clientX - from.x) / r.width) * 10 * (o.steps[0] || 0.1);
    }
    return g;
  };
  const drag = (e: PointerEvent) => {
    const g = under(e);
    if (g) s.place.moveTo(g);
  };
  const near = (e: PointerEvent) => {
    const g = under(e);
    if (g) s.place.soon(g);
  };
  const p = now?.picture;
  const behind = now && now.g.join() !== s.place.g.value.join();
  // What is shown is told, which during a drag is a little behind the needle.
  const words = called(o, now ? now.g : s.place.g.value);
  const e = behind ? -1 : s.place.element.value;
  const exact = e >= 0 ? o.exact[e] : now?.exact;
  return (
    <div class="input-view">
      <div
        ref={box}
        class={`fed${can ? ' can' : ''}${behind ? ' behind' : ''}`}
        onPointerDown={(ev) => {
          if (ev.button !== 0 || !can) return;
          start.current = { x: ev.clientX, y: ev.clientY, g: s.place.g.peek() };
          box.current?.setPointerCapture(ev.pointerId);
          ev.preventDefault();
        }}
        onPointerMove={drag}
        {...{ onPointerRawUpdate: near }}
        onPointerUp={() => (start.current = null)}
        onPointerCancel={() => (start.current = null)}
      >
        {now ? (
          <Raster
            label={`Sample ${s.place.sample.value} as the models were fed it: ${words}`}
            of={() => {
              const q = inputOf(s)?.picture;
              return q ? { w: q.w, h: q.h, draw: (px) => pixels(q, px) } : null;
            }}
          />
        ) : (
          <div class="skeleton square" role="status">
            <span>{s.place.moved.error.value || s.place.live.error.value || 'Loading the input'}</span>
          </div>
        )}
      </div>
      <ul class="facts" title="What the models were fed, in the units of the pictures: scale, mean and deviation of the study are applied after this">
        <li>
          <strong>{words}</strong>
        </li>
        <li>{exact ? 'exactly, without resampling' : run.kernel}</li>
        {p && <li>{`${p.h} × ${p.w}${p.c > 1 ? ` × ${p.c}` : ''}`}</li>}
        {p && <li>{`pixels ${range(p.lo)} to ${range(p.hi)}`}</li>}
      </ul>
      {s.place.pinned.value >= 0 && s.place.pinned.value !== s.place.sample.value && (
        <p class="note pin">
          <img src={s.client.thumb(s.data.runID.value, s.place.pinned.value)} alt="" width="32" height="32" class="pix" /> pinned #{s.place.pinned.value}{' '}
          <button class="link" onClick={() => s.place.setSample(s.place.pinned.value)}>show</button>
        </p>
      )}
    </div>
  );
}
