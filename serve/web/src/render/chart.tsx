// Plots of the audit page: curves over an axis, and maps. Each has its exact numbers in a table below, and a cursor for keys.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Curve, Exhibit, Series } from '../core/audit';
import { css, goodness, luts } from '../core/color';
import { saveFigure, saveTable, type Column, type Table } from '../core/export';
import { aroundZero, makeScale, type Scale } from './scale';
import { num } from './text';

/** The width of an element in CSS pixels, as it changes. */
export function useWidth(start: number) {
  const ref = useRef<HTMLDivElement>(null);
  const [width, set] = useState(start);
  useEffect(() => {
    const el = ref.current;
    if (!el) return undefined;
    const o = new ResizeObserver(() => set(Math.max(240, Math.round(el.clientWidth))));
    o.observe(el);
    set(Math.max(240, Math.round(el.clientWidth)));
    return () => o.disconnect();
  }, []);
  return [ref, width] as const;
}

export const finite = (v: number | null | undefined): v is number => typeof v === 'number' && Number.isFinite(v);

/** The least range that holds all values; log only keeps what is above 0. */
export function range(values: Iterable<number | null | undefined>, log: boolean): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  for (const v of values) {
    if (!finite(v) || (log && v <= 0)) continue;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  if (!(lo <= hi)) return log ? [0.1, 1] : [0, 1];
  if (lo === hi) return log ? [lo / 2, hi * 2] : [lo - (Math.abs(lo) || 1) / 2, hi + (Math.abs(hi) || 1) / 2];
  return [lo, hi];
}

/** The scales of a curve: x as wide as the data, y with a margin, starting at 0 where that is near. */
export function scales(c: Curve): { x: Scale; y: Scale } {
  const xs = range(c.series.flatMap((s) => s.x), !!c.x.log);
  const values = c.series.flatMap((s) => [...s.y, ...(s.lo ?? []), ...(s.hi ?? [])]);
  let [lo, hi] = range([...values, c.limit], !!c.y.log);
  if (!c.y.log) {
    if (lo > 0 && lo < hi / 2) lo = 0;
    const pad = (hi - lo) * 0.05;
    hi += pad;
    if (lo !== 0) lo -= pad;
  } else {
    lo /= 1.5;
    hi *= 1.5;
  }
  const words = (a: { name: string; unit?: string }) => a.name + (a.unit ? ` in ${a.unit}` : '');
  return { x: makeScale({ lo: xs[0], hi: xs[1], log: !!c.x.log }, words(c.x), 7), y: makeScale({ lo, hi, log: !!c.y.log }, words(c.y), 5) };
}

/** A path through the points that have a place; gaps where they have none. */
export function trace(s: Pick<Series, 'x' | 'y'>, px: (v: number) => number, py: (v: number) => number): string {
  let d = '';
  let pen = false;
  s.x.forEach((x, k) => {
    const y = s.y[k];
    const u = finite(x) ? px(x) : NaN;
    const v = finite(y) ? py(y) : NaN;
    if (Number.isNaN(u) || Number.isNaN(v)) {
      pen = false;
      return;
    }
    d += `${pen ? 'L' : 'M'}${u.toFixed(1)} ${v.toFixed(1)}`;
    pen = true;
  });
  return d;
}

/** The sign of a series: colour, dash and shape differ together. */
export function Mark({ k, x, y, r = 3.4 }: { k: number; x: number; y: number; r?: number }) {
  const c = `mark c${k % 6}`;
  switch (k % 6) {
    case 0:
      return <circle class={c} cx={x} cy={y} r={r} />;
    case 1:
      return <rect class={c} x={x - r} y={y - r} width={2 * r} height={2 * r} />;
    case 2:
      return <path class={c} d={`M${x} ${y - r - 1}L${x + r + 0.5} ${y + r}L${x - r - 0.5} ${y + r}Z`} />;
    case 3:
      return <path class={c} d={`M${x} ${y - r - 1}L${x + r + 1} ${y}L${x} ${y + r + 1}L${x - r - 1} ${y}Z`} />;
    case 4:
      return <path class={`${c} open`} d={`M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`} />;
    default:
      return <circle class={`${c} open`} cx={x} cy={y} r={r} />;
  }
}

