// Answers that are neither classes nor pictures: numbers, vectors for each node, signals, each beside what it is compared with.

import { useMemo } from 'preact/hooks';
import type { Datum, Rows, Signal } from '../../core/datum';
import { references } from '../../core/reference';
import type { Reference } from '../../core/source';
import type { State } from '../../core/state';
import { num } from '../text';
import { symbol } from './elements';
import { apart, fieldsOf, placed, type Named } from './fields';
import { inputOf } from './input';
import { MetricsHere } from './metrics';
import { Traces } from './wave';

/** What one model said, field by field, and the reference of it. */
interface Said {
  k: 0 | 1;
  fields: readonly Named[];
  against: readonly Named[];
  ref: Reference | '';
}

function said(s: State): Said[] {
  const run = s.data.run.value;
  const a = s.place.canProbe.value ? s.place.live.answer.value : null;
  if (!run || !a || a.want.sample !== s.place.sample.value) return [];
  return s.place.models.value.flatMap((m, k) => {
    const x = a.value.models.get(m);
    return x?.datum ? [{ k: k as 0 | 1, fields: fieldsOf(x.datum, run.outputs, 'answer'), against: x.versus ? fieldsOf(x.versus.datum, run.outputs, 'answer') : [], ref: x.versus?.ref ?? '' }] : [];
  });
}

/** The values of all fields, of both models and what they are compared with. */
export function ValuesDetail({ s }: { s: State }) {
  const list = said(s);
  const run = s.data.run.value;
  if (!run) return <></>;
  const behind = list.length > 0 && s.place.live.answers(s.place.sample.value, s.place.g.value) === null;
  const names = [...new Set(list.flatMap((x) => x.fields.map((f) => f.name)))];
  const ref = list.find((x) => x.ref)?.ref;
  return (
    <div class={`detail-view${behind ? ' behind' : ''}`}>
      {!list.length && <p class="note">{why(s)}</p>}
      {list.length > 0 && <Scalars s={s} list={list} names={names} />}
      {names.map((n) => <PerRow key={n} s={s} list={list} name={n} />)}
      {names.map((n) => <Over key={n} list={list} name={n} />)}
      {ref && <p class="axisnote">reference: {references.find((r) => r.ref === ref)?.name ?? ref}{ref === 'self' ? ', the model’s own answer at the identity, moved along' : ', moved along'}</p>}
      <MetricsHere s={s} />
    </div>
  );
}

function why(s: State): string {
  const able = s.data.ability.value;
  if (!s.client.live) return 'The answers themselves are not in this file; their metrics along the orbit are.';
  if (!able.models) return /being opened/.test(able.reason ?? '') ? 'Opening the models …' : `Answers are shown while models can be asked${able.reason ? `: ${able.reason}` : ''}.`;
  if (!s.place.liveOn.value) return 'Switch on live to see the answers.';
  return s.place.live.error.value || 'Asking the models …';
}

const find = (list: readonly Named[], name: string): Datum | undefined => list.find((f) => f.name === name)?.value;
const rows = (d: Datum | undefined): Rows | undefined => (d?.kind === 'rows' ? d : d && (d.kind === 'tensor' || d.kind === 'scores') ? { kind: 'rows', n: 1, w: d.data.length, data: d.data } : undefined);
const few = 12;

/** A row in words: one number, or a vector. */
const text = (r: Rows | undefined, i = 0): string => {
  if (!r || i >= r.n) return '–';
  const v = Array.from(r.data.subarray(i * r.w, (i + 1) * r.w));
  return v.length === 1 ? num(v[0]) : `(${v.slice(0, few).map(num).join(', ')}${v.length > few ? ', …' : ''})`;
};

