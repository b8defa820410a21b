// The page of the questionnaire: plain questions at the left, and beside them what follows from the answers, with the files to keep.

import { useEffect, useMemo, useState } from 'preact/hooks';
import type * as api from '../core/api';
import { copy, save } from '../core/export';
import { Slot } from '../core/slot';
import type { State } from '../core/state';
import { Card, Command, Scroll, SheetPage } from './sheets';
import { answered, answersOf, fileOf, join, progress, split, sureness } from './questions';

/** The page of the questionnaire; of a report, what followed from the answers that were given. */
export function IdentifyPage({ s }: { s: State }) {
  return s.client.live ? <Asking s={s} /> : <SheetPage s={s} kind="identify" none="A report asks nothing: nero serve has the questions, and nero identify asks in a terminal." draw={(a) => <Given s={s} r={a.document as api.Concluded} />} />;
}

/** The questions. The answers stand in the address; those of a file are where it begins. */
function Asking({ s }: { s: State }) {
  const slot = useMemo(() => new Slot<api.Identified>(), []), [ready, setReady] = useState(!s.place.sheet.peek());
  const id = s.place.sheet.value, detail = s.place.detail.value, answers = answersOf(detail), text = JSON.stringify(detail);
  useEffect(() => {
    // A file of answers, unless the address has some.
    if (!id || Object.keys(answersOf(s.place.detail.peek())).length > 0) { setReady(true); return; }
    s.client.sheet(id).then((a) => { s.place.detail.value = { ...(a.document as api.Concluded).answers }; }, (e: unknown) => s.tasks.notify('warn', String(e))).finally(() => setReady(true));
  }, [id]);
  useEffect(() => {
    if (!ready) return;
    const body: api.IdentifyRequest = { answers, seed: 7, ...(detail['model_file'] ? { model: detail['model_file'] } : {}), ...(detail['data_file'] ? { data: detail['data_file'] } : {}) };
    void slot.load((cut) => s.client.identify(body, cut), true);
  }, [ready, text]);
  const { value, error } = slot.state.value;
  const set = (key: string, to: string) => { s.place.detail.value = answered(s.place.detail.peek(), key, to); };
  return (
    <div class="findings found identify">
      <section class="card summary" aria-labelledby="identify-title">
        <h2 id="identify-title">Which symmetries should the problem have?</h2>
        <p class="answer" role="status">{value?.result?.sentence ?? 'Say what one sample is; nothing is measured here, rules read the answers.'}</p>
        {value && <p class="note">{progress(value.questions, answers).done} of {progress(value.questions, answers).of} questions are answered; what is not answered counts as not known. What follows is a hypothesis.</p>}
      </section>
      {error && <div class="trouble" role="alert"><p>{error}</p></div>}
      {value && (
        <div class="asking">
          <form class="card questions-asked" aria-label="Questions" onSubmit={(e) => e.preventDefault()}>
            {value.questions.map((q, k) => <Ask key={q.id} q={q} n={k + 1} now={answers[q.id]} wrong={value.wrong[q.id] ?? ''} set={(t) => set(q.id, t)} />)}
            <p><button type="button" onClick={() => { s.place.detail.value = {}; }}>Begin again</button></p>
          </form>
          <div class="follows">
            {value.result && <Follows s={s} v={value} set={set} detail={detail} />}
          </div>
        </div>
      )}
    </div>
  );
}

function Ask({ q, n, now, wrong, set }: { q: api.Question; n: number; now: string | undefined; wrong: string; set: (text: string) => void }) {
  const { word, guess } = split(now), id = `ask-${q.id}`;
  return (
    <fieldset id={id}>
      <legend>{n}. {q.ask}</legend>
      {(q.choices ?? []).map((c) => (
        <label key={c.name} class="choice"><input type="radio" name={q.id} value={c.name} checked={word === c.name} onChange={() => set(join(c.name, guess))} /> <span>{c.doc}</span></label>
      ))}
      {q.form && <label class="choice">{q.form} <input type="text" value={word} maxLength={40} aria-invalid={wrong !== ''} onChange={(e) => set(join(e.currentTarget.value.trim(), guess))} /></label>}
      {wrong && <p class="warn" role="alert">{wrong}</p>}
      {!q.surely && word !== '' && word !== 'unknown' && <label class="choice guess"><input type="checkbox" checked={guess} onChange={(e) => set(join(word, e.currentTarget.checked))} /> <span>this is a guess</span></label>}
    </fieldset>
  );
}

