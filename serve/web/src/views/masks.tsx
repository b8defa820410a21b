// Masks of one sample at full size: picture, truth and every answer, as it is and moved, with the IoU of each class.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Slot } from '../core/slot';
import { Failure, type Answer, type Picture, type Probe } from '../core/source';
import type { State } from '../core/state';
import { classColor, css, drawMask, iou, meanIoU, nothing, tally, type Show, type Tally } from '../render/mask';
import { classesOf, pixels } from '../render/picture';
import { called, inputOf, Raster } from '../render/tasks/input';
import { num } from '../render/text';
import { Card, modelName, Skeleton } from './parts';
import { worstSamples } from './worst';

/** One model's mask at one element. */
interface Seen {
  labels: Int32Array | null;
  reference: Int32Array | null;
  counts: ReadonlyMap<number, Tally> | null;
  h: number;
  w: number;
}

/** The sample at one element. */
interface Side {
  title: string;
  where: string;
  input: Picture | null;
  /** What the data say, the same for all models; null where they say nothing. */
  truth: { labels: Int32Array; h: number; w: number } | null;
  models: readonly Seen[];
}

const none: Seen = { labels: null, reference: null, counts: null, h: 1, w: 1 };

function seen(a: Answer | undefined): Seen {
  if (!a?.output) return none;
  const labels = classesOf(a.output), reference = a.reference && a.reference.h === a.output.h && a.reference.w === a.output.w ? classesOf(a.reference) : null;
  return { labels, reference, counts: reference ? tally(labels, reference) : null, h: a.output.h, w: a.output.w };
}

function side(title: string, where: string, input: Picture | null, answers: ReadonlyMap<number, Answer> | null, models: readonly number[]): Side {
  const all = models.map((m) => seen(answers?.get(m)));
  const by = models.map((m) => answers?.get(m)).find((a) => a?.pictured === 'target' && a.reference);
  return { title, where, input, models: all, truth: by?.reference ? { labels: classesOf(by.reference), h: by.reference.h, w: by.reference.w } : null };
}

/** The answers at elements that were asked for, the newest ones. */
const held = new WeakMap<State, Map<string, Slot<Probe>>>();

function probed(s: State, i: number, g: readonly number[], models: readonly number[]): Slot<Probe> {
  let all = held.get(s);
  if (!all) held.set(s, (all = new Map()));
  const id = s.data.runID.peek(), key = `${id} ${i} ${g.join()} ${models.join()}`;
  let slot = all.get(key);
  if (!slot) {
    if (all.size >= 60) all.delete(all.keys().next().value as string);
    all.set(key, (slot = new Slot<Probe>()));
    void slot.load(async (cut) => {
      for (let tries = 5; ; tries--) {
        try {
          return await s.client.probe(id, i, g, models, 0, cut);
        } catch (e) {
          if (!(e instanceof Failure && e.status === 503) || tries <= 1) throw e;
          await new Promise((go) => setTimeout(go, 1000 * (e.after || 0.5)));
        }
      }
    });
  }
  return slot;
}

const ways = [['classes', 'classes'], ['over', 'over the picture'], ['wrong', 'what is wrong']] as const;

