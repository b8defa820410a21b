// The page of models that were asked again: is the answer the same, is it the same however one asks, is what is always the same right?

import { useMemo, useState } from 'preact/hooks';
import { saveTable } from '../core/export';
import type { Asked, Contract, Correct, Model, Report } from '../core/repeat';
import type { State } from '../core/state';
import { signOf } from '../core/verdict';
import { CurvePlot, finite, Frame, useWidth } from '../render/chart';
import { makeScale } from '../render/scale';
import { count, num } from '../render/text';
import { courseCurve, dependsWords, digitCurve, effectOf, estimate, objectTable, objectWords, percent, ranked, ranks, ranksOf, rightWord, sizeOf, span, squares, viewTable, viewWords, type Rank } from './asked';
import { Card, choose, Models, Scroll, SheetPage, Verdict } from './sheets';

/** The page of repeats. */
export function RepeatPage({ s }: { s: State }) {
  return <SheetPage s={s} kind="repeat" none="Nobody was asked again here: nero repeat STUDY -o FOLDER asks models the same several times, and nero serve FOLDER shows it." draw={(a) => <Repeated s={s} r={a.document as Report} />} />;
}

function Repeated({ s, r }: { s: State; r: Report }) {
  const m = r.models.find((x) => x.name === s.place.detail.value['model']) ?? r.models[0]!, caption = [m.name, m.sentence];
  return (
    <>
      <Models s={s} names={r.models.map((x) => x.name)} now={m.name} badge={(k) => <Verdict word={r.models[k]!.verdict} />} />
      <section class="card summary" aria-labelledby="repeat-title">
        <h2 id="repeat-title">{m.name} <span class="sub"><Verdict word={m.verdict} />{m.place && m.place !== m.name ? ` ${m.place}` : ''}</span></h2>
        <p class="answer">{m.sentence}</p>
        {(m.reasons ?? []).length > 0 && <ul>{m.reasons!.map((x) => <li key={x}>{x}</li>)}</ul>}
        {m.cached && <p><Verdict word="open" /> {m.cached}.</p>}
        <p class="note">{count(m.questions)} questions: {count(m.objects.length)} objects, {r.views.length > 1 ? `${count(r.views.length)} views compared with ${r.reference}` : 'one view'}, each asked {r.times === 1 ? 'once' : `${r.times} times`} in an order of seed {r.seed}. Confidence {percent(r.confidence)}.{(r.normalise ?? []).length > 0 ? ` Texts are compared after ${r.normalise!.join(', ')}.` : ''}{m.depends ? ` ${dependsWords(m)}` : ''}</p>
      </section>
      {(m.outcomes.length > 1 || m.outcomes[0]!.name !== 'answered') && <Outcomes m={m} />}
      <div class="plots cards">
        <Strip key={m.name} s={s} m={m} caption={caption} />
        {m.repeats?.correct && <Squares c={m.repeats.correct} caption={caption} />}
      </div>
      {(m.views ?? []).length > 0 && <Views key={`${m.name} views`} r={r} m={m} caption={caption} />}
      {m.repeats && <Same r={r} m={m} caption={caption} />}
      {m.contract && <Promise c={m.contract} caption={caption} />}
      <Objects s={s} m={m} />
    </>
  );
}

/** What became of the questions. */
function Outcomes({ m }: { m: Model }) {
  return (
    <Card id="outcomes" title="Questions without an answer" sub="in no number below">
      <Scroll label="Outcomes">
        <table>
          <thead><tr><th scope="col" class="words">outcome</th><th scope="col">questions</th><th scope="col">share</th><th scope="col" class="words">the first</th></tr></thead>
          <tbody>{m.outcomes.map((o) => <tr key={o.name}><th scope="row" class="words">{o.name.replace(/_/g, ' ')}</th><td>{count(o.n)}</td><td>{percent(o.share)}</td><td class="words wrap">{o.why ? `${o.object}, ${o.view}: ${o.why}` : ''}</td></tr>)}</tbody>
        </table>
      </Scroll>
    </Card>
  );
}

