// All metrics where the needle is: a small table that every task has.

import type { State } from '../../core/state';
import type { Ink } from '../orbit/common';
import { num } from '../text';

/** Every metric of both models at this element. */
export function MetricsHere({ s }: { s: State }) {
  const run = s.data.run.value;
  if (!run) return <></>;
  const e = s.place.element.value;
  const one = s.data.one.state.value.value;
  const value = (k: 0 | 1, metric: number): { v: number; live: boolean } => {
    const a = s.place.answer(k);
    if (a) return { v: a.values[metric] ?? NaN, live: true };
    const m = s.place.models.value[k];
    return { v: (e >= 0 && one?.index === s.place.sample.value ? one.curves[m]?.[metric]?.[e] : null) ?? NaN, live: false };
  };
  const ks = s.place.models.value.map((_, k) => k as 0 | 1);
  return (
    <div class={`every${run.metric_list.length > 6 ? ' long' : ''}`} {...(run.metric_list.length > 6 ? { tabindex: 0, role: 'region', 'aria-label': 'All metrics here' } : {})}>
    <table class="numbers all">
      <caption class="hidden">All metrics at {s.place.here.value}</caption>
      <thead>
        <tr>
          <th scope="col">at {s.place.here.value}</th>
          {ks.map((k) => (
            <th key={k} scope="col" class={`ink m${k as Ink}`}>
              {'AB'[k]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {run.metric_list.map((m, j) => (
          <tr key={m.name} class={j === s.place.metric.value ? 'on' : ''}>
            <th scope="row">
              <button class="link" aria-pressed={j === s.place.metric.value} onClick={() => (s.place.metric.value = j)} title={m.doc}>
                {m.title}
              </button>
            </th>
            {ks.map((k) => {
              const { v, live } = value(k, j);
              return (
                <td key={k} class={live ? 'here live' : 'here'}>
                  {num(v)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
    </div>
  );
}
