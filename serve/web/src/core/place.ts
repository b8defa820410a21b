// Where we are: the page, the sample, the element of the group, the metric and the models on show, and what is said there.

import { computed, signal } from '@preact/signals';
import { scaleLinear } from 'd3-scale';
import type * as api from './api';
import type { Data } from './data';
import { label, position } from './format';
import { traits } from './layouts';
import { mostShown, type Nth } from './inks';
import { Loop, sameElement } from './live';
import { Maps } from './maps';
import * as orbit from './orbit';
import { family, sibling } from './reference';
import { after, spatial } from './rotation';
import { at, type Picture, type Probe, type Reference } from './source';
import type { SheetName } from './url';

export type Page = 'runs' | 'run' | 'findings' | 'report' | SheetName;
export type Compare = 'over' | 'side' | 'diff';
/** What the band around a curve shows: the spread over samples, the interval of the mean, or nothing. */
export type Band = 'spread' | 'interval' | 'none';
/** How the samples are zoomed into: a factor, and a shift in parts of the picture's width and height; of one layout. */
export interface Zoomed {
  layout: string;
  k: number;
  x: number;
  y: number;
}
export type Theme = 'auto' | 'light' | 'dark';
export type Color = 'viridis' | 'cividis';

/** Runs a function now, and again whenever a signal that it read has changed; what it returns ends the last run. */
export type Follow = (f: () => void | (() => void)) => void;

/** The model that stands beside the first at first: of two runs the first one of the second run. -1 if there is none. */
export function second(r: api.Run): number {
  const other = r.model_list.findIndex((m) => m.run !== r.model_list[0]?.run);
  return other > 0 ? other : r.model_list.length > 1 ? 1 : -1;
}


/** What is looked at, and how. */
export class Place {
  readonly page = signal<Page>('runs');
  readonly audit = signal(''); // id, of the findings page
  readonly sheet = signal(''); // id, of the page of a sheet
  /** What is chosen on the page of a sheet: a model, a method, answers. */
  readonly detail = signal<Readonly<Record<string, string>>>({});
  readonly sample = signal(0);
  readonly g = signal<api.Element>([]);
  readonly metric = signal(0);
  readonly a = signal(0);
  readonly b = signal(-1);
  /** Further models that are shown beside A and B, wherever there is room for more than two. */
  readonly others = signal<readonly number[]>([]);
  readonly compare = signal<Compare>('over');
  readonly pinned = signal(-1);
  readonly cmap = signal<Color>('viridis');
  readonly theme = signal<Theme>('auto');
  readonly shortcuts = signal(true);
  readonly hover = signal(-1); // sample under the pointer, never a choice
  /** The picture of a sequence that is shown. */
  readonly frame = signal(0);
  /** The row and column of a field that were picked; null for its middle. */
  readonly pixel = signal<readonly [number, number] | null>(null);
  /** All models of the run are shown beside each other. */
  readonly every = signal(false);
  readonly liveOn = signal(true);
  /** Keys of the URL that this version does not know; they are kept. */
  readonly unknown = signal<readonly [string, string][]>([]);
  /** Questions to the models, and to the resampler alone where no model can be asked. */
  readonly live: Loop<Probe>;
  readonly moved: Loop<Picture>;
  /** The ink of the model that stands out in the curves, -1 for none. */
  readonly lit = signal(-1);
  /** Which of the views below the table is chosen; empty for the first. */
  readonly look = signal('');
  /** A plot for each class in place of one. */
  readonly byClass = signal(false);
  readonly band = signal<Band>('spread');
  /** The plane of axes of which rotations are shown, all for none. */
  readonly plane = signal('');
  readonly zoom = signal<Zoomed | null>(null);
  /** Tiles of fields are maps of their errors, and not one colour each. */
  readonly mapped = signal(true);
  readonly maps: Maps;
  readonly metricDoc = computed(() => this.data.run.value?.metric_list[this.metric.value] ?? null);
  /** The range of the metric over all models of the run. */
  readonly widest = computed(() => rangeOf(this.data.run.value, this.metric.value));
  /** The range of drawings of the metric, shared by all models on show. */
  readonly range = computed(() => {
    const all = this.widest.value;
    const stats = this.shown.value.map((_, k) => this.data.stats[k].state.value.value);
    const { range } = this.metricDoc.value ?? { range: [0, 1] };
    const bounded = range[0] !== null && range[1] !== null;
    return this.every.value || bounded || stats.some((x) => !x) ? all : shownRange(all, stats.flatMap((x) => [...(x?.max ?? [])]));
  });
  /** The models of pairs: A, and B if there is one. */
  readonly models = computed(() => (this.b.value < 0 ? [this.a.value] : [this.a.value, this.b.value]));
  /** All models on show: A, B, and the others in the order of the run. Beside A alone nothing is shown. */
  readonly shown = computed(() => (this.b.value < 0 ? this.models.value : [...this.models.value, ...this.others.value.filter((m) => !this.models.value.includes(m))].slice(0, mostShown)));
  /** Why the sample could not be evaluated, false if it could, null while that is not known. Nothing can be asked of one that could not. */
  readonly failed = computed<string | false | null>(() => {
    const { value: all, error } = this.data.samples.state.value;
    const text = all?.errors?.[String(this.sample.value)];
    if (text !== undefined) return text;
    return all || error || !this.data.run.value?.failed ? false : null;
  });

