// The protocol of a live drag: the newest position wins, at most one question is under way, and no answer goes back in time.

import { signal } from '@preact/signals';
import type { Element } from './api';
import { aborted, Failure, words } from './source';

/** What is asked for: a sample at an element. */
export interface Want {
  sample: number;
  g: Element;
  seq: number;
}

/** What came of the asking so far, for tests and for people who wonder. */
export interface Counts {
  moves: number;
  sent: number;
  inFlight: number;
  inFlightMax: number;
  lastAnswer: number; // seq of the answer that is shown, 0 before the first
  dropped: number; // answers that came after a newer one was shown, or after the loop was reset
  refused: number; // 503: busy
}

/** Timers, so that tests need not wait. */
export interface Timers {
  set(ms: number, f: () => void): unknown;
  clear(t: unknown): void;
}

const clock: Timers = {
  set: (ms, f) => setTimeout(f, ms),
  clear: (t) => clearTimeout(t as ReturnType<typeof setTimeout>),
};

/** Longest pause after refusals, in milliseconds. */
const longest = 10_000;

/** Whether two elements are the same to the last digit of a URL. */
export const sameElement = (x: Element, y: Element): boolean => x.length === y.length && x.every((v, k) => Math.abs(v - y[k]) <= 1e-9 * Math.max(1, Math.abs(v)));

/**
 * One slot for what is wanted and one question under way. A move overwrites the slot; when a question ends, the newest want is sent.
 * A refusal (503) waits as long as the server asked, twice as long each time, then sends the newest want.
 */
export class Loop<A> {
  /** The newest answer, of whatever element it is; see answers. */
  readonly answer = signal<{ want: Want; value: A } | null>(null);
  /** A question is under way or waits. */
  readonly pending = signal(false);
  /** Why there is no answer, empty if there is one or none was asked. */
  readonly error = signal('');
  readonly counts: Counts = { moves: 0, sent: 0, inFlight: 0, inFlightMax: 0, lastAnswer: 0, dropped: 0, refused: 0 };

  private seq = 0;
  private oldest = 0; // answers up to this seq belong to before a reset
  private slot: Want | null = null;
  private busy = false;
  private pause = 0;
  private timer: unknown = null;
  private cut: AbortController | null = null;
  private early: Want | null = null; // asked for before it was wanted
  private held: { want: Want; value: A } | null = null; // its answer, until it is

  constructor(
    private readonly question: (w: Want, signal: AbortSignal) => Promise<A>,
    private readonly timers: Timers = clock,
  ) {}

  /** Wants a sample at an element, in place of whatever was wanted before. */
  want(sample: number, g: Element): number {
    const { early, held } = this;
    this.early = this.held = null;
    if (early?.sample === sample && early.g.every((v, k) => v === g[k])) {
      if (held) this.show(held.want, held.value);
      return early.seq;
    }
    return this.ask(sample, g);
  }

  /** Asks for what will be wanted next, as far as is known; the answer is shown when it is. */
  soon(sample: number, g: Element): void {
    if (this.early?.sample === sample && this.early.g.every((v, k) => v === g[k])) return;
    if (this.held) this.counts.dropped++;
    this.held = null;
    this.early = { sample, g: [...g], seq: this.seq + 1 };
    this.ask(sample, g);
  }

  private ask(sample: number, g: Element): number {
    this.counts.moves++;
    this.slot = { sample, g: [...g], seq: ++this.seq };
    this.pending.value = true;
    void this.pump();
    return this.seq;
  }

  /** The answer for exactly this sample at this element, null as long as there is none. */
  answers(sample: number, g: Element): A | null {
    const a = this.answer.value;
    return a && a.want.sample === sample && sameElement(a.want.g, g) ? a.value : null;
  }

  /** Forgets answers and wants, as for another run or when live is switched off. What is under way is cut off. */
  reset(): void {
    this.slot = this.early = this.held = null;
    this.oldest = this.seq;
    this.pause = 0;
    if (this.timer !== null) this.timers.clear(this.timer);
    this.timer = null;
    this.cut?.abort();
    this.answer.value = null;
    this.error.value = '';
    this.pending.value = this.busy;
  }

  private async pump(): Promise<void> {
    if (this.busy || this.timer !== null || !this.slot) return;
    const w = this.slot;
    const cut = new AbortController();
    this.slot = null;
    this.busy = true;
    this.cut = cut;
    this.counts.sent++;
    this.counts.inFlight++;
    this.counts.inFlightMax = Math.max(this.counts.inFlightMax, this.counts.inFlight);
    try {
      const value = await this.question(w, cut.signal);
      this.pause = 0;
      if (w.seq <= this.oldest || w.seq <= this.counts.lastAnswer) {
        this.counts.dropped++;
      } else if (this.early?.seq === w.seq) {
        this.held = { want: w, value };
      } else {
        this.show(w, value);
      }
    } catch (e) {
      if (w.seq > this.oldest && !aborted(e)) this.failed(w, e);
    }
    this.counts.inFlight--;
    this.busy = false;
    this.cut = null;
    this.pending.value = this.slot !== null;
    void this.pump();
  }

  private show(want: Want, value: A): void {
    this.counts.lastAnswer = want.seq;
    this.error.value = '';
    this.answer.value = { want, value };
  }

  private failed(w: Want, e: unknown): void {
    this.error.value = words(e);
    const again = e instanceof Failure && (e.status === 503 || e.gone);
    if (!again) return;
    if (e.status === 503) this.counts.refused++;
    this.slot ??= w;
    this.pause = Math.min(longest, Math.max((Number.isFinite(e.after) ? e.after : 1) * 1000, this.pause * 2));
    this.timer = this.timers.set(this.pause, () => {
      this.timer = null;
      void this.pump();
    });
  }
}