/** Fields of the whole sample. */
function Scalars({ list, names }: { s: State; list: readonly Said[]; names: readonly string[] }) {
  const own = names.filter((n) => { const r = rows(find(list.find((x) => find(x.fields, n))?.fields ?? [], n)); return r && r.n === 1; });
  if (!own.length) return null;
  const unit = (n: string) => list.flatMap((x) => x.fields).find((f) => f.name === n)?.unit ?? '';
  const ref = list.find((x) => x.against.length);
  return (
    <table class="numbers outputs">
      <caption class="hidden">Answers for the whole sample</caption>
      <thead>
        <tr>
          <th scope="col">answer</th>
          {list.map((x) => <th key={x.k} scope="col" class={`ink m${x.k}`}>{'AB'[x.k]}</th>)}
          {ref && <th scope="col">reference</th>}
        </tr>
      </thead>
      <tbody>
        {own.map((n) => (
          <tr key={n}>
            <th scope="row">{n}{unit(n) ? ` in ${unit(n)}` : ''}</th>
            {list.map((x) => <td key={x.k} class="here live">{text(rows(find(x.fields, n)))}</td>)}
            {ref && <td>{text(rows(find(ref.against, n)))}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const most = 60;

/** Fields with a row for each node: how far each is from the reference, and the rows themselves. */
function PerRow({ s, list, name }: { s: State; list: readonly Said[]; name: string }) {
  const run = s.data.run.value;
  const one = rows(find(list.find((x) => find(x.fields, name))?.fields ?? [], name));
  const input = inputOf(s)?.picture.datum;
  const species = useMemo(() => (input && run ? (placed(fieldsOf(input, run.inputs, 'rows'))?.species ?? null) : null), [input, run]);
  if (!one || one.n < 2) return null;
  const unit = list.flatMap((x) => x.fields).find((f) => f.name === name)?.unit ?? '';
  const ref = list.find((x) => rows(find(x.against, name)));
  const against = ref && rows(find(ref.against, name));
  const off = list.map((x) => Array.from({ length: one.n }, (_, i) => { const r = rows(find(x.fields, name)); return r ? apart(r, rows(find(x.against, name)), i) : NaN; }));
  const worst = Math.max(1e-12, ...off.flat().filter(Number.isFinite));
  const at = Array.from({ length: one.n }, (_, i) => i);
  if (one.n > most) at.sort((a, b) => (off[0][b] || 0) - (off[0][a] || 0));
  return (
    <div class="scroll perrow" tabIndex={0} role="region" aria-label={`${name} of every row`}>
      <table class="numbers">
        <caption>{name}{unit ? ` in ${unit}` : ''}{one.n > most ? `, the ${most} farthest from the reference of ${one.n}` : ''}</caption>
        <thead>
          <tr>
            <th scope="col">{species ? 'atom' : 'row'}</th>
            {against && list.map((x) => <th key={x.k} scope="col" class={`ink m${x.k}`} title="Distance from the reference">{'AB'[x.k]} off by</th>)}
            {list.map((x) => <th key={x.k} scope="col" class={`ink m${x.k}`}>{'AB'[x.k]}</th>)}
            {against && <th scope="col">reference</th>}
          </tr>
        </thead>
        <tbody>
          {at.slice(0, most).map((i) => (
            <tr key={i}>
              <th scope="row">{species?.[i] !== undefined ? `${symbol(species[i])} ` : ''}{i}</th>
              {against && list.map((x, j) => <td key={x.k}><span class={`meter m${x.k}`} style={{ width: `${Math.round((34 * (off[j][i] || 0)) / worst)}px` }} aria-hidden="true" />{num(off[j][i])}</td>)}
              {list.map((x) => <td key={x.k}>{text(rows(find(x.fields, name)), i)}</td>)}
              {against && <td>{text(against, i)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Fields over time. */
function Over({ list, name }: { list: readonly Said[]; name: string }) {
  const signals = list.flatMap((x) => { const d = find(x.fields, name); return d?.kind === 'signal' ? [{ x, d }] : []; });
  const against = list.map((x) => find(x.against, name)).find((d): d is Signal => d?.kind === 'signal');
  if (!signals.length) return null;
  // Where the answer leaves its reference, as while a model warms up.
  const first = signals[0];
  const own = find(first.x.against, name);
  const off = own?.kind === 'signal' && own.t === first.d.t && own.c === first.d.c ? left(first.d, own) : null;
  const traces = [...(against ? [{ of: against, class: 'trace ref', name: 'reference' }] : []), ...signals.map(({ x, d }) => ({ of: d, class: `trace m${x.k}`, name: 'AB'[x.k] }))];
  const unit = first.d.data.every((v) => v >= 0 && v <= 1);
  return (
    <figure class="signals">
      <figcaption>{name}, {first.d.t} frames{off && off.to > off.from ? `; A leaves the reference by ${num(off.most)} from frame ${off.from} to ${off.to - 1}` : ''}</figcaption>
      <Traces list={traces} words="answers over time" height={70} {...(unit ? { lo: 0, hi: 1 } : {})} marks={off && off.to > off.from ? [{ at: off.from / first.d.t, to: off.to / first.d.t, label: `A is off its reference from frame ${off.from} to ${off.to - 1}`, class: 'off' }] : []} />
    </figure>
  );
}

/** The stretch of frames outside of which an answer is within a tenth of its largest distance from the reference. */
export function left(x: Signal, y: Signal): { from: number; to: number; most: number } {
  const d = Array.from({ length: x.t }, (_, t) => { let m = 0; for (let c = 0; c < x.c; c++) m = Math.max(m, Math.abs(x.data[c * x.t + t] - y.data[c * y.t + t])); return m; });
  const most = Math.max(0, ...d);
  const over = (v: number) => v > Math.max(1e-6, most / 10);
  const from = d.findIndex(over);
  return from < 0 ? { from: 0, to: 0, most } : { from, to: d.length - [...d].reverse().findIndex(over), most };
}
