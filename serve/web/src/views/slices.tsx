// Slices: which samples are looked at, in words; names for them; and how they do.

import { signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type * as api from '../core/api';
import { asShown, problem as ruleProblem, quote, type Columns, type RuleError } from '../core/rule';
import { words } from '../core/source';
import { toBits } from '../core/masks';
import type { State } from '../core/state';
import { count, interval, num } from '../render/text';
import { chosen } from './columns';
import { Card, quantity, Skeleton } from './parts';
import * as S from './sets';
import './samples.css';

// ---- the box for rules ----------------------------------------------------------------------------------------------------------

/** ruleColumns is what rules can look at of a run, as far as the page has it. */
export function ruleColumns(s: State): Columns | null {
  const r = s.data.run.value, all = s.data.samples.state.value.value;
  if (!r || !all) return null;
  const known = r.model_list.map((_, m) => (m === s.place.a.value ? 0 : m === s.place.b.value ? 1 : -1));
  const empty = new Float32Array(r.samples).fill(NaN);
  const stat = (f: 'mean' | 'min' | 'max' | 'sd' | 'identity') => known.map((k) => (k === -1 ? empty : (s.data.stats[k].state.value.value?.[f] ?? empty)));
  return {
    n: r.samples, models: r.model_list.map((m) => m.name), classes: r.classes, id: all.ids, tags: all.tags ?? Array.from({ length: r.samples }, () => []),
    ...(r.labelled ? { label: all.labels } : {}),
    predicted: r.output === 'scores' ? known.map(() => empty) : [],
    stats: { mean: stat('mean'), min: stat('min'), max: stat('max'), spread: stat('sd'), identity: stat('identity') },
  };
}

/** A rule that means something for the run on show: with its models, its metric and a class that it has. */
function example(s: State): string {
  const r = s.data.run.value, m = r?.metric_list[s.place.metric.value], name = r?.labelled ? r.classes[Math.min(6, r.classes.length - 1)] : undefined;
  const stat = `mean${r && r.models.length < 2 ? '' : ' A'} ${m?.better === 'lower' ? '>' : '<'} 0.4`;
  return name === undefined ? stat : `${stat} and label = ${/^\d+$/.test(name) ? name : quote(name)}`;
}

/** The field for a rule, with what is wrong with it and where. It is applied with Enter, or when one leaves it. */
export function RuleBox({ s }: { s: State }) {
  const text = useSignal(s.choice.parts.value.rule), error = useSignal<RuleError | null>(null), field = useRef<HTMLInputElement>(null);
  const applied = s.choice.parts.value.rule;
  useEffect(() => { text.value = applied; error.value = null; }, [applied]);
  const check = (t: string): RuleError | null => {
    const c = ruleColumns(s);
    return t.trim() && c ? ruleProblem(t, c) : null;
  };
  // While somebody types, only what cannot become right by typing on is said.
  const typed = (t: string) => {
    text.value = t;
    const e = check(t);
    error.value = e && e.at < [...t.trimEnd()].length && e.code !== 'text' ? e : null;
  };
  const apply = () => {
    const typedText = text.peek().trim(), names = s.data.run.peek()?.model_list.map((m) => m.name) ?? [];
    // What was applied before has names in it where letters would be wrong; what is typed now means what is on show.
    const t = typedText === s.choice.parts.peek().rule ? typedText : asShown(typedText, names, s.place.models.peek());
    text.value = t;
    error.value = check(t);
    if (error.peek()) { s.tasks.say(`The rule is not understood: ${error.peek()!.message}`); return; }
    if (t !== s.choice.parts.peek().rule) s.choice.choose({ rule: t });
  };
  const letters = s.place.models.value.map((m, k) => `${'AB'[k]} is ${s.data.run.value?.model_list[m]?.name ?? ''}`).join(', ');
  const refused = error.value?.message ?? s.choice.ruleError.value;
  return (
    <form class="rule" role="search" aria-label="Samples by a rule" onSubmit={(e) => { e.preventDefault(); apply(); }}>
      <input ref={field} id="rule" type="text" autocomplete="off" autocapitalize="off" spellcheck={false} enterkeyhint="search" placeholder={`rule, such as ${example(s)}`} value={text.value}
        aria-label="Rule that samples have to meet" aria-invalid={refused ? 'true' : 'false'} aria-describedby="rule-help" title={`Fields: mean, min, max, spread, identity, predicted (of a model), label, index, id, tag. In rules ${letters}.`}
        onInput={(e) => typed(e.currentTarget.value)} onBlur={(e) => { if (!(e.relatedTarget instanceof Node && e.currentTarget.form?.contains(e.relatedTarget))) { if (!check(text.peek())) apply(); } }}
        onKeyDown={(e) => { if (e.key === 'Escape') { e.stopPropagation(); if (text.peek()) { text.value = ''; error.value = null; s.choice.choose({ rule: '' }); } else e.currentTarget.blur(); } }} />
      <button type="submit">Filter</button>
      {(applied || text.value) && <button type="button" onClick={() => { text.value = ''; error.value = null; s.choice.choose({ rule: '' }); field.current?.focus(); }}>Clear</button>}
      <p id="rule-help" class={refused ? 'problem' : 'hidden'} role={refused ? 'alert' : undefined}>
        {error.value ? <Where rule={text.value} e={error.value} /> : refused || `Press Enter to apply. In rules ${letters}.`}
      </p>
    </form>
  );
}

/** A rule with a mark at what is wrong with it. */
function Where({ rule, e }: { rule: string; e: RuleError }) {
  const chars = [...rule], at = Math.min(e.at, chars.length), word = /^[\p{L}\p{N}_.]+|^./u.exec(chars.slice(at).join(''))?.[0] ?? '';
  return <><code>{chars.slice(Math.max(0, at - 24), at).join('')}<mark>{word || '⌃'}</mark></code> {e.message}</>;
}

/** focusRule brings the keyboard to the field for rules; false if it is not on the page. */
export function focusRule(): boolean {
  const f = document.getElementById('rule');
  if (!(f instanceof HTMLInputElement)) return false;
  f.focus();
  f.select();
  f.scrollIntoView({ block: 'nearest' });
  return true;
}

// ---- the panel ------------------------------------------------------------------------------------------------------------------

/** What is to be decided when somebody else changed the slices meanwhile. */
const conflict = signal<{ theirs: api.Slices; merged: S.Merged; what: string } | null>(null);
const working = signal(false);

const documentOf = (s: State): api.Slices => s.choice.kept.state.peek().value ?? { format: 1, slices: [] };

/** keepDoc keeps a changed document with the run, and asks if somebody else was faster. */
async function keepDoc(s: State, base: api.Slices, mine: api.Slices, what: string): Promise<boolean> {
  working.value = true;
  try {
    const out = await S.keep(s.client, s.data.runID.peek(), base, mine);
    if (out.kind === 'conflict') {
      s.choice.kept.set(out.theirs);
      conflict.value = { theirs: out.theirs, merged: out.merged, what };
      return false;
    }
    s.choice.kept.set(out.doc);
    s.tasks.say(what);
    return true;
  } catch (e) {
    s.tasks.notify('error', `The slices were not kept. ${words(e)}`);
    return false;
  } finally {
    working.value = false;
  }
}

/** The panel of slices. */
export function Slices({ s }: { s: State }) {
  const r = s.data.run.value;
  if (!r) return <Card id="slices" title="Slices"><Skeleton label="Loading the slices" /></Card>;
  return (
    <Card id="slices" title="Slices" sub={`${count(s.choice.count.value)} of ${count(s.data.n.value)} samples: ${chosen(s)}`}>
      <Combine s={s} />
      {s.client.live && <Name s={s} />}
      <Conflict s={s} />
      <List s={s} />
    </Card>
  );
}

/** Union, intersection and the others. */
function Combine({ s }: { s: State }) {
  const other = useSignal('');
  const names = [...(s.data.run.value?.slices ?? []), ...(s.choice.kept.state.value.value?.slices ?? [])].map((x) => x.name), all = s.choice.count.value === s.data.n.value;
  const choice = names.includes(other.value) ? other.value : (names[0] ?? '');
  const combine = async (how: 'and' | 'or' | 'not', what: string) => {
    if (await s.choice.combine(how, choice)) s.tasks.say(`${what}: ${s.choice.count.value} samples.`);
  };
  return (
    <div class="bar" role="group" aria-label="Combine slices">
      {names.length > 0 && (
        <>
          <button type="button" title="All samples in either" onClick={() => void combine('or', 'Union')}>or</button>
          <button type="button" title="Only samples in both" onClick={() => void combine('and', 'Intersection')}>and</button>
          <select aria-label="Slice to combine with" value={choice} onChange={(e) => (other.value = e.currentTarget.value)}>{names.map((x) => <option key={x} value={x}>{x}</option>)}</select>
        </>
      )}
      <button type="button" disabled={all} title="All the other samples" onClick={() => void combine('not', 'Inverted')}>Invert</button>
      <button type="button" disabled={all} onClick={() => { s.choice.clear(); s.tasks.say('All samples.'); }}>All samples</button>
    </div>
  );
}

/** The field that gives the choice a name. */
function Name({ s }: { s: State }) {
  const name = useSignal(''), note = useSignal(''), more = useSignal(false), wrong = useSignal('');
  const taken = [...(s.data.run.value?.slices ?? []), ...(s.choice.kept.state.value.value?.slices ?? [])].map((x) => x.name);
  const keep = async (e: Event) => {
    e.preventDefault();
    wrong.value = S.naming(name.peek(), taken);
    if (wrong.peek()) return;
    const base = documentOf(s), n = s.choice.count.peek(), t = name.peek().trim();
    const how = s.choice.parts.peek().rule && !s.choice.parts.peek().lasso && !s.choice.parts.peek().picked && !s.choice.parts.peek().slice ? { rule: s.choice.parts.peek().rule, metric: s.place.metric.peek() } : { bits: toBits(s.choice.mask.peek()) };
    const slice: api.Slice = { name: t, label: -1, n, set: how, note: note.peek().trim() || chosen(s) };
    if (await keepDoc(s, base, S.added(base, slice), `${t} is kept with ${n} samples.`)) {
      name.value = note.value = '';
      more.value = false;
      s.choice.parts.value = { slice: t, rule: '', lasso: null, picked: null };
    }
  };
  return (
    <form class="new-slice" onSubmit={(e) => void keep(e)} aria-label="Name these samples">
      <input type="text" placeholder={`name for these ${count(s.choice.count.value)}`} aria-label="Name of the slice" aria-invalid={wrong.value ? 'true' : 'false'} maxLength={200} value={name.value} onInput={(e) => { name.value = e.currentTarget.value; wrong.value = ''; }} onFocus={() => (more.value = true)} />
      {more.value && <input type="text" placeholder="note (optional)" aria-label="Note on the slice" maxLength={1000} value={note.value} onInput={(e) => (note.value = e.currentTarget.value)} />}
      <button type="submit" disabled={working.value || s.choice.count.value === 0}>Keep</button>
      {wrong.value && <p class="problem" role="alert">{wrong.value}</p>}
    </form>
  );
}

/** The question after a conflict. */
function Conflict({ s }: { s: State }) {
  const c = conflict.value;
  if (!c) return null;
  const clashes = c.merged.clashes;
  return (
    <div class="conflict" role="alertdialog" aria-label="The slices were changed by somebody else">
      <p>Somebody else changed the slices of this run meanwhile, so yours were not kept yet.{clashes.length > 0 && ` Both of you changed ${clashes.join(', ')}; yours would get another name.`}</p>
      <button type="button" autofocus onClick={() => { conflict.value = null; void keepDoc(s, c.theirs, c.merged.doc, c.what); }}>Keep both</button>
      <button type="button" onClick={() => { conflict.value = null; s.tasks.say('Their slices are shown.'); }}>Take theirs, drop my change</button>
    </div>
  );
}

interface Row {
  slice: api.Slice;
  kept: boolean;
  mask: Uint8Array | null;
}

/** The slices with their means. */
function List({ s }: { s: State }) {
  const r = s.data.run.value!, kept = s.choice.kept.state.value.value?.slices ?? [], labels = s.data.labels.value, n = s.data.n.value;
  const rows = useMemo<Row[]>(() => {
    const classes = r.slices.filter((x) => x.n > 0).map((slice) => ({ slice, kept: false, mask: null }));
    return [...kept.map((slice) => ({ slice, kept: true, mask: slice.set.bits !== undefined ? safeBits(slice.set.bits, n) : null })), ...classes];
  }, [r.slices, kept, n]);
  const two = s.place.b.value >= 0, exact = useEstimates(s, rows);
  const stats = [s.data.stats[0].state.value.value, s.data.stats[1].state.value.value];
  const known = [useMemo(() => means(stats[0]?.mean, rows, labels), [stats[0], rows, labels]), useMemo(() => means(stats[1]?.mean, rows, labels), [stats[1], rows, labels])];
  const cell = (row: Row | null, k: 0 | 1) => {
    const e = exact.value.get(row?.slice.name ?? '')?.[k];
    if (e) return <>{num(e.mean)} <span class="interval">{interval(e.lo, e.hi)}</span></>;
    const m = known[k].get(row?.slice.name ?? '');
    return m !== undefined ? <>{num(m)}</> : <>…</>;
  };
  const line = (row: Row | null) => {
    const name = row?.slice.name ?? '', on = s.choice.parts.value.slice === name && !s.choice.parts.value.rule && !s.choice.parts.value.lasso && !s.choice.parts.value.picked;
    return (
      <tr key={row ? `${row.kept}${name}` : ''} class={on ? 'on' : ''}>
        <th scope="row">
          <button type="button" class="link" aria-pressed={on} title={row ? [name, row.slice.note].filter(Boolean).join(': ') : 'All samples of the run'} onClick={() => { s.choice.parts.value = { slice: name, rule: '', lasso: null, picked: null }; s.tasks.say(`${name || 'All samples'}: ${s.choice.count.value} samples.`); }}>
            <span class="slice-name">{row ? (row.slice.label >= 0 ? `class ${name}` : name) : 'all'}</span></button>
          <span class="interval">n = {count(row ? row.slice.n : n)}</span>
          {row?.kept && s.client.live && <Edit s={s} slice={row.slice} />}
        </th>
        <td class="ink m0">{cell(row, 0)}</td>
        {two && <td class="ink m1">{cell(row, 1)}</td>}
      </tr>
    );
  };
  return (
    <div class="slices-list" tabIndex={0} role="region" aria-label="List of slices">
      <table class={`slices-table${two ? ' two' : ''}`}>
        <caption class="hidden">Slices and their mean over the orbit, {quantity(s)}, with intervals over samples</caption>
        <thead><tr><th scope="col">slice</th><th scope="col" class="ink m0">mean{two ? ' A' : ''}</th>{two && <th scope="col" class="ink m1">mean B</th>}</tr></thead>
        <tbody>{line(null)}{rows.slice(0, 200).map(line)}</tbody>
      </table>
      {rows.length > 200 && <p class="note">{count(rows.length - 200)} more are in the menu of the aggregate view.</p>}
    </div>
  );
}

function safeBits(bits: string, n: number): Uint8Array | null {
  try {
    const t = atob(bits);
    const mask = new Uint8Array(n);
    for (let i = 0; i < n; i++) mask[i] = (t.charCodeAt(i >> 3) >> (i & 7)) & 1;
    return mask;
  } catch {
    return null;
  }
}

/** means is the mean of a figure over slices, by name, and over all samples, by no name; without those that only the server can tell. */
function means(v: Float32Array | undefined, rows: readonly Row[], labels: ArrayLike<number>): Map<string, number> {
  const out = new Map<string, number>();
  if (!v) return out;
  const sums: number[] = [], counts: number[] = [], known = labels.length >= v.length;
  let t = 0, n = 0;
  for (let i = 0; i < v.length; i++) {
    if (v[i] !== v[i]) continue;
    t += v[i];
    n++;
    const l = known ? labels[i] : -1;
    if (l < 0) continue;
    sums[l] = (sums[l] ?? 0) + v[i];
    counts[l] = (counts[l] ?? 0) + 1;
  }
  out.set('', t / n);
  for (const { slice, mask } of rows) {
    if (mask) {
      let u = 0, m = 0;
      for (let i = 0; i < v.length; i++) if (mask[i] && v[i] === v[i]) { u += v[i]; m++; }
      out.set(slice.name, u / m);
    } else if (slice.label >= 0 && known) out.set(slice.name, (sums[slice.label] ?? 0) / (counts[slice.label] ?? 0));
  }
  return out;
}

/**
 * useEstimates asks for the exact means of the slices with their intervals, one after the other, when nothing else is going on. A report is
 * asked for kept slices by name: under it it holds their curves. A server is asked for their sets: a name may be gone by the time it is read.
 */
function useEstimates(s: State, rows: readonly Row[]) {
  const out = useSignal<ReadonlyMap<string, api.Estimate[]>>(new Map());
  const id = s.data.runID.value, metric = s.place.metric.value, models = s.place.models.value.join(), done = s.data.run.value?.state.done ?? 0;
  useEffect(() => {
    let stop = false;
    const cut = new AbortController();
    out.value = new Map();
    const timer = setTimeout(async () => {
      for (const [name, set] of [['', {}] as const, ...rows.slice(0, 60).map((r) => [r.slice.name, r.slice.label < 0 && !s.client.live ? { slice: r.slice.name } : r.slice.set] as const)]) {
        if (stop) return;
        try {
          const a = await s.client.aggregate(id, { set, metric, models: s.place.models.peek() }, cut.signal);
          if (stop) return;
          out.value = new Map(out.peek()).set(name, s.place.models.peek().map((m) => a.curves.find((c) => c.model === m)?.orbit).filter((e) => e !== undefined));
        } catch {
          if (!stop && !s.client.live) return; // a report that does not hold them
        }
        await new Promise((f) => setTimeout(f, 30));
      }
    }, 700);
    return () => { stop = true; clearTimeout(timer); cut.abort(); };
  }, [id, metric, models, done, rows]);
  return useComputed(() => out.value);
}

/** Renaming and removing. */
function Edit({ s, slice }: { s: State; slice: api.Slice }) {
  const mode = useSignal<'' | 'rename' | 'remove'>(''), name = useSignal(slice.name), note = useSignal(slice.note ?? ''), wrong = useSignal('');
  const back = useRef<HTMLButtonElement>(null);
  const end = () => { mode.value = ''; wrong.value = ''; setTimeout(() => back.current?.focus()); };
  if (!mode.value) {
    return (
      <span class="slice-edit">
        <button type="button" class="quiet" ref={back} aria-label={`Rename ${slice.name}`} title="Rename, or change the note" onClick={() => { name.value = slice.name; note.value = slice.note ?? ''; mode.value = 'rename'; }}>✎</button>
        <button type="button" class="quiet" aria-label={`Remove ${slice.name}`} title="Remove" onClick={() => (mode.value = 'remove')}>✕</button>
      </span>
    );
  }
  if (mode.value === 'remove') {
    return (
      <span class="slice-edit" role="group" aria-label={`Remove ${slice.name}?`} onKeyDown={(e) => { if (e.key === 'Escape') { e.stopPropagation(); end(); } }}>
        remove? <button type="button" autofocus ref={(b) => b?.focus()} onClick={() => {
          const base = documentOf(s);
          void keepDoc(s, base, S.removed(base, slice.name), `${slice.name} is removed.`).then((ok) => { if (ok && s.choice.parts.peek().slice === slice.name) s.choice.choose({ slice: '' }); });
        }}>yes</button>
        <button type="button" onClick={end}>no</button>
      </span>
    );
  }
  const rename = (e: Event) => {
    e.preventDefault();
    const base = documentOf(s), to = name.peek().trim(), taken = [...(s.data.run.peek()?.slices ?? []), ...base.slices].map((x) => x.name).filter((x) => x !== slice.name);
    wrong.value = S.naming(to, taken);
    if (wrong.peek()) return;
    void keepDoc(s, base, S.changed(base, slice.name, { name: to, note: note.peek().trim() }), `${slice.name} is now ${to}.`).then((ok) => { if (ok && s.choice.parts.peek().slice === slice.name) s.choice.choose({ slice: to }); });
    end();
  };
  return (
    <form class="slice-rename" onSubmit={rename} onKeyDown={(e) => { if (e.key === 'Escape') { e.stopPropagation(); end(); } }}>
      <input type="text" aria-label="New name" aria-invalid={wrong.value ? 'true' : 'false'} value={name.value} ref={(f) => { if (f && document.activeElement?.closest('form') !== f.form) f.focus(); }} onInput={(e) => (name.value = e.currentTarget.value)} />
      <input type="text" aria-label="Note" placeholder="note" value={note.value} onInput={(e) => (note.value = e.currentTarget.value)} />
      <button type="submit">Rename</button> <button type="button" onClick={end}>Cancel</button>
      {wrong.value && <p class="problem" role="alert">{wrong.value}</p>}
    </form>
  );
}