  /** Models can be asked now and the switch is on. */
  readonly canProbe = computed(() => this.data.client.live && this.liveOn.value && this.models.value.some((m) => this.data.ability.value.of[m]));
  /** Nothing can be shown between the elements of the plan, or just now not, while the models do not answer. */
  readonly stored = computed(() => !this.canProbe.value || this.live.error.value !== '' || (this.data.group.value?.finite ?? true));
  private readonly span = computed(() => (this.data.group.value ? orbit.spans(this.data.group.value) : []));
  private readonly near = computed(() => (this.data.group.value && this.g.value.length === this.data.group.value.chart.length ? orbit.nearest(this.data.group.value, this.g.value, this.span.value) : { index: -1, same: false }));
  /** Index in the plan of the element, -1 between elements. */
  readonly element = computed(() => (this.near.value.same ? this.near.value.index : -1));
  /** Index of the element of the plan next to where we are. */
  readonly nearest = computed(() => this.near.value.index);
  /** The element for people. */
  readonly here = computed(() => {
    const o = this.data.group.value;
    if (!o) return '';
    return this.element.value >= 0 ? (o.labels[this.element.value] ?? label(o.chart, this.g.value)) : position(o.chart, this.g.value);
  });

  /** What the metric compares with. */
  readonly reference = computed<Reference>(() => (this.metricDoc.value?.ref as Reference | undefined) ?? 'target');
  /** The references that the metric comes with in this run, and the metric under each. */
  readonly references = computed(() => family(this.data.run.value?.metric_list ?? [], this.metric.value));

  private seq = 0;
  private askedRef = '';
  /** How often a consensus was asked for again. */
  private again = 0;

  constructor(private readonly data: Data) {
    const { client } = data;
    this.live = new Loop<Probe>((w, cut) => {
      const seq = ++this.seq;
      // Fields are large, and of their references only the one that is looked at is sent.
      const ref = large(data.run.peek()) ? this.reference.peek() : undefined;
      return client.probe(data.runID.peek(), w.sample, w.g, [...new Set(this.models.peek())].filter((m) => data.ability.peek().of[m]), seq, cut, ref);
    });
    this.maps = new Maps((w, g, cut) => client.errors(w.run, w.sample, g, w.models, w.ref, cut), () => this.live.pending.peek());
    this.moved = new Loop<Picture>((w, cut) => client.input(data.runID.peek(), w.sample, w.g, cut));
  }

