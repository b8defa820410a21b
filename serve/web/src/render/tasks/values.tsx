// Inputs that are no pictures: points and molecules in space, sets, graphs and signals, each with its numbers as a table.

import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Links, Signal } from '../../core/datum';
import type { State } from '../../core/state';
import { num } from '../text';
import { fieldsOf, joined, placed, type Named } from './fields';
import { called, inputOf } from './input';
import { Space } from './space';
import { Wave } from './wave';

/** The moved input. */
export function ValueInput({ s }: { s: State }) {
  const o = s.data.group.value;
  const run = s.data.run.value;
  const now = inputOf(s);
  if (!o || !run) return <></>;
  const d = now?.picture.datum;
  if (!now || !d) {
    const able = s.data.ability.value;
    if (s.client.live && !able.inputs) return <p class="note">{/being opened/.test(able.reason ?? '') ? 'Opening the models …' : `The input cannot be shown${able.reason ? `: ${able.reason}` : ''}.`}</p>;
    return <p class="note">{s.place.moved.error.value || s.place.live.error.value || (s.client.live ? 'Loading the input …' : 'The input of this sample is not in this file.')}</p>;
  }
  const fields = fieldsOf(d, run.inputs, 'rows');
  const space = placed(fields);
  const behind = now.g.join() !== s.place.g.value.join();
  const links = fields.find((f) => f.value.kind === 'links')?.value as Links | undefined;
  const waves = fields.filter((f) => f.value.kind === 'signal');
  const words = o.indexed ? s.place.here.value : called(o, now.g);
  const exact = s.place.element.value >= 0 ? o.exact[s.place.element.value] : now.exact;
  return (
    <div class="input-view values-view">
      <div class={behind ? 'behind' : ''}>
        {space ? <Space s={s} of={space} words={words} /> : links ? <Graph links={links} words={words} /> : null}
        {waves.map((f) => <Wave key={f.name} s={s} name={f.name} of={f.value as Signal} moved words={words} />)}
        {!space && !links && !waves.length && <Matrix f={fields[0]} words={words} />}
      </div>
      <ul class="facts" title="What the models were fed, in the units of the data: scale, mean and deviation of the study are applied after this">
        <li><strong>{words}</strong></li>
        <li>{exact ? 'exactly' : 'by its coordinates, rounded once'}</li>
        {fields.map((f) => <li key={f.name}>{f.name}: {size(f)}{f.type ? `, ${f.type}` : ''}{f.unit ? ` in ${f.unit}` : ''}</li>)}
      </ul>
      <Numbers fields={fields} />
    </div>
  );
}

/** How much a field holds, in words. */
export function size(f: Named): string {
  const v = f.value;
  switch (v.kind) {
    case 'rows': return v.n === 1 ? (v.w === 1 ? 'a number' : `${v.w} numbers`) : `${v.n} × ${v.w}`;
    case 'pairs': return `${v.n} × ${v.n}${v.w > 1 ? ` × ${v.w}` : ''} pairs`;
    case 'links': return `${v.from.length} edges of ${v.nodes} nodes`;
    case 'signal': return `${v.c > 1 ? `${v.c} channels of ` : ''}${v.t} values${v.rate ? `, ${v.rate} a second` : ''}`;
    case 'record': return `${v.fields.length} fields`;
    default: return v.shape.join(' × ');
  }
}

const most = 50;
const open = signal(false);

