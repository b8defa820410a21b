// The head of every page: where one is, what is shown, with which models, and what can be taken away.

import { batch, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { inkOf, letters, mostShown } from '../core/inks';
import type { Compare, Theme } from '../core/place';
import type { State } from '../core/state';
import { copy } from '../core/export';
import { many } from '../core/format';
import { addressed } from '../core/history';
import type { SheetName } from '../core/url';
import { kindsOf, sheetAddress, sheetOf, titles } from '../pages/sheet';
import { Mark } from '../render/orbit/common';
import { ReferenceMenu } from '../views/reference';
import { Export } from './export';

/** The head of every page. */
export function Header({ s, help }: { s: State; help: () => void }) {
  const run = s.data.run.value;
  const page = s.place.page.value;
  const inRun = page === 'run' && run !== null;
  return (
    <header class={`top${kindsOf(s.data.runs.state.value.value).length > 0 ? ' many' : ''}`}>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus(); }}>
        Skip to the content
      </a>
      <h1>
        <a href="#/runs" aria-label="NERO, all runs">NERO</a>
      </h1>
      <nav aria-label="Pages">
        {s.client.live && <Tab s={s} page="runs" href="#/runs" text="Runs" />}
        <Tab s={s} page="run" href={s.data.runID.value ? `#/run/${encodeURIComponent(s.data.runID.value).replace(/%2B/g, '+')}` : ''} text="Run" />
        <Tab s={s} page="findings" href={s.place.audit.value ? `#/findings/${encodeURIComponent(s.place.audit.value)}` : run?.audits[0] ? `#/findings/${encodeURIComponent(run.audits[0])}` : '#/findings'} text="Findings" />
        {[...kindsOf(s.data.runs.state.value.value), ...(page === 'identify' ? ['identify' as const] : [])].filter((k, j, all) => all.indexOf(k) === j).map((k) => <Tab key={k} s={s} page={k} href={tabOf(s, k)} text={titles[k]} />)}
        {s.client.live && <ReportLink s={s} />}
      </nav>
      {inRun && <What s={s} />}
      <span class="space" />
      {inRun && <Models s={s} />}
      <span class="group tail">
        {inRun && (
          <label class="field">
            <span class="hidden">Colour map</span>
            <select value={s.place.cmap.value} title="Colour map" onChange={(e) => (s.place.cmap.value = e.currentTarget.value as 'viridis' | 'cividis')}>
              <option value="viridis">viridis</option>
              <option value="cividis">cividis</option>
            </select>
          </label>
        )}
        <select aria-label="Theme" title="Theme" value={s.place.theme.value} onChange={(e) => (s.place.theme.value = e.currentTarget.value as Theme)}>
          <option value="auto">auto</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
        {inRun && addressed() && <CopyLink s={s} />}
        {inRun && <Export s={s} />}
        <button onClick={help} title="Help and keys (?)" aria-label="Help and keys">
          ?
        </button>
      </span>
    </header>
  );
}

/** The address of a kind of sheets: the one that was open, else that of the run. */
function tabOf(s: State, kind: SheetName): string {
  const list = s.data.runs.state.value.value, open = list?.sheets.find((a) => a.kind === kind && a.id === s.place.sheet.value);
  const at = open ?? sheetOf(list, kind, s.data.runID.value);
  return at ? sheetAddress(at) : kind === 'identify' ? '#/identify' : '';
}

function Tab({ s, page, href, text }: { s: State; page: 'runs' | 'run' | 'findings' | SheetName; href: string; text: string }) {
  const here = s.place.page.value === page;
  if (!href) return <span class="tab off" aria-disabled="true">{text}</span>;
  return (
    <a class="tab" href={href} aria-current={here ? 'page' : undefined} onClick={(e) => {
      // The run that is open keeps its choices: only the page changes.
      if (page !== 'run' || !s.data.run.value) return;
      e.preventDefault();
      s.place.page.value = 'run';
    }}>
      {text}
    </a>
  );
}

function ReportLink({ s }: { s: State }) {
  const run = s.data.run.value;
  const r = run?.metric_list[s.place.metric.value];
  const href = run && r ? s.client.reportURL(run.id, { metric: r.name, ...(s.choice.parts.value.slice ? { slice: s.choice.parts.value.slice } : {}) }) : '';
  if (!href) return <span class="tab off" aria-disabled="true">Report</span>;
  return (
    <a class="tab" href={href} download title="This run as one HTML file that opens from disk">
      Report
    </a>
  );
}