/** The masks of the sample that is shown. */
export function Masks({ s }: { s: State }) {
  const show = useSignal<Show>('classes'), only = useSignal<number | null>(null);
  const run = s.data.run.value, o = s.data.group.value;
  const i = s.place.sample.value, g = s.place.g.value, models = [...new Set(s.place.models.value)];
  const able = !s.client.live || s.data.ability.value.models;
  const asked = models.filter((m) => !s.client.live || s.data.ability.value.of[m]);
  const rest = o && o.identity >= 0 ? o.elements[o.identity] : null;
  const ready = !!run && !!o && able && s.data.n.value > 0 && !s.place.failed.value && asked.length > 0;
  const still = ready && rest ? probed(s, i, rest, asked).state.value : null;
  const live = s.place.canProbe.value ? s.place.live.answer.value : null;
  const now = live && live.want.sample === i ? live : null;
  // Without the models what was kept of elements of the plan is shown.
  const kept = ready && !s.place.canProbe.value && s.place.element.value >= 0 ? probed(s, i, o.elements[s.place.element.value], asked).state.value : null;
  const input = inputOf(s);
  useEffect(() => { only.value = null; }, [i]);
  const value = now?.value ?? kept?.value ?? null;
  const at = now ? now.want.g : g;
  const sides = useMemo(() => {
    if (!o) return [];
    const out: Side[] = [];
    if (still?.value && rest) out.push(side('as it is', called(o, rest), still.value.input, still.value.models, models));
    if (value) out.push(side('moved', called(o, at), value.input ?? (input && input.g.join() === at.join() ? input.picture : null), value.models, models));
    return out;
  }, [still?.value, value, models.join(), at.join(), input]);
  if (!run || !o) return <Card id="masks" title="Masks"><Skeleton label="Loading" /></Card>;
  const trouble = !able ? `The masks are shown while the models can be asked${s.data.ability.value.reason ? `: ${s.data.ability.value.reason}` : ''}.` : still?.error || kept?.error || '';
  const truth = sides.some((x) => x.truth), against = truth ? 'truth' : 'the model’s own answer as it is, moved along';
  const classes = [...new Set(sides.flatMap((x) => x.models.flatMap((m) => [...(m.counts?.keys() ?? [])])))].sort((a, b) => a - b);
  const names = run.classes, nameOf = (c: number) => (c === nothing ? 'void' : c < 0 ? 'no class' : (names[c] ?? `class ${c}`));
  const worst = (k: 0 | 1) => {
    const st = s.data.stats[k].state.value.value, lower = s.place.metricDoc.value?.better === 'lower';
    if (!st) return;
    const list = worstSamples(lower ? st.max : st.min, lower, s.choice.mask.value, 1);
    if (!list.length) return;
    s.place.setSample(list[0]);
    const e = o.elements[st.worst[list[0]]];
    if (e) s.place.moveTo([...e]);
    s.tasks.say(`The worst case of ${modelName(s, k)} is shown: ${s.data.ids.value[list[0]] ?? list[0]}, ${o.labels[st.worst[list[0]]] ?? ''}.`);
  };
  const inks = s.place.models.value.map((m) => models.indexOf(m));
  return (
    <Card id="masks" title="Masks" sub={s.data.ids.value[i] ?? `#${i}`}>
      <div class="bar maskbar">
        <span class="field" role="group" aria-label="How masks are drawn">
          {ways.map(([k, text]) => <button key={k} aria-pressed={show.value === k} onClick={() => (show.value = k)}>{text}</button>)}
        </span>
        {s.place.models.value.map((_, k) => <button key={k} onClick={() => worst(k as 0 | 1)} title={`The sample and the element with the worst value of ${modelName(s, k as 0 | 1)} among those chosen`}>worst case of <span class={`ink m${k}`}>{'AB'[k]}</span></button>)}
        {only.value !== null && <button onClick={() => (only.value = null)}>all classes again</button>}
      </div>
      {!sides.length ? (trouble ? <p class="note">{trouble}</p> : <Skeleton label="Asking the models" />) : (
        <div class="maskview">
          <div class="masksides">
            {sides.map((x) => (
              <section key={x.title} class={`maskside ${x.title === 'moved' ? 'moved' : 'rest'}`} aria-label={x.title === 'moved' ? `moved: ${x.where}` : x.title}>
                <h3>{x.title} {x.title === 'moved' && <small>{x.where}</small>}</h3>
                <div class="masktiles">
                  {x.input && <Tile caption="picture" label={`Picture ${x.title}, ${x.where}`} h={x.input.h} w={x.input.w} draw={(px) => pixels(x.input!, px)} />}
                  {x.truth && <Tile caption="truth" label={`Truth ${x.title}: ${shares(x.truth.labels, nameOf)}`} h={x.truth.h} w={x.truth.w} draw={(px) => drawMask({ labels: x.truth!.labels, picture: x.input, show: show.value === 'wrong' ? 'classes' : show.value, only: only.value }, px)} />}
                  {x.models.map((m, k) => m.labels && <Tile key={k} ink={inks.indexOf(k)} caption={modelName(s, inks.indexOf(k) as 0 | 1)} small={`mean IoU ${num(meanIoU(m.counts))}`}
                    label={`Answer of ${modelName(s, inks.indexOf(k) as 0 | 1)} ${x.title}, ${x.where}: ${shares(m.labels, nameOf)}. Mean IoU with ${against} ${num(meanIoU(m.counts))}`}
                    h={m.h} w={m.w} draw={(px) => drawMask({ labels: m.labels!, picture: x.input, reference: m.reference, show: show.value, only: only.value }, px)} />)}
                </div>
              </section>
            ))}
          </div>
          <Numbers s={s} sides={sides} classes={classes} inks={inks} nameOf={nameOf} against={against} only={only.value} pick={(c) => (only.value = only.value === c ? null : c)} />
        </div>
      )}
    </Card>
  );
}

