// Going through the samples of the slice in order: which is worst, and how far down the list is this one.

import type { State } from '../core/state';
import { count } from '../render/text';
import * as fig from './figures';
import * as R from './rows';
import './samples.css';

/** worstFirst says whether the bad end of a figure is the high one. */
function worstFirst(s: State, f: fig.Figure): boolean {
  const lower = s.place.metricDoc.value?.better === 'lower';
  return /^(sd|similar)/.test(f) || (lower && !/^(corr|ssim)/.test(f));
}

/** The slider through the ranking. */
export function Rank({ s }: { s: State }) {
  const by = fig.figureOf(s, s.choice.rank.value.by);
  const order = s.choice.order.value, n = order.length, sample = s.place.sample.value;
  if (!s.data.run.value || n === 0) return null;
  const k = order.indexOf(sample), v = fig.values(s, by), rank = k >= 0 && v ? R.rankOf(order, (i) => v[i], k) : { place: 0, ties: 0 };
  const go = (j: number) => { const i = order[Math.max(0, Math.min(n - 1, j))]; if (i !== undefined) s.place.setSample(i); };
  const list = fig.offered(s, 'rank');
  const set = (f: fig.Figure, descending: boolean) => (s.choice.rank.value = { by: fig.storeColumn(s, f), descending });
  const descending = s.choice.rank.value.descending, bad = worstFirst(s, by), diff = by === 'diff';
  const first = by.startsWith('sd') ? (descending ? 'widest first' : 'narrowest first') : by.startsWith('similar') ? (descending ? 'furthest first' : 'nearest first') : /^(corr|ssim)/.test(by) ? (descending ? 'most alike first' : 'least alike first') : !/^(mean|worst|min|max|identity|change|diff)/.test(by) ? (descending ? 'from the end' : 'from the start') : diff ? (descending === !bad ? 'B better first' : 'A better first') : descending === bad ? 'worst first' : 'best first';
  const text = k < 0 ? `not in the slice, which has ${count(n)}` : `${count(k + 1)} of ${count(n)}`;
  const prefix = k < 0 ? 'This sample is' : 'Sample';
  return (
    <div class="rank" role="group" aria-label="Samples in order">
      <label class="field"><span>by</span>
        <select value={by} title={fig.explain(s, by)} onChange={(e) => { const f = e.currentTarget.value as fig.Figure; set(f, worstFirst(s, f)); }}>
          {(list.includes(by) ? list : [...list, by]).map((f) => <option key={f} value={f}>{fig.title(s, f)}</option>)}
        </select></label>
      <button type="button" title="The other way round" onClick={() => set(by, !descending)}>{first}</button>
      <button type="button" aria-label="Previous sample in order" title="Previous in order ([)" disabled={k <= 0} onClick={() => go(k - 1)}>◄</button>
      <input type="range" min={1} max={n} step={1} value={Math.max(1, k + 1)} disabled={n < 2} aria-label={`Place in the order by ${fig.title(s, by)}`} aria-valuetext={`${prefix} ${text}`}
        onInput={(e) => go(+e.currentTarget.value - 1)} />
      <button type="button" aria-label="Next sample in order" title="Next in order (])" disabled={k >= n - 1} onClick={() => go(k + 1)}>►</button>
      <output title={k < 0 ? `This sample is ${text}` : undefined}>{k < 0 ? `none of ${count(n)}` : text}</output>
      {rank.ties > 0 && <span class="note" title="Samples with the same value stand in the order of the run">{rank.ties === 1 ? 'one other has' : `${count(rank.ties)} others have`} {v && k >= 0 && !Number.isFinite(v[order[k]]) ? 'no value either' : 'the same value'}</span>}
    </div>
  );
}
