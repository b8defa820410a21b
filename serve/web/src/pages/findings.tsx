// The page of an audit: verdict, causes, findings by severity, what was measured, and a way from every worst case into the five views.

import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type * as api from '../core/api';
import { read, type Check, type Diagnosis, type Document, type Exhibit, type Finding, type Model, type Verdict, type Where } from '../core/audit';
import { copy, saveTable, type Table } from '../core/export';
import { Slot } from '../core/slot';
import type { State } from '../core/state';
import { columnsOf, CurvePlot, MapPlot, NumberTable } from '../render/chart';
import { num } from '../render/text';
import { chainOf, firstBreak, glow, stretches } from './chain';
import { Sketch } from './sketch';
import { brief, findings, linkTo, orbitProfile, placeOf, verdictWords } from './audit';

/** A verdict as a sign and a word. */
export function VerdictBadge({ verdict, big }: { verdict: Verdict; big?: boolean }) {
  const v = verdictWords(verdict);
  return (
    <span class={`verdict ${v.kind}${big ? ' big' : ''}`}>
      <span aria-hidden="true">{v.sign}</span> {v.text}
    </span>
  );
}

interface Ctx {
  s: State;
  doc: api.Findings;
  model: Model;
  caption: readonly string[];
}

/** Findings is the page; which audit is s.audit, the first one if it is empty. */
export function FindingsPage({ s }: { s: State }) {
  const slot = useMemo(() => new Slot<api.Findings>(), []);
  const audits = s.data.runs.state.value.value?.audits ?? [];
  const id = s.place.audit.value || (audits.find((a) => a.runs.includes(s.data.runID.value)) ?? audits[0])?.id || '';
  useEffect(() => {
    if (id) void slot.load((cut) => s.client.audit(id, cut), false);
    else slot.clear();
  }, [id]);
  const { value, busy, error } = slot.state.value;
  const chosen = useSignal('');
  if (!id) {
    if (s.data.runs.state.value.busy) return <Empty text="Looking for audits…" />;
    return (
      <Empty text={'There is no audit beside these runs. Make one, and give its folder to "nero serve" as well:'}>
        <Command text={s.data.run.value?.audit_command ?? 'nero audit STUDY.yaml --format json --out FOLDER'} s={s} />
      </Empty>
    );
  }
  if (error) {
    return (
      <div class="findings">
        <div class="trouble" role="alert">
          <p>{error}</p>
          <button onClick={() => void slot.load((cut) => s.client.audit(id, cut), false)}>Try again</button>
        </div>
      </div>
    );
  }
  if (!value) return <Empty text={busy ? 'Loading the audit…' : 'No audit.'} />;
  const doc = read(value.document);
  if (typeof doc === 'string') return <Empty text={doc} />;
  const model = doc.models.find((m) => m.model === chosen.value) ?? doc.models[0];
  const card = s.data.runs.state.value.value?.runs.find((r) => value.audit.runs.includes(r.id));
  if (!model) return <Empty text="This audit is of no model." />;
  return (
    <div class="findings">
      <nav class="pick" aria-label="Audit and model">
        {audits.length > 1 && (
          <label>
            Audit{' '}
            <select
              value={id}
              onChange={(e) => {
                s.place.audit.value = e.currentTarget.value;
              }}
            >
              {audits.map((a) => (
                <option key={a.id} value={a.id}>
                  {a.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <div class="models" role="group" aria-label="Model">
          {doc.models.map((m) => (
            <button key={m.model} aria-pressed={m === model} onClick={() => (chosen.value = m.model)}>
              {m.model} <VerdictBadge verdict={m.verdict} />
            </button>
          ))}
        </div>
      </nav>
      {card && (
        <figure class="audit-sketch">
          <a href={`#/run/${encodeURIComponent(card.id)}`} aria-label={`The curves of ${card.name}`}><Sketch s={s} r={card} side={112} /></a>
          <figcaption class="note">curves of {card.name}</figcaption>
        </figure>
      )}
      <ModelPage key={`${id}|${model.model}`} s={s} doc={value} document={doc} model={model} />
    </div>
  );
}

function Empty({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <div class="findings">
      <p class="empty" role="status">
        {text}
      </p>
      {children}
    </div>
  );
}

function ModelPage({ s, doc, document, model }: { s: State; doc: api.Findings; document: Document; model: Model }) {
  const c = model.claim;
  const caption = [`${model.model}: ${verdictWords(model.verdict).text} for ${c.group}, ${c.elements} elements, ${c.inputs} inputs`, ...model.about.filter((a) => /sha|digest|engine|version/i.test(a.name)).map((a) => `${a.name} ${a.value}`), `nero audit, format ${document.format}`];
  const ctx: Ctx = { s, doc, model, caption };
  const all = findings(model);
  if (model.error) {
    return (
      <section class="card">
        <h2>
          <VerdictBadge verdict={model.verdict} big />
        </h2>
        <p>{model.error}</p>
      </section>
    );
  }
  return (
    <>
      <Summary {...ctx} />
      <section class="card causes" aria-labelledby="causes-title">
        <h2 id="causes-title">Most likely cause</h2>
        {model.diagnoses.length === 0 ? <p class="note">Nothing was seen that needs a cause.</p> : model.diagnoses.map((d, k) => <Cause key={d.id} d={d} first={k === 0} />)}
        <p class="note">The percentages rank the causes by the clues of this audit; they are not probabilities.</p>
      </section>
      <section class="card" aria-labelledby="list-title" id="list">
        <h2 id="list-title">
          Findings <span class="sub">{all.length === 0 ? 'none' : `${all.length}, the severest first`}</span>
        </h2>
        {all.length === 0 && <p class="note">No check reported a finding. What was not tested is listed below: untested is not passed.</p>}
        {all.map(({ check, finding }, k) => (
          <FindingCard key={finding.id} ctx={ctx} check={check} f={finding} open={k === 0} />
        ))}
      </section>
      <Worst {...ctx} />
      <Plots {...ctx} />
      <Checks {...ctx} />
      <Rest {...ctx} />
    </>
  );
}

function Summary(ctx: Ctx) {
  const { model } = ctx;
  const c = model.claim;
  const cause = model.diagnoses[0];
  return (
    <section class="card summary" aria-labelledby="verdict-title">
      <h2 id="verdict-title">
        <VerdictBadge verdict={model.verdict} big /> <span class="who">{model.model}</span>
      </h2>
      {model.gist?.map((g) => (
        <p key={g} class="gist">
          {g}
        </p>
      ))}
      <Fold {...ctx} />
      {cause && (
        <p>
          <b>Most likely:</b> {cause.cause}
          {cause.location ? <> (<code>{cause.location}</code>)</> : null}. {cause.fix && <><b>What to do:</b> {cause.fix}.</>}
        </p>
      )}
      <p class="note">
        {c.group}: {c.elements} elements{c.added_exact_elements > 0 ? `, and ${c.added_exact_elements} exact ones that were added` : ''} ({c.measure}), {c.inputs} inputs, output {c.output}. Errors are relative to the scale of the outputs, {num(c.scale)}; the
        threshold is {num(model.policy.threshold)} ({model.policy.origin}).
      </p>
      {model.reasons.length > 0 && (
        <ul class="reasons">
          {model.reasons.map((r) => (
            <li key={r}>{r.replace(/^NEEDS_ATTENTION\b/, verdictWords('NEEDS_ATTENTION').text)}</li>
          ))}
        </ul>
      )}
      <dl class="questions">
        {model.questions.map((q) => (
          <div key={q.question}>
            <dt>{q.question}</dt>
            {q.answers.map((a) => (
              <dd key={a}>{a}</dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What one should have seen before anything else: the error along the orbit with floor and limit, and the worst input as it is and moved. */
function Fold(ctx: Ctx) {
  const profile = useMemo(() => orbitProfile(ctx.model), [ctx.model]);
  const worst = ctx.model.gallery.find((g) => (g.images ?? []).some((i) => i.png));
  if (!profile && !worst) return null;
  return (
    <div class="plots">
      {profile && <CurvePlot title="Error along the orbit, with exact elements apart" note={profile.note} curve={profile.curve} caption={ctx.caption} file={file(ctx.model, 'orbit-profile')} />}
      {worst && (
        <figure class="plot">
          <figcaption>
            <h3>The worst input, as it is and moved</h3>
          </figcaption>
          <div class="pair">
            {(worst.images ?? []).filter((i) => i.png).slice(0, 4).map((i) => (
              <figure key={i.caption}>
                <img src={`data:image/png;base64,${i.png ?? ''}`} alt={i.caption} width={i.width} height={i.height} />
                <figcaption>{i.caption.replace(/\([^()]*\)/g, brief).replace(/(\d) deg\b/g, '$1°')}</figcaption>
              </figure>
            ))}
          </div>
          {worst.note && <p>{worst.note.replace(/^Pictures as the model is fed them[^.]*\. /, '')}</p>}
          <p>
            <OpenLinks ctx={ctx} where={worst.where} />
          </p>
        </figure>
      )}
    </div>
  );
}

function Cause({ d, first }: { d: Diagnosis; first: boolean }) {
  const p = Math.round((d.confidence ?? 0) * 100);
  return (
    <details class="cause" open={first}>
      <summary>
        <span class="meter" role="img" aria-label={`${p} percent`}>
          <span style={{ width: `${p}%` }} />
        </span>
        <b>{p} %</b> {d.cause}
        {d.location ? <code>{d.location}</code> : null}
      </summary>
      <p>
        <b>What to do:</b> {d.fix}
      </p>
      <p>
        <b>How to see that it helped:</b> {d.verify}
      </p>
      <Clues title="Speaks for it" clues={d.for} />
      <Clues title="Speaks against it" clues={d.against} />
      {(d.would_settle?.length ?? 0) > 0 && (
        <p>
          <b>A test that would settle it:</b> {d.would_settle!.join('; ')}
        </p>
      )}
    </details>
  );
}

function Clues({ title, clues }: { title: string; clues: Diagnosis['for'] }) {
  if (clues.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="clues">
        {clues.map((c, k) => (
          <li key={k}>
            {c.text} <span class="note">({c.holds ? 'seen' : 'looked for, not found'} by {c.check})</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Links that open a worst case in the five views, one per run that has it. */
function OpenLinks({ ctx, where }: { ctx: Ctx; where: Where | undefined }) {
  if (!where) return null;
  const runs = [...new Set(ctx.doc.places.map((p) => p.run))];
  const places = runs.map((run) => placeOf(ctx.doc.places.filter((p) => p.run === run), ctx.model.model, where)).filter((p) => p !== null);
  const words = `sample ${where.sample}${where.element ? ` at ${brief(where.element)}` : ''}`;
  if (places.length === 0) return <span class="note">{words} (in no run that is open here)</span>;
  const link = (p: (typeof places)[number]) => (
    <a key={p.run} class="open" href={linkTo(p)}>
      Open {words}
      {places.length > 1 ? ` in ${p.run}` : ''}
    </a>
  );
  const few = places.length > 4 ? 3 : places.length;
  return (
    <>
      {places.slice(0, few).map(link)}
      {places.length > few && (
        <details>
          <summary>in {places.length - few} more runs</summary>
          {places.slice(few).map(link)}
        </details>
      )}
    </>
  );
}

function Command({ text, s }: { text: string | undefined; s: State }) {
  if (!text) return null;
  return (
    <p class="command">
      <code>{text}</code>
      <button onClick={() => void copy(text).then((ok) => s.tasks.say(ok ? 'The command is on the clipboard.' : 'The browser does not permit copying; select the command instead.'))}>Copy</button>
    </p>
  );
}

function FindingCard({ ctx, check, f, open }: { ctx: Ctx; check: string; f: Finding; open: boolean }) {
  const sign = { high: '▲', medium: '◆', low: '▽', note: '·' }[f.severity] ?? '·';
  return (
    <details class={`finding ${f.severity}`} open={open}>
      <summary>
        <span class={`severity ${f.severity}`}>
          <span aria-hidden="true">{sign}</span> {f.severity}
        </span>
        <span class="message">{f.message}</span>
      </summary>
      <dl class="facts">
        <div>
          <dt>Check</dt>
          <dd>
            {ctx.model.checks.find((c) => c.check === check)?.title ?? check} ({check}), {f.title ?? f.category}
            {f.set ? `, ${f.set}` : ''}
          </dd>
        </div>
        <div>
          <dt>Place</dt>
          <dd>
            <code>{f.location || '–'}</code>
          </dd>
        </div>
        {f.worst && (
          <div>
            <dt>Worst case</dt>
            <dd>
              <OpenLinks ctx={ctx} where={f.worst} />
            </dd>
          </div>
        )}
      </dl>
      {f.evidence.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={`Evidence of ${f.id}`}>
          <table class="evidence">
            <thead>
              <tr>
                <th scope="col">evidence</th>
                <th scope="col">value</th>
                <th scope="col">interval</th>
                <th scope="col">limit</th>
                <th scope="col">unit</th>
              </tr>
            </thead>
            <tbody>
              {f.evidence.map((e, k) => (
                <tr key={k}>
                  <th scope="row">{e.name}</th>
                  <td title={e.text}>{e.value === null ? e.text.split(' ').find((w) => /nan|inf/i.test(w)) ?? 'not finite' : num(e.value)}</td>
                  <td>{e.lo !== undefined && e.hi !== undefined ? `[${num(e.lo)}, ${num(e.hi)}]` : '–'}</td>
                  <td>{e.limit === undefined ? '–' : num(e.limit)}</td>
                  <td class="words">{(e.unit ?? '').replace(/\bdeg\b/, '°')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {f.remedies.length > 0 && (
        <>
          <h3>What to do</h3>
          <ul>
            {f.remedies.map((r) => (
              <li key={r}>{r}</li>
            ))}
          </ul>
        </>
      )}
      <Command text={f.replay} s={ctx.s} />
    </details>
  );
}

function Worst(ctx: Ctx) {
  const { model, s } = ctx;
  if (model.worst_cases.length === 0) return null;
  const table: Table = {
    title: `Worst cases of ${model.model}`,
    notes: ctx.caption,
    columns: [{ name: 'what', kind: 'text' }, { name: 'sample', kind: 'text' }, { name: 'element', kind: 'text' }, { name: 'error', kind: 'float64' }, { name: 'replay', kind: 'text' }],
    rows: model.worst_cases.map((w) => [w.what, w.where.sample, w.where.element, w.value, w.replay ?? '']),
  };
  return (
    <section class="card" aria-labelledby="worst-title">
      <h2 id="worst-title">
        Worst cases <span class="sub">each opens in the five views</span>
        <span class="tools">
          {(['csv', 'jsonl', 'md', 'tex'] as const).map((f) => (
            <button key={f} onClick={() => saveTable(table, f, [model.model, 'worst-cases'])} aria-label={`Save the worst cases as ${f}`}>
              {f.toUpperCase()}
            </button>
          ))}
        </span>
      </h2>
      <ul class="cases">
        {model.worst_cases.map((w, k) => {
          const p = placeOf(ctx.doc.places, model.model, w.where);
          const src = p ? s.client.thumb(p.run, p.index) : '';
          return (
            <li key={k}>
              {src ? <img src={src} alt="" width="48" height="48" loading="lazy" /> : <span class="nopicture" aria-hidden="true" />}
              <div>
                <b>{num(w.value)}</b> {w.what}
                <br />
                <OpenLinks ctx={ctx} where={w.where} />
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const file = (m: Model, name: string): string[] => ['audit', m.model, name];

function ExhibitView({ e, ctx }: { e: Exhibit; ctx: Ctx }) {
  if (e.curve) return <CurvePlot title={e.title} note={e.note} curve={e.curve} caption={ctx.caption} file={file(ctx.model, e.name)} />;
  if (e.map) return <MapPlot title={e.title} note={e.note} map={e.map} caption={ctx.caption} file={file(ctx.model, e.name)} />;
  if (!e.table) return null;
  const t: Table = { title: e.title, notes: ctx.caption, columns: columnsOf(e.table.columns, e.table.rows), rows: e.table.rows };
  const docs = e.table.columns.filter((c) => c.doc);
  return (
    <figure class="plot wide">
      <figcaption>
        <h3>{e.title}</h3>
        <span class="tools">
          {(['csv', 'md', 'tex'] as const).map((f) => (
            <button key={f} onClick={() => saveTable(t, f, file(ctx.model, e.name))} aria-label={`${e.title}: save as ${f}`}>
              {f.toUpperCase()}
            </button>
          ))}
        </span>
      </figcaption>
      <NumberTable table={t} rows={e.table.rows} />
      {e.note && <p class="note">{e.note}</p>}
      {docs.length > 0 && <p class="note">{docs.map((c) => `${c.name}: ${c.doc}`).join('. ')}.</p>}
    </figure>
  );
}

/** The plots that most readers look for: the comb, the layers, the maps. */
const front = ['layer-profile', 'layer-shares'];

function Plots(ctx: Ctx) {
  const shown = ctx.model.checks.flatMap((c) => c.exhibits.filter((e) => front.includes(e.name) || e.map).map((e) => ({ check: c.check, e })));
  if (shown.length === 0) return null;
  return (
    <section class="card" aria-labelledby="plots-title">
      <h2 id="plots-title">
        Layers and places <span class="sub">errors with their floors</span>
      </h2>
      <Chain ctx={ctx} />
      <div class="plots">
        {shown.map(({ check, e }) => (
          <ExhibitView key={check + e.name} e={e} ctx={ctx} />
        ))}
      </div>
    </section>
  );
}

/** The layers in the order in which they compute; the first that breaks the symmetry stands out, brighter the more it adds to the error. */
function Chain({ ctx }: { ctx: Ctx }) {
  const links = chainOf(ctx.model.checks.flatMap((c) => c.exhibits).find((e) => e.name === 'layers')), first = firstBreak(links);
  if (links.length < 2) return null;
  return (
    <figure class="chain">
      <ol aria-label="Layers in the order in which they compute">
        {stretches(links).map(({ from: k, to }) => links.slice(k, k + 1).map((l) => (to > k ? <li key={k} class="folded" title={links.slice(k, to + 1).map((x) => x.name).join(', ')}>{to - k + 1} layers</li> : (
          <li key={k} class={k === first ? 'first' : l.breaks ? 'breaks' : ''} style={{ '--glow': String(glow(links, k)) }} title={`${l.name} (${l.op}): ${l.status}, injected ${num(l.injected)}, share ${num(l.share)}`}>
            <span>{l.op}</span>{k === first && <b>breaks first</b>}<span class="hidden"> {l.name}, {l.status}, share of the error {num(l.share)}</span>
          </li>
        ))))}
      </ol>
      <figcaption class="note">{first >= 0 ? `The symmetry is first lost in ${links[first].name}; ` : 'No layer breaks the symmetry by itself; '}colour is the share of the error at the output.</figcaption>
    </figure>
  );
}

/** Whether a check holds sets against the limits, or found something: what was only measured passes nothing. */
const judges = (c: Check): boolean => c.sets.length > 0 || (!!c.verdict && c.verdict !== 'PASS');

const statusSign = (c: Check): string => (c.status === 'tested' ? (c.verdict === 'FAIL' ? '✗' : c.verdict === 'NEEDS_ATTENTION' ? '!' : judges(c) ? '✓' : '·') : '–');

/** What became of a check, in words. */
const statusWords = (c: Check): string => (c.status !== 'tested' ? c.status : judges(c) && c.verdict ? verdictWords(c.verdict).text : 'measured') + (c.required && c.status !== 'tested' ? ', and there is no PASS without it' : '');

function Checks(ctx: Ctx) {
  return (
    <section class="card" aria-labelledby="checks-title">
      <h2 id="checks-title">
        Everything that was measured <span class="sub">untested is not passed</span>
      </h2>
      {ctx.model.checks.map((c) => (
        <details key={c.check} class={`check ${c.status.replace(' ', '-')}`}>
          <summary>
            <span class="sign" aria-hidden="true">
              {statusSign(c)}
            </span>
            <b>{c.title || c.check}</b> <span class="status">{statusWords(c)}</span> <span class="note">{c.summary}</span>
          </summary>
          {c.reason && <p>{c.reason}</p>}
          <p class="note">Check <code>{c.check}</code>{c.required ? ': there is no PASS without it' : ''}</p>
          {c.measures.length > 0 && (
            <ul>
              {c.measures.map((e, k) => (
                <li key={k}>{e.text}</li>
              ))}
            </ul>
          )}
          {c.sets.map((t) => (
            <div key={t.name} class="set">
              <h3>
                {t.name} <VerdictBadge verdict={t.verdict} /> <span class="note">{t.level}, {t.cause}</span>
              </h3>
              <p>{t.reason}</p>
              <p class="note">{t.statement}</p>
              <ol class="steps">
                {t.elimination.map((e) => (
                  <li key={e.name} class={e.is_the_cause ? 'is' : undefined}>
                    <b>{e.name}</b>
                    {e.is_the_cause ? ' ← this explains it' : ''}: {e.text}
                  </li>
                ))}
              </ol>
            </div>
          ))}
          {c.exhibits.map((e) => (
            <ExhibitView key={e.name} e={e} ctx={ctx} />
          ))}
        </details>
      ))}
    </section>
  );
}

function Rest({ model, s }: Ctx) {
  const lists: [string, readonly string[]][] = [
    ['What may be said to others', model.certificate],
    ['What the verdict does not speak of', model.caveats],
    ['Not part of this audit', model.not_part_of_this_audit],
  ];
  return (
    <section class="card rest" aria-labelledby="rest-title">
      <h2 id="rest-title">What to do next, and what this audit does not say</h2>
      {model.recommendations.length > 0 && (
        <ol>
          {model.recommendations.map((r, k) => (
            <li key={k}>
              {r.do} <span class="note">{r.why}{r.verify ? `; then: ${r.verify}` : ''}</span>
            </li>
          ))}
        </ol>
      )}
      {lists.map(([title, lines]) =>
        lines.length === 0 ? null : (
          <div key={title}>
            <h3>{title}</h3>
            <ul>
              {lines.map((l) => (
                <li key={l}>{l}</li>
              ))}
            </ul>
          </div>
        ),
      )}
      <h3>Circumstances</h3>
      <dl class="facts">
        {model.about.map((a) => (
          <div key={a.name}>
            <dt>{a.name}</dt>
            <dd>{a.value}</dd>
          </div>
        ))}
      </dl>
      <Command text={model.command} s={s} />
    </section>
  );
}
