// The page of a discovery: which symmetries a model has, families by name, the spectrum of those without, how each moves a sample, and what audits said.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type * as api from '../core/api';
import type { Datum, Rows } from '../core/datum';
import type { Asked, Generators, Model, Permutations, Report, Scan } from '../core/discovery';
import { saveTable } from '../core/export';
import { Slot } from '../core/slot';
import type { Picture } from '../core/source';
import type { State } from '../core/state';
import { CurvePlot, useWidth } from '../render/chart';
import { pixels } from '../render/picture';
import { makeScale } from '../render/scale';
import { count, num } from '../render/text';
import { axesOf, flow, motionWords, moved, paper, reach, sphere, square, velocity, type Matrix } from './motion';
import { Card, choose, Command, Models, Scroll, SheetPage } from './sheets';
import { algebraFacts, answer, askedWords, extent, familiesOf, finite, level, limits, partOf, rowName, rowWords, scanTable, spectrum, wordOf, type Drawn } from './spectrum';

/** The page of a discovery. */
export function DiscoveryPage({ s }: { s: State }) {
  return <SheetPage s={s} kind="discovery" none="There is no discovery here: nero discover STUDY -o FOLDER makes one, and nero serve FOLDER shows it." draw={(a) => <Discovery s={s} a={a} r={a.document as Report} />} />;
}

function Word({ word }: { word: string }) {
  const { sign, kind } = wordOf(word);
  return <span class={`verdict ${kind}`}><span aria-hidden="true">{sign}</span> {word.replace('_', ' ')}</span>;
}

function Discovery({ s, a, r }: { s: State; a: api.OpenSheet; r: Report }) {
  const m = r.models.find((x) => x.model === s.place.detail.value['model']) ?? r.models[0];
  if (!m) return <p class="empty">This discovery is of no model.</p>;
  return (
    <>
      <Models s={s} names={r.models.map((x) => x.model)} now={m.model} />
      <One key={m.model} s={s} a={a} r={r} m={m} />
    </>
  );
}

function One({ s, a, r, m }: { s: State; a: api.OpenSheet; r: Report; m: Model }) {
  const caption = [answer(m), `${m.model}, seed ${r.seed}`];
  const scan = partOf(m, 'scan'), finite = partOf(m, 'finite');
  return (
    <>
      <section class="card summary" aria-labelledby="found-title">
        <h2 id="found-title">{m.model}</h2>
        <p class="answer">{answer(m)}</p>
        <p class="note">{count(m.predictions)} predictions at samples to fit ({m.fit}) and to choose ({m.choose}); {m.confirm} to confirm were not looked at. What is found is a hypothesis until an audit of those says otherwise.</p>
      </section>
      <Proposed s={s} m={m} />
      {scan && <Families scan={scan} m={m} />}
      {(['generators', 'joint'] as const).map((part) => { const g = partOf(m, part); return g && g.asked.map((q) => <Unnamed key={part + q.at} s={s} a={a} part={part} g={g} q={q} caption={caption} />); })}
      {finite && <Finite f={finite} />}
      {m.parts.some((p) => p.open) && <Card id="open" title="Not asked"><dl class="facts">{m.parts.filter((p) => p.open).map((p) => <div key={p.part}><dt>{p.part}</dt><dd>{p.open}</dd></div>)}</dl></Card>}
    </>
  );
}

