// The page of data: do moved samples look like the others, how do they lie, do labels survive it, and what to do.

import { useMemo, useState } from 'preact/hooks';
import type { Labels, Report } from '../core/census';
import type { State } from '../core/state';
import { CurvePlot, Frame } from '../render/chart';
import { onDisc } from '../render/path';
import { count, num } from '../render/text';
import { aucCurve, cellWords, changed, labelCurve, roseOf, worst } from './census';
import { Card, choose, Scroll, SheetPage, Verdict } from './sheets';

/** The page of data. */
export function DataPage({ s }: { s: State }) {
  return <SheetPage s={s} kind="data" none="There is no report on data here: nero data STUDY -o data.json makes one, and nero serve data.json shows it." draw={(a) => <Data s={s} r={a.document as Report} />} />;
}

function Data({ s, r }: { s: State; r: Report }) {
  const caption = [r.sentence, `${count(r.samples)} samples of ${r.data}, ${r.group}, seed ${r.seed}`];
  const auc = useMemo(() => aucCurve(r), [r]), labels = useMemo(() => labelCurve(r), [r]);
  return (
    <>
      <section class="card summary" aria-labelledby="data-title">
        <h2 id="data-title">{r.data} under {r.group} <span class="sub"><Verdict word={r.state} />{r.survive && <> labels: <Verdict word={r.survive} /></>}</span></h2>
        <p class="answer">{r.sentence}</p>
        {r.do && <p class="gist">{r.do}</p>}
        <p class="note">{count(r.samples)} samples{r.value ? `, of each ${r.value} alone` : ''}; {r.measure}, the identity left out. A classifier reads {r.reading}{r.learned_fit ? `, and learned from ${count(r.learned_fit)} others` : ''}.</p>
      </section>
      {(r.advice ?? []).length > 0 && (
        <Card id="advice" title="What to do">
          <Scroll label="What to do"><table><thead><tr><th scope="col" class="words">do</th><th scope="col" class="words">because</th><th scope="col" class="words">rule</th></tr></thead>
            <tbody>{r.advice.map((a) => <tr key={a.rule}><td class="words wrap">{a.text}</td><td class="words wrap">{a.because}</td><td class="words">{a.rule}</td></tr>)}</tbody></table></Scroll>
        </Card>
      )}
      <div class="plots cards">
        <div class="card" id="auc">
          <CurvePlot title="Can moved samples be told from the others?" curve={auc} caption={caption} file={['data', 'auc']}
            note="AUC: how often a classifier ranks the moved one of two samples that it has not seen higher; 0.5 is a coin. There and back: what resampling alone shows. Control: samples that two random elements moved, which look alike whatever the data. An element is alike if its interval ends below the line, or below that of there and back." />
        </div>
        {labels && (
          <div class="card" id="labels">
            <CurvePlot title="Do labels survive it?" curve={labels} caption={caption} file={['data', 'labels']} note={`${count(r.labels!.asked)} samples were moved, and the ${r.labels!.neighbors} nearest of all others as they are say the label.`} />
          </div>
        )}
        {!labels && r.no_labels && <div class="card" id="labels"><h3>Do labels survive it?</h3><p class="note">Nobody can tell: {r.no_labels}.</p></div>}
      </div>
      <div class="plots cards">
        {r.labels && <Matrix s={s} l={r.labels} caption={caption} />}
        <Lying r={r} caption={caption} />
      </div>
      <Whole r={r} />
      <Card id="elements" title="All elements" sub={r.valid_range.all ? 'samples look the same at every one' : ''}>
        <Scroll label="All elements" high>
          <table>
            <thead><tr><th scope="col">element</th><th scope="col" class="words">samples</th><th scope="col">AUC</th><th scope="col">interval</th><th scope="col">there and back</th><th scope="col">interval</th>{r.labels && <><th scope="col" class="words">labels</th><th scope="col" class="words">that change</th></>}</tr></thead>
            <tbody>{r.elements.map((e, k) => {
              const f = r.labels?.elements[k];
              return (
                <tr key={e.name}>
                  <th scope="row">{e.name}</th><td class="words"><Verdict word={e.state} /></td><td>{num(e.auc?.value)}</td><td>[{num(e.auc?.low)}, {num(e.auc?.high)}]</td>
                  <td>{e.twin ? num(e.twin.value) : 'nothing resampled'}</td><td>{e.twin ? `[${num(e.twin.low)}, ${num(e.twin.high)}]` : ''}</td>
                  {f && <><td class="words"><Verdict word={f.state} /></td><td class="words wrap">{(f.of_classes ?? []).filter((c) => c.state === 'unsafe').map((c) => `${c.class} becomes ${c.into} (${c.count} of ${c.n})`).join('; ')}</td></>}
                </tr>
              );
            })}</tbody>
          </table>
        </Scroll>
      </Card>
      {(r.notes ?? []).length > 0 && <Card id="notes" title="Notes"><ul>{r.notes!.map((n) => <li key={n}>{n}</li>)}</ul></Card>}
    </>
  );
}

