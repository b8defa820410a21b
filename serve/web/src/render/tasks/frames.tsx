// The input where it is a sequence of pictures: one of them, or all by turns.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { State } from '../../core/state';
import { neighborhood, side } from '../flow';
import { pixels } from '../picture';
import { called, inputOf } from './input';
import { Stage } from './stage';

/** Whether the pictures change by themselves. */
const running = signal(false);
/** Milliseconds that each is shown. */
const pace = 450;

const still = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** The pictures of a sample in the order of time, as the models were fed them. */
export function FramesInput({ s }: { s: State }) {
  const now = inputOf(s);
  const frames = now?.picture.frames;
  const n = frames?.length ?? 0;
  const at = n ? s.place.frame.value % n : 0;
  const next = (by: number) => n && (s.place.frame.value = (((s.place.frame.peek() % n) + by) % n + n) % n);
  useEffect(() => {
    if (!running.value || n < 2) return undefined;
    const t = setInterval(() => next(1), pace);
    return () => clearInterval(t);
  }, [running.value, n]);
  useEffect(() => () => void (running.value = false), []);
  const o = s.data.group.value;
  const run = s.data.run.value;
  if (!o || !run) return <></>;
  if (!now || !frames) {
    const able = s.data.ability.value;
    if (s.client.live && !able.inputs) return <p class="note">{/being opened/.test(able.reason ?? '') ? 'Opening the models …' : `The input cannot be shown${able.reason ? `: ${able.reason}` : ''}.`}</p>;
    return <p class="note">{s.place.moved.error.value || s.place.live.error.value || (s.client.live ? 'Loading the input …' : 'The pictures of this sample are not in this file.')}</p>;
  }
  const p = frames[at];
  const behind = now.g.join() !== s.place.g.value.join();
  const words = called(o, now.g);
  const [r, c] = s.place.pixel.value ?? [p.h >> 1, p.w >> 1];
  const [r0, c0] = neighborhood(p.h, p.w, r, c);
  const play = () => {
    if (running.peek()) running.value = false;
    else if (still()) next(1); // who wants no motion sees one picture after the other
    else running.value = true;
  };
  return (
    <div class="input-view frames-view">
      <div class={behind ? 'behind' : ''}>
        <Stage w={p.w} h={p.h} label={`Picture ${at + 1} of ${n} of sample ${s.place.sample.value} as the models were fed it: ${words}`} draw={(px) => pixels(p, px)} svg={{ 'aria-hidden': true }}>
          <rect class="block halo" x={c0} y={r0} width={side} height={side} vector-effect="non-scaling-stroke" />
          <rect class="block" x={c0} y={r0} width={side} height={side} vector-effect="non-scaling-stroke" />
        </Stage>
        <div class="bar player" role="group" aria-label="Pictures in the order of time">
          <button onClick={() => next(-1)} aria-label="Picture before" title="Picture before">‹</button>
          <button onClick={play} aria-pressed={running.value} aria-label={running.value ? 'Stop the pictures' : 'Play the pictures'} title={still() ? 'One picture further: the system asks for less motion' : 'Show the pictures by turns'}>
            {running.value ? '❚❚' : '▶'}
          </button>
          <button onClick={() => next(1)} aria-label="Picture after" title="Picture after">›</button>
          <output class="frameno">{at + 1} / {n}</output>
        </div>
      </div>
      <ul class="facts" title="What the models were fed, in the units of the pictures">
        <li>
          <strong>{words}</strong>
        </li>
        <li>{s.place.element.value >= 0 && !o.exact[s.place.element.value] ? run.kernel : 'exactly, without resampling'}</li>
        <li>{`${n} pictures of ${p.h} × ${p.w}${p.c > 1 ? ` × ${p.c}` : ''}`}</li>
        <li>{`the square is the neighborhood of row ${r}, column ${c}`}</li>
      </ul>
    </div>
  );
}
