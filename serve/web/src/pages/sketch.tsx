// The mean curves of a run as a small drawing in the list of runs.

import { signal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type * as api from '../core/api';
import type { State } from '../core/state';
import { num } from '../render/text';
import { spark } from '../views/spark';

/** What is drawn of a run. */
interface Drawn {
  readonly metric: string;
  readonly curves: readonly { name: string; path: string; text: string }[];
}

const width = 64;
/** Curves in one drawing: more cannot be told apart. */
const most = 4;

const kept = new Map<string, Signal<Drawn | null>>();

/** What is drawn of a run; it is asked for once. */
function drawing(s: State, r: api.RunCard): Signal<Drawn | null> {
  const key = `${r.id} ${r.digest} ${r.state.done}`;
  let now = kept.get(key);
  if (now) return now;
  kept.set(key, (now = signal(null)));
  const to = now;
  void (async () => {
    const run = await s.client.run(r.id);
    const a = await s.client.aggregate(r.id, { set: {}, metric: 0 });
    const means = a.curves.slice(0, most).map((c) => c.mean.map((v) => v ?? NaN));
    const range = run.scales[0];
    let lo = range?.lo ?? 0, hi = range?.hi ?? 1;
    const all = means.flat().filter((v) => v === v);
    if (all.length > 0 && (range?.log || hi > 4 * Math.max(...all))) [lo, hi] = [Math.min(0, ...all), Math.max(...all)];
    to.value = {
      metric: run.metric_list[0]?.title ?? '',
      curves: means.map((v, m) => {
        const is = v.filter((x) => x === x);
        return { name: run.models[m], path: spark(v, run.orbit, lo, hi, width), text: is.length > 0 ? `${run.models[m]} ${num(Math.min(...is))} to ${num(Math.max(...is))}` : `${run.models[m]} has no values` };
      }),
    };
  })().catch(() => undefined); // the card says what it can without
  return now;
}

/** The mean curves of a run, asked for when the card comes into sight. */
export function Sketch({ s, r, side = width }: { s: State; r: api.RunCard; side?: number }) {
  const at = useRef<HTMLDivElement>(null);
  const seen = useRef(signal(false)).current;
  useEffect(() => {
    const e = at.current;
    if (!e || r.state.done === 0) return undefined;
    const o = new IntersectionObserver((all) => { if (all.some((x) => x.isIntersecting)) { seen.value = true; o.disconnect(); } }, { rootMargin: '200px' });
    o.observe(e);
    return () => o.disconnect();
  }, [r.id, r.state.done === 0]);
  const d = seen.value ? drawing(s, r).value : null;
  return (
    <div class="run-sketch" ref={at} style={{ width: `${side}px`, height: `${side}px` }}>
      {d && (
        <svg viewBox={`0 0 ${width} ${width}`} width={side} height={side} role="img" aria-label={`Mean ${d.metric} along the orbit: ${d.curves.map((c) => c.text).join('; ')}`}>
          <title>{`Mean ${d.metric} along the orbit. ${d.curves.map((c) => c.text).join('; ')}`}</title>
          {d.curves.map((c, m) => <path key={c.name} class={`m${Math.min(m, 3)}`} d={c.path} />)}
        </svg>
      )}
    </div>
  );
}
