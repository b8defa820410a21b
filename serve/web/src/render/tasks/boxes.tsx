// The answers of detectors: the crop as the model received it, with the boxes that it found and the one that they are compared with.

import { signal, useSignal } from '@preact/signals';
import { references } from '../../core/reference';
import type { Box, Reference } from '../../core/source';
import type { State } from '../../core/state';
import { clipped, corners, iou, opacity, strokeWidth } from '../boxes';
import { num } from '../text';
import { inputOf } from './input';
import { MetricsHere } from './metrics';
import { painter, Stage } from './stage';

/** How many boxes are drawn and listed. */
const wanted = signal(3);

/** What one model found where the needle is. */
export interface Found {
  k: 0 | 1;
  model: number;
  boxes: readonly Box[];
  /** What it is compared with, the key object first; empty if that is not known. */
  against: readonly Box[];
  ref: Reference;
  live: boolean;
}

/** The boxes of the models on show, live if the answer for exactly this element is there, else as they were recorded; and whether newer ones are awaited. */
export function found(s: State): Found[] {
  const i = s.place.sample.value;
  const e = s.place.element.value;
  const recorded = s.data.recordedBoxes.state.value.value;
  const stored = recorded && recorded.sample === i && recorded.element === e ? recorded : null;
  const now = s.place.canProbe.value ? s.place.live.answer.value : null;
  const out: Found[] = [];
  s.place.models.value.forEach((model, k) => {
    const a = now && now.want.sample === i && now.want.g.join() === s.place.g.value.join() ? now.value.models.get(model) : undefined;
    const wanted = s.place.reference.value;
    if (a?.boxes) {
      const ref = a.refs?.[wanted] ? wanted : a.refs?.target ? 'target' : wanted;
      out.push({ k: k as 0 | 1, model, boxes: a.boxes, against: a.refs?.[ref] ?? [], ref, live: true });
      return;
    }
    const boxes = stored?.models.get(model);
    if (boxes) out.push({ k: k as 0 | 1, model, boxes, against: stored?.target ?? [], ref: 'target', live: false });
  });
  return out;
}

/** The size of the frame that boxes lie in. */
export function frameOf(s: State): [number, number] {
  const [h, w] = s.data.run.value?.window ?? [];
  if (w && h) return [w, h];
  const p = inputOf(s)?.picture; // a report may show it smaller than it is, but only where there is a window
  return p ? [p.w, p.h] : [128, 128];
}

/** Crops with boxes, and the same as a table. */
export function BoxDetail({ s }: { s: State }) {
  const run = s.data.run.value;
  if (!run) return <></>;
  const list = found(s);
  const [w, h] = frameOf(s);
  const picture = inputOf(s);
  const behind = list.length > 0 && picture !== null && picture.g.join() !== s.place.g.value.join();
  const most = Math.max(0, ...list.map((f) => f.boxes.length));
  return (
    <div class={`detail-view${behind ? ' behind' : ''}`}>
      {list.length === 0 && <p class="note">{why(s)}</p>}
      <div class="crops">
        {list.map((f) => (
          <Crop key={f.k} s={s} f={f} w={w} h={h} />
        ))}
      </div>
      {list.length > 0 && (
        <p class="bar boxbar">
          {most > 3 && (
            <select aria-label="How many boxes" value={wanted.value} onChange={(e) => (wanted.value = Number(e.currentTarget.value))}>
              {[1, 3, 10, 100].map((n) => (
                <option key={n} value={n}>
                  {n === 100 ? `all ${most}` : n === 1 ? 'best box' : `${n} best boxes`}
                </option>
              ))}
            </select>
          )}
          <span class="axisnote">opaque: confident; wide: much IoU; dashed: {list[0].against.length ? `reference (${references.find((r) => r.ref === list[0].ref)?.name})` : 'no reference here'}</span>
        </p>
      )}
      <BoxTable s={s} list={list} w={w} h={h} />
      <MetricsHere s={s} />
    </div>
  );
}

function why(s: State): string {
  if (s.data.recordedBoxes.state.value.error) return s.data.recordedBoxes.state.value.error;
  if (!s.client.live) return 'The boxes of this sample are not in this file; its values along the orbit are.';
  if (s.place.element.value < 0) return s.place.live.error.value || 'Boxes are recorded at the elements of the plan only; between them the models have to be asked.';
  return s.data.recordedBoxes.state.value.busy ? 'Loading the boxes …' : s.place.live.error.value || 'No boxes were recorded here.';
}

/** The name of a box's class. */
const className = (s: State, label: number): string => (label < 0 ? '–' : (s.data.classNames.value[label] ?? String(label)));

const path = (b: Box): string => corners(b).map(([x, y], i) => `${i ? 'L' : 'M'}${+x.toFixed(2)},${+y.toFixed(2)}`).join('') + 'Z';

/** Which box of which model is pointed at, so that row and box show together. */
const pointed = signal<{ k: number; at: number } | null>(null);