/** Objects side by side, the worst first: how far answers about each agree, and whether the most frequent one is right. */
function Strip({ s, m, caption }: { s: State; m: Model; caption: readonly string[] }) {
  const all = ranksOf(m), [wanted, setWanted] = useState<Rank>('agreement'), by = all.includes(wanted) ? wanted : all[0];
  const [ref, width] = useWidth(560), [over, setOver] = useState(-1);
  const list = useMemo(() => (by ? ranked(m, by) : []), [m, by]), table = useMemo(() => (by ? objectTable(m, by, caption) : null), [m, by]);
  if (!by || !table || list.length === 0) return null;
  const now = list.findIndex((o) => o.name === s.place.detail.value['object']), at = over >= 0 ? over : now;
  const [name, good] = ranks[by], shares = by !== 'error' || m.answers === 'labels';
  const top = 8, bottom = 30, left = 46, right = 8, height = 190, w = width - left - right, h = height - top - bottom;
  const most = shares ? 1 : Math.max(...list.map((o) => o[by]).filter(finite), 1e-300);
  const y = makeScale({ lo: 0, hi: most, log: false }, name, 5), each = w / list.length;
  const px = (k: number) => left + k * each, size = (o: Asked) => (finite(o[by]) ? Math.max(1, y.pos(o[by]!) * h) : 0);
  const pick = (k: number) => choose(s, 'object', list[Math.max(0, Math.min(list.length - 1, k))]!.name);
  const place = (e: MouseEvent) => { const b = (e.currentTarget as Element).getBoundingClientRect(), k = Math.floor((((e.clientX - b.left) / b.width) * width - left) / each); return k >= 0 && k < list.length ? k : -1; };
  const key = (e: KeyboardEvent) => {
    const page = Math.max(1, Math.round(list.length / 10));
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + page, PageDown: at - page, Home: 0, End: list.length - 1 }[e.key];
    if (e.key === 'Escape') { setOver(-1); choose(s, 'object', ''); }
    if (to === undefined) return;
    e.preventDefault();
    setOver(-1);
    pick(to);
  };
  const judged = list.some((o) => rightWord(o) !== ''), kinds = (['right', 'wrong', ''] as const).filter((k) => list.some((o) => rightWord(o) === k));
  // One path for each kind, however many objects there are: what is wrong is hatched by a line on top, too.
  const bars = (kind: string) => list.map((o, k) => (rightWord(o) === kind && size(o) > 0 ? `M${(px(k) + each * 0.08).toFixed(2)} ${top + h}v${(-size(o)).toFixed(2)}h${(each * 0.84).toFixed(2)}v${size(o).toFixed(2)}z` : '')).join('');
  const below = list.map((o, k) => (rightWord(o) === 'wrong' ? `M${(px(k) + each * 0.08).toFixed(2)} ${top + h + 4}h${Math.max(each * 0.84, 0.8).toFixed(2)}` : '')).join('');
  const wrong = list.filter((o) => rightWord(o) === 'wrong').length, none = list.filter((o) => o[by] === null).length;
  const here = at >= 0 ? list[at] : undefined;
  const alt = `${count(list.length)} objects by ${name}, the worst first: ${num(list[0]![by])}${by === 'error' && m.answers === 'numbers' ? ' in centred scales' : ''}, half way ${num(list[Math.floor(list.length / 2)]![by])}.${judged ? ` The most frequent answer is wrong for ${count(wrong)}.` : ''} Arrow keys go through the objects.`;
  return (
    <div class="card" id="strip">
      <Frame title="Objects, the worst first" caption={caption} file={['repeat', 'objects']} table={table}
        note={`A bar for each object: ${good ? 'the share of pairs of answers that are equal' : 'the largest error over views and repeats'}${judged ? '. Objects with a line below are answered wrongly: where their bar is high, asking again does not find it' : ''}${none > 0 ? `. ${count(none)} without a number stand at the end` : ''}.`}>
        {all.length > 1 && (
          <div class="bar" data-noexport>
            <span class="segments" role="group" aria-label="What objects are ranked by">{all.map((k) => <button key={k} aria-pressed={k === by} onClick={() => setWanted(k)}>{ranks[k][0]}</button>)}</span>
          </div>
        )}
        <div class="chart" ref={ref}>
          <svg viewBox={`0 0 ${width} ${height}`} role="application" aria-roledescription="plot" tabindex={0} aria-label={alt} onKeyDown={key}
            onPointerMove={(e) => setOver(place(e))} onPointerLeave={() => setOver(-1)} onClick={(e) => { const k = place(e); if (k >= 0) pick(k); }}>
            {y.ticks.filter((t) => y.pos(t.at) >= 0 && y.pos(t.at) <= 1).map((t) => <g key={t.at}><line class="grid" x1={left} x2={left + w} y1={top + (1 - y.pos(t.at)) * h} y2={top + (1 - y.pos(t.at)) * h} /><text class="tick" x={left - 6} y={top + (1 - y.pos(t.at)) * h + 3.5} text-anchor="end">{shares ? `${Math.round(100 * t.at)} %` : t.label}</text></g>)}
            {kinds.map((k) => <path key={k} class={`asked ${k || 'unknown'}`} d={bars(k)} />)}
            {judged && <path class="asked-wrong" d={below} />}
            {here && <rect class="asked-now" x={px(at) - 1} y={top - 2} width={Math.max(each, 1) + 2} height={h + 10} />}
            <text class="axis" x={left + w / 2} y={height - 5} text-anchor="middle">objects by {name}</text>
          </svg>
          <output class="at" aria-live="polite">{here ? objectWords(here, m) : ''}</output>
          {judged && <ul class="series">{kinds.map((k) => <li key={k}><svg width="22" height="14" viewBox="0 0 22 14" aria-hidden="true"><path class={`asked ${k || 'unknown'}`} d="M3 10V1H19V10Z" />{k === 'wrong' && <path class="asked-wrong" d="M3 13H19" />}</svg>{k || 'nobody knows'}</li>)}</ul>}
        </div>
      </Frame>
    </div>
  );
}