function What({ s }: { s: State }) {
  const run = s.data.run.value!;
  return (
    <span class="group what">
      <strong title={run.digest}>{run.name}</strong>
      <span>{many(run.samples, 'sample')}</span>
      <span class="what-group" title={`${run.orbit.title || run.orbit.name}: ${run.orbit.measure}`}>{run.orbit.title || run.orbit.name}</span>
      <label class="field">
        <span class="hidden">Metric</span>
        <select value={s.place.metric.value} title={s.place.metricDoc.value?.doc} onChange={(e) => (s.place.metric.value = Number(e.currentTarget.value))}>
          {run.metric_list.map((m, k) => (
            <option key={m.name} value={k} title={m.name}>
              {m.title}
            </option>
          ))}
        </select>
      </label>
      <ReferenceMenu s={s} />
    </span>
  );
}

function Models({ s }: { s: State }) {
  const run = s.data.run.value!;
  const two = s.place.b.value >= 0;
  return (
    <span class="group models">
      <Model s={s} k={0} />
      <Model s={s} k={1} />
      {two && (
        <span class="segments" role="group" aria-label="How the models are compared">
          {(['over', 'side', 'diff'] as Compare[]).map((c) => (
            <button key={c} aria-pressed={s.place.compare.value === c} onClick={() => (s.place.compare.value = c)} title={{ over: 'Both in one plot', side: 'Side by side', diff: 'The difference B − A' }[c]} aria-label={{ over: 'Overlay', side: 'Side by side', diff: 'B−A, the difference' }[c]}>
              {{ over: '=', side: '||', diff: 'A−B' }[c].replace('A−B', 'B−A')}
            </button>
          ))}
        </span>
      )}
      {run.model_list.length > 2 && two && <Others s={s} />}
      {run.model_list.length > 1 && two && (
        <button onClick={() => swap(s)} title="Swap A and B" aria-label="Swap A and B">
          ⇄
        </button>
      )}
    </span>
  );
}

/** Which further models are shown, wherever there is room for more than two. */
function Others({ s }: { s: State }) {
  const run = s.data.run.value!, open = useSignal(false), box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!open.value) return undefined;
    const away = (e: Event) => { if (!box.current?.contains(e.target as Node)) open.value = false; };
    addEventListener('pointerdown', away);
    return () => removeEventListener('pointerdown', away);
  }, [open.value]);
  const shown = s.place.shown.value, more = shown.length - 2, full = shown.length >= mostShown;
  const rest = run.model_list.map((m, k) => ({ ...m, k })).filter(({ k }) => k !== s.place.a.value && k !== s.place.b.value);
  const choose = (k: number, on: boolean) => {
    s.place.others.value = on ? [...s.place.others.value, k].sort((x, y) => x - y) : s.place.others.value.filter((x) => x !== k);
    s.tasks.say(`${s.place.shown.value.length} models are shown.`);
  };
  return (
    <span class="menu" ref={box} onKeyDown={(e) => { if (e.key === 'Escape' && open.value) { open.value = false; box.current?.querySelector('button')?.focus(); e.stopPropagation(); } }}>
      <button id="more-models" aria-expanded={open.value} aria-haspopup="true" aria-pressed={more > 0} title="Show more models in the curves, the table and the views below it" aria-label={more > 0 ? `More models: ${more} beside A and B` : 'More models'} onClick={() => (open.value = !open.value)}>+{more > 0 ? more : ''}</button>
      {open.value && (
        <div class="sheet others" role="group" aria-label="More models">
          <h2>Beside A and B</h2>
          {rest.map((m) => {
            const at = shown.indexOf(m.k);
            return (
              <label key={m.k} class="switch">
                <input type="checkbox" checked={at >= 0} disabled={at < 0 && full} onChange={(e) => choose(m.k, e.currentTarget.checked)} />
                <svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">{at >= 0 && <><line class={`line m${inkOf(at)}`} x1="1" x2="25" y1="5" y2="5" /><Mark ink={inkOf(at)} x={13} y={5} r={3.3} /></>}</svg>
                <span class={at >= 0 ? `ink m${inkOf(at)}` : ''}>{at >= 0 ? `${letters[at]} ` : ''}{m.name}</span>
              </label>
            );
          })}
          <div class="line">
            <button type="button" disabled={more === Math.min(rest.length, mostShown - 2)} onClick={() => { s.place.others.value = rest.slice(0, mostShown - 2).map((m) => m.k); s.tasks.say(`${s.place.shown.value.length} models are shown.`); }}>{rest.length + 2 > mostShown ? `The first ${mostShown - 2}` : 'All'}</button>
            <button type="button" disabled={more === 0} onClick={() => { s.place.others.value = []; s.tasks.say('Two models are shown.'); }}>None</button>
          </div>
          <p class="note">Maps of pairs, answers and live values stay those of A and B.</p>
        </div>
      )}
    </span>
  );
}

