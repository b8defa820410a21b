// Values that are loaded and replaced.

import { signal, type Signal } from '@preact/signals';
import { aborted, words } from './source';

/** Something that is loaded: the value, or why there is none. A value that is being replaced stays until the next one is there. */
export interface Loaded<T> {
  value: T | null;
  busy: boolean;
  error: string;
}

const nothing = <T>(): Loaded<T> => ({ value: null, busy: false, error: '' });

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
