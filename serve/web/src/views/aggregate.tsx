// The aggregate view: a metric along the orbit over a set of samples, of both models.

import { useMemo } from 'preact/hooks';
import type * as api from '../core/api';
import { level } from '../core/format';
import { traits } from '../core/layouts';
import { Later } from '../later';
import type { Band } from '../core/place';
import type { State } from '../core/state';
import { inkOf, mostShown } from '../core/inks';
import type { Series } from '../render/orbit/common';
import { OrbitPlot } from '../render/orbit/plot';
import { aroundZero, type Scale } from '../render/scale';
import { count, interval, num, signed } from '../render/text';
import { Taker } from './take';
import { notes } from './columns';
import { Family } from './family';
import { Caution } from './reference';
import { aggregateTable } from './tables';
import { limitWords, useFloors, useLimits, type Limit } from './floor';
import { Card, ColorBar, colors, gainColors, Legend, lowest, Missing, modelName, orbitMean, quantity, sentence, Skeleton, tipLines, Trouble, useNav, useScale, WorstAt, worstOf } from './parts';
import type { ReportAggregate } from '../core/report';
import { kindOf, pairedCurve, perElement, unbounded } from '../core/stats';
import type { Matrix } from '../core/source';

const floats = (v: readonly api.Num[]): Float64Array => Float64Array.from(v, (x) => x ?? NaN);

const most = (n: ArrayLike<number>): number => Array.prototype.reduce.call(n, (t, v) => Math.max(t as number, v as number), 0) as number;

const least = (n: ArrayLike<number>): number => Array.prototype.reduce.call(n, (t, v) => Math.min(t as number, v as number), n.length ? Infinity : 0) as number;

const span = (c: Shown): string => (c.least < c.n ? `${count(c.least)} to ${count(c.n)}` : count(c.n));

/** How many samples the curves are of: one number if it is the same for all models. */
const counted = (curves: readonly Shown[]): string => (new Set(curves.map(span)).size <= 1 ? `n = ${curves[0] ? span(curves[0]) : 0}` : curves.map((c) => `${c.series.name} n = ${span(c)}`).join(', '));

const total = (n: ArrayLike<number>): number => Array.prototype.reduce.call(n, (t, v) => (t as number) + (v as number), 0) as number;

interface Shown {
  series: Series;
  /** Samples with a value, the most at any element. */
  n: number;
  /** The same, the fewest at any element. */
  least: number;
  /** The exact document, null while the page shows its own sums. */
  doc: api.Curve | null;
}

/** The confidence of the intervals, which a study may choose. */
const confidence = (s: State): number => s.choice.aggregate.value.doc?.confidence ?? 0.95;

/** The same in percent, for people. */
const sure = (s: State): string => level(confidence(s));

/** What the values of the metric are. */
const kindHere = (s: State) => (s.place.metricDoc.value ? kindOf(s.place.metricDoc.value) : unbounded);

/** Whether sums of the page over a matrix are about right only: the values are the steps of a drawing. */
const drawn = (m: Matrix | null | undefined): boolean => !!m && !m.exact;

const fromSteps = 'from drawing steps: about right';

/** The curves of the choice: exact ones if they are there, else those that the page works out itself. */
function useCurves(s: State): Shown[] {
  const { doc, fresh } = s.choice.aggregate.value;
  const mask = s.choice.mask.value;
  const models = s.place.shown.value;
  const matrices = models.map((_, k) => s.data.curves[k].state.value.value);
  const shown = s.place.band.value;
  const kind = kindHere(s);
  // A metric of a whole set is no mean of what its samples have: only the server can tell.
  const pooled = s.place.metricDoc.value?.pooled === true;
  return useMemo(() => {
    const out: Shown[] = [];
    models.forEach((m, k) => {
      const name = modelName(s, k);
      const ink = inkOf(k);
      const exact = doc?.curves.find((c) => c.model === m) ?? null;
      const matrix = matrices[k];
      if (exact && (fresh || !matrix || pooled)) {
        const series: Series = { ink, name, values: floats(exact.mean), about: (doc as ReportAggregate).rough === true };
        if (shown === 'spread') Object.assign(series, { lo: floats(exact.p10), hi: floats(exact.p90) });
        if (shown === 'interval') Object.assign(series, { from: floats(exact.lo), to: floats(exact.hi) });
        out.push({ series, doc: exact, n: most(exact.n), least: least(exact.n) });
      } else if (matrix && !pooled) {
        const q = perElement(matrix, mask, doc?.confidence ?? 0.95, kind);
        const series: Series = { ink, name, values: q.mean, about: drawn(matrix) };
        if (shown === 'spread') Object.assign(series, { lo: q.p10, hi: q.p90 });
        if (shown === 'interval') Object.assign(series, { from: q.lo, to: q.hi });
        out.push({ series, doc: null, n: most(q.n), least: least(q.n) });
      }
    });
    return out;
  }, [doc, fresh, mask, models, ...Array.from({ length: mostShown }, (_, k) => matrices[k]), shown, pooled, kind.binary, ...kind.range]);
}

