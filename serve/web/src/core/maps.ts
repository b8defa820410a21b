// Where the fields of the models are wrong, at every element of a sample: one small map after the other, while nothing more urgent is asked.

import { signal } from '@preact/signals';
import type { Element } from './api';
import { aborted, Failure, words, type ErrorMap, type Reference } from './source';

/** What maps are wanted of. */
export interface Wanted {
  run: string;
  sample: number;
  models: readonly number[];
  /** null: the first there is. */
  ref: Reference | null;
  elements: readonly Element[];
  /** The element that comes first. */
  first: number;
}

/** Maps that are kept, the newest: some 16 KB each. */
const most = 600;

/** How often a map is asked for again whose reference is still being found. */
const patience = 40;

const pause = (ms: number, cut: AbortSignal): Promise<void> =>
  new Promise((done) => {
    const t = setTimeout(done, ms);
    cut.addEventListener('abort', () => (clearTimeout(t), done()), { once: true });
  });

/** The maps, filled in one element after the other. */
export class Maps {
  /** By run, sample, model, reference and element: see key. The same object until one comes. */
  readonly found = signal<ReadonlyMap<string, ErrorMap>>(new Map());
  /** Why there are none, empty if there are or are on their way. */
  readonly error = signal('');
  private cut: AbortController | null = null;

  constructor(
    private readonly ask: (w: Wanted, element: Element, cut: AbortSignal) => Promise<Map<number, ErrorMap>>,
    /** Whether somebody waits for something else. */
    private readonly busy: () => boolean = () => false,
    private readonly beat = 40,
  ) {}

  static key(w: Pick<Wanted, 'run' | 'sample' | 'ref'>, model: number, element: number): string {
    return `${w.run}|${w.sample}|${model}|${w.ref ?? ''}|${element}`;
  }

  /** Stops what is under way. */
  stop(): void {
    this.cut?.abort();
    this.cut = null;
  }

  /** Fills in what is not there yet, in place of whatever was wanted before. */
  async want(w: Wanted): Promise<void> {
    this.stop();
    this.error.value = '';
    const cut = (this.cut = new AbortController());
    const queue = [w.first, ...w.elements.keys()].filter((k, j, all) => k >= 0 && k < w.elements.length && all.indexOf(k) === j);
    for (let tries = 0; queue.length && !cut.signal.aborted; ) {
      const k = queue[0] as number;
      const missing = w.models.filter((m) => !this.found.peek().has(Maps.key(w, m, k)));
      if (!missing.length) {
        queue.shift();
        continue;
      }
      if (this.busy()) {
        await pause(this.beat, cut.signal);
        continue;
      }
      try {
        const got = await this.ask({ ...w, models: missing }, w.elements[k] as Element, cut.signal);
        if (cut.signal.aborted) return;
        this.take(w, k, got);
        queue.shift();
        // Its reference is not found yet: later.
        if (missing.some((m) => !got.has(m)) && tries++ < patience) {
          queue.push(k);
          await pause(got.size ? 0 : 10 * this.beat, cut.signal);
        }
      } catch (e) {
        if (aborted(e) || cut.signal.aborted) return;
        if (e instanceof Failure && e.status === 503 && tries++ < patience) {
          await pause(1000 * (Number.isFinite(e.after) ? e.after : 1), cut.signal);
          continue;
        }
        this.error.value = words(e);
        return;
      }
    }
  }

  private take(w: Wanted, element: number, got: ReadonlyMap<number, ErrorMap>): void {
    if (!got.size) return;
    const all = new Map(this.found.peek());
    for (const [m, map] of got) all.set(Maps.key(w, m, element), map);
    for (const k of all.keys()) {
      if (all.size <= most) break;
      all.delete(k);
    }
    this.found.value = all;
  }
}
