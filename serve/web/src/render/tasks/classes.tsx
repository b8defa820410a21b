// The answers of classifiers: the probability of every class by both models.

import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Num } from '../../core/api';
import type { KeptSample } from '../../core/report';
import { position } from '../../core/format';
import type { State } from '../../core/state';
import { num } from '../text';
import { MetricsHere } from './metrics';

const few = 10;
const wanted = signal(few);

/** The classes to draw: all of a few, else those that either model finds most probable, the true one among them. */
export function chosen(p: readonly (Float32Array | undefined)[], truth: number, most: number): number[] {
  const n = Math.max(0, ...p.map((x) => x?.length ?? 0));
  if (n <= most) return Array.from({ length: n }, (_, k) => k);
  const best = (c: number) => Math.max(...p.map((x) => x?.[c] || 0));
  const order = Array.from({ length: n }, (_, k) => k).sort((x, y) => best(y) - best(x) || x - y);
  const out = order.slice(0, most);
  if (truth >= 0 && truth < n && !out.includes(truth)) out[most - 1] = truth;
  return out;
}

const floats = (v: readonly Num[] | null | undefined): Float32Array | undefined => (v ? Float32Array.from(v, (x) => x ?? NaN) : undefined);

/** Class bars, live; the predicted classes where models are not asked. */
export function ClassDetail({ s }: { s: State }) {
  const run = s.data.run.value;
  const i = s.place.sample.value;
  const truth = s.data.labels.value[i] ?? -1;
  const a = s.place.canProbe.value ? s.place.live.answer.value : null;
  const now = a && a.want.sample === i ? a : null;
  const models = s.place.models.value;
  // A report keeps the probabilities of some samples at the elements of the plan.
  const one = s.client.live ? null : (s.data.one.state.value.value as KeptSample | null);
  const e = s.place.element.value;
  const kept = one?.index === i && e >= 0 ? one.probabilities : undefined;
  const here = kept !== undefined || (now !== null && s.place.live.answers(i, s.place.g.value) !== null);
  const p = models.map((m) => (now ? (now.value.models.get(m)?.probabilities ?? undefined) : floats(kept?.[m]?.[e])));
  const list = useMemo(() => chosen(p, truth, wanted.value), [now, kept, e, truth, wanted.value, models]);
  if (!run) return <></>;
  const name = (c: number) => run.classes[c] ?? String(c);
  const total = Math.max(run.classes.length, ...p.map((x) => x?.length ?? 0));
  const any = p.some(Boolean);
  return (
    <div class="detail-view">
      {any ? (
        <>
          <div class={`classes${here ? '' : ' behind'}`} role="img" aria-label={sentence(s, list, p, name, truth)}>
            {list.map((c) => (
              <div key={c} class={`class${c === truth ? ' true' : ''}`}>
                <span class="name" title={c === truth ? 'the true class' : undefined}>
                  {name(c)}
                </span>
                <span class="bars">
                  {p.map((x, k) => (
                    <span key={k} class={`track m${k}`}>
                      {x && Number.isFinite(x[c]) && <span class={`fill m${k}`} style={{ width: `${100 * Math.max(0, Math.min(1, x[c]))}%` }} />}
                    </span>
                  ))}
                </span>
                <span class="values">
                  {p.map((x, k) => (
                    <span key={k}>{x ? percent(x[c]) : '–'}</span>
                  ))}
                </span>
              </div>
            ))}
          </div>
          {!here && now && s.place.live.error.value && <p class="note">These are the answers at {position(run.orbit.chart, now.want.g)}; newer ones are not to be had.</p>}
          {total > few && (
            <p class="bar">
              <select aria-label="How many classes" value={wanted.value} onChange={(e) => (wanted.value = Number(e.currentTarget.value))}>
                {[10, 20, 50].map((n) => (
                  <option key={n} value={n}>
                    top {n} of {total}
                  </option>
                ))}
              </select>
            </p>
          )}
        </>
      ) : (
        <p class="note">{why(s)}</p>
      )}
      <Says s={s} />
      <MetricsHere s={s} />
    </div>
  );
}

const percent = (v: number): string => (Number.isNaN(v) ? '–' : v >= 0.9995 ? '1.00' : v === 0 ? '0' : v < 0.005 ? '<.01' : v.toFixed(2).replace(/^0/, ''));

function why(s: State): string {
  const able = s.data.ability.value;
  if (!s.client.live) return 'The probabilities of all classes are not in this file for this sample; the predicted classes are.';
  if (!able.models) return /being opened/.test(able.reason ?? '') ? 'Opening the models …' : `Probabilities of all classes are shown while models can be asked${able.reason ? `: ${able.reason}` : ''}.`;
  if (!s.place.liveOn.value) return 'Switch on live to see the probabilities of all classes.';
  return s.place.live.error.value || 'Asking the models …';
}

function sentence(s: State, list: readonly number[], p: readonly (Float32Array | undefined)[], name: (c: number) => string, truth: number): string {
  const one = p.map((x, k) => {
    if (!x) return '';
    const best = [...list].sort((c, d) => x[d] - x[c])[0];
    return `Model ${'AB'[k]}: ${name(best)} with ${num(x[best])}.`;
  });
  return `Probabilities by class at ${s.place.here.value}.${truth >= 0 ? ` The true class is ${name(truth)}.` : ''} ${one.join(' ')}`;
}

/** What every model says here, in words. */
function Says({ s }: { s: State }) {
  const run = s.data.run.value;
  const i = s.place.sample.value;
  const truth = s.data.labels.value[i] ?? -1;
  const e = s.place.element.value;
  const one = s.data.one.state.value.value;
  if (!run) return null;
  return (
    <ul class="says">
      {s.place.models.value.map((m, k) => {
        const a = s.place.answer(k as 0 | 1);
        const top = a ? a.top : e >= 0 && one?.index === i ? (one.top?.[m]?.[e] ?? -1) : -1;
        const wrong = truth >= 0 && top >= 0 && top !== truth;
        return (
          <li key={k} class={`ink m${k}`}>
            {'AB'[k]} {run.model_list[m]?.name}: {top < 0 ? (a ? 'no class, its numbers are not finite' : '…') : <strong>{run.classes[top] ?? top}</strong>}
            {top >= 0 && truth >= 0 && <span class={wrong ? 'wrong' : 'right'}>{wrong ? ' ✗ wrong' : ' ✓'}</span>}
          </li>
        );
      })}
    </ul>
  );
}
