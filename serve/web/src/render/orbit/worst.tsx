// The worst elements as a table: the twin of plots that have many elements in no order that can be told.

import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { num } from '../text';
import type { OrbitProps } from './common';
import { ranking } from './sphere';

const most = 10;

const shown = signal(false);

/** The elements with the worst values of the first model, each a link. */
export function Worst({ p }: { p: OrbitProps }) {
  const own = p.series.filter((s) => !s.pinned);
  const first = own[0];
  const list = useMemo(() => (first ? ranking(first.values, p.better ?? 'higher').slice(0, most) : []), [first?.values, p.better]);
  const o = p.orbit;
  if (!list.length) return null;
  return (
    <details class="worst" open={shown.value} onToggle={(e) => (shown.value = e.currentTarget.open)}>
      <summary>Worst elements{own.length > 1 ? ` of ${first.name}` : ''}</summary>
      <table class="numbers">
        <caption class="hidden">The {list.length} elements with the worst values of {first.name}</caption>
        <thead>
          <tr>
            <th scope="col">element</th>
            {o.kinds.length > 0 && <th scope="col">kind</th>}
            {own.map((s, j) => <th key={j} scope="col" class={`ink m${s.ink}`}>{s.name}</th>)}
          </tr>
        </thead>
        <tbody>
          {list.map((k) => (
            <tr key={k}>
              <th scope="row"><button class="link" onClick={() => p.nav.moveTo(o.elements[k])} title={`Go to ${o.labels[k]}`}>{o.labels[k]}</button></th>
              {o.kinds.length > 0 && <td>{o.kinds[k]}</td>}
              {own.map((s, j) => <td key={j}>{num(s.values[k])}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