/** B less A at every element, with its interval once the server has told. */
function difference(s: State, curves: readonly Shown[]): Series | null {
  if (curves.length < 2) return null;
  const { doc, fresh } = s.choice.aggregate.value;
  const p = fresh ? doc?.pair : undefined;
  if (p) {
    const d: Series = { ink: 2, name: 'B − A', values: floats(p.mean), about: (doc as ReportAggregate).rough === true };
    if (s.place.band.value === 'interval') Object.assign(d, { from: floats(p.lo), to: floats(p.hi) });
    if (s.place.band.value === 'spread') Object.assign(d, { lo: floats(p.p10), hi: floats(p.p90) });
    return d;
  }
  const m = [s.data.curves[0].state.value.value, s.data.curves[1].state.value.value];
  if (m[0] && m[1] && m[0].n === m[1].n && !s.place.metricDoc.value?.pooled) {
    const q = pairedCurve(m[0], m[1], s.choice.mask.value, confidence(s), kindHere(s));
    const d: Series = { ink: 2, name: 'B − A', values: q.mean, about: drawn(m[0]) || drawn(m[1]) };
    if (s.place.band.value === 'interval') Object.assign(d, { from: q.lo, to: q.hi });
    if (s.place.band.value === 'spread') Object.assign(d, { lo: q.p10, hi: q.p90 });
    return d;
  }
  const [a, b] = curves;
  return { ink: 2, name: 'B − A', values: Float64Array.from(a.series.values, (v, k) => b.series.values[k] - v), about: a.series.about === true || b.series.about === true };
}

/** The aggregate view. */
export function Aggregate({ s }: { s: State }) {
  const run = s.data.run.value;
  if (!run) return <Card id="aggregate" title="Aggregate"><Skeleton label="Loading the curves" square /></Card>;
  return (
    <Card id="aggregate" title="Aggregate" sub={<Counted s={s} />} tools={<Taker name={['aggregate', run.name, s.place.metricDoc.value?.name ?? '']} plot={() => ({ root: document.querySelector('#aggregate .body'), text: { title: `${quantity(s)} along the orbit`, caption: notes(s) } })} table={() => aggregateTable(s)} />}>
      <SliceBar s={s} />
      {s.data.n.value === 0 ? <p class="note">This run has no samples yet.</p> : <Body s={s} />}
    </Card>
  );
}

function Counted({ s }: { s: State }) {
  const n = s.data.n.value;
  const c = s.choice.count.value;
  const done = s.data.samples.state.value.value?.done ?? n;
  if (c === n && done < n) return <>{`${count(done)} of ${count(n)} samples computed`}</>;
  return <>{c === n ? `${count(n)} sample${n === 1 ? '' : 's'}` : `${count(c)} of ${count(n)} samples`}</>;
}

function Bands({ s }: { s: State }) {
  return (
    <select aria-label="What the band shows" title="What the band around a curve shows" value={s.place.band.value} onChange={(e) => (s.place.band.value = e.currentTarget.value as Band)}>
      <option value="spread">10–90 %</option>
      <option value="interval">{sure(s)} CI</option>
      <option value="none">no band</option>
    </select>
  );
}

