// How wide a map of shifts is: the full width at half maximum.

import type { Element } from './api';

/** A width in the unit of its axis. */
export interface Width {
  /** From where the value falls to half of the maximum on one side to where it does on the other. */
  value: number;
  /** On how many sides (0 to 2) it has not fallen to half where the map ends: the width is at least the value. */
  open: number;
}

/** The widths of a map through its maximum. */
export interface Widths {
  maximum: number;
  /** Index of the element with the maximum, -1 if there is none. */
  at: number;
  dx: Width;
  dy: Width;
}

const none: Width = { value: NaN, open: 0 };

/**
 * The full width at half maximum of values over shifts, along dx and along dy through the element with the largest value (of equal ones
 * the one next to the middle of the map). The baseline is 0, so half is half of the largest value. Between two elements the value is taken
 * to go straight; where it has not fallen to half when the map ends, the map's end counts, and the width is marked as open. NaN ends the
 * line like an edge. Without a value above 0 there is no width.
 */
export function widths(elements: readonly Element[], values: ArrayLike<number>): Widths {
  let at = -1;
  const middle = [0, 1].map((a) => (Math.min(...elements.map((e) => e[a])) + Math.max(...elements.map((e) => e[a]))) / 2);
  const far = (k: number) => Math.hypot(elements[k][0] - middle[0], elements[k][1] - middle[1]);
  for (let k = 0; k < elements.length; k++) {
    const v = values[k];
    if (!(v > 0) || v === Infinity) continue;
    if (at < 0 || v > values[at] || (v === values[at] && far(k) < far(at))) at = k;
  }
  if (at < 0) return { maximum: NaN, at: -1, dx: none, dy: none };
  const half = values[at] / 2;
  const line = (axis: 0 | 1): Width => {
    const other = 1 - axis;
    const on = elements.map((_, k) => k).filter((k) => elements[k][other] === elements[at][other]).sort((j, k) => elements[j][axis] - elements[k][axis]);
    const here = on.indexOf(at);
    const side = (by: 1 | -1): [number, boolean] => {
      for (let k = here; ; k += by) {
        const [p, q] = [on[k], on[k + by]];
        const x = elements[p][axis];
        if (q === undefined || Number.isNaN(values[q])) return [x, true];
        if (values[q] <= half) return [x + ((values[p] - half) / (values[p] - values[q])) * (elements[q][axis] - x), false];
      }
    };
    const [lo, a] = side(-1);
    const [hi, b] = side(1);
    return { value: hi - lo, open: +a + +b };
  };
  return { maximum: values[at], at, dx: line(0), dy: line(1) };
}