/** What a mask is made of, in words. */
function shares(labels: Int32Array, nameOf: (c: number) => string): string {
  const n = new Map<number, number>();
  for (const c of labels) n.set(c, (n.get(c) ?? 0) + 1);
  const all = [...n].sort((a, b) => b[1] - a[1]);
  return all.slice(0, 6).map(([c, k]) => `${nameOf(c)} ${num((100 * k) / labels.length)} %`).join(', ') + (all.length > 6 ? ` and ${all.length - 6} more` : '');
}

function Tile({ caption, small, label, h, w, draw, ink }: { caption: string; small?: string; label: string; h: number; w: number; draw(px: Uint32Array): void; ink?: number }) {
  return (
    <figure>
      <Raster label={label} of={() => ({ w, h, draw })} />
      <figcaption>{ink !== undefined && ink >= 0 && <b class={`ink m${ink}`}>{'AB'[ink]} </b>}{caption}{small && <small>{small}</small>}</figcaption>
    </figure>
  );
}

/** IoU by class, of every model, as it is and moved. A class can be chosen: then the others are pale. */
function Numbers({ s, sides, classes, inks, nameOf, against, only, pick }: { s: State; sides: readonly Side[]; classes: readonly number[]; inks: readonly number[]; nameOf: (c: number) => string; against: string; only: number | null; pick: (c: number) => void }) {
  const cell = (v: number, was: number, key: string) => <td key={key} class={v < was - 0.005 ? 'worse' : ''}>{num(v)}</td>;
  const row = (of: (m: Seen) => number) => inks.flatMap((m, k) => sides.map((x, j) => cell(of(x.models[m] ?? none), j > 0 ? of(sides[0].models[m] ?? none) : NaN, `${k} ${j}`)));
  const hidden = (sides[0]?.truth?.labels ?? new Int32Array(0)).includes(nothing) || (sides.at(-1)?.truth?.labels ?? new Int32Array(0)).includes(nothing);
  return (
    <div class="masknumbers" role="region" aria-label="IoU by class" tabIndex={0}>
      <table class="numbers">
        <caption>IoU by class with {against}; void pixels count for nothing</caption>
        <thead>
          <tr><td />{inks.map((_, k) => <th key={k} colSpan={sides.length} scope="colgroup" class={`ink m${k}`}>{'AB'[k]} {modelName(s, k as 0 | 1)}</th>)}</tr>
          <tr><th scope="col">class</th>{inks.flatMap((_, k) => sides.map((x) => <th key={`${k} ${x.title}`} scope="col">{x.title}</th>))}</tr>
        </thead>
        <tbody>
          {classes.map((c) => (
            <tr key={c} class={only === c ? 'on' : ''}>
              <th scope="row"><button class="link" aria-pressed={only === c} onClick={() => pick(c)} title={`Show ${nameOf(c)} alone`}><svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" rx="2" fill={css(classColor(c))} stroke="currentColor" stroke-opacity=".45" /></svg> {nameOf(c)}</button></th>
              {row((m) => iou(m.counts?.get(c)))}
            </tr>
          ))}
          <tr class="mean"><th scope="row">mean</th>{row((m) => meanIoU(m.counts))}</tr>
        </tbody>
      </table>
      {hidden && <p class="note"><svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" rx="2" fill={css(classColor(nothing))} /></svg> void</p>}
    </div>
  );
}