/** The menu of slices, and what else narrows the choice down. */
function SliceBar({ s }: { s: State }) {
  const run = s.data.run.value;
  const kept = s.choice.kept.state.value.value?.slices ?? [];
  const c = s.choice.parts.value;
  const classes = run?.slices.filter((x) => x.label >= 0) ?? [];
  return (
    <div class="bar">
      <select aria-label="Slice" value={c.slice} onChange={(e) => s.choice.choose({ slice: e.currentTarget.value })}>
        <option value="">All samples</option>
        {classes.length > 0 && (
          <optgroup label="Classes">
            {classes.map((x) => (
              <option key={x.name} value={x.name}>
                class {x.name} ({count(x.n)})
              </option>
            ))}
          </optgroup>
        )}
        {kept.length > 0 && (
          <optgroup label="Kept slices">
            {kept.map((x) => (
              <option key={x.name} value={x.name}>
                {x.name} ({count(x.n)})
              </option>
            ))}
          </optgroup>
        )}
        {c.slice && ![...classes, ...kept].some((x) => x.name === c.slice) && <option value={c.slice}>{c.slice}</option>}
      </select>
      {c.rule && <Chip text={c.rule} off={() => s.choice.choose({ rule: '' })} />}
      {c.lasso && <Chip text="lasso" off={() => s.choice.choose({ lasso: null })} />}
      {c.picked && <Chip text={`${count(c.picked.length)} picked`} off={() => s.choice.choose({ picked: null })} />}
      {classes.length > 1 && (
        <button aria-pressed={s.place.byClass.value} onClick={() => (s.place.byClass.value = !s.place.byClass.value)} title="One small plot per class">
          by class
        </button>
      )}
      {(run?.model_list.length ?? 0) > 2 && (
        <button aria-pressed={s.place.every.value} onClick={() => (s.place.every.value = !s.place.every.value)} title="One small plot per model, all on one scale">
          all models
        </button>
      )}
      <Bands s={s} />
    </div>
  );
}

function Chip({ text, off }: { text: string; off: () => void }) {
  return (
    <span class="chip">
      <span>{text}</span>
      <button aria-label={`Remove ${text}`} onClick={off}>
        ×
      </button>
    </span>
  );
}

function Body({ s }: { s: State }) {
  const curves = useCurves(s);
  const scale = useScale(s);
  const { busy, error, fresh } = s.choice.aggregate.value;
  if (s.choice.count.value === 0) return <Empty s={s} />;
  if (s.place.every.value && (s.data.run.value?.model_list.length ?? 0) > 2) return <div class="body"><Family s={s} scale={scale} /><Caution s={s} /></div>;
  if (!curves.length) return error ? <Trouble text={error} retry={() => s.reload()} /> : <Skeleton label="Loading the curves" square />;
  const mode = curves.length > 1 ? s.place.compare.value : 'over';
  const d = mode === 'diff' ? difference(s, curves) : null;
  return (
    <div class={busy && !fresh ? 'body stale' : 'body'} data-lit={s.place.lit.value >= 0 && curves.length > 1 ? s.place.lit.value : undefined}>
      {s.place.byClass.value ? <Multiples s={s} scale={scale} /> : mode === 'diff' && d ? <Diff s={s} d={d} /> : <Curves s={s} curves={curves} scale={scale} side={mode === 'side'} />}
      <Numbers s={s} curves={curves} />
      {curves.length > 1 && <Paired s={s} />}
      <Caution s={s} />
    </div>
  );
}

function Empty({ s }: { s: State }) {
  return (
    <div class="empty">
      <p>No sample is in all of: {[s.choice.parts.value.slice, s.choice.parts.value.rule, s.choice.parts.value.lasso && 'the lasso', s.choice.parts.value.picked && 'the picked rows'].filter(Boolean).join(', ')}.</p>
      <button onClick={() => s.choice.clear()}>Show all samples</button>
    </div>
  );
}

/** A series without its bands. */
const bare = ({ lo: _lo, hi: _hi, from: _from, to: _to, ...x }: Series): Series => x;

