// The page of a repair: what to take, what it costs against how right it is, the bill, and the error along the orbit before and after.

import { useEffect, useMemo, useState } from 'preact/hooks';
import type * as api from '../core/api';
import { read, type Document } from '../core/audit';
import type { Bill, Of, Report } from '../core/bill';
import { saveTable } from '../core/export';
import { Slot } from '../core/slot';
import type { State } from '../core/state';
import { CurvePlot, finite, Frame, useWidth } from '../render/chart';
import { makeScale } from '../render/scale';
import { count, num } from '../render/text';
import { verdictWords } from './audit';
import { VerdictBadge } from './findings';
import { beforeAfter, billTable, costText, dots, facts, nameOf, best, percent, qualities, radius, ranked, says, type Dot, type Quality } from './bill';
import { Card, choose, Models, Scroll, SheetPage } from './sheets';
import { apart } from './sheet';

/** The page of a repair. */
export function RepairPage({ s }: { s: State }) {
  return <SheetPage s={s} kind="repair" none="There is no bill of a repair here: nero repair STUDY -o FOLDER makes one, and nero serve FOLDER shows it." draw={(a) => <Repair s={s} a={a} r={a.document as Report} />} />;
}

function Repair({ s, a, r }: { s: State; a: api.OpenSheet; r: Report }) {
  const m = r.models.find((x) => x.model === s.place.detail.value['model']) ?? r.models[0];
  if (!m) return <p class="empty">This bill is of no model.</p>;
  return (
    <>
      <Models s={s} names={r.models.map((x) => x.model)} now={m.model} badge={(k) => <VerdictBadge verdict={bestVerdict(r.models[k]!)} />} />
      <One key={m.model} s={s} a={a} r={r} m={m} />
    </>
  );
}

/** The verdict of what one is told to take, else of the model as it is. */
const bestVerdict = (m: Of) => verdict((m.tried ?? []).find((b) => b.method === m.recommended) ?? m.before);
const verdict = (b: Bill) => (b.verdict ?? 'COULD_NOT_RUN') as Document['verdict'];

function One({ s, a, r, m }: { s: State; a: api.OpenSheet; r: Report; m: Of }) {
  const rows = ranked(m), asked = s.place.detail.value['method'];
  const first = best(m);
  const now = rows.find((b) => nameOf(b) === asked) ?? first;
  const pick = (b: Bill) => choose(s, 'method', nameOf(b));
  const caption = [m.sentence, `${r.confirm} samples that confirm, ${r.group}, ${r.elements} elements, seed ${r.seed}`];
  const file = ['repair', m.model];
  return (
    <>
      <section class="card summary" aria-labelledby="repair-title">
        <h2 id="repair-title"><VerdictBadge verdict={verdict(m.before)} big /> <span class="who">{m.model}, as it is</span></h2>
        <p class="answer">{m.sentence}</p>
        <p class="note">
          {r.group}, {r.elements} elements. Every number is of {count(r.confirm)} samples that confirm, unless it says otherwise: none of them was learned from ({count(r.fit)} samples) or chosen by ({count(r.choose)}). Errors are in units of how much answers differ between samples.
        </p>
      </section>
      {(m.tried ?? []).length > 0 && (
        <>
          <div class="plots cards">
            <Costs s={s} m={m} now={now} pick={pick} caption={caption} file={file} />
            <Orbits s={s} a={a} m={m} now={now} caption={caption} file={file} />
          </div>
          <Card id="bill" title="The bill" sub="choose a row to see its curves and details">
            <Rows a={a} m={m} rows={rows} now={now} pick={pick} />
            <p><button onClick={() => saveTable(billTable(m, r.group), 'csv', file)} aria-label="Save the bill as CSV">CSV</button></p>
            <p class="note">error: root mean square over the elements; worst: the largest; cost: time of one answer beside the model as it is; ★ no other is as cheap, as exact and as right. Shares have intervals of 95 %.</p>
          </Card>
          <Details b={now} m={m} />
        </>
      )}
    </>
  );
}

