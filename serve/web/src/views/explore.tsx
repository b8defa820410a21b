// Views below the table: the worst inputs, which classes turn into which, all models, the worst slices, every curve, and notes.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type * as api from '../core/api';
import { level } from '../core/format';
import { fromBits } from '../core/masks';
import { inkOf, letters, type Nth } from '../core/inks';
import { Slot } from '../core/slot';
import { at, Failure, words, type Picture } from '../core/source';
import { histogram } from '../core/stats';
import type { State } from '../core/state';
import { drawMask } from '../render/mask';
import { classesOf, pixels } from '../render/picture';
import { count, interval, num, signed } from '../render/text';
import { Card, lowest, modelName, quantity, Skeleton } from './parts';
import { spark } from './spark';
import { className, confused, matrix, pareto, percent, said, spread, worstSamples } from './worst';

const tabs = [['gallery', 'Worst inputs'], ['turns', 'Taken for'], ['models', 'All models'], ['worst', 'Worst slices'], ['curves', 'Every curve'], ['notes', 'Notes']] as const;
type Tab = (typeof tabs)[number][0];

/** The card with the further views; one is shown at a time. */
export function Explore({ s }: { s: State }) {
  const box = useRef<HTMLDivElement>(null), seen = useSignal(false);
  const drawn = s.choice.aggregate.value.doc !== null; // before, the cards above have no height, and all of the page is in sight
  useEffect(() => {
    if (!box.current || !drawn) return undefined;
    const o = new IntersectionObserver((all) => { if (all.some((x) => x.isIntersecting)) { seen.value = true; o.disconnect(); } });
    o.observe(box.current);
    return () => o.disconnect();
  }, [drawn]);
  const run = s.data.run.value;
  const shown = tabs.filter(([k]) => (k !== 'turns' || (run?.output !== 'mask' && (run?.classes.length ?? 0) > 0) || run?.output === 'scores') && (k !== 'notes' || s.client.live));
  // One that this run has not is as none.
  const tab: Tab = shown.find(([t]) => t === s.place.look.value)?.[0] ?? 'gallery';
  const go = (t: Tab) => { s.place.look.value = t === 'gallery' ? '' : t; };
  const step = (by: number) => {
    const k = shown.findIndex(([t]) => t === tab), next = shown[(k + by + shown.length) % shown.length][0];
    go(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <Card id="explore" title="Look further" sub={run ? `${count(s.choice.count.value)} samples chosen` : ''}>
      <div class="explore-tabs" role="tablist" aria-label="Further views">
        {shown.map(([k, text]) => (
          <button key={k} id={`tab-${k}`} role="tab" aria-selected={tab === k} aria-controls="explore-panel" tabIndex={tab === k ? 0 : -1} onClick={() => { go(k); seen.value = true; }}
            onKeyDown={(e) => { if (e.key === 'ArrowRight') { e.preventDefault(); step(1); } else if (e.key === 'ArrowLeft') { e.preventDefault(); step(-1); } }}>
            {text}
          </button>
        ))}
      </div>
      <div id="explore-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} ref={box}>
        {!run || !seen.value ? <Skeleton label="Loading" /> : tab === 'gallery' ? <Gallery s={s} /> : tab === 'turns' ? <Turns s={s} /> : tab === 'models' ? <Models s={s} /> : tab === 'worst' ? <Worst s={s} /> : tab === 'curves' ? <Curves s={s} /> : <Notes s={s} />}
      </div>
    </Card>
  );
}

/** Which of the models on show is asked about. */
function Which({ s, k, set }: { s: State; k: Nth; set: (k: Nth) => void }) {
  if (s.place.b.value < 0) return null;
  return <label>Model <select value={k} onChange={(e) => set(Number(e.currentTarget.value) as Nth)}>{s.place.shown.value.map((_, m) => <option key={m} value={m}>{`${letters[m]}: ${modelName(s, m)}`}</option>)}</select></label>;
}

/** A model on show that a view asks about: the one that was chosen, as long as it is shown. */
const still = (s: State, k: Nth): Nth => (k < s.place.shown.value.length ? k : 0);

/** Opens a sample at an element in the views above. */
function open(s: State, i: number, k: number): void {
  const g = s.data.group.peek()?.elements[k];
  s.place.setSample(i);
  if (g) s.place.moveTo([...g]);
  document.getElementById('individual')?.scrollIntoView({ block: 'nearest', behavior: 'auto' });
  s.tasks.say(`Sample ${i} at ${s.data.group.peek()?.labels[k] ?? ''} is shown above.`);
}

const loadedOnce = new WeakMap<State, Map<string, Slot<unknown>>>();

/** A value that is asked for once per key, and kept while the page lives. */
function asked<T>(s: State, key: string, f: (cut: AbortSignal) => Promise<T>): Slot<T> {
  let all = loadedOnce.get(s);
  if (!all) loadedOnce.set(s, (all = new Map()));
  let slot = all.get(key) as Slot<T> | undefined;
  if (!slot) {
    if (all.size > 500) all.clear();
    all.set(key, (slot = new Slot<T>()) as Slot<unknown>);
    void slot.load(f);
  }
  return slot;
}

/** Asks again a few times where the server is busy with others. */
async function patient<T>(f: () => Promise<T>): Promise<T> {
  for (let tries = 5; ; tries--) {
    try {
      return await f();
    } catch (e) {
      if (!(e instanceof Failure && e.status === 503) || tries <= 1) throw e;
      await new Promise((go) => setTimeout(go, 1000 * (e.after || 0.5)));
    }
  }
}

/** What depends on rows that are there. */
const keyOf = (s: State): string => `${s.data.runID.value} ${s.data.run.value?.state.done ?? 0}`;

// ---- the worst inputs, moved ----------------------------------------------------------------------------------------------------------

const inGallery = 20;

function Gallery({ s }: { s: State }) {
  const k = useSignal<Nth>(0), m = still(s, k.value);
  const stats = s.data.stats[m].state.value, lower = s.place.metricDoc.value?.better === 'lower';
  if (!stats.value) return stats.error ? <p class="note">{stats.error}</p> : <Skeleton label="Loading the samples" />;
  const list = worstSamples(lower ? stats.value.max : stats.value.min, lower, s.choice.mask.value, inGallery);
  return (
    <>
      <div class="explore-tools"><Which s={s} k={m} set={(v) => (k.value = v)} /><span class="note">The {count(list.length)} chosen samples with the {lowest(s)} {quantity(s)} of {modelName(s, m)} anywhere on their orbit, at that element.</span></div>
      <ul class="gallery">{list.map((i) => <Case key={i} s={s} i={i} element={stats.value!.worst[i]} />)}</ul>
    </>
  );
}

/** One input, at rest and moved, with what the models said. */
function Case({ s, i, element }: { s: State; i: number; element: number }) {
  const run = s.data.run.value!, o = run.orbit, rest = o.identity, metric = s.place.metric.value;
  /** Whether the input has no picture, as rows of plain numbers have none: then its curve is drawn. */
  const bare = useSignal(false);
  const one = asked(s, `${keyOf(s)} sample ${i}`, (cut) => s.client.sample(run.id, i, cut)).state.value;
  const able = s.data.ability.value.inputs || !s.client.live;
  const moved = able ? asked(s, `${keyOf(s)} input ${i} ${element}`, (cut) => patient(() => s.client.input(run.id, i, o.elements[element] ?? [], cut))).state.value : { busy: false, value: undefined };
  const drawn = moved.value && !moved.value.datum ? moved.value : undefined, thumb = moved.value ? s.client.thumb(run.id, i) : '', turned = moved.value && !drawn ? s.client.thumb(run.id, i, o.elements[element] ?? []) : '', classes = s.data.classNames.value;
  const label = s.data.labels.value[i] ?? -1, range = s.place.range.value;
  const lines = one.value ? s.place.shown.value.map((m, k) => {
    const v = one.value!.curves[m]?.[metric];
    return { k, name: run.models[m], answer: run.output === 'mask' ? '' : said(one.value!, m, rest, element, classes), was: rest >= 0 ? v?.[rest] : undefined, now: v?.[element], values: (v ?? []).map((x) => x ?? NaN) };
  }) : [];
  const text = `${s.data.ids.value[i] ?? i}${label >= 0 ? `, labelled ${className(classes, label)}` : ''}, moved to ${o.labels[element] ?? ''}. ${lines.map((l) => `${l.name}: ${l.answer ? `${l.answer}, ` : ''}${quantity(s)} ${num(l.was ?? null)} at rest, ${num(l.now ?? null)} moved`).join('. ')}`;
  return (
    <li>
      <button type="button" class={s.place.sample.value === i ? 'here' : ''} title={text} onClick={() => open(s, i, element)}>
        <span class="case-pictures">
          {drawn ? <>{thumb && <img src={thumb} alt="" class="pix" onError={(e) => e.currentTarget.remove()} />}<Drawn picture={drawn} /></> : thumb && turned && !bare.value ? [thumb, turned].map((src) => <img key={src} src={src} alt="" onError={() => (bare.value = true)} />) : moved.busy ? <span class="case-none" /> : (
            <svg viewBox="0 0 64 64" class="case-spark" aria-hidden="true">{lines.map((l) => <path key={l.k} class={`spark-line m${inkOf(l.k)}`} d={spark(l.values, o, range.lo ?? 0, range.hi ?? 1, 64)} />)}</svg>
          )}
        </span>
        {run.output === 'mask' && <CaseMasks s={s} i={i} element={element} />}
        <span class="case-head"><b>{s.data.ids.value[i] ?? `#${i}`}</b>{label >= 0 && <> is {className(classes, label)}</>}</span>
        <span class="case-at">{o.labels[element] ?? ''}</span>
        {lines.map((l) => <span key={l.k} class="case-said"><i class={`ink m${inkOf(l.k)}`}>{letters[l.k]}</i> {l.answer && <b>{l.answer}</b>} <span class="hidden">{quantity(s)} </span><span class="n">{num(l.was ?? null)}</span> → <span class="n">{num(l.now ?? null)}</span></span>)}
      </button>
    </li>
  );
}

/** The end of the line of those that wait for masks: the gallery asks for one at a time, so that a drag is answered in between. */
const line = new WeakMap<State, Promise<unknown>>();

/** What the data say of a moved input, and the masks that the models answered. */
function CaseMasks({ s, i, element }: { s: State; i: number; element: number }) {
  const run = s.data.run.value!, models = [...new Set(s.place.models.value)].filter((m) => !s.client.live || s.data.ability.value.of[m]);
  const able = models.length > 0 && (!s.client.live || s.data.ability.value.models);
  const probe = able ? asked(s, `${keyOf(s)} masks ${i} ${element} ${models.join()}`, (cut) => {
    const next = (line.get(s) ?? Promise.resolve()).then(() => patient(() => s.client.probe(run.id, i, run.orbit.elements[element] ?? [], models, 0, cut)));
    line.set(s, next.catch(() => undefined));
    return next;
  }).state.value : null;
  if (!probe || (!probe.value && !probe.busy)) return null;
  const answers = models.map((m) => probe.value?.models.get(m)), truth = answers.find((a) => a?.pictured === 'target')?.reference;
  return <span class="case-masks">{[truth, ...answers.map((a) => a?.output)].map((p, k) => (p ? <Drawn key={k} picture={p} mask /> : probe.busy && <span key={k} class="case-none" />))}</span>;
}

/** A picture as it was fed. */
function Drawn({ picture: p, mask = false }: { picture: Picture; mask?: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const c = canvas.current, x = c?.getContext('2d');
    if (!c || !x) return;
    const image = x.createImageData(p.w, p.h);
    const px = new Uint32Array(image.data.buffer);
    if (mask) drawMask({ labels: classesOf(p), show: 'classes' }, px);
    else pixels(p, px);
    x.putImageData(image, 0, 0);
  }, [p]);
  return <canvas ref={canvas} width={p.w} height={p.h} class="pix" aria-hidden="true" />;
}