function swap(s: State): void {
  const [a, b] = [s.place.a.value, s.place.b.value];
  batch(() => {
    s.place.a.value = b;
    s.place.b.value = a;
  });
}

/** The menu of models, those of other runs with the same group included. */
function Model({ s, k }: { s: State; k: 0 | 1 }) {
  const run = s.data.run.value!;
  const now = k ? s.place.b.value : s.place.a.value;
  const others = s.client.live && !run.id.includes('+') ? (s.data.runs.state.value.value?.runs ?? []).filter((r) => r.id !== run.id && !r.id.includes('+') && r.group === run.group && r.elements === run.elements) : [];
  const choose = (v: string) => {
    const other = v.split('\n');
    if (other.length === 2) {
      open(s, k, other[0], other[1]);
      return;
    }
    if (k) s.place.b.value = Number(v);
    else s.place.a.value = Number(v);
    if (s.place.b.value < 0) s.place.compare.value = 'over';
  };
  return (
    <label class={`field model m${k}`}>
      <span class={`ink m${k}`}>{'AB'[k]}</span>
      <select value={String(now)} onChange={(e) => choose(e.currentTarget.value)} onFocus={() => void (s.client.live && !s.data.runs.value && s.data.list())} title={run.model_list[now]?.sha256 ? `SHA-256 ${run.model_list[now].sha256}` : undefined}>
        {k === 1 && <option value="-1">none</option>}
        {run.model_list.map((m, j) => (
          <option key={j} value={String(j)}>
            {m.name}
            {m.run && run.id.includes('+') && !m.name.endsWith(` (${m.run})`) ? ` (${m.run})` : ''}
          </option>
        ))}
        {others.length > 0 && (
          <optgroup label="Of other runs">
            {others.flatMap((r) => r.models.map((m) => <option key={r.id + m} value={`${r.id}\n${m}`}>{`${m} (${others.some((o) => o !== r && o.name === r.name) || r.name === run.name ? `${r.name}, ${r.folder}` : r.name})`}</option>))}
          </optgroup>
        )}
      </select>
    </label>
  );
}

/** Puts a model of another run beside those of this one, over the samples that both have. */
function open(s: State, k: 0 | 1, id: string, model: string): void {
  const run = s.data.run.peek()!;
  const keep = { other: run.model_list[k ? s.place.a.peek() : s.place.b.peek()]?.name ?? run.model_list[0]?.name, metric: run.metric_list[s.place.metric.peek()]?.name };
  s.show(`${run.id}+${id}`, (r) => {
    const of = (name: string | undefined, part: string) => r.model_list.findIndex((m) => m.run === part && (m.name === name || m.name === `${name} (${part})`));
    const theirs = of(model, id);
    const ours = of(keep.other, run.id);
    const at = Math.max(0, theirs);
    s.place.a.value = k ? Math.max(0, ours) : at;
    s.place.b.value = k ? at : Math.max(0, ours);
    s.place.metric.value = Math.max(0, r.metric_list.findIndex((m) => m.name === keep.metric));
  });
}

function CopyLink({ s }: { s: State }) {
  const done = useSignal('');
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => () => void (timer.current && clearTimeout(timer.current)), []);
  return (
    <button
      onClick={() => {
        // The address is written a moment after a gesture: wait for it.
        setTimeout(() => {
          void copy(location.href).then((ok) => {
            done.value = ok ? 'Copied' : 'Copy the address bar';
            s.tasks.say(ok ? 'The link is on the clipboard.' : 'The browser permits no copying; copy the address.');
            timer.current = setTimeout(() => (done.value = ''), 2000);
          });
        }, 300);
      }}
      title="Copy a link to exactly this view"
    >
      {done.value || 'Link'}
    </button>
  );
}
