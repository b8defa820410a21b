// Arithmetic of long tables: which rows are drawn, in which order, and what keys and clicks do to the selection. Pure.

/** What of a long list is drawn. */
export interface Window {
  /** First row drawn and the one behind the last. */
  first: number;
  last: number;
  /** Empty height above and below, in CSS pixels. */
  above: number;
  below: number;
}

/** Browsers lose track of elements that are higher than some ten million pixels; longer lists scroll by fractions. */
export const tallest = 6_000_000;

/** rows is the window at a scroll position: what is visible and `spare` rows on both sides. Heights in CSS pixels. */
export function rows(scroll: number, viewport: number, row: number, n: number, spare = 8, limit = tallest): Window {
  const full = n * row, height = Math.min(full, limit), visible = Math.ceil(viewport / row);
  const top = Math.max(0, Math.min(scroll, height - viewport));
  // Where rows are squeezed into a lower element, a scroll position is a fraction of the way, and rows are drawn at it.
  const at = full > limit ? (top / (height - viewport)) * (full - viewport) : top;
  const from = Math.max(0, Math.min(n, Math.floor(at / row)));
  const first = Math.max(0, from - spare), last = Math.min(n, from + visible + 1 + spare);
  const above = Math.max(0, Math.min(full > limit ? top - (at - first * row) : first * row, height - (last - first) * row));
  return { first, last, above, below: Math.max(0, height - above - (last - first) * row) };
}

/** scrollTo is the scroll position that shows a row whole: the present one if it does already. head is the height of what covers the top. */
export function scrollTo(index: number, scroll: number, viewport: number, row: number, n: number, limit = tallest): number {
  const full = n * row, squeezed = full > limit, height = Math.min(full, limit);
  const at = squeezed ? (scroll / (height - viewport)) * (full - viewport) : scroll;
  const y = index * row;
  const want = y < at ? y : y + row > at + viewport ? y + row - viewport : at;
  if (want === at) return scroll;
  return squeezed ? (want / (full - viewport)) * (height - viewport) : want;
}

/** step is the row that a key leads to, from row `at` of n rows with `page` rows to a screen; null if the key is not one for moving. */
export function step(key: string, at: number, n: number, page: number): number | null {
  const to = (() => {
    switch (key) {
      case 'ArrowDown': return at + 1;
      case 'ArrowUp': return at < 0 ? 0 : at - 1;
      case 'PageDown': return at + page;
      case 'PageUp': return at - page;
      case 'Home': return 0;
      case 'End': return n - 1;
      default: return null;
    }
  })();
  return to === null || !n ? null : Math.max(0, Math.min(n - 1, to));
}

/** Rows chosen together, by sample, and the sample that a range starts from. */
export interface Chosen {
  readonly set: ReadonlySet<number>;
  readonly anchor: number;
}

export const none: Chosen = { set: new Set(), anchor: -1 };

/**
 * pick is what a click or key does to the rows chosen together. sorted is the samples as they stand, at the row acted on.
 * Ctrl turns one row on or off, Shift takes all from the anchor, Ctrl and Shift add them; a plain click chooses nothing together.
 */
export function pick(c: Chosen, sorted: ArrayLike<number>, at: number, ctrl: boolean, shift: boolean): Chosen {
  const i = sorted[at];
  if (i === undefined) return c;
  if (shift) {
    let from = at;
    for (let k = 0; k < sorted.length; k++) if (sorted[k] === c.anchor) { from = k; break; }
    const set = new Set(ctrl ? c.set : []);
    for (let k = Math.min(from, at); k <= Math.max(from, at); k++) set.add(sorted[k]);
    return { set, anchor: sorted[from] };
  }
  if (ctrl) {
    const set = new Set(c.set);
    if (!set.delete(i)) set.add(i);
    return { set, anchor: i };
  }
  return { set: new Set(), anchor: i };
}

/** Where a sample stands in a ranking. */
export interface Rank {
  /** From 1; samples with the same value share the smallest. 0 if it is not in the ranking. */
  place: number;
  /** How many others have the same value. */
  ties: number;
}

/** rankOf is the place of the sample at position k of a sorted list. */
export function rankOf(sorted: ArrayLike<number>, value: (i: number) => number, k: number): Rank {
  if (k < 0 || k >= sorted.length) return { place: 0, ties: 0 };
  const v = value(sorted[k]), same = (j: number) => { const w = value(sorted[j]); return w === v || (w !== w && v !== v); };
  let from = k, to = k;
  while (from > 0 && same(from - 1)) from--;
  while (to + 1 < sorted.length && same(to + 1)) to++;
  return { place: from + 1, ties: to - from };
}