/** What followed from answers that were given elsewhere. */
function Given({ s, r }: { s: State; r: api.Concluded }) {
  return (
    <>
      <section class="card summary" aria-labelledby="identify-title">
        <h2 id="identify-title">Which symmetries should the problem have?</h2>
        <p class="answer">{r.sentence}</p>
        <p class="note">Nothing was measured: rules read these answers, and what follows is a hypothesis.</p>
        <dl class="facts">{Object.entries(r.answers).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
      </section>
      <Conclusion r={r} />
      {r.commands.length > 0 && <Card id="next" title="What to type then">{r.commands.map((c) => <Command key={c} s={s} text={c} />)}</Card>}
    </>
  );
}

function Conclusion({ r }: { r: api.Concluded }) {
  return (
    <Card id="follows" title="What follows">
      {r.factors.length === 0 ? <p class="note">No symmetry follows yet.</p> : (
        <Scroll label="Symmetries">
          <table><thead><tr><th scope="col">group</th><th scope="col" class="words">how sure</th><th scope="col" class="words">why</th><th scope="col" class="words">rule</th></tr></thead>
            <tbody>{r.factors.map((f, k) => <tr key={k}><th scope="row">{f.group}</th><td class="words"><span class={`verdict ${sureness(f.sureness).kind}`}><span aria-hidden="true">{sureness(f.sureness).sign}</span> {f.sureness}</span></td><td class="words wrap">{f.why}</td><td class="words">{f.rule}</td></tr>)}</tbody></table>
        </Scroll>
      )}
      {r.not.length > 0 && <><h3>No symmetries</h3><ul>{r.not.map((x) => <li key={x.what}><b>{x.what}</b>: {x.why} <span class="note">({x.rule})</span></li>)}</ul></>}
      {r.warnings.length > 0 && <><h3>Take care</h3><ul>{r.warnings.map((x) => <li key={x.text}>{x.text} <span class="note">({x.rule})</span></li>)}</ul></>}
    </Card>
  );
}

function Follows({ s, v, set, detail }: { s: State; v: api.Identified; set: (key: string, text: string) => void; detail: Readonly<Record<string, string>> }) {
  const r = v.result!, [name, setName] = useState(''), file = fileOf(v.files, name);
  return (
    <>
      <Conclusion r={r} />
      <Card id="files" title="Files to keep" sub={`${v.files.length}`}>
        <div class="bar">
          <label class="field">Model <input type="text" value={detail['model_file'] ?? ''} placeholder="model.onnx" maxLength={500} onChange={(e) => set('model_file', e.currentTarget.value.trim())} /></label>
          <label class="field">Data <input type="text" value={detail['data_file'] ?? ''} placeholder="data" maxLength={500} onChange={(e) => set('data_file', e.currentTarget.value.trim())} /></label>
        </div>
        <div class="bar" role="group" aria-label="File">{v.files.map((f) => <button key={f.file} type="button" aria-pressed={f === file} onClick={() => setName(f.file)}>{f.file}</button>)}</div>
        {file && (
          <>
            <pre tabIndex={0} aria-label={file.file}>{file.text}</pre>
            <p>
              <button type="button" onClick={() => save(file.text, file.file, 'text/plain;charset=utf-8')}>Save {file.file}</button>{' '}
              <button type="button" onClick={() => void copy(file.text).then((ok) => s.tasks.say(ok ? `${file.file} is on the clipboard.` : 'The browser does not permit copying; select the text instead.'))}>Copy</button>
            </p>
          </>
        )}
        {r.commands.length > 0 && <><h3>What to type then</h3>{r.commands.map((c) => <Command key={c} s={s} text={c} />)}</>}
      </Card>
    </>
  );
}
