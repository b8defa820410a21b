// The individual view: the orbit of one sample, with the needle that says where on it everything else is shown.

import { computed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isAngle } from '../core/axis';
import { label as elementLabel } from '../core/format';
import { traits } from '../core/layouts';
import { parse } from '../core/orbit';
import { at as matrixAt } from '../core/source';
import type { State } from '../core/state';
import { inkOf, mostShown, nthOf, type Nth } from '../core/inks';
import type { Dot, Series } from '../render/orbit/common';
import { OrbitPlot } from '../render/orbit/plot';
import { count, num } from '../render/text';
import { aroundZero } from '../render/scale';
import { Axis, LimitNote } from './aggregate';
import { Later } from '../later';
import { MapSwitch, useMaps } from './maps';
import { useFloors, useLimits } from './floor';
import { Card, ColorBar, colors, gainColors, Legend, lowest, Missing, modelName, orbitMean, quantity, sentence, Skeleton, tipLines, Trouble, useNav, useScale, WorstAt, worstOf } from './parts';
import { notes } from './columns';
import { play, playing } from './play';
import { Caution } from './reference';
import { orbitTable } from './tables';
import { Taker } from './take';

/** What a value at the needle is. */
export interface Here {
  value: number;
  kind: 'live' | 'recorded' | 'behind' | 'none';
}

/** The value of a model on show where the needle is: live if the answer for exactly this element is there, else recorded, else nothing. */
export function valueHere(s: State, k: Nth): Here {
  const a = s.place.answer(k);
  const v = s.place.recorded(k);
  // A consensus over a long orbit is found in the background: until then what was recorded stands.
  const late = a && s.place.reference.value === 'consensus' && Number.isNaN(a.values[s.place.metric.value] ?? NaN) && !Number.isNaN(v);
  if (a && !late) return { value: a.values[s.place.metric.value] ?? NaN, kind: 'live' };
  if (s.place.element.value >= 0) return { value: v, kind: Number.isNaN(v) ? 'none' : 'recorded' };
  return { value: NaN, kind: k < 2 && s.place.live.pending.value ? 'behind' : 'none' };
}

/** The name of a sample's class, empty if it has none. */
export function className(s: State, i: number): string {
  const l = s.data.labels.value[i];
  return l === undefined || l < 0 ? '' : (s.data.classNames.value[l] ?? String(l));
}

/** The individual view. */
export function Individual({ s }: { s: State }) {
  const run = s.data.run.value;
  if (!run) return <Card id="individual" title="Individual"><Skeleton label="Loading the orbit" square /></Card>;
  if (s.data.n.value === 0) return <Card id="individual" title="Individual"><p class="note">This run has no samples yet.</p></Card>;
  return (
    <Card id="individual" title="Individual" sub={<Name s={s} />} tools={<Save s={s} />}>
      <Outside s={s} />
      <Moves s={s} />
      <Body s={s} />
    </Card>
  );
}

/** The word that the sample is not among those that were chosen, and the way to one that is. */
function Outside({ s }: { s: State }) {
  const n = s.choice.count.value;
  if (n === 0 || s.choice.at.value >= 0 || s.choice.order.value.length === 0) return null;
  return (
    <p class="note outside" role="note">
      {s.choice.parts.value.slice || s.choice.parts.value.rule ? 'This sample is not in the slice.' : 'This sample is not among those chosen.'}{' '}
      <button class="link" onClick={() => s.choice.next(1)}>Go to the first of {count(n)}</button>
    </p>
  );
}

