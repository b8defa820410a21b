// The one store, made of four: what is loaded, where we are, which samples are chosen, and what goes on. Views read signals and call
// actions of the four; no view knows of another. What concerns more than one of them is here.

import { batch, effect } from '@preact/signals';
import type * as api from './api';
import { Choice, type Column, type Parts } from './choice';
import { Data } from './data';
import type { Nth } from './inks';
import { Place, type Compare, type Follow } from './place';
import type { Client } from './source';
import { Tasks } from './tasks';

/** What can be undone. */
interface Snapshot {
  sample: number;
  g: api.Element;
  metric: number;
  a: number;
  b: number;
  others: readonly number[];
  compare: Compare;
  choice: Parts;
  pinned: number;
  colorBy: Column;
}

/** The store over a source. */
export class State {
  readonly tasks = new Tasks();
  readonly data: Data;
  readonly place: Place;
  readonly choice: Choice;

  private readonly past: Snapshot[] = [];
  private settled: Snapshot | null = null;
  private heardOnce = false;
  /** What the URL wanted of a run, applied once the run is there and can be checked against. */
  private wish: ((r: api.Run) => void) | null = null;
  private soon: ReturnType<typeof setTimeout> | null = null;

  constructor(readonly client: Client) {
    this.data = new Data(client);
    this.place = new Place(this.data);
    this.choice = new Choice(this.data, this.place, this.tasks);
  }

  /** Starts the loading that follows from the choices. Returns what ends it. */
  start(): () => void {
    const ends: (() => void)[] = [];
    const on: Follow = (f) => ends.push(effect(f));
    on(() => {
      const id = this.data.runID.value;
      this.data.revision.value;
      if (id) void this.open(id);
    });
    on(() => {
      const r = this.data.run.value;
      if (!r) return;
      const metric = this.place.metric.value;
      this.place.shown.value.forEach((m, k) => this.data.loadModel(k as Nth, r, m, metric, () => this.choice.laidOut()));
      this.data.unload(this.place.shown.value.length);
    });
    this.place.start(on);
    this.choice.start(on);
    on(() => {
      const now = this.snapshot();
      const t = setTimeout(() => this.settle(now), 350);
      return () => clearTimeout(t);
    });
    if (this.client.live) ends.push(this.client.source.listen((e) => this.heard(e), (up) => this.heardConnection(up)));
    return () => ends.forEach((f) => f());
  }

  private async open(id: string): Promise<void> {
    const fresh = this.data.opened.state.peek().value?.id !== id;
    if (fresh) this.forget();
    const r = await this.data.opened.load(async (s) => {
      const got = await this.client.run(id, s);
      // Choices first: what is drawn of a run follows from them as soon as it is there.
      if (fresh && !s.aborted) {
        const wish = this.wish;
        this.wish = null;
        batch(() => {
          this.data.able(got);
          this.place.adopt(got);
          this.choice.adopt(got);
          wish?.(got);
          this.place.sane(got);
        });
        this.past.length = 0;
        this.settled = null;
      }
      return got;
    }, !fresh);
    if (!r) return;
    this.data.able(r);
    this.tasks.progress.value = r.state;
    if (fresh) void this.choice.loadSlices();
    this.data.awaitModels(id, 400); // also where the server was started anew
    await this.data.samples.load((s) => this.client.samples(id, s));
  }

  /** Shows a run; then is called once it is there, before anything is drawn. */
  show(id: string, then: ((r: api.Run) => void) | null = null): void {
    const open = this.data.run.peek();
    if (open && this.data.runID.peek() === id) {
      batch(() => {
        then?.(open);
        this.place.sane(open);
      });
      return;
    }
    this.wish = then;
    this.data.runID.value = id;
  }

  /** Loads the run that is open once more, as after an error. */
  reload(): void {
    batch(() => {
      this.choice.reload();
      this.data.reload();
    });
  }

  private forget(): void {
    batch(() => {
      this.data.forget();
      this.choice.forget();
      this.place.live.reset();
      this.place.moved.reset();
    });
  }

  private heard(e: api.Event): void {
    if (e.task) {
      this.tasks.took(e.task);
      this.choice.took(e.task);
    }
    if (e.run) {
      const card = e.run;
      const list = this.data.runs.state.peek().value;
      if (list) this.data.runs.set({ ...list, runs: list.runs.map((r) => (r.id === card.id ? card : r)) });
      const r = this.data.run.peek();
      if (r && r.id.split('+').includes(card.id)) {
        if (r.id !== card.id) return this.reloadSoon(card.state.complete);
        const grown = card.digest !== r.digest || card.state.done !== r.state.done || card.state.complete !== r.state.complete;
        this.tasks.progress.value = card.state;
        if (grown) this.reloadSoon(card.state.complete);
      }
    }
    if (e.slices && e.slices === this.data.runID.peek()) void this.choice.loadSlices();
    if (e.remarks && this.data.runID.peek().split('+').includes(e.remarks)) this.reloadSoon(true);
    if (e.gone && this.data.runID.peek().split('+').includes(e.gone)) this.tasks.notify('warn', `The run ${e.gone} is not there any more; what was read of it is still shown.`);
    if (e.planned) {
      const list = this.data.runs.state.peek().value;
      if (list) this.data.runs.set({ ...list, planned: e.planned });
    }
    if (e.list) {
      // An audit that was just written belongs to the run that is open, and says so in its document.
      void this.data.list();
      if (this.data.run.peek() && !e.gone) this.reloadSoon(true);
    }
  }

  private reloadSoon(now: boolean): void {
    if (this.soon !== null && !now) return;
    if (this.soon !== null) clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      this.soon = null;
      this.data.revision.value++;
    }, now ? 100 : 2000);
  }

  private heardConnection(up: boolean): void {
    this.tasks.connected.value = up;
    if (!up) return;
    const first = !this.heardOnce;
    this.heardOnce = true;
    if (first) return;
    // What was said meanwhile was missed.
    const r = this.data.run.peek();
    if (this.data.runID.peek() && (!r || this.data.opened.state.peek().error || !r.state.complete)) this.reload();
    if (r && (this.choice.layoutTask.peek() || this.choice.layout.state.peek().error)) void this.choice.lay();
    if (r) void this.choice.loadSlices();
  }

  private snapshot(): Snapshot {
    return {
      sample: this.place.sample.value,
      g: this.place.g.value,
      metric: this.place.metric.value,
      a: this.place.a.value,
      b: this.place.b.value,
      others: this.place.others.value,
      compare: this.place.compare.value,
      choice: this.choice.parts.value,
      pinned: this.place.pinned.value,
      colorBy: this.choice.colorBy.value,
    };
  }

  private settle(now: Snapshot): void {
    if (!this.data.run.peek()) return;
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
      this.place.sample.value = old.sample;
      this.place.metric.value = old.metric;
      this.place.a.value = old.a;
      this.place.b.value = old.b;
      this.place.others.value = old.others;
      this.place.compare.value = old.compare;
      this.choice.parts.value = old.choice;
      this.place.pinned.value = old.pinned;
      this.choice.colorBy.value = old.colorBy;
      this.place.g.value = old.g;
    });
    this.place.ask();
    return true;
  }
}

const same = (x: Snapshot, y: Snapshot): boolean => (Object.keys(x) as (keyof Snapshot)[]).every((k) => x[k] === y[k] || (k === 'g' && x.g.join() === y.g.join()));
