// Which samples are looked at, in which order, and what is known of them together.

import { batch, computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import type * as api from './api';
import type { Data } from './data';
import { correlations, distances, similarities } from './distance';
import type { Nth } from './inks';
import { evaluate, fromBits, toBits, within } from './masks';
import { order } from './order';
import type { Follow, Place } from './place';
import { Slot } from './slot';
import { Failure, words, type Layout2D } from './source';
import type { Tasks } from './tasks';

/** A polygon in the coordinates of a layout of the samples, and which samples lay in it. */
export interface Lasso {
  poly: readonly number[]; // x0, y0, x1, y1, ...
  layout: string; // key of the layout it was drawn in
  mask: Uint8Array | null; // null until that layout is there
}

/** Which samples are looked at: those that are in all of the parts. */
export interface Parts {
  slice: string; // name of a class slice or a kept one, empty for all
  rule: string;
  lasso: Lasso | null;
  picked: readonly number[] | null; // rows of the table, ascending
}

export const everything: Parts = { slice: '', rule: '', lasso: null, picked: null };

/** How the samples are laid out. */
export interface Embedding {
  method: string;
  of: 'a' | 'b' | 'ab'; // the curves of which models
  fit?: string; // the set, as JSON, that it is fitted to; all samples without
}

/** What a table column, a colour or a rank can be: figures over the orbit of a model on show, by its place, or the difference of A and B. */
export type Column = 'index' | 'label' | 'id' | `${'mean' | 'sd' | 'min' | 'max' | 'identity' | 'change' | 'similar' | 'corr' | 'ssim' | 'predicted'}${Nth}` | 'diff';

/** The choice of samples, over the run and where we are. */
export class Choice {
  readonly parts = signal<Parts>(everything);
  readonly embedding = signal<Embedding>({ method: 'pca', of: 'ab' });
  readonly colorBy = signal<Column>('mean0');
  readonly rank = signal<{ by: Column; descending: boolean }>({ by: 'mean0', descending: false });
  readonly layout = new Slot<Layout2D>();
  readonly layoutTask = signal<api.Task | null>(null);
  /** The curves of every model over the choice, for the metric. */
  readonly family = new Slot<{ key: string; doc: api.Aggregate }>();
  private readonly summed = new Slot<{ key: string; doc: api.Aggregate }>();
  readonly kept = new Slot<api.Slices>();
  /** The key of the layout that is asked for; lassos are drawn in one. */
  readonly layoutKey = computed(() => `${this.data.runID.value}|${this.embedding.value.method}|${this.layoutModels.value.join()}|${this.place.metric.value}${this.embedding.value.fit ? `|${this.embedding.value.fit}` : ''}`);
  /** The key of the layout that was loaded last. */
  private loaded = '';
  readonly layoutModels = computed(() => {
    const e = this.embedding.value;
    return e.of === 'a' || this.place.b.value < 0 ? [this.place.a.value] : e.of === 'b' ? [this.place.b.value] : [...new Set([this.place.a.value, this.place.b.value])];
  });

  /** The choice as the server understands it. */
  readonly set = computed<api.Set>(() => setOf(this.parts.value, this.data.run.value?.slices ?? [], this.place.metric.value));
  private readonly served = signal<{ key: string; mask: Uint8Array } | null>(null);
  /** 1 for every sample in the choice. What it was before while a rule is looked up. */
  readonly mask = computed<Uint8Array>(() => {
    const n = this.data.n.value;
    const known = [...(this.data.run.value?.slices ?? []), ...(this.kept.state.value.value?.slices ?? [])];
    const local = evaluate(this.set.value, { n, labels: this.data.labels.value, slices: known });
    if (local) return local;
    const s = this.served.value;
    return s && s.mask.length === n ? s.mask : new Uint8Array(n).fill(1);
  });

  /** Whether the slice that is chosen is not known: those that are kept with the run are not here yet, or it is none of them. */
  private readonly unsure = computed(() => {
    const { slice } = this.parts.value;
    const { value, error } = this.kept.state.value;
    return slice !== '' && !error && ![...(this.data.run.value?.slices ?? []), ...(value?.slices ?? [])].some((x) => x.name === slice);
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
    const all = new Int32Array(this.data.n.value);
    for (let i = 0; i < all.length; i++) all[i] = i;
    if (by === 'id') {
      const ids = this.data.ids.value;
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
    const q: api.AggregateRequest = { set: this.set.value, metric: this.place.metric.value, models: [...new Set(this.place.shown.value)] };
    if (this.place.b.value >= 0 && this.place.b.value !== this.place.a.value) q.pair = [this.place.a.value, this.place.b.value];
    return q;
  });

  /** The question as a key: rows that came since have another. */
  private readonly asked = computed(() => `${this.data.runID.value}|${this.data.run.value?.state.done ?? 0}|${JSON.stringify(this.question.value)}`);
  /** Answers that were given lately, so that going back to a choice needs none. */
  private readonly sums = new Map<string, api.Aggregate>();
  /** The exact curves of the choice. fresh is false while they are those of an earlier choice. */
  readonly aggregate = computed(() => {
    const { value, busy, error } = this.summed.state.value;
    const key = this.asked.value;
    return { doc: value?.doc ?? null, fresh: value?.key === key, busy, error };
  });

  /** Where the sample is in the order, -1 if the choice does not hold it. */
  readonly at = computed(() => this.order.value.indexOf(this.place.sample.value));
  /** The run and the good direction of its metric that the rank was made for. */
  private rankedFor = { id: '', better: '' };

  constructor(
    private readonly data: Data,
    private readonly place: Place,
    private readonly tasks: Tasks,
  ) {}

  /** Loads what follows from the choice. */
  start(on: Follow): void {
    on(() => {
      // Worst first stays worst first under a metric of the other direction, and is how a link to another metric opens.
      const now = { id: this.data.run.value?.id ?? '', better: this.place.metricDoc.value?.better ?? '' };
      const { by, descending } = this.rank.peek();
      const flip = this.rankedFor.id === now.id ? this.rankedFor.better !== now.better : now.better !== '' && descending !== (now.better === 'lower');
      if (flip && /^(mean|min|max|identity|change)/.test(by)) this.rank.value = { by, descending: !descending };
      this.rankedFor = now;
    });
    on(() => {
      // All models side by side, once the gesture is over.
      const r = this.data.run.value;
      if (!this.place.every.value || !r || this.data.n.value === 0 || this.unsure.value) return;
      const body: api.AggregateRequest = { set: this.set.value, metric: this.place.metric.value, models: r.model_list.map((_, m) => m) };
      const key = `${r.id}|${r.state.done}|${JSON.stringify(body)}`;
      if (this.family.state.peek().value?.key === key) return;
      const t = setTimeout(() => void this.family.load(async (s) => ({ key, doc: await this.data.client.aggregate(r.id, body, s) })), 60);
      return () => clearTimeout(t);
    });
    on(() => {
      this.layoutKey.value;
      if (this.data.run.value && this.data.n.value > 0 && this.place.models.value.length) void this.lay();
    });
    on(() => {
      const set = this.set.value;
      const r = this.data.run.value;
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
      const r = this.data.run.value;
      if (!r || this.data.n.value === 0 || this.unsure.value) return;
      const id = this.data.runID.peek();
      const key = this.asked.value;
      const known = this.sums.get(key);
      if (known) {
        this.summed.set({ key, doc: known });
        return;
      }
      const t = setTimeout(() => void this.summed.load(async (s) => {
        const doc = await this.data.client.aggregate(id, body, s);
        this.sums.set(key, doc);
        for (const old of this.sums.keys()) {
          if (this.sums.size <= 24) break;
          this.sums.delete(old);
        }
        return { key, doc };
      }), 60);
      return () => clearTimeout(t);
    });
  }

  /** What suits a run that was just opened. */
  adopt(r: api.Run): void {
    this.parts.value = everything;
    this.embedding.value = { method: r.methods[0]?.name ?? 'pca', of: r.model_list.length > 1 ? 'ab' : 'a' };
    this.colorBy.value = 'mean0';
    this.rank.value = { by: 'mean0', descending: r.metric_list[0]?.better === 'lower' };
  }

  /** Forgets the answers that were given lately. */
  reload(): void {
    this.sums.clear();
  }

  /** Lets everything of the run go, before another one opens. */
  forget(): void {
    [this.layout, this.summed, this.kept, this.family].forEach((s) => s.clear());
    this.layoutTask.value = null;
    this.served.value = null;
    this.sums.clear();
  }

  /** Takes in how far the layout is. */
  took(t: api.Task): void {
    if (t.id !== this.layoutTask.peek()?.id) return;
    this.layoutTask.value = t;
    if (t.state === 'done') void this.lay();
    else if (t.state === 'failed' || t.state === 'cancelled') {
      this.layoutTask.value = null;
      this.layout.state.value = { ...this.layout.state.peek(), busy: false, error: t.error || `The layout was ${t.state}.` };
    }
  }

  /** Ranks the samples of a run just as an address says, whatever its metric. */
  rankAs(r: api.Run, by: Column, descending: boolean): void {
    this.rank.value = { by, descending };
    this.rankedFor = { id: r.id, better: r.metric_list[this.place.metric.peek()]?.better ?? '' };
  }

  /** Resolves when no layout is under way, or only one that takes long. */
  laidOut(): Promise<void> {
    return new Promise((done) => {
      const end = effect(() => {
        if (this.layout.state.value.busy && !this.layoutTask.value) return;
        done();
        queueMicrotask(() => end());
      });
    });
  }

  /** Goes on to the next (1) or the one before (-1) by rank. */
  next(by: number): void {
    const o = this.order.peek();
    if (!o.length) return;
    const k = this.at.peek();
    this.place.setSample(o[k < 0 ? 0 : Math.max(0, Math.min(o.length - 1, k + by))]);
  }

  private readonly columns = new Map<Column, ReadonlySignal<Float32Array | null>>();
  /** A column by sample, null as long as it is not there: the same array until it changes. */
  column(c: Column): Float32Array | null {
    let x = this.columns.get(c);
    if (!x) this.columns.set(c, (x = computed(() => this.figures(c))));
    return x.value;
  }

  private figures(c: Column): Float32Array | null {
    const n = this.data.n.value;
    if (c === 'index' || c === 'id') {
      const out = new Float32Array(n);
      for (let i = 0; i < n; i++) out[i] = i;
      return out;
    }
    if (c === 'label') return Float32Array.from(this.data.labels.value);
    const [a, b] = [this.data.stats[0].state.value.value, this.data.stats[1].state.value.value];
    if (c === 'diff') return a && b ? b.mean.map((v, i) => v - a.mean[i]) : null;
    const k = Number(c.slice(-1));
    const like = ({ similar: distances, corr: correlations, ssim: similarities } as const)[c.slice(0, -1)];
    if (like) {
      const m = this.data.curves[k].state.value.value;
      return m ? like(m, this.mask.value, this.data.group.value?.weights ?? []) : null;
    }
    if (c.startsWith('predicted')) {
      const top = this.data.top[k].state.value.value;
      if (!top) return null;
      const out = new Float32Array(top);
      for (let i = 0; i < out.length; i++) if (out[i] < 0) out[i] = NaN;
      return out;
    }
    const of = this.data.stats[k].state.value.value;
    if (!of) return null;
    const name = c.slice(0, -1) as 'mean' | 'sd' | 'min' | 'max' | 'identity' | 'change';
    return name === 'change' ? of.mean.map((v, i) => v - of.identity[i]) : of[name];
  }

  /** Changes parts of the choice. */
  choose(part: Partial<Parts>): void {
    this.parts.value = { ...this.parts.peek(), ...part };
  }

  /** Draws a lasso in the layout that is shown; fewer than three corners take it away. */
  drawLasso(poly: readonly number[]): void {
    const l = this.layout.state.peek().value;
    this.choose({ lasso: poly.length < 6 ? null : { poly, layout: this.layoutKey.peek(), mask: l ? within(l.xy, poly) : null } });
  }

  clear(): void {
    this.parts.value = everything;
  }

  /**
   * Combines the choice with a kept or class slice, or turns it around; what needs the server, as a slice that is kept as a rule, is asked of
   * it. Resolves to whether that was done: not if somebody chose otherwise meanwhile, or if the server refuses, which is said.
   */
  async combine(how: 'and' | 'or' | 'not', name = ''): Promise<boolean> {
    const before = this.parts.peek();
    const id = this.data.runID.peek();
    const n = this.data.n.peek();
    const classes = this.data.run.peek()?.slices ?? [];
    const slices = [...classes, ...(this.kept.state.peek().value?.slices ?? [])];
    const now = this.set.peek();
    const other: api.Set = classes.find((x) => x.name === name)?.set ?? { slice: name };
    const set: api.Set = how === 'not' ? { not: now } : { [how]: [now, other] };
    let mask = evaluate(set, { n, labels: this.data.labels.peek(), slices });
    if (!mask) {
      try {
        mask = fromBits((await this.data.client.select(id, set)).bits, n);
      } catch (e) {
        this.tasks.notify('warn', words(e));
        return false;
      }
      if (before !== this.parts.peek() || id !== this.data.runID.peek()) return false;
    }
    this.parts.value = { ...everything, picked: [...mask.keys()].filter((i) => mask[i]) };
    return true;
  }

  /** Loads the slices that are kept with the run. */
  async loadSlices(): Promise<void> {
    const id = this.data.runID.peek();
    await this.kept.load(async (s) => (await this.data.client.slices(id, s)).doc);
    if (id === this.data.runID.peek()) this.dropUnknown();
  }

  /** Goes back to all samples, and says so, if the slice that is chosen is none of the run: a link may be older than it. */
  dropUnknown(): void {
    const { slice } = this.parts.peek();
    const r = this.data.run.peek();
    const kept = this.kept.state.peek().value;
    if (!slice || !r || !kept || [...r.slices, ...kept.slices].some((x) => x.name === slice)) return;
    this.parts.value = { ...this.parts.peek(), slice: '' };
    this.tasks.notify('warn', `There is no slice “${slice}” in this run: it is left out.`);
  }

  /** Asks the server for the samples of a set that cannot be told here. */
  async select(set: api.Set): Promise<void> {
    const known = [...(this.data.run.peek()?.slices ?? []), ...(this.kept.state.peek().value?.slices ?? [])];
    const n = this.data.n.peek();
    if (evaluate(set, { n, labels: this.data.labels.peek(), slices: known })) {
      this.ruleError.value = '';
      return;
    }
    // The same set is other samples once there are more rows, or in another run.
    const now = () => `${this.data.runID.peek()}|${this.data.run.peek()?.state.done}|${JSON.stringify(this.set.peek())}`;
    const key = now();
    if (this.served.peek()?.key === key) return;
    try {
      const r = await this.data.client.select(this.data.runID.peek(), set);
      if (now() !== key) return;
      batch(() => {
        this.served.value = { key, mask: fromBits(r.bits, n) };
        this.ruleError.value = '';
      });
    } catch (e) {
      if (now() === key) this.ruleError.value = words(e);
    }
  }

  /** Loads the layout that is asked for. */
  async lay(): Promise<void> {
    const id = this.data.runID.peek();
    const key = this.layoutKey.peek();
    const e = this.embedding.peek();
    let waiting: api.Task | null = null;
    await this.layout.load(async (s) => {
      const r = await this.data.client.embedding(id, { method: e.method, metric: this.place.metric.peek(), models: this.layoutModels.peek(), ...(e.fit ? { set: e.fit } : {}) }, s);
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
    this.loaded = key;
    this.fill();
  }

  /** Finds what lies in a lasso that came from an address or from the history, if its layout is there. */
  fill(): void {
    const l = this.parts.peek().lasso, now = this.layout.state.peek().value;
    if (l && !l.mask && l.layout === this.loaded && now) this.choose({ lasso: { ...l, mask: within(now.xy, l.poly) } });
  }
}

/** The parts of a choice as one set. */
export function setOf(c: Parts, classes: readonly api.Slice[], metric: number): api.Set {
  const parts: api.Set[] = [];
  const k = classes.find((s) => s.name === c.slice);
  if (c.slice) parts.push(k ? k.set : { slice: c.slice });
  if (c.rule.trim()) parts.push({ rule: c.rule.trim(), metric });
  if (c.lasso?.mask) parts.push({ bits: toBits(c.lasso.mask) });
  if (c.picked) parts.push({ indexes: [...c.picked] });
  return parts.length === 0 ? {} : parts.length === 1 ? parts[0] : { and: parts };
}
