// Answers that are pictures or masks: the output beside what it is compared with, and where the two differ.

import { useMemo } from 'preact/hooks';
import { goodness } from '../../core/color';
import type { Picture } from '../../core/source';
import type { State } from '../../core/state';
import { classColor, css, nothing } from '../mask';
import { classesOf, difference, mapped, pixels } from '../picture';
import { num } from '../text';
import { Raster } from './input';
import { MetricsHere } from './metrics';

/** What the reference of a picture is called. */
const against = { target: 'truth', self: 'at the identity', consensus: 'consensus' } as const;

/** Outputs and references of both models, with their difference on one scale. */
export function FieldDetail({ s }: { s: State }) {
  const a = s.place.canProbe.value ? s.place.live.answer.value : null;
  const now = a && a.want.sample === s.place.sample.value ? a : null;
  const models = s.place.models.value;
  const mask = s.data.run.value?.output === 'mask';
  const rows = useMemo(
    () =>
      models.map((m, k) => {
        const x = now?.value.models.get(m);
        const at = (p: Picture | undefined) => p?.frames?.[s.place.frame.value % p.frames.length] ?? p; // of a sequence, the picture that is shown
        const [output, reference] = [at(x?.output), at(x?.reference)];
        return { k, output, reference, by: x?.pictured ? against[x.pictured] : 'reference', error: output && reference ? errorOf(output, reference, mask) : null };
      }),
    [now, models, mask, s.place.frame.value],
  );
  const most = Math.max(0, ...rows.map((r) => (r.error ? r.error.reduce((t, v) => (v > t ? v : t), 0) : 0)));
  if (!rows.some((r) => r.output))
    return (
      <div class="detail-view">
        <p class="note">{!s.client.live || !s.data.ability.value.models ? `Outputs are shown while models can be asked${s.data.ability.value.reason ? `: ${s.data.ability.value.reason}` : ''}.` : !s.place.liveOn.value ? 'Switch on live to see the outputs.' : s.place.live.error.value || 'Asking the models …'}</p>
        <MetricsHere s={s} />
      </div>
    );
  const behind = s.place.live.answers(s.place.sample.value, s.place.g.value) === null;
  return (
    <div class={`detail-view${behind ? ' behind' : ''}`}>
      {rows.map((r) => (
        <div key={r.k} class="fields">
          <h3 class={`ink m${r.k}`}>
            {'AB'[r.k]} {s.data.run.value?.model_list[models[r.k]]?.name}
          </h3>
          <div class="row">
            {r.output && <Shown p={r.output} title="output" mask={mask} />}
            {r.reference && <Shown p={r.reference} title={r.by} mask={mask} />}
            {r.error && r.output && <ErrorMap s={s} values={r.error} w={r.output.w} h={r.output.h} most={mask ? 1 : most || 1} mask={mask} />}
          </div>
        </div>
      ))}
      {mask && <Classes names={s.data.run.value?.classes ?? []} of={rows.flatMap((r) => [r.output, r.reference])} />}
      {!mask && most > 0 && (
        <div class="colorbar">
          <span class="name">absolute difference, mean over channels; bright is good</span>
          <div class="ramp" style={{ backgroundImage: `linear-gradient(to right, ${[0, 64, 128, 192, 255].map((i) => css(goodness(s.place.cmap.value, 'lower')[i])).join(',')})` }} aria-hidden="true" />
          <div class="ends">
            <span style={{ left: '0%' }}>0</span>
            <span style={{ left: '100%' }}>{num(most)}</span>
          </div>
        </div>
      )}
      <MetricsHere s={s} />
    </div>
  );
}

const many = 24;

/** The classes that are there, with their colours. */
function Classes({ names, of }: { names: readonly string[]; of: readonly (Picture | undefined)[] }) {
  const seen = new Set<number>();
  for (const p of of) if (p) for (const c of classesOf(p)) seen.add(c);
  const list = [...seen].sort((a, b) => a - b);
  return (
    <ul class="legend" aria-label="Classes">
      {list.slice(0, many).map((c) => (
        <li key={c}>
          <svg width="11" height="11" aria-hidden="true"><rect x=".5" y=".5" width="10" height="10" rx="2" fill={css(classColor(c))} stroke="var(--ink3)" /></svg>
          {c === nothing ? 'void' : c < 0 ? 'no class' : (names[c] ?? `class ${c}`)}
        </li>
      ))}
      {list.length > many && <li>and {list.length - many} more</li>}
    </ul>
  );
}

function errorOf(x: Picture, y: Picture, mask: boolean): Float32Array | null {
  if (!mask) return difference(x, y);
  if (x.h !== y.h || x.w !== y.w) return null;
  const p = classesOf(x);
  const q = classesOf(y);
  return Float32Array.from(p, (v, i) => (q[i] === nothing ? NaN : +(v !== q[i])));
}

function Shown({ p, title, mask }: { p: Picture; title: string; mask: boolean }) {
  return (
    <figure>
      <Raster
        label={`${title}, ${p.h} × ${p.w}`}
        of={() => ({
          w: p.w,
          h: p.h,
          draw: (px) => {
            if (!mask) return pixels(p, px);
            classesOf(p).forEach((c, i) => (px[i] = classColor(c)));
          },
        })}
      />
      <figcaption>{title}</figcaption>
    </figure>
  );
}

function ErrorMap({ s, values, w, h, most, mask }: { s: State; values: Float32Array; w: number; h: number; most: number; mask: boolean }) {
  const counted = values.filter((v) => v === v); // void pixels are none
  const mean = counted.reduce((t, v) => t + v, 0) / Math.max(1, counted.length);
  return (
    <figure>
      <Raster label={mask ? `where they differ: ${num(100 * mean)} % of the pixels` : `difference, mean ${num(mean)}`} of={() => ({ w, h, draw: (px) => mapped(values, [0, most], goodness(s.place.cmap.value, 'lower'), px) })} />
      <figcaption>{mask ? `differ: ${num(100 * mean)} %` : `difference, mean ${num(mean)}`}</figcaption>
    </figure>
  );
}
