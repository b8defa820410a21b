// The page of weights: which stored numbers may be moved, and what two checkpoints are to each other.

import { useMemo } from 'preact/hooks';
import { saveTable } from '../core/export';
import type { State } from '../core/state';
import type { Aligned, Canonical, Report } from '../core/weights';
import { CurvePlot } from '../render/chart';
import { count, num } from '../render/text';
import { Card, Scroll, SheetPage, Verdict } from './sheets';
import { apartWords, axesOf, layerTable, lossCurve, noteOf, pathCurve } from './weighed';

/** The page of weights. */
export function WeightsPage({ s }: { s: State }) {
  return <SheetPage s={s} kind="weights" none="Nothing is known of weights here: nero weights MODEL -o weights.json looks at them, and nero serve weights.json shows it." draw={(a) => <Weighed r={a.document as Report} />} />;
}

function Weighed({ r }: { r: Report }) {
  const names = r.models.map((m) => m.name).join(' and ');
  return (
    <>
      <section class="card summary" aria-labelledby="weights-title">
        <h2 id="weights-title">{names} {r.verdict && <span class="sub"><Verdict word={r.verdict} /></span>}</h2>
        <p class="answer">{r.sentence}</p>
        <p class="note">{count(r.probes)} probes, {r.from}, seed {r.seed}; {r.models.map((m) => `${count(m.numbers)} numbers in ${m.name}`).join(', ')}. An error is the largest change of an answer over its centred scale s.</p>
      </section>
      {r.aligned && <Two a={r.aligned} caption={[names, r.sentence]} />}
      {r.canonical && <Form c={r.canonical} />}
      {(r.symmetries ?? []).length > 0 && (
        <Card id="symmetries" title="Symmetries" sub="each was applied with a random element">
          <Scroll label="Symmetries" high>
            <table>
              <thead><tr><th scope="col" class="words">what</th><th scope="col" class="words">where</th><th scope="col">units</th><th scope="col" class="words">element</th><th scope="col">error</th><th scope="col" class="words">state</th></tr></thead>
              <tbody>{r.symmetries!.map((y, k) => (
                <tr key={k}><th scope="row" class="words">{y.kind}</th><td class="words wrap">{y.where}{y.before ? ` before ${y.before}` : ''}</td><td>{count(y.units)}{y.blocks > 1 ? ` in each of ${count(y.blocks)}` : ''}</td><td class="words">{y.element}</td><td>{apartWords(y)}</td><td class="words wrap"><Verdict word={y.state} /> {noteOf(y)}</td></tr>
              ))}</tbody>
            </table>
          </Scroll>
        </Card>
      )}
      <Axes r={r} />
    </>
  );
}