/** Cost against accuracy, the error as size. */
function Costs({ m, now, pick, caption, file }: { s: State; m: Of; now: Bill; pick: (b: Bill) => void; caption: readonly string[]; file: readonly string[] }) {
  const [ref, width] = useWidth(560);
  const all = qualities(m), [wanted, setWanted] = useState<Quality | null>(null), [at, setAt] = useState(-1);
  const q = all.find(([k]) => k === wanted) ?? all[0] ?? null, what = q?.[1] ?? '';
  const points = useMemo(() => dots(m, q?.[0] ?? null), [m, q?.[0]]);
  if (points.length === 0) return null;
  const height = 330, left = 52, right = 18, top = 14, bottom = 42, w = width - left - right, h = height - top - bottom;
  const most = Math.max(...points.map((d) => d.cost));
  const x = makeScale(most > 12 ? { lo: Math.min(...points.map((d) => d.cost)) / 1.3, hi: most * 1.4, log: true } : { lo: 0, hi: most * 1.15, log: false }, 'cost, times the model as it is', 6);
  const ends = points.flatMap((d) => [d.value, d.lo, d.hi]).filter(finite);
  const low = Math.min(...ends), high = Math.max(...ends), pad = Math.max(0.02, (high - low) * 0.08);
  const y = makeScale({ lo: Math.max(0, low - pad), hi: Math.min(1.02, high + pad), log: false }, what, 5);
  const px = (d: Dot) => left + x.pos(d.cost) * w, py = (v: number) => top + (1 - y.pos(v)) * h;
  const toLeft = (d: Dot) => px(d) > left + 0.62 * w;
  const labels = (side: boolean) => { const of = points.filter((d) => toLeft(d) === side); const ys = apart(of.map((d) => py(d.value) + 4), 14, top + 8, top + h); return of.map((d, k) => ({ d, y: ys[k]! })); };
  const here = at >= 0 ? points[at] : undefined;
  const go = (k: number) => { const d = points[Math.max(0, Math.min(points.length - 1, k))]; if (d) { setAt(points.indexOf(d)); pick(d.bill); } };
  const key = (e: KeyboardEvent) => {
    const i = at >= 0 ? at : points.findIndex((d) => d.bill === now);
    const to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: points.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    go(to);
  };
  const nearest = (e: MouseEvent): number => {
    const b = (e.currentTarget as Element).getBoundingClientRect(), mx = ((e.clientX - b.left) / b.width) * width, my = ((e.clientY - b.top) / b.height) * height;
    let best = -1, least = 28 * 28;
    points.forEach((d, k) => { const far = (px(d) - mx) ** 2 + (py(d.value) - my) ** 2; if (far < least) [least, best] = [far, k]; });
    return best;
  };
  const table = { title: 'Cost against accuracy', notes: caption, columns: [{ name: 'method', kind: 'text' as const }, { name: 'cost', kind: 'float64' as const }, { name: 'value', kind: 'float64' as const }, { name: 'lo', kind: 'float64' as const }, { name: 'hi', kind: 'float64' as const }, { name: 'worst', kind: 'float64' as const }, { name: 'pareto', kind: 'text' as const }], rows: points.map((d) => [d.name, d.cost, d.value, finite(d.lo) ? d.lo : null, finite(d.hi) ? d.hi : null, d.bill.worst, d.bill.pareto ? 'yes' : 'no']) };
  return (
    <div class="card" id="costs">
      <Frame title="Cost against accuracy" note="To the right what an answer costs, upward how right it is, with an interval of 95 %. Large is a large error. A ring: no other is as cheap, as exact and as right." caption={caption} file={[...file, 'cost']} table={table}>
        {all.length > 1 && (
          <div class="bar" data-noexport>
            <span class="segments" role="group" aria-label="What stands upward">{all.map(([k, text]) => <button key={k} aria-pressed={k === q?.[0]} onClick={() => setWanted(k)}>{text}</button>)}</span>
          </div>
        )}
        <div class="chart" ref={ref}>
          <svg viewBox={`0 0 ${width} ${height}`} role="application" aria-roledescription="plot" tabindex={0}
            aria-label={`Cost against accuracy. ${points.map((d) => says(d, what)).join('. ')}. Arrow keys choose a method.`}
            onPointerMove={(e) => setAt(nearest(e))} onPointerLeave={() => setAt(-1)} onClick={(e) => { const k = nearest(e); if (k >= 0) go(k); }} onKeyDown={key}>
            {y.ticks.map((t) => <g key={t.at}><line class="grid" x1={left} x2={left + w} y1={py(t.at)} y2={py(t.at)} /><text class="tick" x={left - 6} y={py(t.at) + 3.5} text-anchor="end">{q ? `${+(100 * t.at).toFixed(1)} %` : t.label}</text></g>)}
            {x.ticks.filter((t) => !(x.log && t.at === 0)).map((t) => <g key={t.at}><line class="grid" x1={left + x.pos(t.at) * w} x2={left + x.pos(t.at) * w} y1={top} y2={top + h} /><text class="tick" x={left + x.pos(t.at) * w} y={top + h + 16} text-anchor="middle">{t.label}×</text></g>)}
            <text class="axis" x={left + w / 2} y={height - 6} text-anchor="middle">{x.label}</text>
            <text class="axis" transform={`translate(12 ${top + h / 2}) rotate(-90)`} text-anchor="middle">{what || 'answers as before'}</text>
            {points.map((d) => {
              const kind = verdictWords(verdict(d.bill)).kind;
              return (
                <g key={d.name} class={`dot-of ${kind}${d.bill === now ? ' now' : ''}`} data-method={d.name}>
                  {finite(d.lo) && finite(d.hi) && <line class="whisk" x1={px(d)} x2={px(d)} y1={py(d.lo)} y2={py(d.hi)} />}
                  <circle class="body" cx={px(d)} cy={py(d.value)} r={d.radius} />
                  {d.bill.pareto && <circle class="pareto" cx={px(d)} cy={py(d.value)} r={d.radius + 4} />}
                  {(here === d || d.bill === now) && <circle class="cursor" cx={px(d)} cy={py(d.value)} r={d.radius + 8} />}
                </g>
              );
            })}
            {[false, true].flatMap((side) => labels(side).map(({ d, y: ty }) => (
              <text key={d.name} class={`name${d.recommended ? ' best' : ''}`} x={px(d) + (side ? -1 : 1) * (d.radius + 12)} y={ty} text-anchor={side ? 'end' : 'start'}>
                {verdictWords(verdict(d.bill)).sign} {d.name}{d.bill.pareto ? ' ★' : ''}{d.recommended ? ', recommended' : ''}
              </text>
            )))}
          </svg>
          <output class="at" aria-live="polite">{says(here ?? points.find((d) => d.bill === now) ?? points[0]!, what)}</output>
          <ul class="series">
            {[1e-7, 1e-3, 1].map((e) => <li key={e}><svg width="34" height="32" viewBox="-17 -16 34 32" aria-hidden="true"><circle class="size" r={radius(e)} /></svg>error {e === 1e-7 ? '1e-7 and less' : e === 1 ? '1 and more' : num(e)}</li>)}
          </ul>
        </div>
      </Frame>
    </div>
  );
}

