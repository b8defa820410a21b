// What goes on beside the page, and what is said about it: work of the server, how far a run is, notices.

import { signal } from '@preact/signals';
import type * as api from './api';

/** Something to be told; action is what a button beside it does. */
export interface Notice {
  id: number;
  kind: 'info' | 'warn' | 'error';
  text: string;
  action?: { label: string; run: () => void };
}

/** The tasks of the server, and what is told to people. */
export class Tasks {
  readonly connected = signal(true);
  readonly notices = signal<readonly Notice[]>([]);
  readonly all = signal<ReadonlyMap<string, api.Task>>(new Map());
  /** What a screen reader is told. */
  readonly spoken = signal('');
  /** How far the run is that is open, newer than the rows that are shown. */
  readonly progress = signal<api.State | null>(null);
  private noticeID = 0;

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

  /** Takes in how far a task is. */
  took(t: api.Task): void {
    this.all.value = new Map(this.all.peek()).set(t.id, t);
  }
}