function Curves({ s, curves, scale, side }: { s: State; curves: readonly Shown[]; scale: Scale; side: boolean }) {
  const o = s.data.group.value!;
  const nav = useNav(s);
  const map = traits(o.layout).colored === true;
  const found = useFloors(s);
  const floors = map ? [] : found;
  const limits = useLimits(s);
  // Bands of many models are mud: those of the one that was picked in the legend are drawn, or of none.
  const crowd = curves.length > 2 && !map;
  const all = curves.map((c) => (crowd && c.series.ink !== s.place.lit.value ? bare(c.series) : c.series));
  const plot = (series: readonly Series[]) => (
    <OrbitPlot
      orbit={o}
      series={series}
      scale={scale}
      marks={map ? [] : limits}
      alt={`${quantity(s)} along the orbit, mean over samples, ${counted(curves)}. ${series.map((x) => sentence(s, x)).join(' ')}${limits.map((l) => ` The ${l.label}.`).join('')}`}
      at={s.place.g} better={s.place.metricDoc.value?.better} plane={s.place.plane}
      nav={nav}
      comb={s.place.metricDoc.value?.ref === 'self'}
      tip={(k) => [...tipLines(s, series, k), counted(curves)]}
      {...(map ? { table: colors(s) } : {})}
    />
  );
  return (
    <>
      {side && !map ? (
        <div class="side">
          {all.map((x) => (
            <figure key={x.name}>
              <figcaption class={`ink m${x.ink}`}>{x.name}</figcaption>
              {plot([x, ...floors.filter((f) => f.ink === x.ink)])}
            </figure>
          ))}
        </div>
      ) : (
        plot([...all, ...floors])
      )}
      {traits(o.layout).tiles && <Later of={(m) => <m.TileWords o={o} />} />}
      {map ? <ColorBar table={colors(s)} scale={scale} note={`bright is good${beyond(s)}`} /> : <Axis s={s} />}
      <LimitNote limits={limits} scale={map ? null : scale} />
      {!map && <Legend s={s} series={[...all, ...floors]} n={counted(curves)} />}
      {crowd && s.place.band.value !== 'none' && s.place.lit.value < 0 && <p class="axisnote">pick a model in the legend to see its band</p>}
    </>
  );
}

/** What an audit would permit, in words below the plot: in many a plot the line lies on the axis. */
export function LimitNote({ limits, scale }: { limits: readonly Limit[]; scale: Scale | null }) {
  return limits.length ? <p class="axisnote limit">{limitWords(limits, scale)}</p> : null;
}

/** How far models reach that are not shown, where the scale leaves that out. */
export function beyond(s: State): string {
  const [here, all] = [s.place.range.value, s.place.widest.value];
  return here.hi < all.hi ? `; the scale is that of the models on show, others reach ${num(all.hi)}` : '';
}

/** What the radius or the height of a plot is. */
export function Axis({ s }: { s: State }) {
  const o = s.data.group.value;
  const m = s.place.metricDoc.value;
  if (!o || !m) return null;
  const log = s.place.range.value.log ? ', logarithmic' : '';
  return (
    <p class="axisnote">
      {traits(o.layout).round ? 'radius' : 'height'}: {quantity(s)}
      {log}, {m.better} is better{beyond(s)}{traits(o.layout).round && o.chart.length > 1 ? (o.finite && o.elements.length <= 48 ? '; hollow: mirrored' : '; dotted: mirrored') : ''}
    </p>
  );
}

function Diff({ s, d }: { s: State; d: Series }) {
  const o = s.data.group.value!;
  const nav = useNav(s);
  const label = `B − A, ${quantity(s)}`;
  const scale = useMemo(() => {
    const ends: number[] = Array.from(d.values);
    for (const list of [d.from, d.to, d.lo, d.hi]) if (list) ends.push(...Array.from(list));
    return aroundZero(ends, label);
  }, [d.values, d.from, d.lo, label]);
  const map = traits(o.layout).colored === true;
  const w = worstOf(d.values, s.place.metricDoc.value?.better);
  return (
    <>
      <OrbitPlot
        orbit={o}
        series={[d]}
        scale={scale}
        marks={map ? [] : [{ value: 0, label: 'no difference' }]}
        alt={`${label}, along the orbit. Mean ${signed(orbitMean(d.values, o.weights))}, worst ${signed(d.values[w])} at ${o.labels[w]}.`}
        at={s.place.g} better={s.place.metricDoc.value?.better} plane={s.place.plane}
        nav={nav}
        tip={(k) => tipLines(s, [d], k)}
        {...(map ? { table: gainColors(s) } : {})}
      />
      {map ? <ColorBar table={gainColors(s)} scale={scale} note="orange: B is better" /> : <p class="axisnote">{label}; the dashed {traits(o.layout).round ? 'circle' : 'line'} is no difference</p>}
    </>
  );
}

