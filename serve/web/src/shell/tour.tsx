// The first time somebody opens a run, a few sentences point at the views. It can be ended at any step and does not come back.

import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { State } from '../core/state';
import './shell-extra.css';

/** A step: the element it points at, and what it says. Steps whose element is not on the page are passed over. */
export interface Step {
  at: string;
  title: string;
  text: string;
}

/** The steps for a run. */
export const steps: readonly Step[] = [
  { at: '#aggregate', title: 'On the whole', text: 'How well the models do at every element of the orbit, over all samples. A round or level curve is a model to which position does not matter; a dent is where it does. The table below says what is worst, and where.' },
  { at: '#samples', title: 'All samples', text: 'Each point is a sample; neighbors have orbits of the same shape. Drag round some of them, and all views show only those. Click one to look at it.' },
  { at: '#individual', title: 'One sample', text: 'Its own orbit. Drag the needle, or use the arrow keys, to move the input along it; “worst” leads to the sample that suffers most.' },
  { at: '#input', title: 'What the models see', text: 'The input as it was fed to the models at this element. You can drag it, too.' },
  { at: '#detail', title: 'What they answer', text: 'The answers of the models. “Recorded” is from the run, “live” was computed just now.' },
  { at: '#table', title: 'Find and keep', text: 'Sort, or filter with a rule such as mean A < 0.4. Every key and gesture is behind the ? at the top, and the link in the address bar restores what you see.' },
];

const storage = 'nero.tour';
const at = signal(-1);

/** wanted says whether the tour should start by itself: for a first visit to a server, not in reports, not where the address says tour=0. */
export function wanted(live: boolean, address: string, seen: string | null, automated: boolean): boolean {
  if (!live || automated || seen !== null) return false;
  const q = new URLSearchParams([...address.matchAll(/\?([^#?]*)/g)].map((m) => m[1]).join('&'));
  return q.get('tour') !== '0';
}

function seen(): string | null {
  try {
    return localStorage.getItem(storage);
  } catch {
    return 'unknown'; // what cannot be remembered would come back every time
  }
}

function remember(): void {
  try {
    localStorage.setItem(storage, 'seen');
  } catch {
    // not permitted: then it did not start by itself either
  }
}

/** startTour starts it, whether or not it was seen. */
export function startTour(): void {
  at.value = next(-1, 1);
}

/** next is the step after k (by 1) or before it (by -1) that points at something; -1 behind the last. */
function next(k: number, by: number): number {
  for (let j = k + by; j >= 0 && j < steps.length; j += by) if (document.querySelector(steps[j].at)) return j;
  return by > 0 ? -1 : k;
}

/** The tour. It belongs on the page of a run. */
export function Tour({ s }: { s: State }) {
  const box = useRef<HTMLDivElement>(null), back = useRef<Element | null>(null);
  const ready = s.place.page.value === 'run' && s.data.run.value !== null && s.data.n.value > 0;
  useEffect(() => {
    if (!ready || !wanted(s.client.live, location.href, seen(), navigator.webdriver)) return undefined;
    const t = setTimeout(startTour, 1200);
    return () => clearTimeout(t);
  }, [ready]);
  const k = at.value, step = steps[k];
  const end = () => {
    remember();
    at.value = -1;
    const b = back.current;
    back.current = null;
    if ((b instanceof HTMLElement || b instanceof SVGElement) && b.isConnected && b !== document.body) b.focus();
    else document.getElementById('main')?.focus();
  };
  useLayoutEffect(() => {
    const el = step ? document.querySelector(step.at) : null;
    if (!el || !box.current) return undefined;
    back.current ??= document.activeElement;
    el.classList.add('tour-here');
    el.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    const put = () => {
      const b = box.current;
      if (!b) return;
      const r = el.getBoundingClientRect(), w = b.offsetWidth, h = b.offsetHeight, W = innerWidth, H = innerHeight;
      // Beside the view where there is room, else below or above, else over its lower edge.
      const right = r.right + w + 16 < W, left = r.left - w - 16 > 0, below = r.bottom + h + 16 < H;
      const x = right ? r.right + 10 : left ? r.left - w - 10 : Math.min(Math.max(8, r.left + (r.width - w) / 2), W - w - 8);
      const y = right || left ? Math.max(8, r.top + 24) : below ? r.bottom + 10 : r.top - h - 10 > 0 ? r.top - h - 10 : H - h - 10;
      b.style.left = `${Math.max(8, x)}px`;
      b.style.top = `${Math.min(Math.max(8, y), Math.max(8, H - h - 8))}px`;
    };
    put();
    // A little later: a dialog that was closed to start the tour gives the focus back first.
    const focus = setTimeout(() => box.current?.querySelector<HTMLElement>('[data-next]')?.focus({ preventScroll: true }), 60);
    addEventListener('resize', put);
    addEventListener('scroll', put, true);
    return () => { clearTimeout(focus); el.classList.remove('tour-here'); removeEventListener('resize', put); removeEventListener('scroll', put, true); };
  }, [k]);
  if (!step || !ready) return null;
  const shown = steps.map((_, j) => j).filter((j) => document.querySelector(steps[j].at)), place = shown.indexOf(k), last = next(k, 1) < 0;
  return (
    <div class="tour" ref={box} role="dialog" aria-modal="false" aria-labelledby="tour-title" aria-describedby="tour-text"
      onKeyDown={(e) => {
        if (e.key === 'Escape') { e.stopPropagation(); end(); }
        else if (e.key === 'ArrowRight' && !last) at.value = next(k, 1);
        else if (e.key === 'ArrowLeft') at.value = next(k, -1);
        else return;
        e.preventDefault();
      }}>
      <h2 id="tour-title">{step.title}</h2>
      <p id="tour-text">{step.text}</p>
      <div class="tour-buttons">
        <span class="note">{place + 1} of {shown.length}</span>
        <button type="button" onClick={end}>{last ? 'Close' : 'Skip'}</button>
        {place > 0 && <button type="button" onClick={() => (at.value = next(k, -1))}>Back</button>}
        <button type="button" class="primary" data-next onClick={() => { if (last) end(); else at.value = next(k, 1); }}>{last ? 'Done' : 'Next'}</button>
      </div>
    </div>
  );
}
