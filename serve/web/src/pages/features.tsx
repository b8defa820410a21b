// The page of features: how far they go when an input moves, where to, which planes of them turn, and whether another release can read the index.

import { useMemo, useState } from 'preact/hooks';
import type { Against, Algebra, Generators, Given, Model, Near, Plane, Report, Sequences, Split } from '../core/embedding';
import { saveTable } from '../core/export';
import type { State } from '../core/state';
import { many } from '../core/format';
import { CurvePlot, Frame, Mark } from '../render/chart';
import { count, num } from '../render/text';
import { beyondWords, chosen, counted, estimated, generatorFacts, heldCurve, lengthCurve, mapCurve, moveTable, orbitsOf, percent, planeOf, planeTable, nearCurve, ratioCurve, recallTable, releaseFacts, retrievalWords, splitCurve } from './featured';
import { Card, choose, Models, Scroll, SheetPage, Verdict } from './sheets';

/** The page of features. */
export function FeaturesPage({ s }: { s: State }) {
  return <SheetPage s={s} kind="embed" none="Nothing is known of features here: nero embed STUDY -o embedding.json looks at them, and nero serve embedding.json shows it." draw={(a) => <Features s={s} r={a.document as Report} />} />;
}

function Features({ s, r }: { s: State; r: Report }) {
  const m = chosen(r, s.place.detail.value['model'] ?? '');
  if (!m) return <p class="empty">This report is of no model.</p>;
  return (
    <>
      <Models s={s} names={r.features.map((x) => x.model)} now={m.model} badge={(k) => <Verdict word={r.features[k]!.state} />} />
      <One key={m.model} s={s} r={r} m={m} />
    </>
  );
}

function One({ s, r, m }: { s: State; r: Report; m: Model }) {
  const caption = [m.sentence, `${m.model}, ${m.value}, seed ${r.seed}`], notes = m.notes ?? [];
  const ratios = useMemo(() => ratioCurve(m), [m]), maps = useMemo(() => mapCurve(m), [m]), all = m.transformations ?? [];
  const r2 = new Map((m.maps?.by ?? []).map((x) => [x.element, x.r2]));
  return (
    <>
      <section class="card summary" aria-labelledby="features-title">
        <h2 id="features-title">{m.model} <span class="sub"><Verdict word={m.state} /></span></h2>
        <p class="answer">{m.sentence}</p>
        <p class="note">{count(m.width)} numbers of {m.value}{m.effective_rank ? `, effective rank ${estimated(m.effective_rank)}` : ''}, {count(m.constant_units)} never change. {r.group}: {r.measure}. {r.samples.fit > 0 && `Fitted on ${count(r.samples.fit)} samples, chosen on ${count(r.samples.choose)}; what stands here is of ${count(r.samples.confirm)} others (${count(r.samples.objects_confirm)} objects). `}Intervals over objects of {percent(r.confidence)}.</p>
      </section>
      {all.length > 0 && (
        <Card id="moves" title="How far, and where to" sub={many(all.length, 'element')}>
          <div class="plots">
            {ratios && <CurvePlot title="How far features go" curve={ratios} caption={caption} file={['features', m.model, 'ratio']} note="Over how far two objects are apart: 0 they stay, 1 nothing is left of the object. There and back: what resampling alone does." />}
            {maps && <CurvePlot title="What a linear map explains" curve={maps} caption={caption} file={['features', m.model, 'maps']} note={`Of where features are after an element, on objects that it was not fitted to.${m.maps?.homomorphism === undefined ? '' : ` Maps compose as their elements do up to ${num(m.maps.homomorphism)} (0: exactly).`}`} />}
          </div>
          <p>{m.retrieval && <>The right view of an object among its views: {retrievalWords(m.retrieval)}. </>}{m.pose && <>All of the features say the element ({m.pose.of}) with R² {estimated(m.pose.r2)}.</>}</p>
          <p><button onClick={() => saveTable(moveTable(m), 'csv', ['features', m.model, 'elements'])} aria-label="Save the elements as CSV">CSV</button></p>
          <Scroll label="Elements" high>
            <table>
              <thead><tr><th scope="col" class="words">element</th><th scope="col">ratio</th><th scope="col">there and back</th><th scope="col">nearer than others</th><th scope="col">cosine</th><th scope="col">own</th><th scope="col">others</th><th scope="col">R² of the map</th><th scope="col" class="words">goes furthest</th></tr></thead>
              <tbody>{all.map((t) => <tr key={t.element}><th scope="row" class="words">{t.element}</th><td>{estimated(t.ratio)}</td><td>{t.floor ? num(t.floor.value) : 'nothing resampled'}</td><td>{estimated(t.auc)}</td><td>{estimated(t.cosine)}</td><td>{estimated(t.diagonal)}</td><td>{estimated(t.off_diagonal)}</td><td>{estimated(r2.get(t.element))}</td><td class="words">{t.worst}, {num(t.worst_ratio)}</td></tr>)}</tbody>
            </table>
          </Scroll>
        </Card>
      )}
      {m.generators && <Turning s={s} r={r} m={m} g={m.generators} caption={caption} />}
      {m.algebra && <Several of={m.algebra} />}
      {m.given && <Listed of={m.given} model={m.model} caption={caption} />}
      {m.sequences && <Routes of={m.sequences} model={m.model} caption={caption} />}
      {m.split && <Parts of={m.split} model={m.model} caption={caption} />}
      {m.extrapolation && <Card id="beyond" title="Beyond the window"><p>{beyondWords(m.extrapolation)} Features that are affine in it keep R².</p></Card>}
      {m.against && <Release a={m.against} model={m.model} caption={caption} />}
      {notes.length > 0 && <Card id="notes" title="Not asked"><ul>{notes.map((n) => <li key={n}>{n}</li>)}</ul></Card>}
    </>
  );
}