/** Two checkpoints. */
function Two({ a, caption }: { a: Aligned; caption: readonly string[] }) {
  const path = useMemo(() => (a.path.length > 0 ? pathCurve(a) : null), [a]), loss = useMemo(() => lossCurve(a), [a]);
  const yes = (b: boolean) => (b ? 'yes' : 'no');
  const facts: readonly [string, string][] = [['same file', yes(a.digests_equal)], ['same weights', yes(a.numbers_equal)], ['same canonical form', yes(a.canonical_equal)], ['answers apart, of their scale', apartWords(a.function)], ['weights apart as stored', num(a.before)], ['weights apart with units paired', num(a.after)]];
  return (
    <Card id="two" title="Two checkpoints">
      <dl class="facts">
        {facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}
      </dl>
      {path && (
        <div class="plots">
          <CurvePlot title="On the straight line" curve={path} caption={caption} file={['weights', 'line']} note={`How far the models between the two answer from either end.${a.batch_norm_statistics ? ' Statistics of batch norms are averaged as the weights are: a barrier in between may be theirs.' : ''}`} />
          {loss && <CurvePlot title="Loss on the line" curve={loss} caption={caption} file={['weights', 'loss']} note={a.loss} />}
        </div>
      )}
      {a.axes.length > 0 && (
        <>
          <h3>Pairs of units</h3>
          <Scroll label="Pairs of units" high>
            <table>
              <thead><tr><th scope="col" class="words">first at</th><th scope="col">units</th><th scope="col">moved</th><th scope="col">correlation</th><th scope="col">unmatched</th><th scope="col">ties</th><th scope="col">by weights</th></tr></thead>
              <tbody>{a.axes.map((x) => <tr key={x.axis}><th scope="row" class="words">{x.name}</th><td>{count(x.units * x.blocks)}</td><td>{count(x.moved)}</td><td>{num(x.correlation)}</td><td>{count(x.unmatched)}</td><td>{count(x.ties)}</td><td>{count(x.refined)}</td></tr>)}</tbody>
            </table>
          </Scroll>
        </>
      )}
      {a.layers.length > 0 && (
        <>
          <h3>Layers <button onClick={() => saveTable(layerTable(a), 'csv', ['weights', 'layers'])} aria-label="Save the layers as CSV">CSV</button></h3>
          <Scroll label="Layers" high>
            <table>
              <thead><tr><th scope="col" class="words">tensor</th><th scope="col" class="words">shape</th><th scope="col">apart as stored</th><th scope="col">paired</th></tr></thead>
              <tbody>{a.layers.slice(0, 1000).map((l) => <tr key={l.tensor}><th scope="row" class="words">{l.tensor}</th><td class="words">{l.shape.join('×')}</td><td>{num(l.before)}</td><td>{num(l.after)}</td></tr>)}</tbody>
            </table>
          </Scroll>
        </>
      )}
    </Card>
  );
}

/** What was done to bring the weights into canonical form. */
function Form({ c }: { c: Canonical }) {
  return (
    <Card id="canonical" title="Canonical form" sub={c.same ? 'the weights had it already' : `the answers moved by ${apartWords(c)} s`}>
      <Scroll label="Canonical form" high>
        <table>
          <thead><tr><th scope="col" class="words">first at</th><th scope="col">units</th><th scope="col">scaled</th><th scope="col">turned</th><th scope="col">moved</th><th scope="col">ties</th><th scope="col">dead</th></tr></thead>
          <tbody>{c.axes.map((x) => <tr key={x.axis}><th scope="row" class="words">{x.name}</th>{[x.units, x.scaled, x.turned, x.moved, x.ties, x.dead].map((n, k) => <td key={k}>{count(n)}</td>)}</tr>)}</tbody>
        </table>
      </Scroll>
    </Card>
  );
}

/** Axes: units that may change places, and what stays. */
function Axes({ r }: { r: Report }) {
  const { free, fixed } = axesOf(r), gaps = r.gaps ?? [];
  return (
    <Card id="axes" title="Axes" sub={`${count(free.length)} of ${count(r.axes.length)} may change their order`}>
      {free.length > 0 && (
        <Scroll label="Axes" high>
          <table>
            <thead><tr><th scope="col">axis</th><th scope="col" class="words">first at</th><th scope="col">units</th><th scope="col" class="words">stored tensors</th></tr></thead>
            <tbody>{free.map((a) => <tr key={a.index}><th scope="row">{a.index}</th><td class="words wrap">{a.name}</td><td>{count(a.units)}{a.blocks > 1 ? ` in each of ${count(a.blocks)}` : ''}</td><td class="words wrap">{a.stored.slice(0, 12).join(', ')}{a.stored.length > 12 ? `, ${a.stored.length - 12} more` : ''}</td></tr>)}</tbody>
          </table>
        </Scroll>
      )}
      {fixed.length > 0 && <p class="note">Others keep their order: {fixed.map((f) => `${count(f.n)} (${f.why})`).join(', ')}.</p>}
      {gaps.length > 0 && <details><summary>Not looked into: {count(gaps.length)} nodes</summary><ul>{gaps.slice(0, 500).map((g) => <li key={g.node}>{g.node} ({g.op}): {g.why}</li>)}</ul></details>}
    </Card>
  );
}