function Numbers({ s, curves }: { s: State; curves: readonly Shown[] }) {
  const o = s.data.group.value!;
  const better = s.place.metricDoc.value?.better;
  return (
    <>
    <table class="numbers">
      <caption class="hidden">{quantity(s)} over the orbit, by model</caption>
      <thead>
        <tr>
          <th scope="col">model</th>
          <th scope="col" title={`Mean over samples and orbit, with the ${sure(s)} interval over samples`}>mean</th>
          <th scope="col">{lowest(s)}</th>
          <th scope="col">at</th>
        </tr>
      </thead>
      <tbody>
        {curves.map(({ series, doc }, k) => {
          const w = worstOf(series.values, better);
          const steps = doc ? ((s.choice.aggregate.value.doc as ReportAggregate | null)?.steps ?? []).includes(doc.model) : series.about;
          return (
            <tr key={k}>
              <th scope="row" class={`ink m${series.ink}`}>{series.name}</th>
              <td>
                {steps && <span title={fromSteps}>≈ </span>}
                {doc ? num(doc.orbit.mean) : num(orbitMean(series.values, o.weights))}
                {doc && <span class="ci">{interval(doc.orbit.lo, doc.orbit.hi)}</span>}
              </td>
              <td>{series.about && <span title={fromSteps}>≈ </span>}{num(series.values[w])}</td>
              <td><WorstAt s={s} values={series.values} /></td>
            </tr>
          );
        })}
      </tbody>
    </table>
    {curves.map(({ series, doc }) => doc && <Missing key={series.name} name={series.name} bad={total(doc.bad)} of={total(doc.n) + total(doc.bad)} first={doc.first_bad && doc.bad_at >= 0 ? `${doc.first_bad} at ${o.labels[doc.bad_at]}` : undefined} />)}
    </>
  );
}

/** The paired difference over the orbit in numbers and words. */
function Paired({ s }: { s: State }) {
  const { doc, fresh } = s.choice.aggregate.value;
  const p = doc?.pair;
  if (!p || !fresh) return <p class="note">B − A …</p>;
  if (p.orbit.mean === null) return <p class="note paired">B − A: no sample has values of both models at all elements</p>;
  if (p.verdict === '')
    return (
      <p class="note paired">
        B − A ≈ <strong>{signed(p.orbit.mean)}</strong> {interval(p.orbit.lo, p.orbit.hi)}: <span title={`Paired by sample, ${sure(s)} interval, n = ${p.orbit.n}. The file has these values as they are drawn, which is no evidence.`}>from drawing steps</span>
      </p>
    );
  return (
    <p class="note paired">
      B − A <strong>{signed(p.orbit.mean)}</strong>{p.orbit.lo === null ? '' : ` ${interval(p.orbit.lo, p.orbit.hi)}`}: <span title={`Paired by sample, ${sure(s)} interval, n = ${p.orbit.n}`}>{{ better: 'B is better', worse: 'B is worse' }[p.verdict] ?? p.verdict}</span>
    </p>
  );
}

/** One small plot per class, on the same scale. */
function Multiples({ s, scale }: { s: State; scale: Scale }) {
  const run = s.data.run.value!;
  const o = run.orbit;
  const nav = useNav(s);
  const labels = s.data.labels.value;
  const matrices = s.place.shown.value.map((_, k) => s.data.curves[k].state.value.value);
  const names = matrices.map((_, k) => modelName(s, k));
  const small = useMemo(() => {
    const classes = run.slices.filter((x) => x.label >= 0 && x.n > 0).slice(0, 40);
    return classes.map((c) => {
      const mask = Uint8Array.from(labels, (l) => +(l === c.label));
      const series: Series[] = [];
      matrices.forEach((m, k) => m && series.push({ ink: inkOf(k), name: names[k], values: perElement(m, mask).mean, about: drawn(m) }));
      return { c, series };
    });
  }, [run, labels, ...Array.from({ length: mostShown }, (_, k) => matrices[k])]);
  if (s.place.metricDoc.value?.pooled) return <p class="note">{quantity(s)} is one number of a whole set: choose a class in the menu to see that of the class.</p>;
  if (!matrices[0]) return <p class="note">This run is too large for one plot per class here; choose a class in the menu.</p>;
  const map = traits(o.layout).colored === true;
  return (
    <div class="multiples">
      {small.map(({ c, series }) => (
        <div key={c.name} class={`multiple${s.choice.parts.value.slice === c.name ? ' on' : ''}`}>
          <OrbitPlot orbit={o} series={series} scale={scale} alt={`Class ${c.name}. ${series.map((x) => sentence(s, x)).join(' ')}`} at={s.place.g} better={s.place.metricDoc.value?.better} nav={nav} small tip={(k) => tipLines(s, series, k)} {...(map ? { table: colors(s) } : {})} />
          <button class="link" aria-pressed={s.choice.parts.value.slice === c.name} onClick={() => s.choice.choose({ slice: s.choice.parts.value.slice === c.name ? '' : c.name })}>
            {c.name} <small>n = {count(c.n)}</small>
          </button>
        </div>
      ))}
    </div>
  );
}