function Whole({ r }: { r: Report }) {
  const x = r.exact;
  return (
    <Card id="exact" title="Is the whole group a symmetry of the data?">
      {x.reason ? <p>{x.reason}</p> : (
        <>
          <p>{count(x.objects ?? 0)} samples with {x.copies} copies each, moved by random elements, are compared with 999 sets of such copies.</p>
          <Scroll label="Tests of the whole group"><table><thead><tr><th scope="col">statistic</th><th scope="col">p-value</th><th scope="col">corrected for several</th></tr></thead>
            <tbody>{(x.tests ?? []).map((t) => <tr key={t.name}><th scope="row">{t.name}</th><td>{num(t.p_value)}</td><td>{num(t.holm)}</td></tr>)}</tbody></table></Scroll>
          <p class="note">If the data have the symmetry, a p-value is below 0.05 in {x.resampled ? 'about ' : ''}one of twenty data sets, whatever their size.</p>
        </>
      )}
    </Card>
  );
}

/** How samples lie. */
function Lying({ r, caption }: { r: Report; caption: readonly string[] }) {
  const rose = useMemo(() => roseOf(r.pose, 100), [r]), [at, setAt] = useState(-1), p = r.pose;
  if (!p) return null;
  if (!rose) return <div class="card" id="pose"><h3>How the samples lie</h3><p>{p.sentence}</p></div>;
  const key = (e: KeyboardEvent) => {
    const n = rose.petals.length, to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: n - 1 }[e.key];
    if (e.key === 'Escape') setAt(-1);
    if (to === undefined) return;
    e.preventDefault();
    setAt((to + n) % n);
  };
  const ray = (a: number, r1: number) => onDisc(a, 1, r1);
  const table = { title: 'How the samples lie', notes: caption, columns: [{ name: 'from_deg', kind: 'float64' as const }, { name: 'to_deg', kind: 'float64' as const }, { name: 'samples', kind: 'integer' as const }], rows: rose.petals.map((q, k) => { const step = (rose.flat ? 180 : 90) / rose.petals.length; return [k * step, (k + 1) * step, q.count]; }) };
  return (
    <div class="card" id="pose">
      <Frame title="How the samples lie" caption={caption} file={['data', 'pose']} table={table} note={`${rose.flat ? 'The long axes of the samples, which have no ends: areas are counts, up is up.' : 'How far the long axes of the samples are off their mean, which stands upright here: areas are counts.'} Dotted: how it would be if they lay anyhow. The line is the mean axis, the arcs hold ${rose.within.map((q) => `${Math.round(100 * q.share)} %`).join(', ')}.`}>
        <p>{p.sentence}</p>
        <div class="chart rose">
          <svg viewBox="-118 -118 236 236" role="application" aria-roledescription="plot" tabindex={0} aria-label={`${p.sentence} Arrow keys go through the directions.`} onKeyDown={key} onPointerLeave={() => setAt(-1)}>
            <circle class="grid" r={100} fill="none" />
            {rose.petals.map((q, k) => <path key={k} class={`petal${k === at ? ' now' : ''}`} d={q.path} onPointerEnter={() => setAt(k)} />)}
            <path class="even" d={rose.even} />
            {[rose.mean, rose.mean + 180].map((a) => { const [x, y] = ray(a, 112); return <line key={a} class="mean" x1={0} y1={0} x2={x} y2={y} />; })}
            {rose.within.map((q, k) => [rose.mean, rose.mean + 180].map((a) => { const [x1, y1] = ray(a - q.degrees, 103 + 4 * k), [x2, y2] = ray(a + q.degrees, 103 + 4 * k); return <path key={`${k}${a}`} class="within" d={`M${x1} ${y1}A${103 + 4 * k} ${103 + 4 * k} 0 ${q.degrees > 90 ? 1 : 0} 0 ${x2} ${y2}`} />; }))}
          </svg>
          <output class="at" aria-live="polite">{at >= 0 ? rose.petals[at]!.words : ''}</output>
        </div>
      </Frame>
    </div>
  );
}

