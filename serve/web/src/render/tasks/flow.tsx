// The answers of flow estimators: where they are wrong, on one scale for all models, and the vectors around a picked pixel beside those of the
// reference.

import { signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { goodness } from '../../core/color';
import { references } from '../../core/reference';
import type { Field, Reference } from '../../core/source';
import type { State } from '../../core/state';
import { errors, longest, neighborhood, quiver, side, summary, vectorColor, type Arrow } from '../flow';
import { mapped } from '../picture';
import { makeScale } from '../scale';
import { num } from '../text';
import { Ramp } from './ramp';
import { MetricsHere } from './metrics';
import { Stage } from './stage';

type Show = 'error' | 'vectors' | 'reference';

/** What the maps show. */
const show = signal<Show>('error');

interface Row {
  k: 0 | 1;
  name: string;
  field: Field;
  against: Field | null;
  ref: Reference;
  error: Float32Array | null;
}

const refName = (r: Reference): string => references.find((x) => x.ref === r)?.name ?? r;

/** Error maps and vectors of both models. */
export function FlowDetail({ s }: { s: State }) {
  const run = s.data.run.value;
  const a = s.place.canProbe.value ? s.place.live.answer.value : null;
  const now = a && a.want.sample === s.place.sample.value ? a : null;
  const models = s.place.models.value;
  const rows = useMemo<Row[]>(() => {
    const out: Row[] = [];
    models.forEach((m, k) => {
      const x = now?.value.models.get(m);
      if (!x?.field) return;
      const against = x.against?.field ?? null;
      out.push({ k: k as 0 | 1, name: run?.model_list[m]?.name ?? '', field: x.field, against, ref: x.against?.ref ?? 'target', error: against ? errors(x.field, against) : null });
    });
    return out;
  }, [now, models, run]);
  // One scale for both, so that equal colours are equal errors.
  const most = useMemo(() => Math.max(0, ...rows.map((r) => (r.error ? summary(r.error).most : 0))) || 1, [rows]);
  const fastest = useMemo(() => longest(rows.flatMap((r) => [r.field, r.against ?? undefined]), 0, 0, Infinity, Infinity), [rows]);
  if (!run) return <></>;
  if (!rows.length)
    return (
      <div class="detail-view">
        <p class="note">{why(s)}</p>
        <MetricsHere s={s} />
      </div>
    );
  const { h, w } = rows[0].field;
  const [r, c] = s.place.pixel.value ?? [h >> 1, w >> 1];
  const at: [number, number] = [Math.min(h - 1, r), Math.min(w - 1, c)];
  const behind = s.place.live.answers(s.place.sample.value, s.place.g.value) === null;
  const unit = 'px';
  const what: Show = rows.some((x) => x.error) ? show.value : 'vectors';
  const ref = rows[0].ref;
  return (
    <div class={`detail-view flow${behind ? ' behind' : ''}`}>
      <p class="bar">
        <select aria-label="What the maps show" value={what} onChange={(e) => (show.value = e.currentTarget.value as Show)}>
          {rows.some((x) => x.error) && <option value="error">end-point error</option>}
          <option value="vectors">vectors of the models</option>
          {rows.some((x) => x.against) && <option value="reference">vectors of the reference</option>}
        </select>
        <span class="axisnote">{rows[0].against ? `reference: ${refName(ref)}` : 'no reference'}</span>
      </p>
      <div class="flows">
        {rows.map((row, j) => (
          <FlowRow key={row.k} s={s} row={row} at={at} what={what} most={most} fastest={fastest} first={j === 0} />
        ))}
      </div>
      {what === 'error' ? <Ramp table={goodness(s.place.cmap.value, 'lower')} scale={makeScale({ lo: 0, hi: most, log: false }, `end-point error in ${unit}, all models; bright is good`)} /> : <Wheel most={fastest} unit={unit} />}
      <PixelTable rows={rows} at={at} unit={unit} />
      <MetricsHere s={s} />
    </div>
  );
}

function why(s: State): string {
  const able = s.data.ability.value;
  if (!s.client.live) return 'Fields are not stored, and a file runs no models: the maps are shown by nero serve while the models can be asked. The values along the orbit are here.';
  if (!able.models) return /being opened/.test(able.reason ?? '') ? 'Opening the models …' : `Fields are not stored: they are shown while models can be asked${able.reason ? `: ${able.reason}` : ''}.`;
  if (!s.place.liveOn.value) return 'Fields are not stored: switch on live to see them.';
  return s.place.live.error.value || 'Asking the models …';
}

function FlowRow({ s, row, at, what, most, fastest, first }: { s: State; row: Row; at: [number, number]; what: Show; most: number; fastest: number; first: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const { h, w } = row.field;
  const [r, c] = at;
  const [r0, c0] = neighborhood(h, w, r, c);
  const pick = (y: number, x: number) => {
    const to: [number, number] = [Math.max(0, Math.min(h - 1, y)), Math.max(0, Math.min(w - 1, x))];
    s.place.pixel.value = to;
    const e = row.error?.[to[0] * w + to[1]];
    s.tasks.say(`Row ${to[0]}, column ${to[1]}${e === undefined ? '' : `, error ${num(e)} px`}`);
  };
  const point = (e: PointerEvent) => {
    const b = box.current?.querySelector('svg')?.getBoundingClientRect();
    if (b) pick(Math.floor(((e.clientY - b.top) / b.height) * h), Math.floor(((e.clientX - b.left) / b.width) * w));
  };
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const far = e.shiftKey ? 10 : 1;
    const d: Record<string, [number, number]> = { ArrowUp: [-far, 0], ArrowDown: [far, 0], ArrowLeft: [0, -far], ArrowRight: [0, far] };
    const by = e.key === 'Home' ? [(h >> 1) - r, (w >> 1) - c] : d[e.key];
    if (!by) return;
    pick(r + by[0], c + by[1]);
    e.preventDefault();
    e.stopPropagation();
  };
  const sum = row.error ? summary(row.error) : null;
  const of = what === 'reference' ? row.against : row.field;
  const draw = (px: Uint32Array) => {
    if (what === 'error') {
      if (row.error) mapped(row.error, [0, most], goodness(s.place.cmap.value, 'lower'), px);
      else px.fill(0xff808080); // its reference is not here yet
    } else if (of) for (let i = 0; i < px.length; i++) px[i] = vectorColor(of.u[i], of.v[i], fastest);
  };
  const text = `${what === 'error' ? 'End-point error' : what === 'reference' ? 'Vectors of the reference' : 'Vectors'} of ${row.name}, ${h} by ${w} pixels.${sum ? ` Mean error ${num(sum.mean)}, largest ${num(sum.most)} px.` : ''}`;
  return (
    <div class="flowrow">
      <figure>
        <figcaption class={`ink m${row.k}`}>
          {'AB'[row.k]} {row.name}
          {what === 'error' && !row.error && <small> waiting for its reference</small>}
          {sum && <small> mean {num(sum.mean)} px{sum.bad ? `, ${sum.bad} not finite` : ''}</small>}
        </figcaption>
        <div
          ref={box}
          class="pick"
          onPointerDown={(e) => {
            if (e.button !== 0) return;
            box.current?.setPointerCapture(e.pointerId);
            box.current?.focus({ preventScroll: true });
            e.preventDefault();
            point(e);
          }}
          onPointerMove={(e) => e.buttons & 1 && point(e)}
          {...(first ? { tabindex: 0, role: 'application', 'aria-roledescription': 'map', 'aria-label': `${text} Row ${r}, column ${c} is picked; arrow keys pick another pixel.`, onKeyDown: keys } : {})}
        >
          <Stage w={w} h={h} label={text} draw={draw} svg={{ 'aria-hidden': true }}>
            <rect class="block halo" x={c0} y={r0} width={Math.min(side, w)} height={Math.min(side, h)} vector-effect="non-scaling-stroke" />
            <rect class="block" x={c0} y={r0} width={Math.min(side, w)} height={Math.min(side, h)} vector-effect="non-scaling-stroke" />
          </Stage>
        </div>
      </figure>
      <Quiver row={row} at={at} r0={r0} c0={c0} most={longest([row.field, row.against ?? undefined], r0, c0, side, side)} />
    </div>
  );
}

const arrow = (a: Arrow): string => {
  const l = Math.hypot(a.dx, a.dy);
  const [x, y] = [a.x + a.dx, a.y + a.dy];
  if (l < 1e-6) return `M${a.x - 0.04},${a.y}h.08`;
  const t = Math.min(0.28, 0.4 * l);
  const [ux, uy] = [a.dx / l, a.dy / l];
  const p = (s: number) => `${(x - t * ux + s * 0.55 * t * uy).toFixed(3)},${(y - t * uy - s * 0.55 * t * ux).toFixed(3)}`;
  return `M${a.x.toFixed(3)},${a.y.toFixed(3)}L${x.toFixed(3)},${y.toFixed(3)}M${p(1)}L${x.toFixed(3)},${y.toFixed(3)}L${p(-1)}`;
};

/** The vectors of a block of pixels: the model's in its colour, the reference's dark and dashed below. The longest is nine tenths of a pixel. */
function Quiver({ row, at, r0, c0, most }: { row: Row; at: [number, number]; r0: number; c0: number; most: number }) {
  const scale = 0.9 / most;
  const [n, m] = [Math.min(side, row.field.h), Math.min(side, row.field.w)];
  const mine = quiver(row.field, r0, c0, n, m, scale);
  const theirs = row.against ? quiver(row.against, r0, c0, n, m, scale) : [];
  const one = (f: Field, k: string) => `${k} ${num(f.u[at[0] * f.w + at[1]])}, ${num(f.v[at[0] * f.w + at[1]])}`;
  return (
    <figure class="quiver">
      <svg viewBox={`${c0 - 0.5} ${r0 - 0.5} ${m + 1} ${n + 1}`} role="img" aria-label={`Vectors of rows ${r0} to ${r0 + n - 1}, columns ${c0} to ${c0 + m - 1}. At row ${at[0]}, column ${at[1]}: ${one(row.field, row.name)}${row.against ? `; ${one(row.against, 'reference')}` : ''} px.`}>
        <rect class="cell" x={at[1]} y={at[0]} width={1} height={1} />
        {theirs.map((a) => <path key={`r${a.r}.${a.c}`} class="arrow ref" d={arrow(a)} />)}
        {mine.map((a) => <path key={`${a.r}.${a.c}`} class={`arrow m${row.k}`} data-at={`${a.r},${a.c}`} d={arrow(a)} />)}
      </svg>
      <figcaption>
        {n} × {m} around row {at[0]}, column {at[1]}; longest {num(most)} px
      </figcaption>
    </figure>
  );
}

/** The exact numbers at the picked pixel. */
function PixelTable({ rows, at, unit }: { rows: readonly Row[]; at: [number, number]; unit: string }) {
  const i = at[0] * rows[0].field.w + at[1];
  const line = (key: string, ink: string, name: string, f: Field, e: number | null) => (
    <tr key={key}>
      <th scope="row" class={ink}>{name}</th>
      <td>{num(f.u[i])}</td>
      <td>{num(f.v[i])}</td>
      <td>{e === null ? '–' : num(e)}</td>
    </tr>
  );
  return (
    <table class="numbers pixel">
      <caption class="hidden">Vectors at row {at[0]}, column {at[1]}</caption>
      <thead>
        <tr>
          <th scope="col">row {at[0]}, column {at[1]}</th>
          <th scope="col" title="To the right">u in {unit}</th>
          <th scope="col" title="Downward">v in {unit}</th>
          <th scope="col" title="Length of the difference from the reference">error</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((x) => line(`${x.k}`, `ink m${x.k}`, `${'AB'[x.k]} ${x.name}`, x.field, x.error ? x.error[i] : null))}
        {rows.map((x, j) => x.against && (j === 0 || x.ref !== 'target') && line(`r${x.k}`, '', x.ref === 'target' ? 'reference' : `reference ${'AB'[x.k]}`, x.against, null))}
      </tbody>
    </table>
  );
}

/** The key of vector colours. */
function Wheel({ most, unit }: { most: number; unit: string }) {
  const n = 41;
  return (
    <div class="wheel">
      <Stage w={n} h={n} label="Colours of directions: right is red, up green, left cyan, down violet; white is 0" draw={(px) => {
        for (let y = 0; y < n; y++)
          for (let x = 0; x < n; x++) {
            const [u, v] = [(2 * x) / (n - 1) - 1, (2 * y) / (n - 1) - 1];
            px[y * n + x] = Math.hypot(u, v) > 1 ? 0 : vectorColor(u, v, 1);
          }
      }} />
      <span class="axisnote">direction by hue, full colour at {num(most)} {unit}, all models</span>
    </div>
  );
}
