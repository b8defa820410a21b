// The page of all runs: how far they are, what they are of, what their audits found, and which two to look at side by side.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type * as api from '../core/api';
import { words } from '../core/source';
import type { State } from '../core/state';
import { arrived, idle, next, ours, underway } from '../core/underway';
import { count } from '../render/text';
import { Skeleton, Trouble } from '../views/parts';
import { found, ordered, orders, when, type Order } from './listing';
import { kindOf, pairID, pairing } from './pairs';
import { Sheets } from './sheets';
import { Sketch } from './sketch';

/** The address of a run. */
const address = (id: string): string => `#/run/${encodeURIComponent(id).replace(/%2B/g, '+')}`;

/** The page of all runs. */
export function Runs({ s }: { s: State }) {
  const { value: list, busy, error } = s.data.runs.state.value;
  const pair = useSignal<readonly string[]>([]), search = useSignal(''), order = useSignal<Order>('newest');
  useEffect(() => { if (!s.data.runs.state.peek().value && !s.data.runs.state.peek().busy) void s.data.list(); }, []);
  const awaited = useRef<readonly string[]>([]);
  useEffect(() => {
    const made = list && arrived(awaited.current, list);
    awaited.current = list?.planned.map((p) => p.name) ?? [];
    if (!made) return;
    s.tasks.say(`The audit ${made.name} is made: ${made.verdict}.`);
    location.hash = `#/findings/${encodeURIComponent(made.id)}`;
  }, [list]);
  if (!list) return <div class="runs-page">{error && !busy ? <Trouble text={error} retry={() => void s.data.list()} /> : <Skeleton label="Looking for runs" />}</div>;
  const chosen = pair.value.map((id) => list.runs.find((r) => r.id === id)).filter((r) => r !== undefined);
  const toggle = (id: string) => {
    const now = pair.peek().filter((x) => list.runs.some((r) => r.id === x));
    pair.value = now.includes(id) ? now.filter((x) => x !== id) : [...now.slice(-1), id];
  };
  const comparable = list.runs.length > 1;
  const shown = ordered(found(list.runs, list.audits, search.value), list.audits, order.value);
  return (
    <div class="runs-page">
      {(list.runs.length > 0 || list.sheets.length === 0) && <h2>Runs <small>{count(list.runs.length)}</small></h2>}
      {error && <Trouble text={error} retry={() => void s.data.list()} />}
      {comparable && (
        <div class="runs-tools" role="search">
          <label>Search <input type="search" value={search.value} placeholder="name, folder, model, group, verdict" onInput={(e) => (search.value = e.currentTarget.value)} /></label>
          <label>Order <select value={order.value} onChange={(e) => (order.value = e.currentTarget.value as Order)}>{orders.map(([k, text]) => <option key={k} value={k}>{text}</option>)}</select></label>
          <span class="note" role="status">{shown.length < list.runs.length ? `${count(shown.length)} of ${count(list.runs.length)}` : ''}</span>
        </div>
      )}
      {comparable && chosen.length > 0 && <Pair chosen={chosen} clear={() => (pair.value = [])} />}
      <Waiting planned={list.planned} />
      {list.runs.length === 0 && list.sheets.length + list.planned.length > 0 ? null : list.runs.length === 0 ? (
        <div class="runs-empty">
          <p>There is no run here yet.</p>
          <p>Make one with <code>nero demo</code>, or show one with <code>nero serve RUN</code>. For the questions below nothing is needed.</p>
        </div>
      ) : (
        <ul class="runs-list">
          {shown.map((r) => <Card key={r.id} s={s} r={r} audits={list.audits.filter((a) => a.runs.includes(r.id))} chosen={chosen} {...(comparable ? { toggle } : {})} />)}
        </ul>
      )}
      <Sheets sheets={list.sheets} />
      {s.client.live && <p class="note">Which symmetries should a problem have? <a href="#/identify">Answer some questions</a>.</p>}
      <Others audits={list.audits.filter((a) => !a.runs.some((id) => list.runs.some((r) => r.id === id)))} />
      {list.problems.length > 0 && (
        <section aria-labelledby="broken-title">
          <h2 id="broken-title">Could not be opened <small>{count(list.problems.length)}</small></h2>
          <ul class="broken">
            {list.problems.map((p) => <li key={p.name + p.detail}><b>{p.name}</b><p>{p.detail}</p>{p.remedy && <p>{p.remedy}</p>}</li>)}
          </ul>
        </section>
      )}
    </div>
  );
}