// ---- which classes turn into which ------------------------------------------------------------------------------------------------------

/** Classes beyond which a matrix is no picture. */
const mostClasses = 30;

function Turns({ s }: { s: State }) {
  const k = useSignal<Nth>(0), against = useSignal<'truth' | 'self'>(s.data.run.value?.labelled ? 'truth' : 'self');
  const which = still(s, k.value), run = s.data.run.value!, set = s.choice.set.value, model = s.place.shown.value[which];
  const t = asked(s, `${keyOf(s)} turns ${model} ${against.value} ${JSON.stringify(set)}`, (cut) => s.client.turns(run.id, { set, model, against: against.value }, cut)).state.value;
  const classes = s.data.classNames.value, name = (c: number) => className(classes, c);
  return (
    <>
      <div class="explore-tools">
        <Which s={s} k={which} set={(v) => (k.value = v)} />
        <label>Against <select value={against.value} onChange={(e) => (against.value = e.currentTarget.value as 'truth' | 'self')}><option value="truth" disabled={!run.labelled}>the label</option><option value="self">the model’s own answer at rest</option></select></label>
        <Keep s={s} table="confusion" q={{ against: against.value }} />
      </div>
      {t.error ? <p class="note">{t.error}</p> : !t.value ? <Skeleton label="Counting" /> : (
        <div class="turns">
          <div>
            {confused(t.value, 12).length === 0 ? <p>No sample is taken for another class at any element.</p> : (
              <ol class="turns-list">
                {confused(t.value, 12).map((e) => (
                  <li key={`${e.from} ${e.to}`}><button type="button" onClick={() => open(s, e.sample, e.element)} title="Open the sample with which it happens most">
                    <b>{name(e.from)}</b> taken for <b>{name(e.to)}</b> at <b>{percent(e.share)}</b> of the orbit <small>[{percent(e.lo)}, {percent(e.hi)}], {count(e.samples)} of {count(t.value!.from.find((f) => f.class === e.from)?.n ?? 0)} samples</small>
                  </button></li>
                ))}
              </ol>
            )}
            <p class="note">Shares of the elements but the identity, as a mean over samples, with {level(t.value.confidence)} intervals clustered by sample.</p>
          </div>
          <Matrix s={s} t={t.value} name={name} />
        </div>
      )}
    </>
  );
}