/** The error along the orbit before and after, of the audits that lie beside the bill. */
function Orbits({ s, a, m, now, caption, file }: { s: State; a: api.OpenSheet; m: Of; now: Bill; caption: readonly string[]; file: readonly string[] }) {
  const slot = useMemo(() => new Slot<Record<string, api.Findings>>(), []);
  const ids = [m.before, now].map((b) => a.audits[b.audit ?? ''] ?? '');
  useEffect(() => {
    const wanted = [...new Set(ids.filter(Boolean))];
    if (wanted.length === 0) { slot.clear(); return; }
    void slot.load(async (cut) => Object.fromEntries(await Promise.all(wanted.map(async (id) => [id, await s.client.audit(id, cut)] as const))), true);
  }, [ids.join('|')]);
  const { value, busy, error } = slot.state.value;
  const curve = useMemo(() => {
    const [x, y] = ids.map((id) => { const doc = value?.[id] ? read(value[id].document) : null; return doc && typeof doc !== 'string' ? doc.models[0] : undefined; });
    if (!x || !y) return null;
    return beforeAfter(x, y, nameOf(now));
  }, [value, ids.join('|')]);
  const name = now.method ? `as it is, and by ${now.method}` : 'as it is';
  return (
    <div class="card" id="orbits">
      {curve ? (
        <>
          <CurvePlot key={nameOf(now)} title={`Error along the orbit, ${name}`} note="Of the audits beside the bill: the mean and the largest over their inputs. What is 0 stands at the bottom." curve={now.method ? curve : { ...curve, series: curve.series.slice(0, 2) }} caption={caption} file={[...file, 'orbit']} />
          <p class="note">{ids.map((id, k) => id && (k === 0 || ids[0] !== id) ? <a key={id} class="open" href={`#/findings/${encodeURIComponent(id)}`}>{k === 0 ? 'The audit of the model as it is' : `The audit of ${nameOf(now)}`}</a> : null)}</p>
        </>
      ) : (
        <>
          <h3>Error along the orbit</h3>
          <p class="note" role="status">{now.refused ? `${nameOf(now)} was refused: ${now.refused}` : busy ? 'Loading the audits…' : error || 'The audits are not beside this bill, so there is no curve: the table below has the errors of each set.'}</p>
        </>
      )}
    </div>
  );
}