function Crop({ s, f, w, h }: { s: State; f: Found; w: number; h: number }) {
  const p = inputOf(s)?.picture;
  const key = f.against[0] ? clipped(f.against[0], w, h) : null;
  const shown = f.boxes.slice(0, wanted.value);
  const name = s.data.run.value?.model_list[f.model]?.name ?? '';
  const best = shown[0];
  const label = `What ${name} was fed at ${s.place.here.value}, ${w} × ${h} pixels. ${f.boxes.length === 0 ? 'No box.' : `${f.boxes.length} box${f.boxes.length === 1 ? '' : 'es'}, the best ${className(s, best.label)} with ${num(best.score)}${key ? `, IoU ${num(iou(best, key))}` : ''}.`}`;
  return (
    <figure>
      <figcaption class={`ink m${f.k}`}>
        {'AB'[f.k]} {name} <span class={`tag ${f.live ? 'live' : 'recorded'}`}>{f.live ? 'live' : 'recorded'}</span>
      </figcaption>
      <Stage w={w} h={h} label={label} draw={p ? painter(p) : undefined} size={p ? [p.w, p.h] : undefined} class="crop" svg={{ 'aria-hidden': true }}>
        {[...shown].reverse().map((b, j) => {
          const i = shown.length - 1 - j;
          const o = key ? iou(b, key) : 0;
          const on = pointed.value?.k === f.k && pointed.value.at === i;
          return (
            <g key={i} class={`found m${f.k}${on ? ' on' : ''}`} style={{ opacity: on ? 1 : opacity(b.score) }} data-score={b.score} data-iou={Number.isNaN(o) ? '' : o.toFixed(4)} onPointerEnter={() => (pointed.value = { k: f.k, at: i })} onPointerLeave={() => (pointed.value = null)}>
              <path class="halo" d={path(b)} vector-effect="non-scaling-stroke" stroke-width={strokeWidth(o) + 2} />
              <path d={path(b)} vector-effect="non-scaling-stroke" stroke-width={strokeWidth(o)} />
            </g>
          );
        })}
        {f.against.slice(0, 30).map((b, i) => (
          <path key={`r${i}`} class={`refbox${i ? ' other' : ''}`} d={path(b)} vector-effect="non-scaling-stroke" />
        ))}
      </Stage>
    </figure>
  );
}

const px = (v: number): string => (Number.isNaN(v) ? '–' : v.toFixed(1).replace(/^-/, '−'));

function BoxTable({ s, list, w, h }: { s: State; list: readonly Found[]; w: number; h: number }) {
  const open = useSignal<string>('');
  if (!list.length) return null;
  const turned = list.some((f) => f.boxes.some((b) => b.angle));
  const row = (id: string, who: string, ink: string, b: Box, score: string, overlap: string, over: (on: boolean) => void) => (
    <tr key={id} class={open.value === id ? 'on' : ''} onPointerEnter={() => over(true)} onPointerLeave={() => over(false)}>
      <th scope="row" class={ink}>
        <button class="link" aria-pressed={open.value === id} title="Show this box" onFocus={() => over(true)} onBlur={() => over(false)} onClick={() => (open.value = open.value === id ? '' : id)}>
          {who} {className(s, b.label)}
        </button>
      </th>
      <td>{score}</td>
      <td>{overlap}</td>
      <td>
        <span>{px(b.x1)}, {px(b.y1)},</span> <span>{px(b.x2)}, {px(b.y2)}</span>
      </td>
      {turned && <td>{b.angle ? `${px(b.angle)}°` : '–'}</td>}
    </tr>
  );
  return (
    <div class="boxes-table">
      <table class="numbers">
        <caption class="hidden">Boxes at {s.place.here.value}: class, confidence, overlap with the key box of the reference, corners in pixels</caption>
        <thead>
          <tr>
            <th scope="col">box</th>
            <th scope="col" title="Confidence">score</th>
            <th scope="col" title="Intersection over union with the reference box of the key object, cut to the picture">IoU</th>
            <th scope="col" title="x1, y1, x2, y2 in pixels from the top left edge">corners</th>
            {turned && <th scope="col">angle</th>}
          </tr>
        </thead>
        <tbody>
          {list.map((f) => {
            const key = f.against[0] ? clipped(f.against[0], w, h) : null;
            return f.boxes.slice(0, wanted.value).map((b, i) => row(`${f.k}.${i}`, 'AB'[f.k], `ink m${f.k}`, b, num(b.score), key ? num(iou(b, key)) : '–', (on) => (pointed.value = on ? { k: f.k, at: i } : null)));
          })}
          {list.map((f) => f.boxes.length === 0 && (
            <tr key={`none${f.k}`}>
              <th scope="row" class={`ink m${f.k}`}>{'AB'[f.k]} no box</th>
              <td colSpan={turned ? 4 : 3}>a miss: its values are 0</td>
            </tr>
          ))}
          {list.map((f, j) => f.against[0] && (j === 0 || f.ref !== 'target') && row(`r${f.k}`, f.ref === 'target' ? 'reference' : `reference ${'AB'[f.k]}`, '', clipped(f.against[0], w, h), '–', '–', () => undefined))}
        </tbody>
      </table>
    </div>
  );
}