/** All points of a curve as a table. */
function tableOf(title: string, c: Curve, notes: readonly string[]): Table {
  const labelled = c.series.some((s) => s.labels?.length);
  const banded = c.series.some((s) => s.lo);
  return {
    title,
    notes,
    columns: [
      { name: 'series', kind: 'text' },
      ...(labelled ? [{ name: 'label', kind: 'text' } as const] : []),
      { name: columnName(c.x.name, c.x.unit), kind: 'float64' },
      { name: columnName(c.y.name, c.y.unit), kind: 'float64' },
      ...(banded ? [{ name: 'lo', kind: 'float64' } as const, { name: 'hi', kind: 'float64' } as const] : []),
    ],
    rows: c.series.flatMap((s) => s.x.map((x, k) => [s.name, ...(labelled ? [s.labels?.[k] ?? ''] : []), x, s.y[k] ?? null, ...(banded ? [s.lo?.[k] ?? null, s.hi?.[k] ?? null] : [])])),
  };
}

/** A name for a column of a file: what is before a comma, with the unit at the end. */
export const columnName = (name: string, unit = ''): string => [name.split(',')[0], unit].filter(Boolean).join('_').toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '') || 'value';

/** The columns of a table that an audit wrote; names are unique. */
export function columnsOf(columns: readonly { name: string; unit?: string }[], rows: readonly (readonly (string | number | null)[])[]): Column[] {
  const seen = new Set<string>();
  return columns.map((c, k) => {
    let name = columnName(c.name, c.unit);
    while (seen.has(name)) name += '_';
    seen.add(name);
    return { name, kind: rows.some((r) => typeof r[k] === 'string') ? 'text' : 'float64' };
  });
}

export interface FrameProps {
  title: string;
  note?: string | undefined;
  caption: readonly string[];
  file: readonly string[];
  table: Table;
  children: preact.ComponentChildren;
}

/** The frame of a plot: title, note, what can be taken away, and the exact numbers. */
export function Frame({ title, note, caption, file, table, children }: FrameProps) {
  const ref = useRef<HTMLElement>(null);
  const shot = (f: 'svg' | 'png') => {
    if (ref.current) void saveFigure(ref.current, { title, caption, background: 'white' }, f, file);
  };
  const rows = useMemo(() => [...table.rows], [table]);
  const [open, setOpen] = useState(false);
  const shown = rows.slice(0, 500);
  return (
    <figure class="plot" ref={ref}>
      <figcaption>
        <h3>{title}</h3>
        <span class="tools" data-noexport>
          <button onClick={() => shot('svg')} aria-label={`${title}: save as SVG`}>SVG</button>
          <button onClick={() => shot('png')} aria-label={`${title}: save as PNG`}>PNG</button>
          <button onClick={() => saveTable(table, 'csv', file)} aria-label={`${title}: save the numbers as CSV`}>CSV</button>
        </span>
      </figcaption>
      {children}
      {note && <p class="note">{note}</p>}
      <details data-noexport open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>Exact numbers</summary>
        {open && <NumberTable table={table} rows={shown} more={rows.length - shown.length} />}
      </details>
    </figure>
  );
}

