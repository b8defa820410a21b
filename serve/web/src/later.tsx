// Parts of the interface that are loaded when they are first needed.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** All that is loaded later. */
export type More = typeof import('./more');

const more = signal<More | null>(null);
const failed = signal(false);
let asked = false;

/** What is loaded later, null as long as it is not there. Whoever asks has it loaded. */
export function later(): More | null {
  if (!asked) {
    asked = true;
    import('./more').then(
      (m) => (more.value = m),
      () => (failed.value = true),
    );
  }
  return more.value;
}

/** A part that is loaded when it is first shown. */
export function Later({ of }: { of: (m: More) => ComponentChildren }) {
  const m = later();
  if (m) return <>{of(m)}</>;
  if (failed.value) return <p class="note">Part of the page could not be loaded: reload it.</p>;
  return <div class="skeleton" role="status"><span>Loading</span></div>;
}
