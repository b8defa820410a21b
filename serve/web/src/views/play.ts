// Playing the orbit: the needle goes round by itself.

import { signal } from '@preact/signals';
import { traits } from '../core/layouts';
import type { State } from '../core/state';

/** Whether the orbit is playing. */
export const playing = signal(false);

let timer: ReturnType<typeof setTimeout> | null = null;

/** Seconds for one way round. */
const round = 12;

/** Plays the orbit, or stops; who wants no motion goes on by one element. */
export function play(s: State): void {
  const o = s.data.group.peek();
  if (!o || o.elements.length < 2) return;
  if (playing.peek()) return stop();
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
    s.place.moveToIndex((Math.max(0, s.place.nearest.peek()) + 1) % o.elements.length);
    return;
  }
  const order = o.elements.map((_, k) => k);
  if (traits(o.layout).round) {
    const side = (k: number) => (o.elements[k].length > 1 ? o.elements[k][1] : 0);
    order.sort((x, y) => side(x) - side(y) || o.elements[x][0] - o.elements[y][0]);
  }
  let at = Math.max(0, order.indexOf(Math.max(0, s.place.nearest.peek())));
  playing.value = true;
  const wait = Math.max(40, Math.min(700, (round * 1000) / order.length));
  let last = s.place.g.peek();
  const next = () => {
    if (s.place.g.peek() !== last || s.data.run.peek()?.orbit !== o) return stop(); // somebody took the needle
    at = (at + 1) % order.length;
    s.place.moveToIndex(order[at]);
    last = s.place.g.peek();
    timer = setTimeout(next, wait);
  };
  timer = setTimeout(next, wait);
}

/** Stops playing. */
export function stop(): void {
  if (timer) clearTimeout(timer);
  timer = null;
  playing.value = false;
}