/** A table with its heading; numbers to the right. */
export function NumberTable({ table, rows, more = 0 }: { table: Table; rows: readonly (readonly (string | number | boolean | null)[])[]; more?: number }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={table.title}>
      <table>
        <thead>
          <tr>
            {table.columns.map((c) => (
              <th key={c.name} scope="col" class={c.kind === 'text' ? 'words' : undefined}>
                {c.name.replace(/_+/g, ' ')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r, k) => (
            <tr key={k}>
              {r.map((c, j) => (
                <td key={j} class={typeof c === 'string' ? 'words' : undefined} title={typeof c === 'number' ? String(c) : undefined}>
                  {typeof c === 'number' || c === null ? num(c) : String(c)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="note">{more} more rows are in the CSV.</p>}
    </div>
  );
}

/** Curves over an axis; cut is a place on it where a line stands. */
export function CurvePlot({ title, note, curve, cut, caption, file }: { title: string; note?: string | undefined; curve: Curve; cut?: number | null; caption: readonly string[]; file: readonly string[] }) {
  const [ref, width] = useWidth(640);
  const { x, y } = useMemo(() => scales(curve), [curve]);
  const table = useMemo(() => tableOf(title, curve, caption), [title, curve, caption]);
  const [at, setAt] = useState<{ s: number; k: number } | null>(null);
  const height = Math.max(220, Math.min(320, width * 0.5));
  const left = 58;
  const right = 12;
  const top = 10;
  const named = named0(curve);
  const bottom = named ? 92 : 40;
  const w = width - left - right;
  const h = height + (named ? 52 : 0) - top - bottom;
  const px = (v: number) => left + x.pos(v) * w;
  const py = (v: number) => {
    const u = y.pos(v);
    return top + (1 - Math.max(u, y.log && v <= 0 ? 0 : u)) * h;
  };
  const near = (e: PointerEvent) => {
    const svg = e.currentTarget as SVGSVGElement;
    const b = svg.getBoundingClientRect();
    const mx = ((e.clientX - b.left) / b.width) * width;
    const my = ((e.clientY - b.top) / b.height) * (h + top + bottom);
    let best: { s: number; k: number } | null = null;
    let least = 30 * 30;
    curve.series.forEach((s, i) =>
      s.x.forEach((v, k) => {
        const u = s.y[k];
        if (!finite(v) || !finite(u)) return;
        const d = (px(v) - mx) ** 2 + (py(u) - my) ** 2;
        if (d < least) {
          least = d;
          best = { s: i, k };
        }
      }),
    );
    setAt(best);
  };
  const key = (e: KeyboardEvent) => {
    const now = at ?? { s: 0, k: -1 };
    const len = curve.series[now.s]?.x.length ?? 0;
    const to: Record<string, { s: number; k: number }> = {
      ArrowRight: { s: now.s, k: Math.min(len - 1, now.k + 1) },
      ArrowLeft: { s: now.s, k: Math.max(0, now.k - 1) },
      Home: { s: now.s, k: 0 },
      End: { s: now.s, k: len - 1 },
      ArrowDown: { s: Math.min(curve.series.length - 1, now.s + 1), k: 0 },
      ArrowUp: { s: Math.max(0, now.s - 1), k: 0 },
    };
    if (e.key === 'Escape') setAt(null);
    const next = to[e.key];
    if (!next) return;
    e.preventDefault();
    setAt(next);
  };
  const s = at ? curve.series[at.s] : undefined;
  const point = at && s ? { x: s.x[at.k], y: s.y[at.k], label: s.labels?.[at.k] ?? '', name: s.name, lo: s.lo?.[at.k], hi: s.hi?.[at.k] } : null;
  const words = point ? `${point.name}: ${point.label || `${curve.x.name} ${num(point.x)}${curve.x.unit ? ' ' + curve.x.unit : ''}`}, ${num(point.y)}${point.lo !== undefined && point.hi !== undefined ? ` [${num(point.lo)}, ${num(point.hi)}]` : ''}` : '';
  const alt = `${title}. ${curve.series.map((q) => `${q.name}: ${q.x.length} points, from ${num(range(q.y, false)[0])} to ${num(range(q.y, false)[1])}`).join('. ')}${finite(curve.limit) ? `. Threshold ${num(curve.limit)}` : ''}.`;
  return (
    <Frame title={title} note={note} caption={caption} file={file} table={table}>
      <div class="chart" ref={ref}>
        <svg viewBox={`0 0 ${width} ${h + top + bottom}`} role="application" aria-roledescription="plot" tabindex={0} aria-label={`${alt} Arrow keys go through the points.`} onPointerMove={near} onPointerLeave={() => setAt(null)} onKeyDown={key}>
          {y.ticks.filter((t) => y.pos(t.at) >= 0 && y.pos(t.at) <= 1).map((t) => (
            <g key={t.at}>
              <line class="grid" x1={left} x2={left + w} y1={py(t.at)} y2={py(t.at)} />
              <text class="tick" x={left - 6} y={py(t.at) + 3.5} text-anchor="end">{t.label}</text>
            </g>
          ))}
          {named
            ? named.map(([v, name]) => (
                <text class="tick" key={v} transform={`translate(${px(v) + 3} ${top + h + 12}) rotate(-40)`} text-anchor="end">
                  {name.length > 15 ? `…${name.slice(-14)}` : name}
                </text>
              ))
            : x.ticks.map((t) => (
                <g key={t.at}>
                  <line class="grid" x1={px(t.at)} x2={px(t.at)} y1={top} y2={top + h} />
                  <text class="tick" x={px(t.at)} y={top + h + 15} text-anchor="middle">{t.label}</text>
                </g>
              ))}
          {finite(cut) && <line class="cut" x1={px(cut)} x2={px(cut)} y1={top} y2={top + h} />}
          <text class="axis" x={left + w / 2} y={h + top + bottom - 5} text-anchor="middle">{x.label}</text>
          <text class="axis" transform={`translate(13 ${top + h / 2}) rotate(-90)`} text-anchor="middle">{y.label.length > 34 ? curve.y.name.split(',')[0] : y.label}</text>
          {finite(curve.limit) && (
            <g>
              <line class="limit" x1={left} x2={left + w} y1={py(curve.limit)} y2={py(curve.limit)} />
              <text class="tick" x={left + w - 2} y={py(curve.limit) - 4} text-anchor="end">threshold {num(curve.limit)}</text>
            </g>
          )}
          {curve.series.map((q, i) => (
            <g key={i}>
              {q.lo && q.hi && q.x.map((v, k) => (finite(v) && finite(q.lo?.[k]) && finite(q.hi?.[k]) ? <line key={k} class={`bar c${i % 6}`} x1={px(v)} x2={px(v)} y1={py(q.lo[k] as number)} y2={py(q.hi[k] as number)} /> : null))}
              {!q.marks && <path class={`curve c${i % 6}`} d={trace(q, px, py)} />}
              {(q.marks || q.x.length < 30) && q.x.map((v, k) => (finite(v) && finite(q.y[k]) ? <Mark key={k} k={i} x={px(v)} y={py(q.y[k] as number)} /> : null))}
            </g>
          ))}
          {point && finite(point.x) && finite(point.y) && <circle class="cursor" cx={px(point.x)} cy={py(point.y)} r="6.5" />}
        </svg>
        <output class="at" aria-live="polite">{words}</output>
        <ul class="series">
          {curve.series.map((q, i) => (
            <li key={i}>
              <svg width="30" height="12" viewBox="0 0 30 12" aria-hidden="true">
                {!q.marks && <path class={`curve c${i % 6}`} d="M1 6H29" />}
                {(q.marks || q.x.length < 30) && <Mark k={i} x={15} y={6} />}
              </svg>
              {q.name}
            </li>
          ))}
        </ul>
      </div>
    </Frame>
  );
}

/** The names along x where places stand for things, such as layers; null where x is a number. */
function named0(c: Curve): [number, string][] | null {
  const s = c.series.find((q) => q.labels?.length);
  if (!s?.labels || c.x.unit || s.x.length > 40 || !s.x.every((v, k) => v === s.x[0]! + k)) return null;
  return s.x.map((v, k) => [v as number, s.labels?.[k] ?? '']);
}

/** Values on a grid. */
export function MapPlot({ title, note, map, caption, file }: { title: string; note?: string | undefined; map: NonNullable<Exhibit['map']>; caption: readonly string[]; file: readonly string[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<[number, number] | null>(null);
  const scale = useMemo(() => {
    const v = map.values.filter(finite);
    if (map.diverging) return aroundZero(v, map.unit ?? 'value');
    const [lo, hi] = range(v, false);
    return makeScale({ lo: lo > 0 && lo < hi / 2 ? 0 : lo, hi, log: false }, map.unit ?? 'value');
  }, [map]);
  // An audit maps errors: bright is where there is little.
  const lut = map.diverging ? luts.puor : goodness('viridis', 'lower');
  useEffect(() => {
    const c = canvas.current;
    const ctx = c?.getContext('2d');
    if (!ctx || map.width < 1 || map.height < 1) return;
    const im = ctx.createImageData(map.width, map.height);
    const px = new Uint32Array(im.data.buffer);
    for (let i = 0; i < px.length; i++) {
      const v = map.values[i];
      px[i] = finite(v) ? lut[Math.max(0, Math.min(255, Math.round(scale.pos(v) * 255)))] : 0;
    }
    ctx.putImageData(im, 0, 0);
  }, [map, scale, lut]);
  const table = useMemo<Table>(
    () => ({ title, notes: caption, columns: [{ name: 'row', kind: 'integer' }, { name: 'column', kind: 'integer' }, { name: columnName('value', map.unit), kind: 'float64' }], rows: map.values.map((v, i) => [Math.floor(i / map.width), i % map.width, v]) }),
    [title, map, caption],
  );
  const move = (e: PointerEvent) => {
    const b = (e.currentTarget as Element).getBoundingClientRect();
    setAt([Math.min(map.width - 1, Math.max(0, Math.floor(((e.clientX - b.left) / b.width) * map.width))), Math.min(map.height - 1, Math.max(0, Math.floor(((e.clientY - b.top) / b.height) * map.height)))]);
  };
  const key = (e: KeyboardEvent) => {
    const [x, y] = at ?? [0, 0];
    const d = ({ ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] } as Record<string, [number, number]>)[e.key];
    if (!d) return;
    e.preventDefault();
    setAt(at ? [Math.min(map.width - 1, Math.max(0, x + d[0])), Math.min(map.height - 1, Math.max(0, y + d[1]))] : [0, 0]);
  };
  const v = at ? map.values[at[1] * map.width + at[0]] : undefined;
  const [lo, hi] = range(map.values, false);
  const stops = useMemo(() => `linear-gradient(to right, ${Array.from({ length: 18 }, (_, k) => css(lut[Math.min(255, k * 15)])).join(',')})`, [lut]);
  return (
    <Frame title={title} note={note} caption={caption} file={file} table={table}>
      <div class="map">
        <div class="cells" role="application" aria-roledescription="map" tabindex={0} aria-label={`${title}: ${map.height} rows, ${map.width} columns, from ${num(lo)} to ${num(hi)}. Arrow keys go through the cells.`} onPointerMove={move} onPointerLeave={() => setAt(null)} onKeyDown={key}>
          <canvas ref={canvas} width={map.width} height={map.height} aria-hidden="true" />
          {at && <span class="cell" style={{ left: `${(at[0] / map.width) * 100}%`, top: `${(at[1] / map.height) * 100}%`, width: `${100 / map.width}%`, height: `${100 / map.height}%` }} />}
        </div>
        <div class="colorbar">
          <span class="name">{scale.label}{map.diverging ? '' : '; bright is good'}</span>
          <div class="ramp" style={{ backgroundImage: stops }} aria-hidden="true" />
          <div class="ends">
            {scale.ticks.filter((t) => scale.pos(t.at) >= -0.001 && scale.pos(t.at) <= 1.001).map((t) => (
              <span key={t.at} style={{ left: `${scale.pos(t.at) * 100}%` }}>{t.label}</span>
            ))}
          </div>
        </div>
        <output class="at" aria-live="polite">{at ? `row ${at[1]}, column ${at[0]}: ${num(v)}` : ''}</output>
      </div>
    </Frame>
  );
}
