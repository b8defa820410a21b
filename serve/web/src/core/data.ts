// What is loaded: the list of runs, the run that is open and its arrays.

import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type * as api from './api';
import { mostShown, type Nth } from './inks';
import { Slot } from './slot';
import type { Client, Matrix, Recorded, Scene, Stats } from './source';

/** Bytes of exact curves up to which they are fetched exactly; beyond, as bytes for display. */
const exactBytes = 2 << 20;
/** Bytes of curves as bytes beyond which the page leaves aggregates to the server altogether. */
const displayBytes = 16 << 20;

/** What is loaded, over a source. It knows nothing of what is chosen. */
export class Data {
  readonly runID = signal('');
  readonly runs = new Slot<api.Runs>();
  readonly opened = new Slot<api.Run>();
  readonly samples = new Slot<api.Samples>();
  /** By the place of the model among those that are shown. */
  readonly curves: readonly Slot<Matrix>[] = Array.from({ length: mostShown }, () => new Slot<Matrix>());
  readonly stats: readonly Slot<Stats>[] = Array.from({ length: mostShown }, () => new Slot<Stats>());
  /** The class that the model answers to the unmoved input, by sample; -1 for none. */
  readonly top: readonly Slot<Int32Array>[] = Array.from({ length: mostShown }, () => new Slot<Int32Array>());
  /** The orbit of the sample, exactly, and that of the pinned one. */
  readonly one = new Slot<api.Sample>();
  readonly other = new Slot<api.Sample>();
  /** The sample before it is moved, where a crop window moves over it. */
  readonly scene = new Slot<Scene & { sample: number }>();
  /** Boxes as they were recorded, by element of the plan. */
  readonly recordedBoxes = new Slot<Recorded>();
  readonly run: ReadonlySignal<api.Run | null> = computed(() => this.opened.state.value.value);
  readonly group = computed(() => this.run.value?.orbit ?? null);
  readonly n = computed(() => this.run.value?.samples ?? 0);
  readonly ids = computed(() => this.samples.state.value.value?.ids ?? []);
  readonly labels = computed(() => this.samples.state.value.value?.labels ?? []);
  /** Whether inputs can be moved and models asked now, by model, and if not, why. */
  readonly ability = signal<api.Live & { of: readonly boolean[] }>({ inputs: false, pictures: false, models: false, of: [] });
  /** The names of the classes of the models, or else of the samples. */
  readonly classNames = computed(() => {
    const r = this.run.value;
    if (!r || r.classes.length) return r?.classes ?? [];
    const out: string[] = [];
    for (const x of r.slices) if (x.label >= 0) out[x.label] = x.name;
    return out;
  });

  /** Counts how often the run that is open was asked for again. */
  readonly revision = signal(0);
  private readonly cache = new Map<string, Matrix>();
  private readonly answers = Array<string>(mostShown).fill(''); // what the slots of predicted classes hold
  /** Places of models of which something was asked for. */
  private readonly held = new Set<number>();
  private opening: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly client: Client) {}

  /** Loads the list of runs. */
  async list(): Promise<void> {
    await this.runs.load((s) => this.client.runs(s));
  }

  /** Takes in what can be asked now. */
  able(r: api.Run): void {
    const now = abilityOf(r);
    if (JSON.stringify(now) !== JSON.stringify(this.ability.peek())) this.ability.value = now;
  }

  /** Models are opened in the background: look again until they are there, or cannot be. */
  awaitModels(id: string, wait: number): void {
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

  /** Loads what is drawn of a model at its place among those that are shown; quiet resolves when nothing else is to be waited for. */
  loadModel(k: Nth, r: api.Run, m: number, metric: number, quiet: () => Promise<void>): void {
    const drawn: Promise<unknown>[] = [];
    this.held.add(k);
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
          if (this.cache.size <= 2 * mostShown) break;
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
        void Promise.all(drawn).then(() => quiet()).then(() => {
          if (this.answers[k] === now) void this.top[k].load((s) => this.client.top(id, m, Math.max(0, r.orbit.identity), s));
        });
    }
  }

  /** Lets the models go that are not shown any more: those from a place on. */
  unload(from: number): void {
    for (let k = from; k < mostShown; k++) {
      if (!this.held.delete(k)) continue;
      [this.curves[k], this.stats[k], this.top[k]].forEach((s) => s.clear());
      this.answers[k] = '';
    }
  }

  /** Loads the run that is open once more. */
  reload(): void {
    this.cache.clear();
    this.answers.fill('');
    this.revision.value++;
  }

  /** Lets everything of the run go, before another one opens. */
  forget(): void {
    [...this.curves, ...this.stats, ...this.top, this.one, this.other, this.samples, this.scene, this.recordedBoxes].forEach((s) => s.clear());
    this.cache.clear();
    this.answers.fill('');
  }
}

const abilityOf = (r: api.Run) => ({ ...r.live, of: r.model_list.map((m) => m.live) });