/** The generator: its frequencies, and the planes that turn. */
function Turning({ s, r, m, g, caption }: { s: State; r: Report; m: Model; g: Generators; caption: readonly string[] }) {
  const now = planeOf(g, s.place.detail.value['plane'] ?? '');
  return (
    <Card id="generator" title="One matrix for the whole group" sub={`${count(g.elements_fitted)} elements fitted, ${count(g.elements_unseen)} unseen`}>
      <div class="plots">
        {now ? (
          <div>
            {g.planes.length > 1 && (
              <div class="bar"><span class="segments" role="group" aria-label="Plane">{g.planes.map((p, k) => <button key={k} aria-pressed={p === now} onClick={() => choose(s, 'plane', String(k + 1))}>{num(p.frequency_fit)}×</button>)}</span></div>
            )}
            <PlanePlot key={g.planes.indexOf(now)} p={now} g={g} elements={r.elements} caption={caption} model={m.model} />
          </div>
        ) : <p class="note">No plane of the features turns.</p>}
        <div>
          <dl class="facts">{generatorFacts(g).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
          <h3>Frequencies</h3>
          <Scroll label="Frequencies">
            <table>
              <thead><tr><th scope="col">times the input</th><th scope="col" class="words">interval</th></tr></thead>
              <tbody>{g.frequencies_fit.map((f, k) => <tr key={k}><th scope="row">{num(f.value)}</th><td class="words">{estimated(f).slice(num(f.value).length)}</td></tr>)}</tbody>
            </table>
          </Scroll>
          <p class="note">How many times faster than the input a plane of the features turns; 0 is a direction that stays. Fitted, and so of the samples to fit.</p>
        </div>
      </div>
    </Card>
  );
}

/** A plane of features with the orbits of a few samples, and the circles that the generator says. */
function PlanePlot({ p, g, elements, caption, model }: { p: Plane; g: Generators; elements: readonly string[]; caption: readonly string[]; model: string }) {
  const { orbits, reach } = useMemo(() => orbitsOf(p, g, elements), [p, g, elements]);
  const title = `The plane that turns ${num(p.frequency_fit)} times as fast`, [at, setAt] = useState<readonly [number, number] | null>(null);
  const table = useMemo(() => planeTable(title, orbits), [title, orbits]);
  const size = 400, half = size / 2, unit = (half - 14) / reach, px = (x: number) => half + x * unit, py = (y: number) => half - y * unit;
  const near = (e: PointerEvent) => {
    const b = (e.currentTarget as Element).getBoundingClientRect(), mx = ((e.clientX - b.left) / b.width) * size, my = ((e.clientY - b.top) / b.height) * size;
    let best: readonly [number, number] | null = null, least = 24 * 24;
    orbits.forEach((o, i) => o.at.forEach((q, k) => {
      const d = (px(q.x) - mx) ** 2 + (py(q.y) - my) ** 2;
      if (d < least) [best, least] = [[i, k], d];
    }));
    setAt(best);
  };
  const key = (e: KeyboardEvent) => {
    const [i, k] = at ?? [0, -1], last = (orbits[i]?.at.length ?? 1) - 1, n = orbits.length - 1;
    if (e.key === 'Escape') setAt(null);
    const to = ({ ArrowRight: [i, Math.min(last, k + 1)], ArrowLeft: [i, Math.max(0, k - 1)], Home: [i, 0], End: [i, last], ArrowDown: [Math.min(n, i + 1), Math.max(0, k)], ArrowUp: [Math.max(0, i - 1), Math.max(0, k)] } as Record<string, readonly [number, number]>)[e.key];
    if (!to) return;
    e.preventDefault();
    setAt(to);
  };
  const o = at ? orbits[at[0]] : undefined, q = o?.at[at![1]];
  return (
    <Frame title={title} caption={caption} file={['features', model, 'plane']} table={table} note="Points: where samples lie at each element; the ring is the identity. Dashed: where the generator says that they go from there; a line leads from each point to where it would be.">
      <div class="chart plane">
        <svg viewBox={`0 0 ${size} ${size}`} role="application" aria-roledescription="plot" tabindex={0} onPointerMove={near} onPointerLeave={() => setAt(null)} onKeyDown={key}
          aria-label={`${title}: the orbits of ${orbits.length} samples, with the circles that the generator says. Arrow keys go through elements and samples.`}>
          <line class="grid" x1={0} x2={size} y1={half} y2={half} /><line class="grid" x1={half} x2={half} y1={0} y2={size} />
          {orbits.map((d, i) => (
            <g key={i}>
              <path class={`curve said c${i % 6}`} d={d.path} transform={`translate(${half} ${half}) scale(${unit})`} vector-effect="non-scaling-stroke" />
              {d.at.map((v, k) => v.said && <line key={k} class={`curve off c${i % 6}`} x1={px(v.x)} y1={py(v.y)} x2={px(v.said.x)} y2={py(v.said.y)} />)}
              {d.at.map((v, k) => <Mark key={k} k={i} x={px(v.x)} y={py(v.y)} />)}
              {d.start && <circle class="cursor" cx={px(d.start.x)} cy={py(d.start.y)} r={7} />}
            </g>
          ))}
          {q && <circle class="cursor" cx={px(q.x)} cy={py(q.y)} r={10} />}
        </svg>
        <output class="at" aria-live="polite">{o && q ? `${o.sample}, ${q.label}: ${num(q.x)}, ${num(q.y)}` : ''}</output>
        <ul class="series">{orbits.map((d, i) => <li key={i}><svg width="30" height="12" viewBox="0 0 30 12" aria-hidden="true"><path class={`curve c${i % 6}`} d="M1 6H29" /><Mark k={i} x={15} y={6} /></svg>{d.sample}</li>)}</ul>
      </div>
    </Frame>
  );
}

/** A matrix for each generator of a group with several. */
function Several({ of }: { of: Algebra }) {
  return (
    <Card id="algebra" title="A matrix for each generator" sub={`${count(of.elements_fitted)} elements fitted, ${count(of.elements_unseen)} unseen`}>
      <p>Together they explain R² {estimated(of.r2_unseen)} of features at elements that they were not fitted to, and {estimated(of.r2_seen)} at the others; a map for each element {estimated(of.r2_ridge)}. They move {count(of.axes)} directions, which hold {percent(of.held_fit)} of the variance.</p>
      <div class="plots">
        <div>
          <h3>Generators</h3>
          <Scroll label="Generators">
            <table>
              <thead><tr><th scope="col" class="words">generator</th><th scope="col" class="words">frequencies</th><th scope="col">growth</th></tr></thead>
              <tbody>{of.generators.map((g) => <tr key={g.of}><th scope="row" class="words">{g.of}, per {g.unit}</th><td class="words wrap">{g.frequencies_fit.map(estimated).join(', ')}</td><td>{num(g.growth_fit)}</td></tr>)}</tbody>
            </table>
          </Scroll>
        </div>
        {of.brackets_fit.length > 0 && (
          <div>
            <h3>Brackets</h3>
            <Scroll label="Brackets">
              <table>
                <thead><tr><th scope="col" class="words">of</th><th scope="col" class="words">and</th><th scope="col">off by</th></tr></thead>
                <tbody>{of.brackets_fit.map((b) => <tr key={b.first + b.second}><th scope="row" class="words">{b.first}</th><td class="words">{b.second}</td><td>{num(b.defect)}</td></tr>)}</tbody>
              </table>
            </Scroll>
            <p class="note">How far the bracket of two matrices is from what that of the generators is made of, over the product of their sizes: 0 is a representation.</p>
          </div>
        )}
      </div>
    </Card>
  );
}

/** Views that somebody has listed: how near the inputs of one thing are. */
function Listed({ of, model, caption }: { of: Given; model: string; caption: readonly string[] }) {
  const curve = useMemo(() => nearCurve(of), [of]), row = (n: Near, k: number) => (
    <tr key={k}><th scope="row" class="words">{n.views?.length ? n.views.join(' and ') : n.steps === 1 ? 'listed' : `over ${count(n.steps)} listed pairs`}</th><td>{count(n.pairs)}</td><td>{count(n.things)}</td><td>{estimated(n.ratio)}</td><td>{estimated(n.auc)}</td><td class="words wrap">{n.worst.join(' and ')}, {num(n.worst_ratio)}</td></tr>
  );
  return (
    <Card id="given" title="Listed views" sub={`${count(of.inputs)} inputs of ${count(of.things)} things`}>
      {curve && <div class="plots"><CurvePlot title="Is a pair nearer than two things?" curve={curve} caption={caption} file={['features', model, 'pairs']} note="AUC: the probability that two inputs of one thing are nearer than two of two things: 1 always, 0.5 a guess. Pairs that follow from listed ones are asked, too." /></div>}
      <Scroll label="Listed views" high>
        <table>
          <thead><tr><th scope="col" class="words">pairs</th><th scope="col">pairs</th><th scope="col">things</th><th scope="col">ratio</th><th scope="col">AUC</th><th scope="col" class="words">furthest apart</th></tr></thead>
          <tbody>{[...of.steps, ...(of.views ?? [])].map(row)}</tbody>
        </table>
      </Scroll>
      {of.same_input > 0 && <p class="note">{count(of.same_input)} pairs are left out: both views are one input.</p>}
    </Card>
  );
}

/** Sequences of views: what their order, their route and their number do. */
function Routes({ of, model, caption }: { of: Sequences; model: string; caption: readonly string[] }) {
  const curve = useMemo(() => lengthCurve(of), [of]);
  return (
    <Card id="sequences" title="Sequences of views" sub={`${of.views} and ${of.actions}`}>
      <div class="plots"><CurvePlot title="What order, route and length do" curve={curve} caption={caption} file={['features', model, 'sequences']} note="How far the vector goes, over how far two samples are apart: 0 it stays, 1 nothing is left of the sample." /></div>
      <Scroll label="Sequences" high>
        <table>
          <thead><tr><th scope="col">views</th><th scope="col">order</th><th scope="col">nearer than others</th><th scope="col">route</th><th scope="col">nearer than others</th><th scope="col">from the longest</th><th scope="col">MRR of the next view</th><th scope="col">a guess</th><th scope="col">effective rank</th></tr></thead>
          <tbody>{of.lengths.map((l) => <tr key={l.views}><th scope="row">{count(l.views)}</th><td>{estimated(l.order?.ratio)}</td><td>{estimated(l.order?.auc)}</td><td>{estimated(l.route?.ratio)}</td><td>{estimated(l.route?.auc)}</td><td>{estimated(l.longest?.ratio)}</td><td>{estimated(l.retrieval?.mrr)}</td><td>{l.retrieval ? num(l.retrieval.chance) : ''}</td><td>{estimated(l.effective_rank)}</td></tr>)}</tbody>
        </table>
      </Scroll>
    </Card>
  );
}

/** Which directions hold the object, and which its pose. */
function Parts({ of, model, caption }: { of: Split; model: string; caption: readonly string[] }) {
  const curve = useMemo(() => splitCurve(of), [of]);
  return (
    <Card id="split" title="What holds the object, and what its pose" sub={`of ${count(of.mu.length)} directions`}>
      <p>{counted(of.invariant)} stay, {counted(of.moving)} hold no object, {counted(of.pose)} are the same for every object and so pose alone.</p>
      <div class="plots">
        <CurvePlot title="Directions" curve={curve} caption={caption} file={['features', model, 'split']} note="μ: 0 stays along orbits, 1 holds no object. ν: 1 is the same for every object." />
        <div>
          <h3>What each part knows</h3>
          <Scroll label="What each part knows">
            <table>
              <thead><tr><th scope="col" class="words">part</th><th scope="col">directions</th><th scope="col">same object</th><th scope="col">a guess</th><th scope="col">R² of the element</th></tr></thead>
              <tbody>{of.leakage.map((l) => <tr key={l.part}><th scope="row" class="words">{l.part}</th><td>{count(l.directions)}</td><td>{estimated(l.identity)}</td><td>{num(l.chance)}</td><td>{estimated(l.element.r2)}</td></tr>)}</tbody>
            </table>
          </Scroll>
          <p class="note">What a part that stays knows of the element has leaked, and so has what a part of pose alone knows of the object.</p>
        </div>
      </div>
    </Card>
  );
}

/** Another release beside the model. */
function Release({ a, model, caption }: { a: Against; model: string; caption: readonly string[] }) {
  const held = useMemo(() => heldCurve(a), [a]);
  return (
    <Card id="release" title={`Can ${a.model} read the index of ${model}?`}>
      <p><Verdict word={a.index} /> {a.sentence || `${a.why ?? a.reading}.`}</p>
      {a.why === undefined && <div class="plots">
        <dl class="facts">{releaseFacts(a).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
        {held && <CurvePlot title="Held near a turn" curve={held} caption={caption} file={['features', model, 'turn']} note="What maps explain of the old features, the further they may be from a turn." />}
      </div>}
      {a.backward.length > 0 && (
        <>
          <h3>Queries by new features in the old index <button onClick={() => saveTable(recallTable(a.backward), 'csv', ['features', model, 'recall'])} aria-label="Save what queries find as CSV">CSV</button></h3>
          <Scroll label="What queries find" high>
            <table>
              <thead><tr><th scope="col" class="words">through</th><th scope="col" class="words">right</th><th scope="col">among</th><th scope="col">new finds</th><th scope="col">old finds</th><th scope="col">difference</th><th scope="col">a guess</th><th scope="col" class="words">state</th></tr></thead>
              <tbody>{a.backward.map((b, k) => <tr key={k}><th scope="row" class="words">{b.adapter}</th><td class="words wrap">{b.right}</td><td>{count(b.k)}</td><td>{estimated(b.new)}</td><td>{estimated(b.old)}</td><td>{estimated(b.difference)}</td><td>{num(b.chance)}</td><td class="words"><Verdict word={b.state} /></td></tr>)}</tbody>
            </table>
          </Scroll>
        </>
      )}
    </Card>
  );
}
