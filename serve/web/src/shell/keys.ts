// Keys that work on the whole page. Single letters work wherever none are typed, and can be switched off; those with Ctrl and those
// of single views are elsewhere.

import type { State } from '../core/state';
import { nextCard } from './roving';

/** Whether the focus lies where letters are typed. */
const typing = (t: EventTarget | null): boolean => t instanceof HTMLElement && (t.isContentEditable || t.matches('input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select'));

/** What keys do that the store does not know of. */
export interface Acts {
  help(): void;
  rule(): void;
  export(): void;
}

/** Listens for keys. Returns what ends it. */
export function keys(s: State, acts: Acts): () => void {
  const on = (e: KeyboardEvent) => {
    if (e.defaultPrevented || document.querySelector('dialog[open]')) return;
    if ((e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && e.key.toLowerCase() === 'z' && !typing(e.target)) {
      if (s.undo()) s.tasks.say('Undone.');
      else s.tasks.say('Nothing to undo.');
      e.preventDefault();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) return;
    if (e.key === 'Escape') {
      const c = s.choice.parts.peek();
      if (s.place.page.peek() === 'run' && (c.lasso || c.picked || c.rule || c.slice)) {
        s.choice.clear();
        s.tasks.say('All samples.');
      }
      return;
    }
    if (!s.place.shortcuts.peek() || !inView(e.target)) return;
    const act = letters(s, acts)[e.key];
    if (!act) return;
    act();
    e.preventDefault();
  };
  addEventListener('keydown', on);
  return () => removeEventListener('keydown', on);
}

/** A page that was just opened has the focus nowhere, which is at its body. */
const inView = (t: EventTarget | null): boolean => t instanceof Element && (t === document.body || t.closest('#main, header') !== null);

function letters(s: State, a: Acts): Record<string, () => void> {
  if (s.place.page.peek() !== 'run') return { '?': a.help };
  return {
    '?': a.help,
    '/': a.rule,
    e: a.export,
    p: () => s.place.pin(),
    n: () => s.tasks.say(nextCard(1)),
    N: () => s.tasks.say(nextCard(-1)),
    '[': () => s.choice.next(-1),
    ']': () => s.choice.next(1),
  };
}