/** What an audit confirmed, or has to. */
function Proposed({ s, m }: { s: State; m: Model }) {
  const all = m.hypotheses ?? [];
  return (
    <Card id="hypotheses" title="Hypotheses" sub={all.length === 0 ? 'none: there is nothing to audit' : 'each is a study for the samples that nobody looked at'}>
      {all.length > 0 && (
        <ul class="hypotheses">
          {all.map((h) => (
            <li key={h.claim + h.part}>
              <p><Word word={h.says} /> {h.claim} <span class="note">({h.part})</span></p>
              {(h.also ?? []).map((e) => <p key={e.part + e.claim} class="note">Also found by {e.part}: {e.claim} ({e.says}).</p>)}
              <p>{h.audit ? <>Audit: <Word word={h.audit} /> {h.why}</> : <span class="note">No audit yet.</span>}</p>
              {h.study && <Command s={s} text={`nero audit ${h.study}`} />}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** The scan: how much each family moves the answer, beside its floor. */
function Families({ scan, m }: { scan: Scan; m: Model }) {
  const [ref, width] = useWidth(700), [at, setAt] = useState(-1), rows = scan.families;
  const [lo, hi] = extent(rows), left = Math.min(210, width * 0.34), right = 14, line = 22, top = 22, h = rows.length * line, w = width - left - right;
  const x = makeScale({ lo, hi, log: true }, 'relative', width < 560 ? 3 : 7), px = (v: number) => left + x.pos(v) * w;
  const key = (e: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[e.key];
    if (e.key === 'Escape') setAt(-1);
    if (to === undefined) return;
    e.preventDefault();
    setAt(Math.max(0, Math.min(rows.length - 1, to)));
  };
  return (
    <Card id="families" title="Families by name" sub={`${count(rows.length)} asked at ${count(scan.samples)} samples`}>
      {rows.length > 0 && (
        <div class="chart scan" ref={ref}>
          <svg viewBox={`0 0 ${width} ${top + h + 34}`} role="application" aria-roledescription="plot" tabindex={0} aria-label={`How much each family moves the answer beside noise of the same size. ${rows.slice(0, 6).map((r) => `${rowName(r, rows)}: ${r.word}`).join(', ')}${rows.length > 6 ? ' and others' : ''}. Arrow keys go through the families.`} onKeyDown={key} onPointerLeave={() => setAt(-1)}
            onPointerMove={(e) => { const b = e.currentTarget.getBoundingClientRect(), k = Math.floor((((e.clientY - b.top) / b.height) * (top + h + 34) - top) / line); setAt(k >= 0 && k < rows.length ? k : -1); }}>
            {x.ticks.filter((t) => t.at > 0).map((t) => <g key={t.at}><line class="grid" x1={px(t.at)} x2={px(t.at)} y1={top} y2={top + h} /><text class="tick" x={px(t.at)} y={top + h + 15} text-anchor="middle">{t.label}</text></g>)}
            {limits.map((v, k) => <g key={v}><line class="limit" x1={px(v)} x2={px(v)} y1={top} y2={top + h} /><text class="tick" x={px(v)} y={top - 6} text-anchor={k === 0 ? 'end' : 'start'}>{k === 0 ? 'approximate' : 'none'}</text></g>)}
            {rows.map((r, k) => {
              const y = top + (k + 0.5) * line, v = r.relative.value, { sign, kind } = wordOf(r.word);
              return (
                <g key={k} class={`family ${kind}${k === at ? ' now' : ''}`}>
                  <rect class="row" x={0} y={y - line / 2} width={width} height={line} />
                  <text class="name" x={left - 8} y={y + 4} text-anchor="end">{sign} {rowName(r, rows).slice(0, Math.max(12, Math.floor(left / 7)))}</text>
                  {finite(r.relative.low) && finite(r.relative.high) && <line class="whisk" x1={px(r.relative.low)} x2={px(r.relative.high)} y1={y} y2={y} />}
                  {finite(r.floor) && r.floor > 0 && <path class="floor-mark" d={`M${px(r.floor)} ${y - 6}V${y + 6}`} />}
                  {finite(v) && <circle class="body" cx={px(v)} cy={y} r={4.5} />}
                </g>
              );
            })}
            <text class="axis" x={left + w / 2} y={top + h + 31} text-anchor="middle">change of the answer, beside that under noise of the same size</text>
          </svg>
          <output class="at" aria-live="polite">{at >= 0 ? rowWords(rows[at]!, rows) : ''}</output>
        </div>
      )}
      <p class="note">A dot is how much a family moves the answer, with its interval; the upright mark is the floor, what rounding and resampling do alone. Below ten floors it holds.</p>
      <p><button onClick={() => saveTable(scanTable(scan, m.model), 'csv', ['discovery', m.model, 'families'])} aria-label="Save the families as CSV">CSV</button></p>
      <Scroll label="Families" high>
        <table>
          <thead><tr><th scope="col">family</th><th scope="col" class="words">what moves</th><th scope="col" class="words">answer</th><th scope="col" class="words">says</th><th scope="col">relative</th><th scope="col">floor</th><th scope="col">level</th><th scope="col">degree</th></tr></thead>
          <tbody>{rows.map((r, k) => <tr key={k}><th scope="row">{r.family}</th><td class="words wrap">{r.doc}</td><td class="words">{r.output} {r.action}</td><td class="words wrap"><Word word={r.word} /> {r.why}</td><td>{num(r.relative.value)} [{num(r.relative.low)}, {num(r.relative.high)}]</td><td>{num(r.floor)}</td><td>{level(r)}</td><td>{num(r.degree.value)} [{num(r.degree.low)}, {num(r.degree.high)}]</td></tr>)}</tbody>
        </table>
      </Scroll>
      {(scan.left ?? []).length > 0 && <details><summary>Not asked: {scan.left!.map((l) => l.family).join(', ')}</summary><ul>{scan.left!.map((l) => <li key={l.family + (l.output ?? '')}>{l.family}{l.output ? `, ${l.output}` : ''}: {l.why}</li>)}</ul></details>}
    </Card>
  );
}

/** Families of unknown name: the spectrum, and how each moves a sample. */
function Unnamed({ s, a, part, g, q, caption }: { s: State; a: api.OpenSheet; part: string; g: Generators; q: Asked; caption: readonly string[] }) {
  const r = q.result, plot = useMemo(() => (r ? spectrum(r) : null), [r]), all = useMemo(() => familiesOf(r), [r]);
  const id = `${part}-${q.at.replace(/\W+/g, '-')}`, asked = Number(s.place.detail.value[id] ?? '1') - 1, now = all[asked] ?? all[0];
  return (
    <Card id={id} title={part === 'joint' ? 'Families with which the answer moves along' : 'Families that leave the answer'} sub={`at ${q.at}`}>
      <p>{askedWords(q)[0]!.toUpperCase() + askedWords(q).slice(1)}.</p>
      {r && plot && r.sigma.length > 0 && (
        <div class="plots">
          <CurvePlot title="Singular spectrum" curve={plot.curve} cut={plot.cut} caption={caption} file={['discovery', id]} note="σ: how much the answer changes along a direction beside what it does along one that has nothing to do with it: 0 is a symmetry, 1 a direction like any other. The upright line is the cut: left of it are the families." />
          {now ? (
            <div>
              <h3>How {all.length === 1 ? 'it moves' : 'they move'} a sample</h3>
              {all.length > 1 && <div class="bar"><span class="segments" role="group" aria-label="Family">{all.map((f, k) => <button key={f.name} aria-pressed={f === now} onClick={() => choose(s, id, String(k + 1))}>{k + 1}</button>)}</span></div>}
              <Moves key={now.name} s={s} a={a} g={g} f={now} />
            </div>
          ) : <p class="note">There is no family to draw.</p>}
        </div>
      )}
      {r && <dl class="facts">{algebraFacts(r).map(([k, v]) => <div key={k + v}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>}
    </Card>
  );
}

/** A sample of a run of the same model: a picture, or rows. */
interface Sampled { readonly picture: string; readonly size: readonly [number, number]; readonly datum: Datum | null }

/** The first sample of a run of the model, as it is; null where there is none. */
function useSample(s: State, run: string | undefined): Sampled | null {
  const slot = useMemo(() => new Slot<Sampled>(), []);
  useEffect(() => {
    if (!run) return;
    void slot.load(async (cut) => {
      const doc = await s.client.run(run, cut), e = doc.orbit.elements[Math.max(0, doc.orbit.identity)];
      const p = await s.client.input(run, 0, e ?? [], cut);
      return { picture: p.datum ? '' : urlOf(p), size: [p.w, p.h], datum: p.datum ?? null };
    });
  }, [run]);
  return slot.state.value.value;
}

function urlOf(p: Picture): string {
  const c = document.createElement('canvas');
  c.width = p.w;
  c.height = p.h;
  const ctx = c.getContext('2d');
  if (!ctx) return '';
  const im = ctx.createImageData(p.w, p.h);
  pixels(p, new Uint32Array(im.data.buffer));
  ctx.putImageData(im, 0, 0);
  return c.toDataURL();
}

/** The rows of a field of a sample. */
function rowsOf(d: Datum | null, field: string): Rows | null {
  if (!d) return null;
  if (d.kind === 'rows') return d;
  if (d.kind !== 'record') return null;
  const f = d.fields.find((x) => x.name === field)?.value;
  return f?.kind === 'rows' ? f : null;
}

/** Arrows of a family on a sample, which moves along it under the pointer and the keyboard. */
function Moves({ s, a, g, f }: { s: State; a: api.OpenSheet; g: Generators; f: Drawn }) {
  const sample = useSample(s, a.sheet.runs[0]);
  return (
    <>
      {f.moves.map((m, k) => <Field key={k} m={m} name={g.fields[k] ?? ''} sample={sample} many={f.moves.length > 1} />)}
      <p class="note">{f.turns}. Arrows say where places go; it moves under the pointer, with the keyboard on it, and by the slider.</p>
    </>
  );
}

const reduced = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

function Field({ m, name, sample, many }: { m: Matrix; name: string; sample: Sampled | null; many: boolean }) {
  const n = m.length, axes = axesOf(n), picture = name === 'pixels', [t, setT] = useState(0), [going, setGoing] = useState(false), began = useRef(0);
  const rows = rowsOf(sample?.datum ?? null, name);
  const { places, size, own } = useMemo(() => {
    if (n === 2) {
      const half = picture && sample ? Math.max(...sample.size) / 2 : 1;
      const cloud = !picture && rows && rows.w === 2 ? centred(rows) : null;
      return cloud ? { ...cloud, own: true } : { places: square(9, half * 0.95), size: half, own: picture && !!sample?.picture };
    }
    const cloud = n === 3 && rows && rows.w === 3 ? centred(rows) : null;
    return cloud ? { ...cloud, own: true } : { places: sphere(90), size: 1, own: false };
  }, [n, sample, name]);
  const span = reach(m, size);
  useEffect(() => {
    if (!going || span === 0 || reduced()) return undefined;
    let frame = 0;
    began.current = performance.now();
    const step = (now: number) => { setT(Math.sin((now - began.current) / 900)); frame = requestAnimationFrame(step); };
    frame = requestAnimationFrame(step);
    return () => { cancelAnimationFrame(frame); setT(0); };
  }, [going, span]);
  const words = motionWords(m, axes), map = flow(m, t * span);
  if (n !== 2 && n !== 3)
    return (
      <div class="moves">
        <p><b>{many ? `${name}: ` : ''}</b>{words}</p>
        {n <= 32 && <Scroll label={`Matrix of ${name}`}><table class="entries"><tbody>{m.map((row, r) => <tr key={r}><th scope="row">{axes[r]}</th>{row.map((v, c) => <td key={c} class={v < 0 ? 'less' : 'more'} style={{ '--share': String(Math.min(1, Math.abs(v))) }}>{num(Math.abs(v) < 1e-3 ? 0 : v)}</td>)}</tr>)}</tbody></table></Scroll>}
      </div>
    );
  const unit = 100 / size, up = n === 2 && !picture ? -1 : 1;
  const draw = (p: readonly number[]): [number, number] => { const [u, v] = n === 3 ? paper(p) : [p[0]!, up * p[1]!]; return [u * unit, v * unit]; };
  const speeds = places.map((p) => velocity(m, p)), most = Math.max(1e-12, ...speeds.map((v) => Math.hypot(...v))), long = (size * (n === 2 ? 0.21 : 0.32)) / most;
  const d = map.map((row) => row.map((v, c) => (c < 2 ? v : v * unit)));
  return (
    <div class="moves">
      <p><b>{many ? `${name}: ` : ''}</b>{words}</p>
      <svg viewBox="-128 -128 256 256" class="arrows" role="img" tabindex={0} data-moving={going ? '1' : '0'} aria-label={`Arrows of the family ${words}, on ${own ? (picture ? 'a picture' : 'a cloud') + ' of the run beside it' : n === 2 ? 'a grid' : 'a sphere'}. It moves while this has focus.`}
        onPointerEnter={() => setGoing(true)} onPointerLeave={() => setGoing(false)} onFocus={() => setGoing(true)} onBlur={() => setGoing(false)}>
        {picture && sample?.picture && d[0] && d[1] && <image href={sample.picture} x={(-100 * sample.size[0]) / Math.max(...sample.size)} y={(-100 * sample.size[1]) / Math.max(...sample.size)} width={(200 * sample.size[0]) / Math.max(...sample.size)} height={(200 * sample.size[1]) / Math.max(...sample.size)} style={{ imageRendering: 'pixelated' }} transform={`matrix(${d[0][0]} ${d[1][0]} ${d[0][1]} ${d[1][1]} ${d[0][2] ?? 0} ${d[1][2] ?? 0})`} />}
        {places.map((p, k) => {
          const q = moved(map, p), v = velocity(m, q), [x, y] = draw(q), [ex, ey] = draw(q.map((c, i) => c + v[i]! * long)), l = Math.hypot(ex - x, ey - y);
          const tip = l > 2 ? `M${ex} ${ey}L${ex - ((ex - x) * 5) / l + ((ey - y) * 2.5) / l} ${ey - ((ey - y) * 5) / l - ((ex - x) * 2.5) / l}L${ex - ((ex - x) * 5) / l - ((ey - y) * 2.5) / l} ${ey - ((ey - y) * 5) / l + ((ex - x) * 2.5) / l}Z` : '';
          return <g key={k}>{(n === 3 || !picture) && <circle class="pt" cx={x} cy={y} r={1.3} />}{l > 1 && <path class="arrow-of" d={`M${x} ${y}L${ex} ${ey}`} />}{tip && <path class="tip-of" d={tip} />}</g>;
        })}
      </svg>
      <label class="field">Along the family <input type="range" min={-1} max={1} step={0.05} value={t} disabled={span === 0} aria-valuetext={`${num(t * span)}`} onInput={(e) => { setGoing(false); setT(Number(e.currentTarget.value)); }} /></label>
    </div>
  );
}

/** Rows as places, at most some, with the half width of what they fill; the origin stays where it is. */
function centred(r: Rows): { places: number[][]; size: number } {
  const most = 160, every = Math.max(1, Math.ceil(r.n / most)), places: number[][] = [];
  for (let k = 0; k < r.n; k += every) places.push(Array.from(r.data.subarray(k * r.w, (k + 1) * r.w)));
  return { places, size: Math.max(1e-9, ...places.map((p) => Math.hypot(...p))) };
}

/** Permutations and signs. */
function Finite({ f }: { f: Permutations }) {
  const r = f.result;
  return (
    <Card id="finite" title="Permutations and signs" sub={`of ${r.items} ${f.of}s`}>
      <p><b>{r.name}</b>, {r.at_least ? 'at least ' : ''}{r.order} {r.order === '1' ? 'element' : 'elements'}{r.at_least && r.why ? ` (${r.why})` : ''}; {count(r.evaluations)} predictions, {count(r.tested)} maps held against samples.</p>
      {(r.generators ?? []).length > 0 && (
        <Scroll label="Generators" high>
          <table><thead><tr><th scope="col">generator</th><th scope="col" class="words">cycles</th><th scope="col">error</th>{r.outputs && <th scope="col" class="words">of the answers</th>}</tr></thead>
            <tbody>{r.generators.map((e, k) => <tr key={k}><th scope="row">{k + 1}</th><td class="words wrap">{e.cycles}</td><td>{num(e.error)}</td>{r.outputs && <td class="words wrap">{(e.answers ?? []).join(', ')}</td>}</tr>)}</tbody></table>
        </Scroll>
      )}
      {(r.orbits ?? []).length > 0 && <p class="note">Change places with each other: {r.orbits.slice(0, 20).map((o) => `(${o.slice(0, 20).join(', ')}${o.length > 20 ? ', …' : ''})`).join(' ')}.</p>}
      {(r.ignored ?? []).length > 0 && <p class="note">The model does not look at {r.ignored.join(', ')}.</p>}
    </Card>
  );
}
