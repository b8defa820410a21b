// The page of releases that are watched: is it getting worse, what changed with the first alarm, and each series.

import { useMemo } from 'preact/hooks';
import { saveTable } from '../core/export';
import type { State } from '../core/state';
import type { Report, Series } from '../core/watch';
import { level } from '../core/format';
import { CurvePlot, finite } from '../render/chart';
import { count, interval, num } from '../render/text';
import { adds, chosen, evidenceCurve, judged, nameOf, pointTable, valueCurve } from './series';
import { Card, choose, Command, Scroll, SheetPage, Verdict } from './sheets';

/** The page of releases. */
export function ReleasesPage({ s }: { s: State }) {
  return <SheetPage s={s} kind="watch" none="No releases are watched here: nero watch AUDITS -o FOLDER judges them together, and nero serve FOLDER shows it." draw={(a) => <Releases s={s} r={a.document as Report} />} />;
}

function Releases({ s, r }: { s: State; r: Report }) {
  const now = chosen(r, s.place.detail.value['series'] ?? '');
  return (
    <>
      <section class="card summary" aria-labelledby="watch-title">
        <h2 id="watch-title">Releases <span class="sub"><Verdict word={r.state} /></span></h2>
        <p class="answer">{r.sentence}</p>
        <p class="note">{count(r.audits)} audits and {count(r.runs)} runs, ordered by {r.by}. Same inputs: each against the reference ({r.reference}), input by input; a change for the worse of up to {level(r.allow ?? 0)} is allowed. New inputs: at most {level(r.rate ?? 0)} of them may have an error above the limit, and an alarm stays. The probability of any false alarm of a study is at most {level(r.alarm ?? 0)}, however many releases there are.</p>
      </section>
      {r.series.length > 1 && (
        <Card id="all-series" title="Series" sub={count(r.series.length)}>
          <Scroll label="Series" high>
            <table>
              <thead><tr><th scope="col" class="words">series</th><th scope="col" class="words">state</th><th scope="col">releases</th><th scope="col" class="words">first alarm</th></tr></thead>
              <tbody>{r.series.map((x) => (
                <tr key={x.key} class={x === now ? 'now' : undefined}>
                  <th scope="row" class="words"><button class="link" aria-pressed={x === now} onClick={() => choose(s, 'series', x.key)}>{nameOf(x)}</button></th>
                  <td class="words"><Verdict word={x.state} /></td><td>{x.points.length}</td><td class="words">{x.first_alarm?.release ?? ''}</td>
                </tr>
              ))}</tbody>
            </table>
          </Scroll>
        </Card>
      )}
      {now && <One key={now.key} s={s} r={r} of={now} />}
      {r.skipped.length > 0 && (
        <Card id="skipped" title="Left out" sub={count(r.skipped.length)}>
          <Scroll label="Left out" high><table><thead><tr><th scope="col" class="words">file</th><th scope="col" class="words">why</th></tr></thead>
            <tbody>{r.skipped.slice(0, 500).map((x) => <tr key={x.file}><td class="words">{x.file}</td><td class="words wrap">{x.why}</td></tr>)}</tbody></table></Scroll>
        </Card>
      )}
    </>
  );
}

/** One series: its values, its evidence, its releases. */
function One({ s, r, of }: { s: State; r: Report; of: Series }) {
  const values = useMemo(() => valueCurve(r, of), [r, of]), evidence = useMemo(() => evidenceCurve(of), [of]);
  const caption = [nameOf(of), r.sentence], first = of.first_alarm, changed = of.changed ?? [], apart = of.apart ?? [];
  return (
    <Card id="series" title={nameOf(of)}>
      <p><Verdict word={of.state} />{of.why ? ` ${of.why}` : ''}</p>
      {of.course && <p><Verdict word={of.course.word} /> {of.course.sentence}</p>}
      {first && (
        <>
          <p>First alarm at release {first.release} ({first.place} of {first.of}, {count(first.n)} objects): {first.message}.</p>
          {changed.length > 0 && <p>What changed with it: {changed.join('; ')}.</p>}
          {first.command && <><Command s={s} text={first.command} /><p class="note">In the folder that is watched: lays the two side by side.</p></>}
        </>
      )}
      {apart.length > 0 && <p class="note">A series of its own: {apart.join('; ')}.</p>}
      <div class="plots">
        <CurvePlot title="Release after release" curve={values} caption={caption} file={['watch', of.metric]} note={adds(of) ? 'The share of all new inputs so far that failed, with an interval that holds at all times together.' : 'The mean over the same inputs, with its interval.'} />
        {evidence && <CurvePlot title="Evidence" curve={evidence} caption={caption} file={['watch', of.metric, 'evidence']} note="By what factor what failed is better explained by a larger rate. An alarm is due at the line, at any time." />}
      </div>
      {of.slope && <p class="note">Slope: {num(of.slope.value)} per release {interval(of.slope.low, of.slope.high)}; a description of all releases and no test.</p>}
      <p><button onClick={() => saveTable(pointTable(of), 'csv', ['watch', of.metric, 'releases'])} aria-label="Save the releases as CSV">CSV</button></p>
      <Scroll label="Releases" high>
        <table>
          <thead><tr><th scope="col">release</th><th scope="col">{adds(of) ? 'new objects' : 'objects'}</th>{adds(of) && <th scope="col">failed</th>}<th scope="col">{adds(of) ? 'share so far' : 'mean'}</th>{!adds(of) && <th scope="col">change</th>}<th scope="col" class="words">state</th></tr></thead>
          <tbody>{of.points.map((p, k) => (
            <tr key={k} class={p.state === 'alarm' ? 'now' : undefined}>
              <th scope="row">{p.release}</th>
              <td>{count(p.n)}{p.repeated ? `, ${count(p.repeated)} known` : ''}{p.missing ? `, ${count(p.missing)} without` : ''}</td>
              {adds(of) && <td>{count(p.failed ?? 0)}</td>}
              <td>{num(p.value)} {interval(p.low, p.high)}</td>
              {!adds(of) && <td>{p.change && finite(p.change.value) ? `${num(p.change.value)} ${interval(p.change.low, p.change.high)}` : ''}</td>}
              <td class="words wrap">{judged(of, p) && <Verdict word={p.state} />} {p.why}</td>
            </tr>
          ))}</tbody>
        </table>
      </Scroll>
    </Card>
  );
}