/** Consistency beside being right. */
function Squares({ c, caption }: { c: Correct; caption: readonly string[] }) {
  const rows = squares(c), all = rows.flat();
  const table = { title: 'Consistency and correctness', notes: caption, columns: [{ name: 'objects_that_are', kind: 'text' as const }, { name: 'count', kind: 'integer' as const }, { name: 'share', kind: 'float64' as const }, { name: 'low', kind: 'float64' as const }, { name: 'high', kind: 'float64' as const }], rows: all.map((q) => [q.name, q.n, q.of?.value ?? q.share, q.of?.low ?? null, q.of?.high ?? null]) };
  const wrong = c.consistent_wrong + c.varying_wrong;
  return (
    <div class="card" id="squares">
      <Frame title="Consistency beside being right" caption={caption} file={['repeat', 'consistency']} table={table} note="Consistent: two answers to the same are equal in at least 80 %. Right: the most frequent answer is the label. Below each share its interval.">
        <p><b>{wrong > 0 ? `${percent(c.consistent_errors.value)} of errors are consistent errors` : 'No most frequent answer is wrong'}</b>{wrong > 0 ? ` (${percent(c.consistent_errors.low)} to ${percent(c.consistent_errors.high)}): asking again does not find them.` : '.'}</p>
        <Scroll label="Consistency beside being right">
          <table class="squares">
            <thead><tr><td /><th scope="col">right</th><th scope="col">wrong</th></tr></thead>
            <tbody>{rows.map((row, k) => (
              <tr key={k}><th scope="row">{k === 0 ? 'consistent' : 'varying'}</th>{row.map((q) => (
                <td key={q.name} class={q.bad ? 'gone' : 'kept'} style={{ '--share': String(q.share) }}><b>{count(q.n)}</b> {percent(q.of?.value ?? q.share)}{q.of && <small>{percent(q.of.low)} to {percent(q.of.high)}</small>}</td>
              ))}</tr>
            ))}</tbody>
          </table>
        </Scroll>
        <dl class="facts">
          {([['accuracy of one answer', c.accuracy_of_one], ['of the most frequent', c.accuracy_of_mode], ['at least one right', c.accuracy_of_best]] as const).map(([k, e]) => <div key={k}><dt>{k}</dt><dd>{estimate(e, percent)}</dd></div>)}
        </dl>
      </Frame>
    </div>
  );
}