function Matrix({ s, t, name }: { s: State; t: api.Turns; name: (c: number) => string }) {
  const m = matrix(t);
  if (m.classes.length > mostClasses) return <p class="note">{count(m.classes.length)} classes are too many for a table here; nero export --table confusion writes all of them.</p>;
  return (
    <div class="turns-matrix" role="region" aria-label="Table of classes" tabIndex={0}>
      <table>
        <caption>{t.against === 'truth' ? 'label' : 'answer at rest'} ↓, answer when moved →, in %</caption>
        <thead><tr><td />{m.classes.map((c) => <th key={c} scope="col">{name(c)}</th>)}</tr></thead>
        <tbody>
          {t.from.map((f) => (
            <tr key={f.class}>
              <th scope="row" title={`${count(f.n)} samples`}>{name(f.class)}</th>
              {m.classes.map((c) => {
                const e = m.share(f.class, c), share = e?.share ?? 0;
                return <td key={c} class={c === f.class ? 'same' : ''} style={{ '--share': String(share) }} title={e ? `${name(f.class)} taken for ${name(c)}: ${percent(share)} [${percent(e.lo)}, ${percent(e.hi)}]` : undefined}>{e ? <button type="button" tabIndex={-1} onClick={() => open(s, e.sample, e.element)}>{share >= 0.005 ? Math.round(100 * share) : '·'}</button> : ''}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Links to a table for programs. */
function Keep({ s, table, q }: { s: State; table: 'confusion' | 'models' | 'search' | 'remarks'; q: Record<string, string | number> }) {
  const set = s.choice.set.value, all: Record<string, string | number> = { ...q, ...(table !== 'remarks' && Object.keys(set).length ? { set: JSON.stringify(set) } : {}) };
  const links = (['csv', 'md', 'tex'] as const).map((ext) => [ext, s.client.exportURL(s.data.runID.value, table, ext, all)] as const);
  if (!links[0][1]) return null;
  return <span class="explore-keep">Keep as {links.map(([ext, href]) => <a key={ext} href={href} download>{ext}</a>)}</span>;
}

// ---- all models ---------------------------------------------------------------------------------------------------------------------------

function Models({ s }: { s: State }) {
  const base = useSignal(0), run = s.data.run.value!, set = s.choice.set.value;
  const t = asked(s, `${keyOf(s)} models ${base.value} ${JSON.stringify(set)}`, (cut) => s.client.models(run.id, { set, base: base.value }, cut)).state.value;
  return (
    <>
      <div class="explore-tools">
        {run.models.length > 1 && <label>Differences to <select value={base.value} onChange={(e) => (base.value = Number(e.currentTarget.value))}>{run.models.map((m, k) => <option key={m} value={k}>{m}</option>)}</select></label>}
        <Keep s={s} table="models" q={{ a: base.value }} />
      </div>
      {t.error ? <p class="note">{t.error}</p> : !t.value ? <Skeleton label="Summing up" /> : (
        <div class="models-view">
          <div class="models-table" role="region" aria-label="Models by metrics" tabIndex={0}>
            <table>
              <thead><tr><th scope="col">metric</th><th scope="col">model</th><th scope="col">at rest</th><th scope="col">over the orbit</th><th scope="col">worst of the orbit</th>{run.models.length > 1 && <th scope="col">difference to {run.models[base.value]}</th>}</tr></thead>
              <tbody>
                {t.value.rows.map((r, j) => (
                  <tr key={j} class={j > 0 && t.value!.rows[j - 1].metric !== r.metric ? 'next' : ''}>
                    <td>{run.metric_list[r.metric].title}{run.metric_list[r.metric].better === 'lower' ? ' ↓' : ' ↑'}</td><th scope="row">{run.models[r.model]}</th>
                    {[r.rest, r.orbit, r.worst].map((e, k) => <td key={k}>{e ? <>{num(e.mean)} <small>{interval(e.lo, e.hi)}</small></> : '–'}</td>)}
                    {run.models.length > 1 && <td>{r.difference ? <>{signed(r.difference.mean)} <small>{interval(r.difference.lo, r.difference.hi)} {r.verdict}</small></> : '–'}</td>}
                  </tr>
                ))}
              </tbody>
            </table>
            <p class="note">{count(t.value.n)} samples, {level(t.value.confidence)} intervals clustered by sample; differences are taken sample by sample.</p>
          </div>
          <Pareto run={run} t={t.value} />
        </div>
      )}
    </>
  );
}

/** How good at rest against how much it changes when moved. */
function Pareto({ run, t }: { run: api.Run; t: api.Models }) {
  const target = run.metric_list.findIndex((m) => m.ref === 'target'), self = run.metric_list.findIndex((m) => m.ref === 'self');
  const good = target >= 0 ? target : 0, row = (model: number, metric: number) => t.rows.find((r) => r.model === model && r.metric === metric);
  const higher = run.metric_list[good].better === 'higher';
  const points = run.models.map((_, m): [number, number] => {
    const a = row(m, good)?.rest?.mean ?? NaN, b = row(m, good)?.orbit.mean ?? NaN;
    return [self >= 0 ? (row(m, self)?.orbit.mean ?? NaN) : higher ? a - b : b - a, a];
  });
  const known = points.map((p, m) => ({ p, m })).filter(({ p }) => p.every(Number.isFinite));
  if (known.length < 2) return null;
  const better: ['higher' | 'lower', 'higher' | 'lower'] = [self >= 0 && run.metric_list[self].better === 'higher' ? 'higher' : 'lower', higher ? 'higher' : 'lower'];
  const front = pareto(known.map(({ p }) => p), better).map((k) => known[k].m);
  const range = (k: 0 | 1): [number, number] => { const v = known.map(({ p }) => p[k]), lo = Math.min(...v), hi = Math.max(...v), d = (hi - lo || Math.abs(hi) || 1) * 0.15; return [lo - d, hi + d]; };
  const w = 340, h = 230, [x0, x1] = range(0), [y0, y1] = range(1), x = (v: number) => 46 + ((w - 60) * (v - x0)) / (x1 - x0), y = (v: number) => h - 36 - ((h - 50) * (v - y0)) / (y1 - y0);
  const xs = self >= 0 ? `${run.metric_list[self].title} over the orbit` : `${run.metric_list[good].title}: change when moved`, ys = `${run.metric_list[good].title} at rest`;
  return (
    <figure class="pareto">
      <svg viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${ys} against ${xs}. ${known.map(({ p, m }) => `${run.models[m]}: ${num(p[1])}, ${num(p[0])}${front.includes(m) ? ', not beaten in both' : ''}`).join('. ')}`}>
        <path class="axis" d={`M46 10V${h - 36}H${w - 10}`} />
        {[x0, x1].map((v, k) => <text key={k} x={k ? w - 12 : 46} y={h - 22} text-anchor={k ? 'end' : 'start'}>{num(v)}</text>)}
        {[y0, y1].map((v, k) => <text key={k} x="42" y={k ? 18 : h - 38} text-anchor="end">{num(v)}</text>)}
        <text x={w / 2} y={h - 6} text-anchor="middle">{xs}</text>
        <text x="12" y={h / 2} text-anchor="middle" transform={`rotate(-90 12 ${h / 2})`}>{ys}</text>
        {known.map(({ p, m }) => (
          <g key={m}>
            {front.includes(m) ? <rect class="front" x={x(p[0]) - 5} y={y(p[1]) - 5} width="10" height="10" /> : <circle class="dot-open" cx={x(p[0])} cy={y(p[1])} r="5" />}
            <text x={x(p[0])} y={y(p[1]) - 9} text-anchor={x(p[0]) > w * 0.7 ? 'end' : x(p[0]) < w * 0.3 ? 'start' : 'middle'}>{run.models[m]}</text>
          </g>
        ))}
      </svg>
      <figcaption class="note">■ no other model is better in both.</figcaption>
    </figure>
  );
}

// ---- the worst slices -------------------------------------------------------------------------------------------------------------------

function Worst({ s }: { s: State }) {
  const k = useSignal<Nth>(0), of = useSignal<'mean' | 'change'>('mean'), which = still(s, k.value);
  const run = s.data.run.value!, model = s.place.shown.value[which], metric = s.place.metric.value;
  // All samples, whatever is chosen: choosing what was found must not begin another search.
  const t = asked(s, `${keyOf(s)} search ${model} ${metric} ${of.value} ${s.data.revision.value}`, (cut) => s.client.search(run.id, { set: {}, model, metric, of: of.value }, cut)).state.value;
  const show = (f: api.FoundSlice) => {
    if (f.set.rule) s.choice.choose({ slice: '', rule: f.set.rule, lasso: null, picked: null });
    else if (f.set.bits) {
      const mask = fromBits(f.set.bits, run.samples);
      s.choice.choose({ slice: '', rule: '', lasso: null, picked: Array.from(mask.keys()).filter((i) => mask[i]) });
    }
    s.tasks.say(`${count(f.n)} samples are chosen: ${f.conditions.join(' and ')}.`);
  };
  return (
    <>
      <div class="explore-tools">
        <Which s={s} k={which} set={(v) => (k.value = v)} />
        <label>Worse in <select value={of.value} onChange={(e) => (of.value = e.currentTarget.value as 'mean' | 'change')}><option value="mean">the mean over the orbit</option><option value="change" disabled={run.orbit.identity < 0}>what moving changes</option></select></label>
        <Keep s={s} table="search" q={{ metric: run.metrics[metric], of: of.value }} />
      </div>
      {t.error ? <p class="note">{t.error}</p> : !t.value ? <Skeleton label="Trying slices" /> : (
        <div class="models-table" role="region" aria-label="Slices that were found" tabIndex={0}>
          {t.value.slices.length === 0 ? <p>No slice of those that were tried is worse than the rest.</p> : (
            <table>
              <thead><tr><th scope="col">slice</th><th scope="col">samples</th><th scope="col">{quantity(s)}</th><th scope="col">of all others</th><th scope="col">worse by</th><th scope="col">by chance</th></tr></thead>
              <tbody>
                {t.value.slices.map((f) => (
                  <tr key={f.conditions.join()} class={(f.p ?? 1) > 1 - t.value!.confidence ? 'unsure' : ''}>
                    <th scope="row"><button type="button" class="link" onClick={() => show(f)} title={f.set.rule ? `Choose: ${f.set.rule}` : 'Choose these samples'}>{f.conditions.join(' and ')}</button></th>
                    <td>{count(f.n)}</td><td>{num(f.mean)}</td><td>{num(f.rest)}</td><td>{num(f.gap)} <small>{interval(f.lo, f.hi)}</small></td><td>p = {num(f.p)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <p class="note">{count(t.value.tried)} slices of one or two conditions with at least {count(t.value.least)} of {count(t.value.n)} samples were tried. Intervals hold for all of them at once, and <i>by chance</i> is how often the worst of all is as far apart when values are dealt out at random. {t.value.notes?.join(' ')}</p>
        </div>
      )}
    </>
  );
}

// ---- every curve ------------------------------------------------------------------------------------------------------------------------

const mostCurves = 300;
const bins = 24;

function Curves({ s }: { s: State }) {
  const k = useSignal<Nth>(0), which = still(s, k.value), o = s.data.group.value!, range = s.place.range.value;
  const m = s.data.curves[which].state.value, mask = s.choice.mask.value, scale = { lo: range.lo ?? 0, hi: range.hi ?? 1 };
  if (m.error) return <p class="note">{m.error}</p>;
  if (!m.value) return m.busy ? <Skeleton label="Loading the curves" /> : <p class="note">The curves of all samples are too many for the page; the tables of nero export hold them.</p>;
  const v = m.value, chosen: number[] = [];
  for (let i = 0; i < v.n; i++) if (!mask || mask[i]) chosen.push(i);
  const drawn = spread(chosen.length, mostCurves).map((j) => chosen[j]), side = 320;
  const curve = (i: number) => Array.from({ length: v.e }, (_, g) => at(v, i, g));
  const mean = Array.from({ length: v.e }, (_, g) => { let t = 0, n = 0; for (const i of chosen) { const x = at(v, i, g); if (x === x) { t += x; n++; } } return n ? t / n : NaN; });
  const hi = range.log ? Math.max(...mean.filter((x) => x === x), 1e-300) * 3 : scale.hi;
  return (
    <>
      <div class="explore-tools"><Which s={s} k={which} set={(x) => (k.value = x)} /></div>
      <div class="curves-view">
        <figure>
          <svg viewBox={`0 0 ${side} ${side}`} class="ice" role="img" aria-label={`${quantity(s)} along the orbit of ${count(drawn.length)} samples, each a thin line, and their mean, from ${num(Math.min(...mean.filter((x) => x === x)))} to ${num(Math.max(...mean.filter((x) => x === x)))}.`}>
            {drawn.map((i) => <path key={i} class={i === s.place.sample.value ? 'one here' : 'one'} d={spark(curve(i), o, scale.lo, hi, side)} />)}
            <path class={`mean m${inkOf(which)}`} d={spark(mean, o, scale.lo, hi, side)} />
          </svg>
          <figcaption class="note">Each thin line is a sample{drawn.length < chosen.length ? `, ${count(drawn.length)} of ${count(chosen.length)}` : ''}; the thick one is the mean. {num(scale.lo)} to {num(hi)}.</figcaption>
        </figure>
        <Histogram s={s} />
      </div>
    </>
  );
}

/** How the samples are spread, by their mean over the orbit, and at rest. */
function Histogram({ s }: { s: State }) {
  const range = s.place.range.value, lo = range.lo ?? 0, hi = range.hi ?? 1, mask = s.choice.mask.value, h = 120, w = 320;
  const what = [['mean', 'mean over the orbit'], ['identity', 'at rest']] as const;
  const all = s.place.shown.value.flatMap((_, k) => {
    const st = s.data.stats[k].state.value.value;
    return st ? what.map(([f, text]) => ({ k, text, name: modelName(s, k), h: histogram(st[f], bins, lo, hi > lo ? hi : lo + 1, mask) })) : [];
  });
  return (
    <div class="histograms">
      {all.map((x) => {
        const most = Math.max(1, ...x.h.counts);
        return (
          <figure key={`${x.k} ${x.text}`}>
            <svg viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${x.name}, ${quantity(s)} ${x.text}: ${Array.from(x.h.counts).map((c, b) => (c ? `${count(c)} from ${num(x.h.edges[b])} to ${num(x.h.edges[b + 1])}` : '')).filter(Boolean).join('; ')}`}>
              {Array.from(x.h.counts).map((c, b) => <rect key={b} class={`bar m${inkOf(x.k)}`} x={(b * w) / bins + 0.5} width={w / bins - 1} y={h - (h * c) / most} height={(h * c) / most} />)}
            </svg>
            <figcaption class="note">{x.name}, {quantity(s)} {x.text}, {num(lo)} to {num(hi)}{x.h.missing ? `; ${count(x.h.missing)} missing` : ''}</figcaption>
          </figure>
        );
      })}
    </div>
  );
}

// ---- notes ------------------------------------------------------------------------------------------------------------------------------

function Notes({ s }: { s: State }) {
  const run = s.data.run.value!, i = s.place.sample.value, id = s.data.ids.value[i] ?? '';
  const slot = asked(s, `${run.id} remarks ${s.data.revision.value}`, (cut) => s.client.remarks(run.id, cut)), all = slot.state.value;
  const mine = all.value?.doc.samples.find((x) => x.id === id), note = useRef<HTMLTextAreaElement>(null), tags = useRef<HTMLInputElement>(null);
  const busy = useSignal(false);
  const keep = async () => {
    const said = { id, note: note.current?.value.trim() ?? '', tags: [...new Set((tags.current?.value ?? '').split(',').map((t) => t.trim()).filter(Boolean))] };
    busy.value = true;
    try {
      const doc = await s.client.remark(run.id, (d) => ({ ...d, samples: [...d.samples.filter((x) => x.id !== id), ...(said.note || said.tags.length ? [said] : [])] }));
      slot.set({ doc, tag: '' });
      s.tasks.say(said.note || said.tags.length ? `The note on ${id} is kept.` : `The note on ${id} is gone.`);
    } catch (e) {
      s.tasks.notify('error', `The note was not kept. ${words(e)}`);
    } finally {
      busy.value = false;
    }
  };
  if (run.id.includes('+')) return <p class="note">Of two runs side by side nothing is kept; open the run that it is said of.</p>;
  if (all.error) return <p class="note">{all.error}</p>;
  if (!all.value) return <Skeleton label="Loading the notes" />;
  return (
    <div class="notes">
      <form key={`${id} ${mine?.note ?? ''} ${mine?.tags?.join() ?? ''}`} onSubmit={(e) => { e.preventDefault(); void keep(); }}>
        <label>Note on {id} (#{i})<textarea ref={note} rows={3} maxLength={2000} defaultValue={mine?.note ?? ''} /></label>
        <label>Tags, with commas between them <input ref={tags} type="text" maxLength={2000} defaultValue={mine?.tags?.join(', ') ?? ''} placeholder="blurred, wrong label" /></label>
        <span><button type="submit" disabled={busy.value}>Keep</button> <span class="note">Kept beside the run, for all who open it; <code>tag = "blurred"</code> chooses samples.</span></span>
      </form>
      {all.value.doc.samples.length > 0 && (
        <table>
          <thead><tr><th scope="col">sample</th><th scope="col">tags</th><th scope="col">note</th></tr></thead>
          <tbody>{all.value.doc.samples.map((x) => {
            const at = s.data.ids.value.indexOf(x.id);
            return <tr key={x.id}><th scope="row">{at >= 0 ? <button type="button" class="link" onClick={() => s.place.setSample(at)}>{x.id}</button> : x.id}</th><td>{x.tags?.join(', ')}</td><td>{x.note}</td></tr>;
          })}</tbody>
        </table>
      )}
      <p><Keep s={s} table="remarks" q={{}} /></p>
    </div>
  );
}