function Rows({ a, m, rows, now, pick }: { a: api.OpenSheet; m: Of; rows: readonly Bill[]; now: Bill; pick: (b: Bill) => void }) {
  const labels = m.before.right !== undefined;
  return (
    <Scroll label="The bill">
      <table class="bill">
        <thead><tr><th scope="col">method</th><th scope="col" class="words">verdict</th><th scope="col">error</th><th scope="col">worst</th><th scope="col">cost</th>{labels ? <><th scope="col">right at rest</th><th scope="col">right over orbit</th><th scope="col">lost</th></> : <th scope="col">same class</th>}<th scope="col">nodes added</th><th scope="col">bytes</th><th scope="col">best</th></tr></thead>
        <tbody>
          {rows.map((b) => {
            const on = b === now, id = a.audits[b.audit ?? ''];
            return (
              <tr key={nameOf(b)} class={on ? 'now' : ''}>
                <th scope="row"><button class="link" aria-pressed={on} onClick={() => pick(b)}>{nameOf(b)}</button>{b.refitted ? ' (refitted)' : ''}{b.method && b.method === m.recommended ? ' (recommended)' : ''}</th>
                {b.refused ? <td class="words refused" colSpan={labels ? 10 : 8}>refused: {b.refused}</td> : (
                  <>
                    <td class="words">{id ? <a href={`#/findings/${encodeURIComponent(id)}`}><VerdictBadge verdict={verdict(b)} /></a> : <VerdictBadge verdict={verdict(b)} />}{b.verdict_at_batch_1 && b.verdict_at_batch_1 !== b.verdict ? `, at batch 1 ${b.verdict_at_batch_1}` : ''}</td>
                    <td>{num(b.error)}</td><td>{num(b.worst)}</td><td>{costText(b)}</td>
                    {labels ? <><td>{percent(b.right)}</td><td>{percent(b.moved)}</td><td>{b.method ? percent(b.lost) : '–'}</td></> : <td>{percent(b.agree)}</td>}
                    <td>{count(b.nodes_added)}</td><td>{count(b.bytes)}</td><td>{b.pareto ? <span title="no other is as cheap, as exact and as right">★</span> : ''}</td>
                  </>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function Details({ b, m }: { b: Bill; m: Of }) {
  if (b.refused) return <Card id="details" title={nameOf(b)}><p>Refused: {b.refused}</p></Card>;
  const sets = b.errors ?? [];
  return (
    <Card id="details" title={nameOf(b)} sub={verdictWords(verdict(b)).text}>
      {sets.length > 0 && (
        <Scroll label={`Errors of ${nameOf(b)} by set`}>
          <table>
            <thead><tr><th scope="col">set</th><th scope="col" class="words">verdict</th><th scope="col">mean</th><th scope="col">interval</th><th scope="col">largest</th><th scope="col">floor</th><th scope="col">mean before</th></tr></thead>
            <tbody>{sets.map((x) => <tr key={x.set}><th scope="row">{x.set}</th><td class="words">{x.verdict}</td><td>{num(x.mean)}</td><td>[{num(x.low)}, {num(x.high)}]</td><td>{num(x.largest)}</td><td>{num(x.floor)}</td><td>{num(m.before.errors?.find((y) => y.set === x.set)?.mean)}</td></tr>)}</tbody>
          </table>
        </Scroll>
      )}
      {(b.outputs ?? []).length > 0 && (
        <Scroll label={`Errors of ${nameOf(b)} by output`}>
          <table>
            <thead><tr><th scope="col">output</th><th scope="col">error</th><th scope="col">worst</th><th scope="col">floor</th><th scope="col">away from before</th><th scope="col">error before</th><th scope="col">unit</th></tr></thead>
            <tbody>{b.outputs!.map((o) => <tr key={o.name}><th scope="row">{o.name}</th><td>{num(o.error)}</td><td>{num(o.worst)}</td><td>{num(o.floor)}</td><td>{num(o.apart)}</td><td>{num(m.before.outputs?.find((x) => x.name === o.name)?.error)}</td><td>{num(o.spread)} {o.unit}</td></tr>)}</tbody>
          </table>
        </Scroll>
      )}
      <dl class="facts">{facts(b, m.before).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
      {b.compared && <details><summary>What nero compare says of the audits before and after</summary><pre>{b.compared}</pre></details>}
    </Card>
  );
}