  /** Loads and asks for what belongs to where we are. */
  start(on: Follow): void {
    on(() => {
      const i = this.sample.value;
      if (this.data.run.value && i < this.data.n.value) void this.data.one.load((s) => this.data.client.sample(this.data.runID.peek(), i, s));
    });
    on(() => {
      const i = this.pinned.value;
      if (i < 0) this.data.other.clear();
      else if (this.data.run.value && i < this.data.n.value) void this.data.other.load((s) => this.data.client.sample(this.data.runID.peek(), i, s));
    });
    on(() => {
      // A new sample, other models, or the switch: ask for where we are.
      this.sample.value;
      this.models.value;
      this.canProbe.value;
      this.data.ability.value;
      this.failed.value;
      if (this.data.run.value) this.ask();
    });
    on(() => {
      // Another reference of fields is another answer.
      const ref = this.reference.value;
      if (large(this.data.run.peek()) && this.askedRef !== '' && this.askedRef !== ref) {
        this.live.reset();
        this.ask();
      }
      this.askedRef = ref;
    });
    on(() => {
      // Where fields are wrong at every element: of the models, or of what a file keeps.
      const r = this.data.run.value;
      const able = this.data.ability.value;
      const models = [...new Set(this.models.value)].filter((m) => !this.data.client.live || able.of[m]);
      const sample = this.sample.value;
      const ref = this.data.client.live ? this.reference.value : null;
      if (!r || !tiled(r) || !this.mapped.value || this.failed.value !== false || !models.length || (this.data.client.live && !this.canProbe.value)) return;
      void this.maps.want({ run: r.id, sample, models, ref, elements: r.orbit.elements, first: this.element.peek() });
      return () => this.maps.stop();
    });
    on(() => {
      // The consensus of a long orbit is found beside the answers: ask again while one is missing that was recorded.
      const a = this.live.answer.value;
      if (!a || this.reference.value !== 'consensus' || !this.canProbe.value || this.again > 60) return;
      const late = this.models.value.some((m, k) => {
        const x = a.value.models.get(m);
        return x && Number.isNaN(x.values[this.metric.peek()] ?? NaN) && !Number.isNaN(this.recorded(k as Nth, Math.max(0, a.value.element)));
      });
      if (!late) return;
      const t = setTimeout(() => {
        this.again++;
        if (!this.live.pending.peek()) this.ask();
      }, 700);
      return () => clearTimeout(t);
    });
    on(() => {
      this.sample.value;
      this.again = 0;
    });
    on(() => {
      const i = this.sample.value;
      const r = this.data.run.value;
      const can = this.data.ability.value.inputs || !this.data.client.live;
      if (!r || !r.window.length || !can || i >= this.data.n.value || this.failed.value !== false) return;
      if (this.data.scene.state.peek().value?.sample !== i) void this.data.scene.load(async (s) => ({ ...(await this.data.client.scene(r.id, i, s)), sample: i }), false);
    });
    on(() => {
      const [i, k] = [this.sample.value, this.element.value];
      const r = this.data.run.value;
      if (!r?.boxed || k < 0 || i >= this.data.n.value || this.failed.value !== false) return;
      const old = this.data.recordedBoxes.state.peek().value;
      if (old && old.sample === i && old.element === k) return;
      const g = r.orbit.elements[k];
      const t = setTimeout(() => void this.data.recordedBoxes.load((s) => this.data.client.boxes(r.id, i, g, s)), this.canProbe.peek() ? 150 : 0);
      return () => clearTimeout(t);
    });
  }

  /** What suits a run that was just opened. */
  adopt(r: api.Run): void {
    this.sample.value = 0;
    this.metric.value = 0;
    this.a.value = 0;
    this.b.value = second(r);
    this.others.value = [];
    this.pinned.value = -1;
    this.compare.value = 'over';
    this.frame.value = 0;
    this.pixel.value = null;
    this.every.value = false;
    this.look.value = '';
    this.lit.value = -1;
    this.byClass.value = false;
    this.band.value = 'spread';
    this.plane.value = '';
    this.zoom.value = null;
    this.mapped.value = true;
    this.g.value = r.orbit.identity >= 0 ? [...r.orbit.elements[r.orbit.identity]] : orbit.identity(r.orbit.chart);
  }

