// The one store. Views read its signals and call its actions; no view knows of another.

import { batch, computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type * as api from './api';
import { label, position } from './format';
import { distances } from './distance';
import { Loop } from './live';
import * as orbit from './orbit';
import { order } from './order';
import { lasso } from './raster';
import { family, sibling } from './reference';
import { after, spatial } from './rotation';
import { aborted, at, Client, Failure, words, type Layout2D, type Matrix, type Picture, type Probe, type Recorded, type Reference, type Scene, type Stats } from './source';

export type Page = 'runs' | 'run' | 'findings' | 'report';
export type Compare = 'over' | 'side' | 'diff';
export type Theme = 'auto' | 'light' | 'dark';
export type Color = 'viridis' | 'cividis';

/** Something that is loaded: the value, or why there is none. A value that is being replaced stays until the next one is there. */
export interface Loaded<T> {
  value: T | null;
  busy: boolean;
  error: string;
}

const nothing = <T>(): Loaded<T> => ({ value: null, busy: false, error: '' });

/** Something to be told; action is what a button beside it does. */
export interface Notice {
  id: number;
  kind: 'info' | 'warn' | 'error';
  text: string;
  action?: { label: string; run: () => void };
}

/** A polygon in the coordinates of a layout of the samples, and which samples lay in it. */
export interface Lasso {
  poly: readonly number[]; // x0, y0, x1, y1, ...
  layout: string; // key of the layout it was drawn in
  mask: Uint8Array | null; // null until that layout is there
}

/** Which samples are looked at: those that are in all of the parts. */
export interface Choice {
  slice: string; // name of a class slice or a kept one, empty for all
  rule: string;
  lasso: Lasso | null;
  picked: readonly number[] | null; // rows of the table, ascending
}

export const everything: Choice = { slice: '', rule: '', lasso: null, picked: null };

/** How the samples are laid out. */
export interface Embedding {
  method: string;
  of: 'a' | 'b' | 'ab'; // the curves of which models
  fit?: string; // the set, as JSON, that it is fitted to; all samples without
}

/** What a table column, a colour or a rank can be: figures over the orbit of A (0) or B (1), or their difference. */
export type Column = 'index' | 'label' | 'id' | `${'mean' | 'sd' | 'min' | 'max' | 'identity' | 'change' | 'similar' | 'predicted'}${0 | 1}` | 'diff';

/** What can be undone. */
interface Snapshot {
  sample: number;
  g: api.Element;
  metric: number;
  a: number;
  b: number;
  compare: Compare;
  choice: Choice;
  pinned: number;
  colorBy: Column;
}

/** A value that is loaded and replaced; what is superseded is cut off. */
export class Slot<T> {
  readonly state: Signal<Loaded<T>> = signal(nothing<T>());
  private cut: AbortController | null = null;

  get value(): T | null {
    return this.state.value.value;
  }

  /** Loads; the old value stays meanwhile if keep is set. */
  async load(f: (signal: AbortSignal) => Promise<T>, keep = true): Promise<T | null> {
    this.cut?.abort();
    const cut = (this.cut = new AbortController());
    const old = this.state.peek().value;
    this.state.value = { value: keep ? old : null, busy: true, error: '' };
    try {
      const value = await f(cut.signal);
      if (cut.signal.aborted) return null;
      this.state.value = { value, busy: false, error: '' };
      return value;
    } catch (e) {
      if (cut.signal.aborted || aborted(e)) return null;
      this.state.value = { value: keep ? old : null, busy: false, error: words(e) };
      return null;
    }
  }

  set(value: T): void {
    this.cut?.abort();
    this.state.value = { value, busy: false, error: '' };
  }

  clear(): void {
    this.cut?.abort();
    this.state.value = nothing();
  }
}

/** Bytes of exact curves up to which they are fetched exactly; beyond, as bytes for display. */
const exactBytes = 2 << 20;
/** Bytes of curves as bytes beyond which the page leaves aggregates to the server altogether. */
const displayBytes = 16 << 20;

/** The store over a source. */
export class State {
  readonly client: Client;

  // Pages and what they are about.
  readonly page = signal<Page>('runs');
  readonly runID = signal('');
  readonly audit = signal(''); // id, of the findings page
  readonly runs = new Slot<api.Runs>();
  readonly opened = new Slot<api.Run>();
  readonly samples = new Slot<api.Samples>();
  readonly connected = signal(true);
  readonly notices = signal<readonly Notice[]>([]);
  readonly tasks = signal<ReadonlyMap<string, api.Task>>(new Map());
  /** What a screen reader is told. */
  readonly spoken = signal('');

  // What is looked at.
  readonly sample = signal(0);
  readonly g = signal<api.Element>([]);
  readonly metric = signal(0);
  readonly a = signal(0);
  readonly b = signal(-1);
  readonly compare = signal<Compare>('over');
  readonly choice = signal<Choice>(everything);
  readonly pinned = signal(-1);
  readonly embedding = signal<Embedding>({ method: 'pca', of: 'ab' });
  readonly colorBy = signal<Column>('mean0');
  readonly rank = signal<{ by: Column; descending: boolean }>({ by: 'mean0', descending: false });

  // How it is shown.
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

  // What is loaded for it, [A, B].
  readonly curves = [new Slot<Matrix>(), new Slot<Matrix>()] as const;
  readonly stats = [new Slot<Stats>(), new Slot<Stats>()] as const;
  /** The class that the model answers to the unmoved input, by sample; -1 for none. */
  readonly top = [new Slot<Int32Array>(), new Slot<Int32Array>()] as const;
  /** The orbit of the sample, exactly, and that of the pinned one. */
  readonly one = new Slot<api.Sample>();
  readonly other = new Slot<api.Sample>();
  readonly layout = new Slot<Layout2D>();
  readonly layoutTask = signal<api.Task | null>(null);
  /** The sample before it is moved, where a crop window moves over it. */
  readonly scene = new Slot<Scene & { sample: number }>();
  /** Boxes as they were recorded, by element of the plan. */
  readonly recordedBoxes = new Slot<Recorded>();
  /** The curves of every model over the choice, for the metric. */
  readonly family = new Slot<{ key: string; doc: api.Aggregate }>();
  private readonly summed = new Slot<{ key: string; doc: api.Aggregate }>();
  readonly kept = new Slot<api.Slices>();
  private keptTag = '';

  /** Questions to the models, and to the resampler alone where no model can be asked. */
  readonly live: Loop<Probe>;
  readonly moved: Loop<Picture>;

  readonly run: ReadonlySignal<api.Run | null> = computed(() => this.opened.state.value.value);
  readonly group = computed(() => this.run.value?.orbit ?? null);
  readonly n = computed(() => this.run.value?.samples ?? 0);
  readonly ids = computed(() => this.samples.state.value.value?.ids ?? []);
  readonly labels = computed(() => this.samples.state.value.value?.labels ?? []);
  readonly metricDoc = computed(() => this.run.value?.metric_list[this.metric.value] ?? null);
  /** The range of drawings of the metric, shared by all models. */
  readonly range = computed(() => rangeOf(this.run.value, this.metric.value));
  /** The models on show: A, and B if there is one. */
  readonly models = computed(() => (this.b.value < 0 ? [this.a.value] : [this.a.value, this.b.value]));
  /** Whether inputs can be moved and models asked now, by model, and if not, why. */
  readonly ability = signal<api.Live & { of: readonly boolean[] }>({ inputs: false, models: false, of: [] });
  /** Why the sample could not be evaluated, false if it could, null while that is not known. Nothing can be asked of one that could not. */
  readonly failed = computed<string | false | null>(() => {
    const { value: all, error } = this.samples.state.value;
    const text = all?.errors?.[String(this.sample.value)];
    if (text !== undefined) return text;
    return all || error || !this.run.value?.failed ? false : null;
  });
  /** Models can be asked now and the switch is on. */
  readonly canProbe = computed(() => this.client.live && this.liveOn.value && this.models.value.some((m) => this.ability.value.of[m]));
  /** Nothing can be shown between the elements of the plan, or just now not, while the models do not answer. */
  readonly stored = computed(() => !this.canProbe.value || this.live.error.value !== '' || (this.group.value?.finite ?? true));
  private readonly span = computed(() => (this.group.value ? orbit.spans(this.group.value) : []));
  private readonly near = computed(() => (this.group.value && this.g.value.length === this.group.value.chart.length ? orbit.nearest(this.group.value, this.g.value, this.span.value) : { index: -1, same: false }));
  /** Index in the plan of the element, -1 between elements. */
  readonly element = computed(() => (this.near.value.same ? this.near.value.index : -1));
  /** Index of the element of the plan next to where we are. */
  readonly nearest = computed(() => this.near.value.index);
  /** The element for people. */
  readonly here = computed(() => {
    const o = this.group.value;
    if (!o) return '';
    return this.element.value >= 0 ? (o.labels[this.element.value] ?? label(o.chart, this.g.value)) : position(o.chart, this.g.value);
  });
  /** The names of the classes of the models, or else of the samples. */
  readonly classNames = computed(() => {
    const r = this.run.value;
    if (!r || r.classes.length) return r?.classes ?? [];
    const out: string[] = [];
    for (const x of r.slices) if (x.label >= 0) out[x.label] = x.name;
    return out;
  });
  /** What the metric compares with. */
  readonly reference = computed<Reference>(() => (this.metricDoc.value?.ref as Reference | undefined) ?? 'target');
  /** The references that the metric comes with in this run, and the metric under each. */
  readonly references = computed(() => family(this.run.value?.metric_list ?? [], this.metric.value));

  /** The key of the layout that is asked for; lassos are drawn in one. */
  readonly layoutKey = computed(() => `${this.runID.value}|${this.embedding.value.method}|${this.layoutModels.value.join()}|${this.metric.value}${this.embedding.value.fit ? `|${this.embedding.value.fit}` : ''}`);
  readonly layoutModels = computed(() => {
    const e = this.embedding.value;
    return e.of === 'a' || this.b.value < 0 ? [this.a.value] : e.of === 'b' ? [this.b.value] : [...new Set([this.a.value, this.b.value])];
  });

  /** The choice as the server understands it. */
  readonly set = computed<api.Set>(() => setOf(this.choice.value, this.run.value?.slices ?? [], this.metric.value));
  private readonly served = signal<{ key: string; mask: Uint8Array } | null>(null);
  /** 1 for every sample in the choice. What it was before while a rule is looked up. */
  readonly mask = computed<Uint8Array>(() => {
    const n = this.n.value;
    const known = [...(this.run.value?.slices ?? []), ...(this.kept.state.value.value?.slices ?? [])];
    const local = evaluate(this.set.value, { n, labels: this.labels.value, slices: known });
    if (local) return local;
    const s = this.served.value;
    return s && s.mask.length === n ? s.mask : new Uint8Array(n).fill(1);
  });
  /** Whether the slice that is chosen is not known: those that are kept with the run are not here yet, or it is none of them. */
  private readonly unsure = computed(() => {
    const { slice } = this.choice.value;
    const { value, error } = this.kept.state.value;
    return slice !== '' && !error && ![...(this.run.value?.slices ?? []), ...(value?.slices ?? [])].some((x) => x.name === slice);
  });
  /** Why the rule is not one, empty if it is. */
  readonly ruleError = signal('');
  readonly count = computed(() => {
    const m = this.mask.value;
    let n = 0;
    for (let i = 0; i < m.length; i++) n += m[i];
    return n;
  });

  /** All samples in the order of the rank: sorted once, however often the choice changes. */
  private readonly ranked = computed<Int32Array>(() => {
    const { by, descending } = this.rank.value;
    const direction = descending ? 'descending' : 'ascending';
    const all = new Int32Array(this.n.value);
    for (let i = 0; i < all.length; i++) all[i] = i;
    if (by === 'id') {
      const ids = this.ids.value;
      return order(all, (i) => ids[i] ?? null, direction);
    }
    const v = this.column(by);
    return v ? order(all, (i) => v[i], direction) : all;
  });
  /** Samples of the choice in the order of the rank; ties by index, what has no value last. */
  readonly order = computed<Int32Array>(() => {
    const [all, m] = [this.ranked.value, this.mask.value];
    if (this.count.value === all.length) return all;
    const out = new Int32Array(this.count.value);
    for (let j = 0, k = 0; j < all.length; j++) if (m[all[j]]) out[k++] = all[j];
    return out;
  });
  private readonly question = computed<api.AggregateRequest>(() => {
    const q: api.AggregateRequest = { set: this.set.value, metric: this.metric.value, models: [...new Set(this.models.value)] };
    if (this.b.value >= 0 && this.b.value !== this.a.value) q.pair = [this.a.value, this.b.value];
    return q;
  });
  /** The question as a key: rows that came since have another. */
  private readonly asked = computed(() => `${this.runID.value}|${this.run.value?.state.done ?? 0}|${JSON.stringify(this.question.value)}`);
  /** Answers that were given lately, so that going back to a choice needs none. */
  private readonly sums = new Map<string, api.Aggregate>();
  /** The exact curves of the choice. fresh is false while they are those of an earlier choice. */
  readonly aggregate = computed(() => {
    const { value, busy, error } = this.summed.state.value;
    const key = this.asked.value;
    return { doc: value?.doc ?? null, fresh: value?.key === key, busy, error };
  });

  /** Where the sample is in the order, -1 if the choice does not hold it. */
  readonly place = computed(() => this.order.value.indexOf(this.sample.value));

  /** The run and the good direction of its metric that the rank was made for. */
  private rankedFor = { id: '', better: '' };
  private readonly past: Snapshot[] = [];
  private settled: Snapshot | null = null;
  private readonly revision = signal(0);
  private heardOnce = false;
  private noticeID = 0;
  private seq = 0;
  private readonly cache = new Map<string, Matrix>();
  private readonly answers: [string, string] = ['', '']; // what the slots of predicted classes hold

  constructor(client: Client) {
    this.client = client;
    this.live = new Loop<Probe>((w, cut) => {
      const seq = ++this.seq;
      // Fields are large, and of their references only the one that is looked at is sent.
      const ref = large(this.run.peek()) ? this.reference.peek() : undefined;
      return client.probe(this.runID.peek(), w.sample, w.g, [...new Set(this.models.peek())].filter((m) => this.ability.peek().of[m]), seq, cut, ref);
    });
    this.moved = new Loop<Picture>((w, cut) => client.input(this.runID.peek(), w.sample, w.g, cut));
  }

  /** Starts the loading that follows from the choices. Returns what ends it. */
  start(): () => void {
    const ends: (() => void)[] = [];
    const on = (f: () => void | (() => void)) => ends.push(effect(f));
    on(() => {
      const id = this.runID.value;
      this.revision.value;
      if (id) void this.open(id);
    });
    on(() => {
      // Worst first stays worst first under a metric of the other direction, and is how a link to another metric opens.
      const now = { id: this.run.value?.id ?? '', better: this.metricDoc.value?.better ?? '' };
      const { by, descending } = this.rank.peek();
      const flip = this.rankedFor.id === now.id ? this.rankedFor.better !== now.better : now.better !== '' && descending !== (now.better === 'lower');
      if (flip && /^(mean|min|max|identity|change)/.test(by)) this.rank.value = { by, descending: !descending };
      this.rankedFor = now;
    });
    on(() => {
      const r = this.run.value;
      if (!r) return;
      const metric = this.metric.value;
      this.models.value.forEach((m, k) => this.loadModel(k as 0 | 1, r, m, metric));
      if (this.b.value < 0) {
        [this.curves[1], this.stats[1], this.top[1]].forEach((s) => s.clear());
        this.answers[1] = '';
      }
    });
    on(() => {
      const i = this.sample.value;
      if (this.run.value && i < this.n.value) void this.one.load((s) => this.client.sample(this.runID.peek(), i, s));
    });
    on(() => {
      const i = this.pinned.value;
      if (i < 0) this.other.clear();
      else if (this.run.value && i < this.n.value) void this.other.load((s) => this.client.sample(this.runID.peek(), i, s));
    });
    on(() => {
      // A new sample, other models, or the switch: ask for where we are.
      this.sample.value;
      this.models.value;
      this.canProbe.value;
      this.ability.value;
      this.failed.value;
      if (this.run.value) this.ask();
    });
    on(() => {
      // Another reference of fields is another answer.
      const ref = this.reference.value;
      if (large(this.run.peek()) && this.askedRef !== '' && this.askedRef !== ref) {
        this.live.reset();
        this.ask();
      }
      this.askedRef = ref;
    });
    on(() => {
      // The consensus of a long orbit is found beside the answers: ask again while one is missing that was recorded.
      const a = this.live.answer.value;
      if (!a || this.reference.value !== 'consensus' || !this.canProbe.value || this.again > 60) return;
      const late = this.models.value.some((m, k) => {
        const x = a.value.models.get(m);
        return x && Number.isNaN(x.values[this.metric.peek()] ?? NaN) && !Number.isNaN(this.recorded(k as 0 | 1, Math.max(0, a.value.element)));
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
      const r = this.run.value;
      const can = this.ability.value.inputs || !this.client.live;
      if (!r || !r.window.length || !can || i >= this.n.value || this.failed.value !== false) return;
      if (this.scene.state.peek().value?.sample !== i) void this.scene.load(async (s) => ({ ...(await this.client.scene(r.id, i, s)), sample: i }), false);
    });
    on(() => {
      const [i, k] = [this.sample.value, this.element.value];
      const r = this.run.value;
      if (!r?.boxed || k < 0 || i >= this.n.value || this.failed.value !== false) return;
      const old = this.recordedBoxes.state.peek().value;
      if (old && old.sample === i && old.element === k) return;
      const g = r.orbit.elements[k];
      const t = setTimeout(() => void this.recordedBoxes.load((s) => this.client.boxes(r.id, i, g, s)), this.canProbe.peek() ? 150 : 0);
      return () => clearTimeout(t);
    });
    on(() => {
      // All models side by side, once the gesture is over.
      const r = this.run.value;
      if (!this.every.value || !r || this.n.value === 0 || this.unsure.value) return;
      const body: api.AggregateRequest = { set: this.set.value, metric: this.metric.value, models: r.model_list.map((_, m) => m) };
      const key = `${r.id}|${r.state.done}|${JSON.stringify(body)}`;
      if (this.family.state.peek().value?.key === key) return;
      const t = setTimeout(() => void this.family.load(async (s) => ({ key, doc: await this.client.aggregate(r.id, body, s) })), 60);
      return () => clearTimeout(t);
    });
    on(() => {
      this.layoutKey.value;
      if (this.run.value && this.n.value > 0 && this.models.value.length) void this.lay();
    });
    on(() => {
      const set = this.set.value;
      const r = this.run.value;
      if (!r || this.unsure.value) return;
      void this.select(set);
    });
    on(() => {
      // Slices of the same names may hold other samples now.
      this.kept.state.value;
      this.sums.clear();
    });
    on(() => {
      // Exact numbers of the choice, once the gesture is over.
      const body = this.question.value;
      const r = this.run.value;
      if (!r || this.n.value === 0 || this.unsure.value) return;
      const id = this.runID.peek();
      const key = this.asked.value;
      const known = this.sums.get(key);
      if (known) {
        this.summed.set({ key, doc: known });
        return;
      }
      const t = setTimeout(() => void this.summed.load(async (s) => {
        const doc = await this.client.aggregate(id, body, s);
        this.sums.set(key, doc);
        for (const old of this.sums.keys()) {
          if (this.sums.size <= 24) break;
          this.sums.delete(old);
        }
        return { key, doc };
      }), 60);
      return () => clearTimeout(t);
    });
    on(() => {
      const now = this.snapshot();
      const t = setTimeout(() => this.settle(now), 350);
      return () => clearTimeout(t);
    });
    if (this.client.live) ends.push(this.client.source.listen((e) => this.heard(e), (up) => this.heardConnection(up)));
    return () => ends.forEach((f) => f());
  }

  // ---- runs ----

  /** Loads the list of runs. */
  async list(): Promise<void> {
    await this.runs.load((s) => this.client.runs(s));
  }

  private async open(id: string): Promise<void> {
    const fresh = this.opened.state.peek().value?.id !== id;
    if (fresh) this.forget();
    const r = await this.opened.load(async (s) => {
      const got = await this.client.run(id, s);
      // Choices first: what is drawn of a run follows from them as soon as it is there.
      if (fresh && !s.aborted) {
        const wish = this.wish;
        this.wish = null;
        batch(() => {
          this.ability.value = abilityOf(got);
          this.adopt(got);
          wish?.(got);
          this.sane(got);
        });
        this.past.length = 0;
        this.settled = null;
      }
      return got;
    }, !fresh);
    if (!r) return;
    this.able(r);
    this.progress.value = r.state;
    if (fresh) void this.loadSlices();
    this.awaitModels(id, 400); // also where the server was started anew
    await this.samples.load((s) => this.client.samples(id, s));
  }

  private able(r: api.Run): void {
    const now = abilityOf(r);
    if (JSON.stringify(now) !== JSON.stringify(this.ability.peek())) this.ability.value = now;
  }

  /** Models are opened in the background: look again until they are there, or cannot be. */
  private awaitModels(id: string, wait: number): void {
    if (!this.client.live || this.ability.peek().models || !/being opened/.test(this.ability.peek().reason ?? '')) return;
    clearTimeout(this.opening);
    this.opening = setTimeout(() => {
      if (this.runID.peek() !== id) return;
      void this.client
        .run(id)
        .then((r) => {
          if (this.runID.peek() === id) this.able(r);
        })
        .catch(() => undefined) // the next look tells
        .then(() => this.awaitModels(id, Math.min(3000, wait * 1.5)));
    }, wait);
  }

  private opening: ReturnType<typeof setTimeout> | undefined;

  private askedRef = '';
  /** How often a consensus was asked for again. */
  private again = 0;

  /** What the URL wanted of a run, applied once the run is there and can be checked against. */
  private wish: ((r: api.Run) => void) | null = null;

  /** Shows a run; then is called once it is there, before anything is drawn. */
  show(id: string, then: ((r: api.Run) => void) | null = null): void {
    const open = this.run.peek();
    if (open && this.runID.peek() === id) {
      batch(() => {
        then?.(open);
        this.sane(open);
      });
      return;
    }
    this.wish = then;
    this.runID.value = id;
  }

  /** Loads the run that is open once more, as after an error. */
  reload(): void {
    this.cache.clear();
    this.sums.clear();
    this.answers.fill('');
    this.revision.value++;
  }

  private forget(): void {
    batch(() => {
      [...this.curves, ...this.stats, ...this.top, this.one, this.other, this.layout, this.summed, this.kept, this.samples, this.scene, this.recordedBoxes, this.family].forEach((s) => s.clear());
      this.layoutTask.value = null;
      this.served.value = null;
      this.cache.clear();
      this.sums.clear();
      this.answers.fill('');
      this.live.reset();
      this.moved.reset();
    });
  }

  /** The choices that suit a run that was just opened. */
  private adopt(r: api.Run): void {
    this.sample.value = 0;
    this.metric.value = 0;
    this.a.value = 0;
    this.b.value = r.model_list.length > 1 ? 1 : -1;
    this.choice.value = everything;
    this.pinned.value = -1;
    this.compare.value = 'over';
    this.frame.value = 0;
    this.pixel.value = null;
    this.every.value = false;
    this.g.value = r.orbit.identity >= 0 ? [...r.orbit.elements[r.orbit.identity]] : orbit.identity(r.orbit.chart);
    this.embedding.value = { method: r.methods[0]?.name ?? 'pca', of: r.model_list.length > 1 ? 'ab' : 'a' };
    this.colorBy.value = 'mean0';
    this.rank.value = { by: 'mean0', descending: r.metric_list[0]?.better === 'lower' };
  }

  /** Ranks the samples of a run just as an address says, whatever its metric. */
  rankAs(r: api.Run, by: Column, descending: boolean): void {
    this.rank.value = { by, descending };
    this.rankedFor = { id: r.id, better: r.metric_list[this.metric.peek()]?.better ?? '' };
  }

  /** Brings every choice into the bounds of the run. */
  private sane(r: api.Run): void {
    const m = r.model_list.length;
    if (!(this.sample.value < r.samples)) this.sample.value = 0;
    if (!(this.metric.value < r.metric_list.length)) this.metric.value = 0;
    if (!(this.a.value < m)) this.a.value = 0;
    if (!(this.b.value < m)) this.b.value = -1;
    if (this.b.value < 0) this.compare.value = 'over';
    if (!(this.pinned.value < r.samples)) this.pinned.value = -1;
    const g = orbit.canonical(r.orbit.chart, r.orbit.steps, this.g.value);
    const between = this.client.live && this.liveOn.value && !r.orbit.finite && (r.live.models || /being opened/.test(r.live.reason ?? ''));
    const k = between ? -1 : orbit.nearest(r.orbit, g).index;
    this.g.value = k >= 0 ? [...r.orbit.elements[k]] : g;
  }

  private loadModel(k: 0 | 1, r: api.Run, m: number, metric: number): void {
    const drawn: Promise<unknown>[] = [];
    const id = r.id;
    const key = `${id}|${m}|${metric}|${r.state.done}`;
    const kept = this.cache.get(key);
    const info = r.arrays.find((x) => x.name === `curves.${m}.${metric}`);
    const bytes = info?.bytes ?? r.samples * r.elements * 4;
    if (kept) this.curves[k].set(kept);
    else if (bytes / 4 > displayBytes) this.curves[k].clear();
    else {
      const dtype = bytes <= exactBytes || r.metric_list[metric]?.wide ? 'f32' : 'u8';
      drawn.push(this.curves[k].load(async (s) => {
        const v = await this.client.curves(id, m, metric, dtype, s);
        this.cache.set(key, v);
        for (const old of this.cache.keys()) {
          if (this.cache.size <= 8) break;
          this.cache.delete(old);
        }
        return v;
      }, false));
    }
    drawn.push(this.stats[k].load((s) => this.client.stats(id, m, metric, s), false));
    if (r.output !== 'scores' || !r.arrays.some((x) => x.name === `top.${m}`) || bytes / 4 > displayBytes) this.top[k].clear();
    else {
      // They are many bytes for one column, and the same for every metric.
      const of = `${id}|${m}|`;
      const [old, now] = [this.answers[k], of + r.state.done];
      this.answers[k] = now;
      if (old !== now && !old.startsWith(of)) this.top[k].clear();
      // What is drawn at once comes first: reading the classes takes the server longer than anything else.
      if (old !== now || this.top[k].state.peek().error)
        void Promise.all(drawn).then(() => this.laidOut()).then(() => {
          if (this.answers[k] === now) void this.top[k].load((s) => this.client.top(id, m, Math.max(0, r.orbit.identity), s));
        });
    }
  }

  /** Resolves when no layout is under way, or only one that takes long. */
  private laidOut(): Promise<void> {
    return new Promise((done) => {
      const end = effect(() => {
        if (this.layout.state.value.busy && !this.layoutTask.value) return;
        done();
        queueMicrotask(() => end());
      });
    });
  }

  // ---- the element ----

  /** Goes to an element; when is the time of the event that asked for it. */
  moveTo(g: api.Element): void {
    const o = this.group.peek();
    if (!o) return;
    let h = orbit.canonical(o.chart, o.steps, g);
    if (this.stored.peek()) h = this.snap(h);
    this.g.value = h;
    this.ask();
  }

  /** Goes to an element of the plan. */
  moveToIndex(k: number): void {
    const o = this.group.peek();
    if (o && k >= 0 && k < o.elements.length) this.moveTo(o.elements[k]);
  }

  /** One press of an arrow key along an axis of the chart, by steps. Where only the plan can be shown, the next element of it. */
  step(by: number, axis = 0): void {
    const o = this.group.peek();
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
    const o = this.group.peek();
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
    const k = sibling(this.run.peek()?.metric_list ?? [], this.metric.peek(), ref);
    if (k < 0) return false;
    this.metric.value = k;
    return true;
  }

  home(): void {
    const o = this.group.peek();
    if (o) this.moveTo(o.identity >= 0 ? o.elements[o.identity] : orbit.identity(o.chart));
  }

  opposite(): void {
    const o = this.group.peek();
    if (o) this.moveTo(orbit.opposite(o, this.g.peek()));
  }

  private snap(g: api.Element): number[] {
    const o = this.group.peek();
    const k = o ? orbit.nearest(o, g, this.span.peek()).index : -1;
    return o && k >= 0 ? [...o.elements[k]] : [...g];
  }

  private ask(): void {
    const r = this.run.peek();
    if (!r || this.n.peek() === 0) return;
    const i = this.sample.peek();
    if (this.failed.peek() !== false) return;
    const g = this.g.peek();
    if (this.canProbe.peek()) this.live.want(i, g);
    // While the models cannot be asked, the input is still moved, as far as that can be done.
    if ((!this.canProbe.peek() || this.live.error.peek()) && (this.ability.peek().inputs || !this.client.live)) this.moved.want(i, g);
  }

  /** The value of model A (0) or B (1) that is stored at an element of the plan for the sample, exactly; NaN as long as it is not there. */
  recorded(k: 0 | 1, element = this.element.value): number {
    const m = this.models.value[k];
    if (m === undefined || element < 0) return NaN;
    const one = this.one.state.value.value;
    if (one && one.index === this.sample.value) return one.curves[m]?.[this.metric.value]?.[element] ?? NaN;
    const c = this.curves[k].state.value.value;
    return c?.exact && this.sample.value < c.n ? at(c, this.sample.value, element) : NaN;
  }

  /** The whole stored orbit of a sample for A (0) or B (1), null as long as it is not there. */
  orbitOf(k: 0 | 1, sample = this.sample.value): Float64Array | null {
    const m = this.models.value[k];
    if (m === undefined) return null;
    for (const s of [this.one.state.value.value, this.other.state.value.value]) {
      const row = s?.index === sample ? s.curves[m]?.[this.metric.value] : undefined;
      if (row) return Float64Array.from(row, (v) => v ?? NaN);
    }
    const c = this.curves[k].state.value.value;
    return c && sample < c.n ? Float64Array.from({ length: c.e }, (_, j) => at(c, sample, j)) : null;
  }

  /** The live answer of A (0) or B (1) for exactly where we are, null if there is none. */
  answer(k: 0 | 1) {
    const m = this.models.value[k];
    if (m === undefined || !this.canProbe.value) return null;
    return this.live.answers(this.sample.value, this.g.value)?.models.get(m) ?? null;
  }

  // ---- the sample ----

  setSample(i: number): void {
    if (i >= 0 && i < this.n.peek() && Number.isInteger(i)) this.sample.value = i;
  }

  /** Goes on to the next (1) or the one before (-1) by rank. */
  next(by: number): void {
    const o = this.order.peek();
    if (!o.length) return;
    const k = this.place.peek();
    this.setSample(o[k < 0 ? 0 : Math.max(0, Math.min(o.length - 1, k + by))]);
  }

  /** Pins the sample for comparison, or takes the pin off. */
  pin(i = this.sample.peek()): void {
    this.pinned.value = this.pinned.peek() === i ? -1 : i;
  }

  private readonly columns = new Map<Column, ReadonlySignal<Float32Array | null>>();

  /** A column by sample, null as long as it is not there: the same array until it changes. */
  column(c: Column): Float32Array | null {
    let x = this.columns.get(c);
    if (!x) this.columns.set(c, (x = computed(() => this.figures(c))));
    return x.value;
  }

  private figures(c: Column): Float32Array | null {
    const n = this.n.value;
    if (c === 'index' || c === 'id') {
      const out = new Float32Array(n);
      for (let i = 0; i < n; i++) out[i] = i;
      return out;
    }
    if (c === 'label') return Float32Array.from(this.labels.value);
    const s = [this.stats[0].state.value.value, this.stats[1].state.value.value];
    if (c === 'diff') return s[0] && s[1] ? s[1].mean.map((v, i) => v - s[0]!.mean[i]) : null;
    const k = c.endsWith('1') ? 1 : 0;
    if (c.startsWith('similar')) {
      const m = this.curves[k].state.value.value;
      return m ? distances(m, this.mask.value, this.group.value?.weights ?? []) : null;
    }
    if (c.startsWith('predicted')) {
      const top = this.top[k].state.value.value;
      if (!top) return null;
      const out = new Float32Array(top);
      for (let i = 0; i < out.length; i++) if (out[i] < 0) out[i] = NaN;
      return out;
    }
    const of = s[k];
    if (!of) return null;
    const name = c.slice(0, -1) as 'mean' | 'sd' | 'min' | 'max' | 'identity' | 'change';
    return name === 'change' ? of.mean.map((v, i) => v - of.identity[i]) : of[name];
  }

  // ---- the choice ----

  /** Changes parts of the choice. */
  choose(part: Partial<Choice>): void {
    this.choice.value = { ...this.choice.peek(), ...part };
  }

  /** Draws a lasso in the layout that is shown; fewer than three corners take it away. */
  drawLasso(poly: readonly number[]): void {
    const l = this.layout.state.peek().value;
    this.choose({ lasso: poly.length < 6 ? null : { poly, layout: this.layoutKey.peek(), mask: l ? within(l.xy, poly) : null } });
  }

  clear(): void {
    this.choice.value = everything;
  }

  /**
   * Keeps the choice under a name, with the run, in the place of the slice of that name that is known here. If somebody else has kept
   * another one under that name meanwhile, theirs stays and the name gets a number, which is said.
   */
  async keep(name: string, note: string): Promise<void> {
    const id = this.runID.peek();
    const bits = this.mask.peek();
    const slice: api.Slice = { name, label: -1, n: this.count.peek(), set: { bits: toBits(bits) }, note };
    const known = JSON.stringify(this.kept.state.peek().value?.slices.find((s) => s.name === name));
    let as = name;
    const done = await this.store((old) => {
      const there = old.find((s) => s.name === name);
      as = !there || JSON.stringify(there) === known ? name : unused(name, [...old, ...(this.run.peek()?.slices ?? [])]);
      return [...old.filter((s) => s.name !== as), { ...slice, name: as }];
    });
    if (!done || id !== this.runID.peek()) return;
    if (as !== name) this.notify('warn', `Somebody else has kept another slice “${name}” meanwhile: yours is “${as}”.`);
    this.choice.value = { ...everything, slice: as };
  }

  /**
   * Combines the choice with a kept or class slice, or turns it around; what needs the server, as a slice that is kept as a rule, is asked of
   * it. Resolves to whether that was done: not if somebody chose otherwise meanwhile, or if the server refuses, which is said.
   */
  async combine(how: 'and' | 'or' | 'not', name = ''): Promise<boolean> {
    const before = this.choice.peek();
    const id = this.runID.peek();
    const n = this.n.peek();
    const classes = this.run.peek()?.slices ?? [];
    const slices = [...classes, ...(this.kept.state.peek().value?.slices ?? [])];
    const now = this.set.peek();
    const other: api.Set = classes.find((x) => x.name === name)?.set ?? { slice: name };
    const set: api.Set = how === 'not' ? { not: now } : { [how]: [now, other] };
    let mask = evaluate(set, { n, labels: this.labels.peek(), slices });
    if (!mask) {
      try {
        mask = fromBits((await this.client.select(id, set)).bits, n);
      } catch (e) {
        this.notify('warn', words(e));
        return false;
      }
      if (before !== this.choice.peek() || id !== this.runID.peek()) return false;
    }
    this.choice.value = { ...everything, picked: [...mask.keys()].filter((i) => mask[i]) };
    return true;
  }

  async drop(name: string): Promise<void> {
    await this.store((old) => old.filter((s) => s.name !== name));
    if (this.choice.peek().slice === name) this.choose({ slice: '' });
  }

  /** Changes the kept slices; if somebody else was faster, theirs. Resolves to whether they were kept. */
  private async store(change: (old: readonly api.Slice[]) => api.Slice[]): Promise<boolean> {
    const id = this.runID.peek();
    for (let attempt = 0; ; attempt++) {
      const doc: api.Slices = { format: 1, slices: change(this.kept.state.peek().value?.slices ?? []) };
      try {
        const tag = await this.client.putSlices(id, doc, this.keptTag);
        if (id !== this.runID.peek()) return true; // the slices on show are those of another run by now
        this.keptTag = tag;
        this.kept.set(doc);
        return true;
      } catch (e) {
        if (id === this.runID.peek() && e instanceof Failure && e.status === 412 && attempt < 3) {
          await this.loadSlices(); // somebody else was faster: take theirs and change that
          continue;
        }
        this.notify('error', `The slice was not kept. ${words(e)}`);
        return false;
      }
    }
  }

  private async loadSlices(): Promise<void> {
    const id = this.runID.peek();
    await this.kept.load(async (s) => {
      const { doc, tag } = await this.client.slices(id, s);
      this.keptTag = tag;
      return doc;
    });
    if (id === this.runID.peek()) this.dropUnknown();
  }

  /** Goes back to all samples, and says so, if the slice that is chosen is none of the run: a link may be older than it. */
  dropUnknown(): void {
    const { slice } = this.choice.peek();
    const r = this.run.peek();
    const kept = this.kept.state.peek().value;
    if (!slice || !r || !kept || [...r.slices, ...kept.slices].some((x) => x.name === slice)) return;
    this.choice.value = { ...this.choice.peek(), slice: '' };
    this.notify('warn', `There is no slice “${slice}” in this run: it is left out.`);
  }

  private async select(set: api.Set): Promise<void> {
    const known = [...(this.run.peek()?.slices ?? []), ...(this.kept.state.peek().value?.slices ?? [])];
    const n = this.n.peek();
    if (evaluate(set, { n, labels: this.labels.peek(), slices: known })) {
      this.ruleError.value = '';
      return;
    }
    // The same set is other samples once there are more rows, or in another run.
    const now = () => `${this.runID.peek()}|${this.run.peek()?.state.done}|${JSON.stringify(this.set.peek())}`;
    const key = now();
    if (this.served.peek()?.key === key) return;
    try {
      const r = await this.client.select(this.runID.peek(), set);
      if (now() !== key) return;
      batch(() => {
        this.served.value = { key, mask: fromBits(r.bits, n) };
        this.ruleError.value = '';
      });
    } catch (e) {
      if (now() === key) this.ruleError.value = words(e);
    }
  }

  // ---- the layout of the samples ----

  private async lay(): Promise<void> {
    const id = this.runID.peek();
    const key = this.layoutKey.peek();
    const e = this.embedding.peek();
    let waiting: api.Task | null = null;
    await this.layout.load(async (s) => {
      const r = await this.client.embedding(id, { method: e.method, metric: this.metric.peek(), models: this.layoutModels.peek(), ...(e.fit ? { set: e.fit } : {}) }, s);
      if ('xy' in r) return r;
      waiting = r;
      throw new Failure(202, 'computing', 'The layout is being computed.');
    });
    if (key !== this.layoutKey.peek()) return;
    if (waiting) {
      this.layoutTask.value = waiting;
      const s = this.layout.state.peek();
      this.layout.state.value = { ...s, busy: true, error: '' };
      return;
    }
    this.layoutTask.value = null;
    const l = this.choice.peek().lasso;
    const now = this.layout.state.peek().value;
    if (l && !l.mask && l.layout === key && now) this.choose({ lasso: { ...l, mask: within(now.xy, l.poly) } });
  }

  // ---- what the server says by itself ----

  private heard(e: api.Event): void {
    if (e.task) {
      const tasks = new Map(this.tasks.peek());
      tasks.set(e.task.id, e.task);
      this.tasks.value = tasks;
      if (e.task.id === this.layoutTask.peek()?.id) {
        this.layoutTask.value = e.task;
        if (e.task.state === 'done') void this.lay();
        else if (e.task.state === 'failed' || e.task.state === 'cancelled') {
          this.layoutTask.value = null;
          this.layout.state.value = { ...this.layout.state.peek(), busy: false, error: e.task.error || `The layout was ${e.task.state}.` };
        }
      }
    }
    if (e.run) {
      const card = e.run;
      const list = this.runs.state.peek().value;
      if (list) this.runs.set({ ...list, runs: list.runs.map((r) => (r.id === card.id ? card : r)) });
      const r = this.run.peek();
      if (r && r.id.split('+').includes(card.id)) {
        if (r.id !== card.id) return this.reloadSoon(card.state.complete);
        const grown = card.digest !== r.digest || card.state.done !== r.state.done || card.state.complete !== r.state.complete;
        this.progress.value = card.state;
        if (grown) this.reloadSoon(card.state.complete);
      }
    }
    if (e.slices && e.slices === this.runID.peek()) void this.loadSlices();
    if (e.gone && this.runID.peek().split('+').includes(e.gone)) this.notify('warn', `The run ${e.gone} is not there any more; what was read of it is still shown.`);
    if (e.list) {
      // An audit that was just written belongs to the run that is open, and says so in its document.
      void this.list();
      if (this.run.peek() && !e.gone) this.reloadSoon(true);
    }
  }

  /** How far the run is that is open, newer than the rows that are shown. */
  readonly progress = signal<api.State | null>(null);
  private soon: ReturnType<typeof setTimeout> | null = null;

  private reloadSoon(now: boolean): void {
    if (this.soon !== null && !now) return;
    if (this.soon !== null) clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      this.soon = null;
      this.revision.value++;
    }, now ? 100 : 2000);
  }

  private heardConnection(up: boolean): void {
    this.connected.value = up;
    if (!up) return;
    const first = !this.heardOnce;
    this.heardOnce = true;
    if (first) return;
    // What was said meanwhile was missed.
    const r = this.run.peek();
    if (this.runID.peek() && (!r || this.opened.state.peek().error || !r.state.complete)) this.reload();
    if (r && (this.layoutTask.peek() || this.layout.state.peek().error)) void this.lay();
    if (r) void this.loadSlices();
  }

  // ---- notices and undo ----

  notify(kind: Notice['kind'], text: string, action?: Notice['action']): void {
    const now = this.notices.peek();
    if (now.some((x) => x.text === text)) return;
    this.notices.value = [...now.slice(-4), { id: ++this.noticeID, kind, text, ...(action ? { action } : {}) }];
  }

  dismiss(id: number): void {
    this.notices.value = this.notices.peek().filter((x) => x.id !== id);
  }

  say(text: string): void {
    this.spoken.value = text;
  }

  private snapshot(): Snapshot {
    return {
      sample: this.sample.value,
      g: this.g.value,
      metric: this.metric.value,
      a: this.a.value,
      b: this.b.value,
      compare: this.compare.value,
      choice: this.choice.value,
      pinned: this.pinned.value,
      colorBy: this.colorBy.value,
    };
  }

  private settle(now: Snapshot): void {
    if (!this.run.peek()) return;
    if (this.settled && !same(this.settled, now)) {
      this.past.push(this.settled);
      if (this.past.length > 100) this.past.shift();
    }
    this.settled = now;
  }

  /** Takes the last gesture back; false if there is none. */
  undo(): boolean {
    this.settle(this.snapshot());
    const old = this.past.pop();
    if (!old) return false;
    this.settled = old;
    batch(() => {
      this.sample.value = old.sample;
      this.metric.value = old.metric;
      this.a.value = old.a;
      this.b.value = old.b;
      this.compare.value = old.compare;
      this.choice.value = old.choice;
      this.pinned.value = old.pinned;
      this.colorBy.value = old.colorBy;
      this.g.value = old.g;
    });
    this.ask();
    return true;
  }
}

/** A name with the first number behind it that no slice has: "mine 2". */
function unused(name: string, slices: readonly api.Slice[]): string {
  for (let k = 2; ; k++) {
    const as = `${name} ${k}`;
    if (!slices.some((s) => s.name === as)) return as;
  }
}

/** Whether answers come with one of their references, and not with all of them. */
const large = (r: api.Run | null): boolean => /^(field|rows|record|signal|tensor|frames)$/.test(r?.output ?? '');

const abilityOf = (r: api.Run) => ({ ...r.live, of: r.model_list.map((m) => m.live) });

const same = (x: Snapshot, y: Snapshot): boolean => (Object.keys(x) as (keyof Snapshot)[]).every((k) => x[k] === y[k] || (k === 'g' && x.g.join() === y.g.join()));

function rangeOf(r: api.Run | null, metric: number): { lo: number; hi: number; log: boolean } {
  const s = r?.scales[metric];
  const m = r?.metric_list[metric];
  let lo = s?.lo ?? m?.range[0] ?? 0;
  let hi = s?.hi ?? m?.range[1] ?? 1;
  if (!(hi > lo)) [lo, hi] = [lo - 0.5, lo + 0.5];
  return { lo, hi, log: (s?.log ?? false) && lo > 0 };
}

/** The parts of a choice as one set. */
export function setOf(c: Choice, classes: readonly api.Slice[], metric: number): api.Set {
  const parts: api.Set[] = [];
  const k = classes.find((s) => s.name === c.slice);
  if (c.slice) parts.push(k ? k.set : { slice: c.slice });
  if (c.rule.trim()) parts.push({ rule: c.rule.trim(), metric });
  if (c.lasso?.mask) parts.push({ bits: toBits(c.lasso.mask) });
  if (c.picked) parts.push({ indexes: [...c.picked] });
  return parts.length === 0 ? {} : parts.length === 1 ? parts[0] : { and: parts };
}

/** Evaluates a set as far as that can be done here; null where a rule or an unknown slice needs the server. */
export function evaluate(s: api.Set, of: { n: number; labels: readonly number[]; slices: readonly api.Slice[] }, depth = 0): Uint8Array | null {
  if (depth > 32) return null;
  const all = (x: api.Set[]) => x.map((y) => evaluate(y, of, depth + 1));
  const out = new Uint8Array(of.n);
  if (s.label !== undefined) {
    if (of.labels.length < of.n) return null;
    for (let i = 0; i < of.n; i++) out[i] = +(of.labels[i] === s.label);
  } else if (s.rule !== undefined) {
    return null;
  } else if (s.indexes) {
    for (const i of s.indexes) if (i >= 0 && i < of.n) out[i] = 1;
  } else if (s.bits !== undefined) {
    return fromBits(s.bits, of.n);
  } else if (s.slice !== undefined) {
    const k = of.slices.find((x) => x.name === s.slice);
    return k ? evaluate(k.set, of, depth + 1) : null;
  } else if (s.and || s.or) {
    const parts = all((s.and ?? s.or)!);
    if (parts.some((p) => !p)) return null;
    out.fill(s.and ? 1 : 0);
    for (const p of parts as Uint8Array[]) {
      if (s.and) for (let i = 0; i < of.n; i++) out[i] &= p[i] ? 1 : 0;
      else for (let i = 0; i < of.n; i++) out[i] |= p[i] ? 1 : 0;
    }
  } else if (s.not) {
    const m = evaluate(s.not, of, depth + 1);
    if (!m) return null;
    for (let i = 0; i < of.n; i++) out[i] = m[i] ? 0 : 1;
  } else {
    out.fill(1);
  }
  return out;
}

/** A mask as base64 of a bitset: sample i is bit i%8 of byte i/8. */
export function toBits(mask: Uint8Array): string {
  const bytes = new Uint8Array(Math.ceil(mask.length / 8));
  for (let i = 0; i < mask.length; i++) if (mask[i]) bytes[i >> 3] |= 1 << (i & 7);
  let s = '';
  for (let i = 0; i < bytes.length; i += 0x8000) s += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(s);
}

export function fromBits(bits: string, n: number): Uint8Array {
  const s = atob(bits);
  const out = new Uint8Array(n);
  for (let i = 0; i < n; i++) out[i] = (s.charCodeAt(i >> 3) >> (i & 7)) & 1;
  return out;
}

/** Which points lie in a polygon (even-odd rule). */
export function within(xy: Float32Array, poly: readonly number[]): Uint8Array {
  const out = new Uint8Array(xy.length / 2);
  lasso(xy, poly, out);
  return out;
}