/** Views, by how much they are answered otherwise: what differs as a bar, what differs more than by chance with its interval. */
function Views({ r, m, caption }: { r: Report; m: Model; caption: readonly string[] }) {
  const views = m.views!, [ref, width] = useWidth(760), [at, setAt] = useState(-1), say = sizeOf(m), by = r.times > 1;
  const table = useMemo(() => viewTable(m, caption), [m]), [lo, hi] = span(r, views);
  const narrow = width < 520, left = narrow ? 10 : Math.min(190, width * 0.26), right = narrow ? 12 : 76, row = narrow ? 40 : 26, top = 6, bottom = 42;
  const w = width - left - right, h = views.length * row, height = h + top + bottom, x = makeScale({ lo, hi, log: false }, m.answers === 'numbers' ? 'distance over the centred scale' : 'share of answers', narrow ? 4 : 7);
  const px = (v: number | null, other: number) => left + Math.max(0, Math.min(1, x.pos(finite(v) ? v : other))) * w;
  const key = (e: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: views.length - 1 }[e.key];
    if (e.key === 'Escape') setAt(-1);
    if (to === undefined) return;
    e.preventDefault();
    setAt(Math.max(0, Math.min(views.length - 1, to)));
  };
  const clip = (t: string) => { const most = narrow ? Math.floor(w / 8) : Math.floor(left / 7.4); return t.length > most ? `${t.slice(0, most - 1)}…` : t; };
  const threshold = px(r.threshold, 0);
  return (
    <div class="card" id="views">
      <Frame title={`Views, by how much they are answered otherwise than ${r.reference}`} caption={caption} file={['repeat', 'views']} table={table}
        note={`Bars: how often an answer differs from one to ${r.reference}${m.answers === 'numbers' ? ', and how far' : ''}. ${by ? 'Dots with intervals: by how much more than two answers to the same view, 0 if both come from one distribution' : 'Lines: their intervals; each was asked once, and nothing is known of chance'}. A view is the same if its interval ends before the upright line at ${num(r.threshold)}, and differs if it begins behind it. The intervals of all views hold together; a large p shows nothing.`}>
        {m.apart ? <p>Two answers to different views of one object are {estimate(m.apart, num)} apart, over the centred scale.</p>
          : m.over_views && <p>Two answers to different views of one object are equal in {estimate(m.over_views, percent)}.</p>}
        <div class="chart" ref={ref}>
          <svg viewBox={`0 0 ${width} ${height}`} role="application" aria-roledescription="plot" tabindex={0} aria-label={`${views.map((v) => viewWords(v, m)).join('. ')}. Arrow keys go through the views.`} onKeyDown={key} onPointerLeave={() => setAt(-1)}>
            {x.ticks.filter((t) => x.pos(t.at) >= -0.001 && x.pos(t.at) <= 1.001).map((t) => <g key={t.at}><line class="grid" x1={left + x.pos(t.at) * w} x2={left + x.pos(t.at) * w} y1={top} y2={top + h} /><text class="tick" x={left + x.pos(t.at) * w} y={top + h + 15} text-anchor="middle">{m.answers === 'numbers' ? t.label : `${+(100 * t.at).toFixed(1)} %`}</text></g>)}
            <text class="axis" x={left + w / 2} y={height - 6} text-anchor="middle">{x.label}</text>
            {views.map((v, k) => {
              const y0 = top + k * row, mid = y0 + (narrow ? 28 : row / 2), e = effectOf(v), [sign, kind] = signOf(v.state ?? '');
              return (
                <g key={v.name} class={`family ${kind}${k === at ? ' now' : ''}`} onPointerEnter={() => setAt(k)}>
                  <rect class="row" x={0} y={y0} width={width} height={row} />
                  <text class="name" x={narrow ? left : left - 8} y={narrow ? y0 + 13 : mid + 4} text-anchor={narrow ? 'start' : 'end'}>{clip(v.name)}</text>
                  <text class="name" x={width - 6} y={narrow ? y0 + 13 : mid + 4} text-anchor="end">{v.reference ? 'reference' : `${sign} ${v.state ?? ''}`}</text>
                  {!v.reference && finite(v.difference?.value) && <rect class="differ" x={px(0, 0)} y={mid - 6} width={Math.max(0, px(v.difference!.value, 0) - px(0, 0))} height={12} />}
                  {!v.reference && e && <line class="whisk" x1={px(e.low, lo)} x2={px(e.high, hi)} y1={mid} y2={mid} />}
                  {!v.reference && e && [e.low, e.high].map((q, j) => (finite(q) ? <line key={j} class="whisk" x1={px(q, 0)} x2={px(q, 0)} y1={mid - 4} y2={mid + 4} /> : null))}
                  {!v.reference && finite(e?.value) && <circle class="body" cx={px(e!.value, 0)} cy={mid} r={4} />}
                </g>
              );
            })}
            {r.threshold !== null && <line class="cut" x1={threshold} x2={threshold} y1={top} y2={top + h} />}
          </svg>
          <output class="at" aria-live="polite">{at >= 0 ? viewWords(views[at]!, m) : ''}</output>
        </div>
      </Frame>
      <Scroll label="Views" high>
        <table>
          <thead><tr><th scope="col" class="words">view</th><th scope="col">objects</th><th scope="col">answers differ</th>{by && <th scope="col">more than by chance</th>}{by && <th scope="col">p (Holm)</th>}{views.some((v) => v.accuracy) && <th scope="col">right</th>}<th scope="col" class="words">state</th></tr></thead>
          <tbody>{views.map((v, k) => <tr key={v.name} class={k === at ? 'now' : undefined}><th scope="row" class="words">{v.name}</th><td>{count(v.objects)}</td><td>{v.reference ? '' : estimate(v.difference, say)}</td>{by && <td>{v.reference ? '' : estimate(v.excess, num)}</td>}{by && <td>{v.p_holm === undefined ? '' : num(v.p_holm)}</td>}{views.some((x) => x.accuracy) && <td>{estimate(v.accuracy, percent)}</td>}<td class="words">{v.reference ? 'reference' : <Verdict word={v.state ?? ''} />}</td></tr>)}</tbody>
        </table>
      </Scroll>
    </div>
  );
}