  /** Brings every choice into the bounds of the run. */
  sane(r: api.Run): void {
    const m = r.model_list.length;
    if (!(this.sample.value < r.samples)) this.sample.value = 0;
    if (!(this.metric.value < r.metric_list.length)) this.metric.value = 0;
    if (!(this.a.value < m)) this.a.value = 0;
    if (!(this.b.value < m)) this.b.value = -1;
    if (this.others.value.some((k) => k >= m)) this.others.value = this.others.value.filter((k) => k < m);
    if (this.b.value < 0) this.compare.value = 'over';
    if (!(this.pinned.value < r.samples)) this.pinned.value = -1;
    const g = orbit.canonical(r.orbit.chart, r.orbit.steps, this.g.value);
    const between = this.data.client.live && this.liveOn.value && !r.orbit.finite && (r.live.models || /being opened/.test(r.live.reason ?? ''));
    const k = between ? -1 : orbit.nearest(r.orbit, g).index;
    this.g.value = k >= 0 ? [...r.orbit.elements[k]] : g;
  }

  /** Goes to an element, or to the next one of the plan where nothing is known between them. */
  moveTo(g: api.Element): void {
    const h = this.reached(g);
    if (!h) return;
    this.g.value = h;
    this.ask();
  }

  /** Asks for an element that a drag has reached, and that moveTo will be called with when the next frame is drawn: so the answer is in that frame. */
  soon(g: api.Element): void {
    const h = this.reached(g);
    if (!h || !this.canProbe.peek() || this.failed.peek() !== false || sameElement(h, this.g.peek())) return;
    this.live.soon(this.sample.peek(), h);
  }

  private reached(g: api.Element): api.Element | null {
    const o = this.data.group.peek();
    if (!o) return null;
    const h = orbit.canonical(o.chart, o.steps, g);
    return this.stored.peek() ? this.snap(h) : h;
  }

  /** Goes to an element of the plan. */
  moveToIndex(k: number): void {
    const o = this.data.group.peek();
    if (o && k >= 0 && k < o.elements.length) this.moveTo(o.elements[k]);
  }

  /** One press of an arrow key along an axis of the chart, by steps. Where only the plan can be shown, the next element of it. */
  step(by: number, axis = 0): void {
    const o = this.data.group.peek();
    if (!o || !o.chart.length) return;
    const at = this.g.peek();
    const h = orbit.stepped(o, at, axis, by);
    if (!this.stored.peek() || o.finite) return this.moveTo(h);
    // Between elements nothing can be shown: go at least to the next one that way.
    const from = this.nearest.peek();
    for (let t = by; Math.abs(t) <= 10_000; t += Math.sign(by)) {
      const next = orbit.stepped(o, at, axis, t);
      const k = orbit.nearest(o, next, this.span.peek()).index;
      if (k !== from) return this.moveTo(o.elements[k]);
      if (t !== by && orbit.apart(o.chart[axis], next[axis], orbit.stepped(o, at, axis, t - Math.sign(by))[axis]) === 0) return; // the end
    }
  }

  /** A generator of the group acts on where we are. */
  act(move: api.Move): void {
    const o = this.data.group.peek();
    const k = this.element.peek();
    if (!o) return;
    if (k >= 0 && move.to[k] >= 0) return this.moveTo(o.elements[move.to[k]]);
    const s3 = spatial(o.chart);
    if (s3) return this.moveTo(after(s3, move.element, this.g.peek()));
    // Between elements: as the move would take the nearest one, by the same difference of coordinates.
    const near = this.nearest.peek();
    const to = near >= 0 ? move.to[near] : -1;
    if (to < 0) return;
    this.moveTo(this.g.peek().map((v, j) => v + o.elements[to][j] - o.elements[near][j]));
  }

  /** Compares with another reference: the metric of the same kind that does. Returns whether the run has one. */
  refer(ref: Reference): boolean {
    const k = sibling(this.data.run.peek()?.metric_list ?? [], this.metric.peek(), ref);
    if (k < 0) return false;
    this.metric.value = k;
    return true;
  }

  home(): void {
    const o = this.data.group.peek();
    if (o) this.moveTo(o.identity >= 0 ? o.elements[o.identity] : orbit.identity(o.chart));
  }

  opposite(): void {
    const o = this.data.group.peek();
    if (o) this.moveTo(orbit.opposite(o, this.g.peek()));
  }