/** Audits that are planned and not made yet: how far they are, and what people can type next. */
function Waiting({ planned }: { planned: readonly api.Planned[] }) {
  if (planned.length === 0) return null;
  return (
    <section aria-labelledby="planned-title">
      <h2 id="planned-title">Planned audits <small>{count(planned.length)}</small></h2>
      <ul class="runs-list">
        {planned.map((p) => {
          const percent = Math.floor((100 * p.done) / Math.max(1, p.samples));
          return (
            <li key={p.folder} class="run-card planned">
              <h3>{p.name}</h3>
              <p class="run-where"><span title="Where it lies">{p.folder}</span> · {p.models.length === 1 ? 'model' : 'models'} {p.models.join(', ')}</p>
              <div class="run-state" role="group" aria-label={`Progress of ${p.name}`}>
                <progress max={Math.max(1, p.samples)} value={p.done} aria-label={`${percent} % of ${p.name}`} />
                <span>{p.says}</span>
              </div>
              <p>{p.kept < p.shards ? 'Shards of its sweep are missing. Compute them on any machine that sees the folder, then make the audit:' : 'Its sweep is complete. Make the audit:'}</p>
              <ol class="run-type">{p.commands.map((c) => <li key={c}><code>{c}</code></li>)}</ol>
              <p class="note">It opens here as soon as it is made.</p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Card({ s, r, audits, chosen, toggle }: { s: State; r: api.RunCard; audits: readonly api.Audit[]; chosen: readonly api.RunCard[]; toggle?: (id: string) => void }) {
  const on = chosen.some((c) => c.id === r.id), other = chosen.find((c) => c.id !== r.id), why = other && !on ? pairing(other, r) : '';
  return (
    <li class={`run-card${on ? ' chosen' : ''}`}>
      <div class="run-head">
        <div>
          <Name s={s} r={r} />
          <p class="run-where"><span title="Where it lies">{r.folder}</span>{r.changed > 0 && <> · <time dateTime={new Date(r.changed).toISOString()} title={`begun ${new Date(r.begun).toLocaleString()}, last rows ${new Date(r.changed).toLocaleString()}`}>{when(r.changed, Date.now())}</time></>}</p>
          <Progress s={s} r={r} />
        </div>
        <Sketch s={s} r={r} />
      </div>
      <dl>
        <dt>task</dt><dd>{r.task}</dd>
        <dt>orbit</dt><dd>{r.group}, {count(r.elements)} element{r.elements === 1 ? '' : 's'}</dd>
        <dt>samples</dt><dd>{count(r.samples)}</dd>
        <dt>{r.models.length === 1 ? 'model' : 'models'}</dt><dd>{r.models.join(', ')}</dd>
        <dt>{r.metrics.length === 1 ? 'metric' : 'metrics'}</dt><dd>{r.metrics.join(', ')}</dd>
        <dt>digest</dt><dd><code title={r.digest}>{r.digest.slice(0, 12)}</code></dd>
      </dl>
      <div class="run-foot">
        {audits.map((a) => <Verdict key={a.id} a={a} />)}
        {toggle && (
          <label title={why || undefined}><input type="checkbox" checked={on} disabled={why !== ''} onChange={() => toggle(r.id)} /> compare</label>
        )}
        {why && <span class="note">{why}</span>}
      </div>
    </li>
  );
}

/** The name of a run, which can be changed. */
function Name({ s, r }: { s: State; r: api.RunCard }) {
  const edit = useSignal(false), input = useRef<HTMLInputElement>(null), button = useRef<HTMLButtonElement>(null);
  useEffect(() => { if (edit.value) input.current?.select(); }, [edit.value]);
  const end = () => {
    edit.value = false;
    requestAnimationFrame(() => button.current?.focus());
  };
  const keep = async (name: string) => {
    end();
    if (name === r.name) return;
    try {
      await s.client.remark(r.id, (doc) => ({ ...doc, name }));
      await s.data.list();
      s.tasks.say(name ? `The run is called ${name}.` : 'The run is called by its folder again.');
    } catch (e) {
      s.tasks.notify('error', `${r.name}: ${words(e)}`);
    }
  };
  if (edit.value)
    return (
      <form class="run-name" onSubmit={(e) => { e.preventDefault(); void keep(input.current?.value.trim() ?? ''); }}>
        <input ref={input} value={r.name} maxLength={200} aria-label={`New name of ${r.name}; empty for the one that it had`} onKeyDown={(e) => { if (e.key === 'Escape') { e.stopPropagation(); end(); } }} />
        <button type="submit">Keep</button>
        <button type="button" onClick={end}>Cancel</button>
      </form>
    );
  return (
    <h3>
      <a href={address(r.id)}>{r.name}</a>
      {s.client.live && <button type="button" ref={button} class="rename" title="Rename" aria-label={`Rename ${r.name}`} onClick={() => (edit.value = true)}>✎</button>}
    </h3>
  );
}

/** How far a run is, with what goes on or stops it. */
function Progress({ s, r }: { s: State; r: api.RunCard }) {
  const wait = useSignal(false), { complete, done, total } = r.state;
  if (complete) return <p class="run-state"><span>✓ complete</span></p>;
  const percent = total > 0 ? Math.floor((100 * done) / total) : 0;
  const act = async (f: () => Promise<void>) => {
    wait.value = true;
    try {
      await f();
      await s.data.list();
    } catch (e) {
      s.tasks.notify('error', `${r.name}: ${words(e)}`);
    } finally {
      wait.value = false;
    }
  };
  const type = next(r);
  return <>
    <div class="run-state" role="group" aria-label={`Progress of ${r.name}`}>
      <progress max={Math.max(1, total)} value={done} aria-label={`${percent} % of ${r.name}`} />
      <span>{underway(r.state)}</span>
      {s.client.live && ours(r.state) && <button type="button" disabled={wait.value} onClick={() => void act(() => s.client.stopJob(r.id))}>Stop</button>}
      {s.client.live && idle(r.state) && <button type="button" disabled={wait.value} onClick={() => void act(() => s.client.startJob(r.id))}>Go on</button>}
    </div>
    {type.length > 0 && <p class="note">Or type {type.map((c, i) => <span key={c}>{i > 0 && ', then '}<code>{c}</code></span>)}</p>}
  </>;
}

const signs = { pass: '✓', fail: '✗', open: '?' } as const;

function Verdict({ a }: { a: api.Audit }) {
  const k = kindOf(a.verdict);
  return <a class={`verdict ${k}`} href={`#/findings/${encodeURIComponent(a.id)}`} title={`Audit ${a.name} of ${a.models.join(', ')}`}><span aria-hidden="true">{signs[k]}</span> audit: <b>{a.verdict}</b></a>;
}

/** What is chosen for comparing, and why it may not be possible. */
function Pair({ chosen, clear }: { chosen: readonly api.RunCard[]; clear: () => void }) {
  const [a, b] = chosen, why = a && b ? pairing(a, b) : '';
  return (
    <div class="runs-pair" role="status">
      <span>A: <b>{a?.name}</b>{b ? <>, B: <b>{b.name}</b></> : ', choose a second run'}</span>
      {b && a && !why && <a href={address(pairID(a, b))}>Compare them</a>}
      {why && <span>Not comparable: {why}</span>}
      {a && b && !why && <span class="note">Over the samples that both have.</span>}
      <button type="button" onClick={clear}>Clear</button>
    </div>
  );
}

/** Audits that belong to no run. */
function Others({ audits }: { audits: readonly api.Audit[] }) {
  if (audits.length === 0) return null;
  return (
    <section aria-labelledby="audits-title">
      <h2 id="audits-title">Audits without a run here <small>{count(audits.length)}</small></h2>
      <table class="audits">
        <thead><tr><th scope="col">audit</th><th scope="col">verdict</th><th scope="col">models</th></tr></thead>
        <tbody>{audits.map((a) => <tr key={a.id}><th scope="row"><a href={`#/findings/${encodeURIComponent(a.id)}`}>{a.name}</a></th><td><Verdict a={a} /></td><td>{a.models.join(', ')}</td></tr>)}</tbody>
      </table>
    </section>
  );
}
