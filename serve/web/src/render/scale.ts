// From values to places: the scale of a plot, linear or logarithmic. The same rules as the pictures of the reports.

import { scaleLinear, scaleLog } from 'd3-scale';

export interface Tick {
  at: number;
  label: string;
}

/** Takes values to the fraction of the way from the beginning of an axis to its end. */
export interface Scale {
  readonly lo: number;
  readonly hi: number;
  readonly log: boolean;
  /** With the unit. */
  readonly label: string;
  readonly ticks: readonly Tick[];
  /** 0 at lo, 1 at hi, outside beyond them; NaN where the scale has no place. */
  pos(v: number): number;
  /** The value at a fraction. */
  value(u: number): number;
}

/** How much of a logarithmic scale is left to 0, which lies at its beginning. */
const zeroGap = 0.1;

/**
 * A tick with as few digits as it needs, so that two of one axis never say the same, and at most twelve, which cuts off what arithmetic
 * left. Small and large ones have an exponent where that is shorter.
 */
export function tickText(v: number): string {
  const x = +v.toPrecision(12), a = Math.abs(x);
  if (x === 0) return '0';
  const plain = String(x), power = x.toExponential().replace('e+', 'e');
  return a < 1e-3 || (a >= 1e5 && power.length <= plain.length) ? power : plain;
}

/** A scale over a range with about as many ticks as wanted. */
export function makeScale(range: { lo: number; hi: number; log: boolean }, label: string, wanted = 4): Scale {
  const { lo, hi } = range;
  if (range.log && lo > 0 && hi > lo) {
    const span = Math.log(hi / lo);
    let at = scaleLog().domain([lo, hi]).ticks(wanted).filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
    if (at.length < 2) at = scaleLog().domain([lo, hi]).ticks(wanted);
    const every = Math.ceil(at.length / (wanted + 1));
    at = at.filter((_, k) => (at.length - 1 - k) % every === 0);
    return {
      lo,
      hi,
      log: true,
      label,
      ticks: [{ at: 0, label: '0' }, ...at.map((v) => ({ at: v, label: tickText(v) }))],
      pos: (v) => (v === 0 ? 0 : v > 0 ? Math.max(0, zeroGap + ((1 - zeroGap) * Math.log(v / lo)) / span) : NaN),
      value: (u) => (u < zeroGap / 2 ? 0 : lo * Math.exp(((u - zeroGap) / (1 - zeroGap)) * span)),
    };
  }
  const d = scaleLinear().domain([lo, hi]);
  return {
    lo,
    hi,
    log: false,
    label,
    ticks: d.ticks(wanted).map((v) => ({ at: v, label: tickText(v) })),
    pos: (v) => (v - lo) / (hi - lo),
    value: (u) => lo + u * (hi - lo),
  };
}

/** A scale for differences, the same far to both sides of 0. */
export function aroundZero(values: Iterable<number>, label: string, least = 1e-9, wanted = 4): Scale {
  let m = least;
  for (const v of values) if (Math.abs(v) > m) m = Math.abs(v);
  const nice = scaleLinear().domain([0, m]).nice(2).domain()[1];
  return makeScale({ lo: -nice, hi: nice, log: false }, label, wanted);
}