/** Which labels become which, at one element beside as they are. */
function Matrix({ s, l, caption }: { s: State; l: Labels; caption: readonly string[] }) {
  const names = l.elements.map((f) => f.name), asked = names.indexOf(s.place.detail.value['at'] ?? ''), k = asked >= 0 ? asked : worst(l);
  const [cell, setCell] = useState<readonly [number, number] | null>(null);
  const f = l.elements[k], classes = l.classes ?? [];
  if (!f) return null;
  const go = (j: number) => choose(s, 'at', names[Math.max(0, Math.min(names.length - 1, j))] ?? '');
  const m = f.matrix;
  const key = (e: KeyboardEvent) => {
    const d = ({ ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] } as Record<string, readonly [number, number]>)[e.key];
    if (e.key === 'Escape') setCell(null);
    if (!d || !m) return;
    e.preventDefault();
    const [r, c] = cell ?? [0, 0], end = classes.length - 1;
    setCell(cell ? [Math.max(0, Math.min(end, r + d[0])), Math.max(0, Math.min(end, c + d[1]))] : [0, 0]);
  };
  const table = { title: `Labels at ${f.name}`, notes: caption, columns: [{ name: 'label', kind: 'text' as const }, { name: 'neighbors', kind: 'text' as const }, { name: 'samples', kind: 'integer' as const }, { name: 'samples_at_rest', kind: 'integer' as const }], rows: (m ?? []).flatMap((row, a) => row.map((n, b) => [classes[a] ?? '', classes[b] ?? '', n, l.rest.matrix?.[a]?.[b] ?? 0])) };
  return (
    <div class="card" id="matrix">
      <Frame title="Which labels become which?" caption={caption} file={['data', 'labels', f.name]} table={table} note="Rows are labels, columns what the nearest samples as they are say. Blue: labels that stay; orange: labels that change. Dark is a large share of the row.">
        <div class="bar" data-noexport>
          <label class="field">Element <select value={f.name} onChange={(e) => choose(s, 'at', e.currentTarget.value)}>{l.elements.map((x) => <option key={x.name} value={x.name}>{x.name}: {x.state}</option>)}</select></label>
          <input type="range" min={0} max={names.length - 1} value={k} aria-label="Element, in the order of the plan" aria-valuetext={f.name} onInput={(e) => go(Number(e.currentTarget.value))} />
        </div>
        <p><Verdict word={f.state} /> at {f.name}: {changed(f) === null ? '' : `${(100 * (changed(f) ?? 0)).toFixed(1)} % of the labels change, ${(100 * (changed(l.rest) ?? 0)).toFixed(1)} % at rest.`}{f.error ? ` the error is ${num(f.error.mean)} deviations, ${num(l.rest.error?.mean)} at rest.` : ''}</p>
        {m && classes.length <= 30 ? (
          <>
            <div class="scroll wide matrix" tabIndex={0} role="group" aria-label={`Labels at ${f.name}. Arrow keys go through the cells.`} onKeyDown={key} onPointerLeave={() => setCell(null)}>
              <table>
                <thead><tr><th scope="col">label</th>{classes.map((c) => <th key={c} scope="col">{c}</th>)}</tr></thead>
                <tbody>{m.map((row, a) => {
                  const n = row.reduce((x, y) => x + y, 0);
                  return <tr key={classes[a]}><th scope="row">{classes[a]}</th>{row.map((v, b) => <td key={b} class={`${a === b ? 'kept' : 'gone'}${cell?.[0] === a && cell[1] === b ? ' now' : ''}`} style={{ '--share': String(n > 0 ? v / n : 0) }} onPointerEnter={() => setCell([a, b])}>{v || ''}</td>)}</tr>;
                })}</tbody>
              </table>
            </div>
            <output class="at" aria-live="polite">{cell ? cellWords(f, classes, cell[0], cell[1]) : ''}</output>
          </>
        ) : (
          <ul>{(f.of_classes ?? []).filter((c) => c.into).slice(0, 30).map((c) => <li key={c.class}>{c.class} becomes {c.into}: {c.count} of {c.n}, <Verdict word={c.state} /></li>)}</ul>
        )}
      </Frame>
    </div>
  );
}