function Name({ s }: { s: State }) {
  const i = s.place.sample.value;
  const c = className(s, i);
  const id = s.data.ids.value[i] ?? '';
  const tags = s.data.samples.state.value.value?.tags?.[i];
  return (
    <span title={[id, ...(tags ?? [])].join(', ')}>
      {id && id !== String(i) ? <>{id} <small title="Its place in the run, from 0, as the address has it">#{i}</small></> : <>#{i}</>}
      {c && <> · class {c}</>}
    </span>
  );
}

function Save({ s }: { s: State }) {
  return (
      <Taker name={['orbit', s.data.run.value?.name ?? '', s.place.sample.value]} plot={() => ({ root: document.querySelector('#individual .body'), text: { title: `${quantity(s)} of sample ${s.data.ids.value[s.place.sample.value] ?? s.place.sample.value}`, caption: notes(s) } })} table={() => orbitTable(s)} />
  );
}

function Which({ s }: { s: State }) {
  const higher = s.place.metricDoc.value?.better !== 'lower';
  const go = (best: boolean) => {
    s.choice.rank.value = { by: 'mean0', descending: best === higher };
    const o = s.choice.order.value;
    if (o.length) s.place.setSample(o[0]);
  };
  return (
    <span class="which">
      <button onClick={() => go(false)} title={`The sample of the choice with the worst mean of A over its orbit`}>worst</button>
      <button onClick={() => go(true)} title="The sample of the choice with the best mean of A over its orbit">best</button>
      <button aria-pressed={s.place.pinned.value === s.place.sample.value} onClick={() => s.place.pin()} title="Keep this orbit in the plot while looking at other samples (p)">pin</button>
    </span>
  );
}

function Moves({ s }: { s: State }) {
  const o = s.data.group.value!;
  const able = s.data.ability.value;
  const why = !s.client.live ? 'A report runs no models.' : (able.reason ?? '');
  return (
    <div class="bar moves">
      <button onClick={() => s.place.home()} title="Back to the identity (Home)">{o.identity >= 0 && (o.labels[o.identity] ?? '').length < 5 ? o.labels[o.identity] : 'home'}</button>
      {o.moves.slice(0, 8).map((m) => (
        <button key={m.name} onClick={() => s.place.act(m)} title={m.name} aria-label={m.name}>
          {m.short}
        </button>
      ))}
      {o.elements.length > 1 && (
        <button class="play" aria-pressed={playing.value} onClick={() => play(s)} title="Play the orbit (space)" aria-label={playing.value ? 'Stop' : 'Play the orbit'}>
          {playing.value ? '❚❚' : '▶'}
        </button>
      )}
      <Typed s={s} />
      <label class="switch" title={able.models ? `Ask the models at every element${able.engine ? `, on ${able.engine}` : ''}` : why}>
        <input type="checkbox" checked={s.place.liveOn.value && able.models && s.client.live} disabled={!able.models || !s.client.live} onChange={(e) => (s.place.liveOn.value = e.currentTarget.checked)} /> live
      </label>
      <Which s={s} />
    </div>
  );
}

/** A field for the element: degrees, shifts, whatever the chart has. */
function Typed({ s }: { s: State }) {
  const o = s.data.group.value!;
  const draft = useSignal<string | null>(null);
  // As wide as the longest name of an element: a field that grows would push the plot from under the pointer.
  const longest = useMemo(() => o.labels.reduce((t, l) => Math.max(t, l.length), 0), [o]);
  const bad = useSignal(false);
  const commit = () => {
    const t = draft.value;
    if (t === null) return;
    const g = parse(o.chart, t);
    bad.value = !g;
    if (!g) {
      s.tasks.say(`Not an element: ${t}`);
      return;
    }
    draft.value = null;
    s.place.moveTo(g);
  };
  return (
    <input
      class="typed"
      aria-label={`Element: ${o.chart.map((a) => a.name + (isAngle(a) ? ' in degrees' : a.unit ? ` in ${a.unit}` : '')).join(', ')}`}
      aria-invalid={bad.value}
      value={draft.value ?? s.place.here.value}
      size={Math.max(6, s.place.here.value.length, longest)}
      onInput={(e) => {
        draft.value = e.currentTarget.value;
        bad.value = false;
      }}
      onFocus={(e) => e.currentTarget.select()}
      onBlur={() => {
        commit();
        draft.value = null;
        bad.value = false;
      }}
      onKeyDown={(e) => {
        if (e.key === 'Enter') commit();
        if (e.key === 'Escape') {
          draft.value = null;
          bad.value = false;
          e.stopPropagation();
        }
      }}
    />
  );
}

/** The stored orbits of the sample and of the pinned one. */
function useOrbits(s: State): Series[] {
  const i = s.place.sample.value;
  const pin = s.place.pinned.value;
  const one = s.data.one.state.value.value;
  const other = s.data.other.state.value.value;
  const curves = Array.from({ length: mostShown }, (_, k) => s.data.curves[k].state.value.value);
  const metric = s.place.metric.value;
  const models = s.place.shown.value;
  const labels = s.data.labels.value;
  return useMemo(() => {
    const out: Series[] = [];
    models.forEach((m, k) => {
      const values = s.place.orbitOf(k as Nth, i);
      if (!values) return;
      const series: Series = { ink: inkOf(k), name: modelName(s, k), values };
      const label = labels[i];
      const top = one?.index === i ? one.top?.[m] : undefined;
      if (top && label >= 0) series.wrong = (e) => top[e] >= 0 && top[e] !== label;
      out.push(series);
    });
    if (pin >= 0 && pin !== i)
      models.forEach((_, k) => {
        const values = s.place.orbitOf(k as Nth, pin);
        if (values) out.push({ ink: inkOf(k), name: `#${pin} ${modelName(s, k)}`, values, pinned: true });
      });
    return out;
  }, [i, pin, one, other, ...curves, metric, models, labels]);
}

function Body({ s }: { s: State }) {
  const o = s.data.group.value!;
  const series = useOrbits(s);
  const scale = useScale(s);
  const floors = useFloors(s);
  const limits = useLimits(s);
  const toggle = useMemo(() => () => play(s), [s]);
  const nav = useNav(s, toggle);
  // Dots of answers lie where the answer was asked for, which during a drag is a little behind the needle.
  const dots = useMemo(
    () =>
      computed<readonly Dot[]>(() => {
        const out: Dot[] = [];
        const a = s.place.canProbe.value ? s.place.live.answer.value : null;
        s.place.shown.value.forEach((m, k) => {
          const live = a && a.want.sample === s.place.sample.value ? a.value.models.get(m) : undefined;
          const name = modelName(s, k);
          const h = valueHere(s, k as Nth);
          if (h.kind === 'live' || h.kind === 'recorded') out.push({ ink: inkOf(k), name, value: h.value, g: s.place.g.value, live: h.kind === 'live' });
          else if (live && a) out.push({ ink: inkOf(k), name, value: live.values[s.place.metric.value] ?? NaN, g: a.want.g, live: true });
        });
        return out;
      }),
    [s],
  );
  const dotsOf = useMemo(() => Array.from({ length: mostShown }, (_, k) => computed(() => dots.value.filter((d) => d.ink === inkOf(k)))), [dots]);
  const gaps = useMemo(
    () =>
      computed<readonly Dot[]>(() => {
        const [a, b] = dots.value;
        return a && b && a.g === b.g ? [{ ink: 2, name: 'B − A', value: b.value - a.value, g: a.g, live: a.live && b.live }] : [];
      }),
    [dots],
  );
  const less = useMemo<Series>(() => {
    const [a, b] = series.filter((x) => !x.pinned);
    return { ink: 2, name: 'B − A', values: a && b ? Float64Array.from(a.values, (v, k) => b.values[k] - v) : [] };
  }, [series]);
  const label = `B − A, ${quantity(s)}`;
  const around = useMemo(() => aroundZero(Array.from(less.values), label), [less, label]);
  const spoken = useMemo(
    () =>
      computed(() => {
        const parts = s.place.shown.value.map((_, k) => {
          const h = valueHere(s, k as Nth);
          return `${modelName(s, k)} ${h.kind === 'none' || h.kind === 'behind' ? 'no value' : `${num(h.value)} ${h.kind}`}`;
        });
        return `${s.place.here.value}: ${parts.join(', ')}`;
      }),
    [s],
  );
  const mapped = useMaps(s, s.place.compare.value === 'diff' && s.place.b.value >= 0);
  const loading = s.data.one.state.value;
  const failed = s.data.samples.state.value.value?.errors?.[String(s.place.sample.value)] ?? loading.value?.error;
  if (failed) return <Trouble text={`This sample could not be evaluated: ${failed}`} />;
  if (loading.value?.index === s.place.sample.value && !loading.value.done) return <p class="empty">This sample is not computed yet.</p>;
  if (!series.length) return loading.error ? <Trouble text={loading.error} retry={() => s.reload()} /> : <Skeleton label="Loading the orbit" square />;
  const map = traits(o.layout).colored === true;
  const own = series.filter((x) => !x.pinned);
  const mode = own.length > 1 ? s.place.compare.value : 'over';
  const side = mode === 'side' && !map;
  const diff = mode === 'diff';
  const drawn = map ? series : [...series, ...floors];
  const shown: readonly Series[][] = diff ? [[less]] : side ? own.map((x) => drawn.filter((y) => y.ink === x.ink)) : [drawn];
  const at = diff ? around : scale;
  const table = diff ? gainColors(s) : colors(s);
  const maps = mapped && mapped.there > 0 ? mapped : null;
  return (
    <div class="body" data-lit={s.place.lit.value >= 0 && own.length > 1 ? s.place.lit.value : undefined}>
      <MapSwitch s={s} shown={mapped} />
      <div class={side ? 'side' : ''}>
        {shown.map((list, k) => (
          <figure key={k}>
            {side && <figcaption class={`ink m${inkOf(k)}`}>{list[0]?.name}</figcaption>}
            <OrbitPlot
              orbit={o}
              series={list}
              scale={at}
              marks={map ? [] : diff ? [{ value: 0, label: 'no difference' }] : limits}
              alt={`${at.label} of sample ${s.place.sample.value} along the orbit. ${list.map((x) => (diff ? `${x.name}: mean ${num(orbitMean(x.values, o.weights))}.` : sentence(s, x))).join(' ')}`}
              at={s.place.g} better={s.place.metricDoc.value?.better} plane={s.place.plane}
              dots={diff ? gaps : side ? dotsOf[k] : dots}
              spoken={spoken}
              nav={nav}
              focusable
              comb={s.place.metricDoc.value?.ref === 'self'}
              tip={(e) => tipLines(s, list, e)}
              {...(map ? { table } : {})}
              {...(maps ? { picture: maps.picture } : {})}
            />
          </figure>
        ))}
      </div>
      {traits(o.layout).tiles && <Later of={(m) => <m.TileWords o={o} />} />}
      {maps ? <ColorBar table={maps.table} scale={maps.scale} note={`${diff ? 'orange: B is better' : 'bright is good'}; number: mean`} /> : map ? <ColorBar table={table} scale={at} {...(diff ? { note: 'orange: B is better' } : {})} /> : diff ? <p class="axisnote">{at.label}; the dashed {traits(o.layout).round ? 'circle' : 'line'} is no difference</p> : <Axis s={s} />}
      {!diff && !maps && <LimitNote limits={limits} scale={map ? null : at} />}
      {!map && !diff && <Legend s={s} series={drawn} n="n = 1" />}
      <Status s={s} />
      <Numbers s={s} series={series} />
      <Caution s={s} sample />
    </div>
  );
}

function Numbers({ s, series }: { s: State; series: readonly Series[] }) {
  const o = s.data.group.value!;
  const better = s.place.metricDoc.value?.better;
  const missing = (x: Series) => Array.prototype.filter.call(x.values, (v: number) => !Number.isFinite(v)).length;
  return (
    <>
    <table class="numbers">
      <caption class="hidden">{quantity(s)} of this sample, by model</caption>
      <thead>
        <tr>
          <th scope="col">model</th>
          <th scope="col">mean</th>
          <th scope="col">{lowest(s)}</th>
          <th scope="col">at</th>
          <th scope="col">here</th>
        </tr>
      </thead>
      <tbody>
        {series.map((x, k) => {
          const w = worstOf(x.values, better);
          return (
            <tr key={k} class={x.pinned ? 'pinned' : ''}>
              <th scope="row" class={`ink m${x.ink}`}>{x.name}</th>
              <td>{num(orbitMean(x.values, o.weights))}</td>
              <td>{num(x.values[w])}</td>
              <td><WorstAt s={s} values={x.values} /></td>
              <td>{x.pinned ? <Pinned s={s} x={x} /> : <HereCell s={s} k={Math.max(0, nthOf(x.ink)) as Nth} />}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
    {series.map((x) => !x.pinned && <Missing key={x.name} name={x.name} bad={missing(x)} of={x.values.length} />)}
    </>
  );
}

function Pinned({ s, x }: { s: State; x: Series }) {
  const e = s.place.element.value;
  return <>{e >= 0 ? num(x.values[e]) : '–'}</>;
}

function HereCell({ s, k }: { s: State; k: Nth }) {
  const h = valueHere(s, k);
  return <span class={`here ${h.kind}`}>{h.kind === 'behind' ? '…' : num(h.value)}</span>;
}

/** Where the values at the needle come from, and whether live ones agree with stored ones. */
export function Status({ s }: { s: State }) {
  const kinds = s.place.models.value.map((_, k) => valueHere(s, k as Nth).kind);
  const live = kinds.every((k) => k === 'live');
  const o = s.data.group.value!;
  const error = s.place.canProbe.value ? s.place.live.error.value : '';
  const a = live ? s.place.live.answers(s.place.sample.value, s.place.g.value) : null;
  const between = s.place.element.value < 0 && !live;
  const exact = s.place.element.value >= 0 && o.exact[s.place.element.value] && !o.exact.every(Boolean);
  return (
    <div class="status">
      <span class={`tag ${live ? 'live' : between ? 'wait' : 'recorded'}`}>{live ? 'live' : between ? 'between stored elements' : 'recorded'}</span>
      <span>
        at {s.place.here.value}
        {exact ? ', exact' : ''}
        {a && Number.isFinite(a.milliseconds) ? ` · ${a.milliseconds < 0.1 ? 'under 0.1' : a.milliseconds < 10 ? a.milliseconds.toFixed(1) : Math.round(a.milliseconds)} ms` : ''}
        {between && !error ? ` · nearest ${elementLabel(o.chart, o.elements[Math.max(0, s.place.nearest.value)] ?? [])}` : ''}
      </span>
      {error && <span class="warn">{error}</span>}
      <Mismatch s={s} />
    </div>
  );
}

/** How far a live value may be from the stored one before that is more than rounding: the models' arithmetic at another batch size. */
export function differs(live: number, stored: number, scale: number): boolean {
  if (Number.isNaN(live) || Number.isNaN(stored)) return Number.isNaN(live) !== Number.isNaN(stored);
  return Math.abs(live - stored) > 1e-3 * Math.abs(stored) + 1e-4 * scale;
}

function Mismatch({ s }: { s: State }) {
  const e = s.place.element.value;
  const one = s.data.one.state.value.value;
  const told = useRef('');
  const m = s.place.metricDoc.value;
  const bad: string[] = [];
  if (e >= 0 && one?.index === s.place.sample.value && one.done && m) {
    s.place.models.value.forEach((model, k) => {
      const a = s.place.answer(k as Nth);
      const stored = one.curves[model]?.[s.place.metric.value]?.[e] ?? NaN;
      const span = m.range[1] !== null && m.range[0] !== null ? m.range[1] - m.range[0] : Math.max(Math.abs(s.place.range.value.hi), Math.abs(s.place.range.value.lo));
      // A value of 0 or 1 that turns over is a tie of two classes, and no other model: the values behind it say so.
      if (a && !(m.name === 'accuracy') && !(m.ref === 'consensus' && Number.isNaN(a.values[s.place.metric.value] ?? NaN)) && differs(a.values[s.place.metric.value] ?? NaN, stored, span)) bad.push(`${modelName(s, k)}: live ${num(a.values[s.place.metric.value])}, recorded ${num(stored)}`);
    });
  }
  const text = bad.length ? `Live and recorded values differ by more than rounding (${bad.join('; ')}). The model file, the engine or the machine may be another one.` : '';
  useEffect(() => {
    if (text && told.current !== s.data.runID.value) {
      told.current = s.data.runID.value;
      s.tasks.say(text);
    }
  }, [text]);
  return text ? <span class="warn" role="note">{text}</span> : null;
}

/** Value at an element of any sample, for others. */
export const stored = (s: State, k: 0 | 1, i: number, e: number): number => {
  const c = s.data.curves[k].state.value.value;
  return c && i < c.n && e >= 0 ? matrixAt(c, i, e) : NaN;
};