  private snap(g: api.Element): number[] {
    const o = this.data.group.peek();
    const k = o ? orbit.nearest(o, g, this.span.peek()).index : -1;
    return o && k >= 0 ? [...o.elements[k]] : [...g];
  }

  /** Asks the models, or else the resampler, for where we are. */
  ask(): void {
    const r = this.data.run.peek();
    if (!r || this.data.n.peek() === 0) return;
    const i = this.sample.peek();
    if (this.failed.peek() !== false) return;
    const g = this.g.peek();
    if (this.canProbe.peek()) this.live.want(i, g);
    // While the models cannot be asked, the input is still moved, as far as that can be done.
    if ((!this.canProbe.peek() || this.live.error.peek()) && (this.data.ability.peek().inputs || !this.data.client.live)) this.moved.want(i, g);
  }

  /** The value of a model on show that is stored at an element of the plan for the sample, exactly; NaN as long as it is not there. */
  recorded(k: Nth, element = this.element.value): number {
    const m = this.shown.value[k];
    if (m === undefined || element < 0) return NaN;
    const one = this.data.one.state.value.value;
    if (one && one.index === this.sample.value) return one.curves[m]?.[this.metric.value]?.[element] ?? NaN;
    const c = this.data.curves[k].state.value.value;
    return c?.exact && this.sample.value < c.n ? at(c, this.sample.value, element) : NaN;
  }

  /** The whole stored orbit of a sample for a model on show, null as long as it is not there. */
  orbitOf(k: Nth, sample = this.sample.value): Float64Array | null {
    const m = this.shown.value[k];
    if (m === undefined) return null;
    for (const s of [this.data.one.state.value.value, this.data.other.state.value.value]) {
      const row = s?.index === sample ? s.curves[m]?.[this.metric.value] : undefined;
      if (row) return Float64Array.from(row, (v) => v ?? NaN);
    }
    const c = this.data.curves[k].state.value.value;
    return c && sample < c.n ? Float64Array.from({ length: c.e }, (_, j) => at(c, sample, j)) : null;
  }

  /** The live answer of a model on show for exactly where we are, null if there is none. */
  answer(k: Nth) {
    const m = this.shown.value[k];
    if (m === undefined || !this.canProbe.value) return null;
    return this.live.answers(this.sample.value, this.g.value)?.models.get(m) ?? null;
  }

  setSample(i: number): void {
    if (i >= 0 && i < this.data.n.peek() && Number.isInteger(i)) this.sample.value = i;
  }

  /** Pins the sample for comparison, or takes the pin off. */
  pin(i = this.sample.peek()): void {
    this.pinned.value = this.pinned.peek() === i ? -1 : i;
  }
}

/** Whether the orbit of a sample is a tile for each element, each with a field. */
export const tiled = (r: api.Run | null): boolean => r?.output === 'field' && traits(r.orbit.layout).tiles === true;

/** Whether answers come with one of their references, and not with all of them. */
const large = (r: api.Run | null): boolean => /^(field|rows|record|signal|tensor|frames)$/.test(r?.output ?? '');

/** A range whose upper half would be empty, cut to the values on show: a model that is not shown does not squeeze those that are. */
export function shownRange(all: { lo: number; hi: number; log: boolean }, values: ArrayLike<number>): { lo: number; hi: number; log: boolean } {
  let hi = -Infinity;
  for (let k = 0; k < values.length; k++) if (values[k] > hi) hi = values[k] as number;
  if (all.log || !(all.lo >= 0) || !(hi > all.lo) || !(hi < all.hi / 2)) return all;
  return { ...all, hi: scaleLinear().domain([all.lo, hi]).nice(4).domain()[1] as number };
}

function rangeOf(r: api.Run | null, metric: number): { lo: number; hi: number; log: boolean } {
  const s = r?.scales[metric];
  const m = r?.metric_list[metric];
  let lo = s?.lo ?? m?.range[0] ?? 0;
  let hi = s?.hi ?? m?.range[1] ?? 1;
  if (!(hi > lo)) [lo, hi] = [lo - 0.5, lo + 0.5];
  return { lo, hi, log: (s?.log ?? false) && lo > 0 };
}