/** What answers to the same have in common. */
function Same({ r, m, caption }: { r: Report; m: Model; caption: readonly string[] }) {
  const same = m.repeats!, digits = useMemo(() => digitCurve(m), [m]);
  const facts: [string, string][] = [['agreement of two answers', estimate(same.agreement, percent)], ['entropy, bits', estimate(same.entropy, num)], ['all answers equal', estimate(same.full, percent)]];
  if (same.spread) facts.push(['deviation over the centred scale', estimate(same.spread, num)]);
  return (
    <Card id="same" title="The same again" sub={`${r.times} times${r.views.length > 1 ? `, of the view ${r.reference}` : ''}`}>
      <dl class="facts">{facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
      <p class="note">Of {count(same.objects)} objects.{same.tied ? ` ${count(same.tied)} have no single most frequent answer; the first of them is taken.` : ''}{same.few ? ` ${count(same.few)} have fewer than two answers.` : ''}</p>
      {digits && <div class="plots"><CurvePlot title="Digits in common" curve={digits} caption={caption} file={['repeat', 'digits']} note="Share of the numbers of two answers to the same that have at least so many significant digits in common." /></div>}
    </Card>
  );
}

/** The contract, for these objects and over time. */
function Promise({ c, caption }: { c: Contract; caption: readonly string[] }) {
  const curve = useMemo(() => courseCurve(c), [c]), many = `${c.unit}s`;
  return (
    <Card id="contract" title="Contract" sub={`an error above ${num(c.error)} in at most ${percent(c.rate)} of ${many}, with confidence ${percent(c.confidence)}`}>
      <Scroll label="Contract">
        <table>
          <thead><tr><td /><th scope="col" class="words">state</th><th scope="col">{many}</th><th scope="col">above</th><th scope="col" class="words">what is shown</th></tr></thead>
          <tbody>
            <tr><th scope="row" class="words">these {many}</th><td class="words"><Verdict word={c.fixed.state} /></td><td>{count(c.fixed.n)}</td><td>{count(c.fixed.over)}</td><td class="words wrap">the share lies above {percent(c.fixed.low)} and below {percent(c.fixed.high)}{c.fixed.need ? `; about ${count(c.fixed.need)} decide` : ''}</td></tr>
            <tr><th scope="row" class="words">all so far</th><td class="words"><Verdict word={c.stream.state} /></td><td>{count(c.stream.n)}</td><td>{count(c.stream.over)}</td><td class="words wrap">{c.stream.decided_at ? `decided after ${count(c.stream.decided_at)}` : 'not decided yet'}{c.stream.known ? `; ${count(c.stream.known)} were known before and are no new evidence` : ''}</td></tr>
          </tbody>
        </table>
      </Scroll>
      {curve && <div class="plots"><CurvePlot title="The contract over time" curve={curve} cut={c.stream.decided_at || null} caption={caption} file={['repeat', 'contract']} note={`The evidence that the contract is kept, and that it is broken, as ${many} came: whichever reaches the line first decides, and it may be looked at at any time.${c.stream.decided_at ? ' The upright line is where it was decided.' : ''}`} /></div>}
      <p class="note">The error of an object is its largest over views and repeats, from the most frequent answer to the reference{c.unit === 'environment' ? '; that of an environment is the mean of its objects' : ''}.{c.left_out ? ` ${count(c.left_out)} have no answer to the reference.` : ''}</p>
    </Card>
  );
}

/** The objects that agree least, and what they were answered otherwise. */
function Objects({ s, m }: { s: State; m: Model }) {
  const all = m.objects.filter((o) => (o.views ?? []).length > 0), most = 200, name = s.place.detail.value['object'] ?? '';
  const now = m.objects.find((o) => o.name === name), first = all.slice(0, most), shown = now && !first.includes(now) ? [now, ...first] : first;
  return (
    <Card id="objects" title="Objects that agree least" sub={`${count(all.length)} of ${count(m.objects.length)} were answered in more than one way, or not always`}>
      {shown.length === 0 ? <p>None: every answer about an object is the same.</p> : (
        <Scroll label="Objects that agree least" high>
          <table>
            <thead><tr><th scope="col" class="words">object</th><th scope="col">of repeats</th><th scope="col">over views</th><th scope="col" class="words">mostly</th><th scope="col" class="words">otherwise</th></tr></thead>
            <tbody>{shown.map((o) => (
              <tr key={o.name} class={o === now ? 'now' : undefined}>
                <th scope="row" class="words"><button class="link" aria-pressed={o === now} onClick={() => choose(s, 'object', o === now ? '' : o.name)}>{o.name}</button></th>
                <td>{percent(o.agreement)}</td><td>{percent(o.over_views)}</td><td class="words wrap">{o.mode}{rightWord(o) ? ` (${rightWord(o)}${rightWord(o) === 'wrong' ? `: ${o.label ?? ''}` : ''})` : ''}</td>
                <td class="words wrap">{(o.views ?? []).map((v) => [v.differ > 0 ? `${v.view} ${v.differ} of ${v.asked}: ${v.answer ?? ''}` : '', v.without ? `${v.view} ${v.without} of ${v.asked} without an answer` : ''].filter(Boolean).join('; ')).join('; ')}</td>
              </tr>
            ))}</tbody>
          </table>
        </Scroll>
      )}
      <p><button onClick={() => saveTable(objectTable(m, 'agreement', [m.sentence]), 'csv', ['repeat', 'objects'])} aria-label="Save the objects as CSV">CSV</button>{all.length > most ? <span class="note"> {count(all.length - most)} more are in the CSV.</span> : null}</p>
    </Card>
  );
}
