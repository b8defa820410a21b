// The table of samples: every number of the scatter, for eyes, keyboards and screen readers. Only the rows in sight are in the page.

import { signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { order as sorted, type Direction } from '../core/order';
import type { State } from '../core/state';
import { Taker } from './take';
import { count } from '../render/text';
import { columns, notes, table, type Column } from './columns';
import * as fig from './figures';
import { Card, Skeleton, Trouble } from './parts';
import * as R from './rows';
import { RuleBox } from './slices';
import './samples.css';

const rowHeight = 28;

interface Sort {
  key: string;
  direction: Direction;
}

/** The table of samples. */
export function SampleTable({ s }: { s: State }) {
  const run = s.data.run.value;
  if (!run) return <Card id="table" title="Samples"><Skeleton label="Loading the samples" /></Card>;
  const error = s.data.samples.state.value.error || s.data.stats[0].state.value.error;
  return (
    <Card id="table" title="Table of samples" sub={s.choice.count.value === s.data.n.value ? count(s.data.n.value) : `${count(s.choice.count.value)} of ${count(s.data.n.value)}`} tools={<Take s={s} />}>
      {error && <Trouble text={error} retry={() => s.reload()} />}
      {s.data.n.value === 0 ? <p class="note">This run has no samples yet.</p> : <Rows s={s} />}
    </Card>
  );
}

/** How the table is sorted where the ranking of the store cannot say it. */
const own = signal<Sort | null>(null);

/** The order of the rows: that of the ranking, so that going on by rank goes down the table, unless a column is chosen that is no rank. */
function useOrder(s: State, cols: readonly Column[]): { sort: Sort; order: Int32Array } {
  const ranked = s.choice.order.value, local = own.value, rank = s.choice.rank.value;
  const c = local ? cols.find((x) => x.key === local.key) : undefined;
  const order = useMemo(() => (c && local ? sorted(ranked, c.value, local.direction) : ranked), [ranked, c, local]);
  if (c && local) return { sort: local, order };
  const f = fig.figureOf(s, rank.by), shown = cols.find((x) => x.figure === f);
  return { sort: { key: shown?.key ?? '', direction: rank.descending ? 'descending' : 'ascending' }, order };
}

function Take({ s }: { s: State }) {
  const cols = columns(s);
  return <Taker name={['samples', s.data.run.value?.name ?? 'run']} table={() => table(s, cols, own.value ? sorted(s.choice.order.peek(), cols.find((c) => c.key === own.value!.key)?.value ?? (() => null), own.value.direction) : s.choice.order.peek(), notes(s))} />;
}

function Rows({ s }: { s: State }) {
  const scroller = useRef<HTMLDivElement>(null), grid = useRef<HTMLTableElement>(null);
  const top = useSignal(0), height = useSignal(340), cursor = useSignal(-1), focused = useSignal(false);
  const chosen = useSignal<R.Chosen>(R.none);
  const made = useComputed(() => columns(s));
  const cols = made.value;
  const { sort, order } = useOrder(s, cols);
  const n = order.length, w = R.rows(top.value, Math.max(rowHeight, height.value - 32), rowHeight, n);
  const errors = s.data.samples.state.value.value?.errors;

  useEffect(() => {
    const el = scroller.current;
    if (!el) return;
    const ro = new ResizeObserver(() => { height.value = el.clientHeight; });
    ro.observe(el);
    return () => ro.disconnect();
  }, []);
  /** Brings a row into sight. */
  const show = (k: number) => {
    const el = scroller.current;
    if (!el || k < 0) return;
    const to = R.scrollTo(k, el.scrollTop, el.clientHeight - 34, rowHeight, n);
    if (to !== el.scrollTop) el.scrollTop = top.value = to;
  };
  const sample = s.place.sample.value;
  // The sample that another view chose comes into sight; one that was clicked here is there already. At first, the table begins with
  // the first of the ranking.
  const last = useRef(sample);
  useEffect(() => {
    if (last.current !== sample && !focused.peek()) show(order.indexOf(sample));
    last.current = sample;
  }, [sample, order]);
  // Rows chosen together that the slice no longer holds are not chosen any more.
  useEffect(() => {
    const c = chosen.peek();
    if (c.set.size) {
      const m = s.choice.mask.peek(), left = [...c.set].filter((i) => m[i]);
      if (left.length !== c.set.size) chosen.value = { ...c, set: new Set(left) };
    }
  }, [order]);

  const sortBy = (c: Column) => {
    const direction: Direction = sort.key === c.key && sort.direction === 'ascending' ? 'descending' : 'ascending';
    if (c.figure) {
      own.value = null;
      s.choice.rank.value = { by: fig.storeColumn(s, c.figure), descending: direction === 'descending' };
    } else own.value = { key: c.key, direction };
    s.tasks.say(`Sorted by ${c.title}, ${direction}.`);
    if (scroller.current) scroller.current.scrollTop = top.value = 0;
  };
  const at = () => (cursor.peek() >= 0 && cursor.peek() < n ? cursor.peek() : order.indexOf(s.place.sample.peek()));
  const go = (k: number, shift: boolean) => {
    cursor.value = k;
    s.place.hover.value = order[k];
    if (shift) chosen.value = R.pick(chosen.peek().anchor < 0 ? { set: new Set(), anchor: order[Math.max(0, at())] } : chosen.peek(), order, k, false, true);
    show(k);
  };
  const take = (k: number) => {
    if (k < 0) return;
    s.place.setSample(order[k]);
    chosen.value = { ...chosen.peek(), anchor: order[k] };
  };
  const key = (e: KeyboardEvent) => {
    if (e.altKey || e.metaKey) return;
    const page = Math.max(1, Math.floor((height.peek() - 34) / rowHeight) - 1), to = e.ctrlKey && !/^(Home|End)$/.test(e.key) ? null : R.step(e.key, at(), n, page);
    const done = () => { e.preventDefault(); e.stopPropagation(); };
    if (to !== null) {
      if (e.shiftKey && chosen.peek().anchor < 0) chosen.value = { set: new Set(), anchor: order[Math.max(0, at())] };
      go(to, e.shiftKey);
      done();
    } else if (e.key === 'Enter') {
      take(at());
      done();
    } else if (e.key === ' ') {
      if (at() >= 0) {
        chosen.value = R.pick(chosen.peek(), order, at(), true, false);
        s.tasks.say(`${chosen.peek().set.size} rows chosen.`);
      }
      done();
    } else if ((e.key === 'a' || e.key === 'A') && e.ctrlKey) {
      chosen.value = { set: new Set(order), anchor: order[0] ?? -1 };
      s.tasks.say(`${n} rows chosen.`);
      done();
    } else if (e.key === 'Escape' && chosen.peek().set.size) {
      chosen.value = R.none;
      s.tasks.say('No rows chosen together.');
      done();
    }
  };
  const click = (e: MouseEvent, k: number) => {
    cursor.value = k;
    if (e.ctrlKey || e.metaKey || e.shiftKey) {
      const c = chosen.peek().anchor < 0 ? { set: new Set<number>(), anchor: s.place.sample.peek() } : chosen.peek();
      chosen.value = R.pick(c, order, k, e.ctrlKey || e.metaKey, e.shiftKey);
      getSelection()?.removeAllRanges();
    } else {
      chosen.value = R.none;
      take(k);
    }
  };
  const pictured = s.data.ability.value.pictures;
  const active = cursor.value >= w.first && cursor.value < w.last ? cursor.value : -1;
  const rows = [];
  for (let k = w.first; k < w.last; k++) {
    const i = order[k], here = i === sample, picked = chosen.value.set.has(i);
    const css = [here && 'here', picked && 'chosen', i === s.place.pinned.value && 'pinned', k === active && 'active', errors?.[i] && 'failed'].filter(Boolean).join(' ');
    rows.push(
      <tr id={`row-${i}`} role="row" aria-rowindex={k + 2} aria-selected={here || picked} aria-current={here ? 'true' : undefined} class={css} title={errors?.[i]}
        onClick={(e) => click(e, k)} onPointerEnter={() => (s.place.hover.value = i)}>
        {pictured && <td role="gridcell" class="thumb"><Thumb key={`${i} ${s.data.run.value!.id}`} s={s} i={i} /></td>}
        {cols.map((c) => <td key={c.key} role="gridcell" class={`${c.text ? 'text' : ''}${/^(label|predicted)/.test(c.key) ? ' words' : ''} ${c.ink}${c.wrong?.(i) ? ' wrong' : ''}`} title={c.key === 'id' ? `#${i} ${c.show(i)}` : c.text ? c.show(i) : undefined}>{c.show(i)}</td>)}
      </tr>,
    );
  }
  return (
    <>
      <div class="bar">
        <RuleBox s={s} />
        {chosen.value.set.size > 0 && <Chosen s={s} chosen={chosen.value} clear={() => (chosen.value = R.none)} />}
      </div>
      {n === 0 ? (
        <div class="empty"><p>No sample is in the slice.</p><button type="button" onClick={() => s.choice.clear()}>Show all samples</button></div>
      ) : (
        <div class="rows-scroll" ref={scroller} onScroll={(e) => (top.value = e.currentTarget.scrollTop)} onPointerLeave={() => (s.place.hover.value = -1)}>
          <table class="grid-table" ref={grid} role="grid" tabIndex={0} aria-rowcount={n + 1} aria-colcount={cols.length + (pictured ? 1 : 0)} aria-multiselectable="true" aria-activedescendant={active >= 0 ? `row-${order[active]}` : undefined}
            aria-label={`Samples, ${count(n)} rows. Arrow keys move, Enter looks at a sample, Space chooses rows together.`}
            onKeyDown={key} onFocus={(e) => { if (e.target === grid.current) { focused.value = true; if (cursor.peek() < 0 || cursor.peek() >= n) { cursor.value = Math.max(0, order.indexOf(s.place.sample.peek())); } if (grid.current?.matches(':focus-visible')) show(cursor.peek()); } }}
            onBlur={() => { focused.value = false; s.place.hover.value = -1; }}>
            <thead>
              <tr role="row" aria-rowindex={1}>
                {pictured && <th role="columnheader" scope="col" class="thumb" title="the input, unmoved"><span class="hidden">input</span></th>}
                {cols.map((c) => (
                  <th key={c.key} role="columnheader" scope="col" class={`${c.text ? 'text' : ''} ${c.ink}`} aria-sort={sort.key === c.key ? sort.direction : 'none'} title={c.doc}>
                    <button type="button" onClick={() => sortBy(c)} onKeyDown={(e) => e.stopPropagation()}>{c.title}{sort.key === c.key ? (sort.direction === 'ascending' ? ' ▴' : ' ▾') : ''}</button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {w.above > 0 && <tr class="space" aria-hidden="true"><td colSpan={cols.length + (pictured ? 1 : 0)} style={{ height: `${w.above}px` }} /></tr>}
              {rows}
              {w.below > 0 && <tr class="space" aria-hidden="true"><td colSpan={cols.length + (pictured ? 1 : 0)} style={{ height: `${w.below}px` }} /></tr>}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

/** The small picture of a sample. Its place is there before it is, so that no row moves. */
function Thumb({ s, i }: { s: State; i: number }) {
  const id = s.data.runID.value, url = s.client.thumb(id, i), bad = useSignal(false);
  if (!url || bad.value) return <span class="thumb-none" aria-hidden="true" />;
  return <img src={url} width={24} height={24} alt="" loading="lazy" decoding="async" onError={() => { bad.value = true; }} />;
}

/** What can be done with rows that were chosen together. */
function Chosen({ s, chosen, clear }: { s: State; chosen: R.Chosen; clear: () => void }) {
  const n = chosen.set.size;
  return (
    <span class="chosen" role="group" aria-label="Rows chosen together">
      <span>{count(n)} row{n === 1 ? '' : 's'} chosen</span>
      <button type="button" onClick={() => { s.choice.choose({ picked: [...chosen.set].sort((a, b) => a - b) }); s.tasks.say(`The slice is the ${n} chosen rows.`); clear(); }}>Look at only these</button>
      <button type="button" onClick={clear}>Choose none</button>
    </span>
  );
}