/** The first rows of all fields that have a row per node, side by side: what a picture of them says to those who do not see it. */
export function Numbers({ fields }: { fields: readonly Named[] }) {
  const rows = fields.filter((f) => f.value.kind === 'rows');
  const n = Math.max(0, ...rows.map((f) => (f.value.kind === 'rows' ? f.value.n : 0)));
  const own = rows.filter((f) => f.value.kind === 'rows' && f.value.n === n);
  const links = fields.find((f) => f.value.kind === 'links')?.value as Links | undefined;
  if (!n) return null;
  const axes = (w: number) => (w === 3 ? ['x', 'y', 'z'] : Array.from({ length: Math.min(w, 8) }, (_, k) => (w === 1 ? '' : String(k))));
  const near = open.value && links && links.from.length <= 5000 ? neighbors(links) : null;
  return (
    <details class="worst" open={open.value} onToggle={(e) => (open.value = e.currentTarget.open)}>
      <summary>Numbers{n > most ? `: ${most} of ${n} rows` : ''}</summary>
      {open.value && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Numbers of the input">
          <table class="numbers">
            <caption class="hidden">The input as the models were fed it, row by row</caption>
            <thead>
              <tr>
                <th scope="col">row</th>
                {own.flatMap((f) => (f.value.kind === 'rows' ? axes(f.value.w) : []).map((a) => <th key={f.name + a} scope="col">{own.length > 1 || !a ? f.name : ''} {a}</th>))}
                {near && <th scope="col">joined to</th>}
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: Math.min(n, most) }, (_, i) => (
                <tr key={i}>
                  <th scope="row">{i}</th>
                  {own.flatMap((f) => (f.value.kind === 'rows' ? axes(f.value.w).map((a, c) => <td key={f.name + a}>{num((f.value as { data: Float32Array; w: number }).data[i * (f.value as { w: number }).w + c])}</td>) : []))}
                  {near && <td>{near[i]?.join(', ')}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function neighbors(l: Links): number[][] {
  const out: number[][] = [];
  for (const [a, b] of joined(l)) {
    (out[a] ??= []).push(b);
    (out[b] ??= []).push(a);
  }
  return out;
}

/** A graph without places: its nodes on a circle. */
function Graph({ links, words }: { links: Links; words: string }) {
  const edges = useMemo(() => joined(links), [links]);
  const n = links.nodes;
  const at = (i: number): [number, number] => [84 * Math.cos((2 * Math.PI * i) / n - Math.PI / 2), 84 * Math.sin((2 * Math.PI * i) / n - Math.PI / 2)];
  return (
    <svg class="graph" viewBox="-100 -100 200 200" role="img" aria-label={`A graph of ${n} nodes and ${edges.length} edges on a circle, ${words}. The table below says which nodes are joined.`}>
      {edges.slice(0, 4000).map(([a, b]) => { const [p, q] = [at(a), at(b)]; return <line key={`${a}.${b}`} x1={p[0]} y1={p[1]} x2={q[0]} y2={q[1]} />; })}
      {Array.from({ length: n }, (_, i) => { const [x, y] = at(i); return <g key={i}><circle cx={x} cy={y} r={n > 60 ? 1.6 : n > 24 ? 4 : 7} />{n <= 40 && <text x={x} y={y} text-anchor="middle" dominant-baseline="central" font-size={n > 24 ? 5 : 8}>{i}</text>}</g>; })}
    </svg>
  );
}

/** Rows of features as a map: a row for each, a column for each number. */
function Matrix({ f, words }: { f: Named | undefined; words: string }) {
  if (!f || (f.value.kind !== 'rows' && f.value.kind !== 'pairs')) return <p class="note">{f ? `${f.name}: ${size(f)}` : 'Nothing that can be drawn.'}</p>;
  const v = f.value;
  const [rows, cols] = v.kind === 'pairs' ? [v.n, v.n] : [v.n, v.w];
  const step = v.kind === 'pairs' ? v.w : 1;
  let m = 0;
  for (const x of v.data) if (Math.abs(x) > m) m = Math.abs(x);
  if (rows * cols > 4096) return <p class="note">{f.name}: {size(f)}: too many to draw; the table has the first rows.</p>;
  return (
    <svg class="matrix" viewBox={`0 0 ${cols} ${rows}`} preserveAspectRatio="none" style={{ aspectRatio: String(Math.max(0.5, Math.min(2, cols / rows))) }} role="img" aria-label={`${f.name}, ${size(f)}, ${words}: a row for each, dark is 0. The table below has the numbers.`}>
      {Array.from({ length: rows * cols }, (_, k) => {
        const x = v.data[k * step];
        return <rect key={k} x={k % cols} y={Math.floor(k / cols)} width={1.02} height={1.02} class={x < 0 ? 'neg' : 'pos'} opacity={Math.min(1, 0.06 + 0.94 * Math.abs(x / (m || 1)))} />;
      })}
    </svg>
  );
}
