// Elements in the chart of their group: which of them is which, how far apart they are, and what people call them. Pure functions.

import type { Axis, Element, Group } from './api';
import { form, isAngle, isCircle, isFactor, isSwitch, period } from './axis';
import { traits } from './layouts';
import { between, spatial, vector, wrapped, type Spatial } from './rotation';

/** The coordinates of the identity: no turn, no shift, factor 1, not mirrored. */
export const identity = (chart: readonly Axis[]): number[] => chart.map((a) => (isFactor(a) ? 1 : 0));

/** What lies in the chart: periodic coordinates in their period, others within their bounds and on their steps. NaN becomes the identity's. */
export function canonical(chart: readonly Axis[], steps: readonly (number | null)[], g: Element): number[] {
  const e = identity(chart);
  const s3 = spatial(chart);
  if (s3 && g.length === chart.length && g.every(Number.isFinite)) {
    const v = wrapped(vector(s3, g));
    g = g.map((x, k) => (k >= s3.r && k < s3.r + 3 ? v[k - s3.r] : x));
  }
  return chart.map((a, k) => {
    let v = g[k];
    if (!Number.isFinite(v)) v = e[k];
    const s = isSwitch(a) ? 1 : (steps[k] ?? 0);
    if (s > 0) v = Math.round(v / s) * s;
    const p = period(a);
    if (p > 0) {
      const lo = a.min as number;
      v = ((((v - lo) % p) + p) % p) + lo;
      if (v >= lo + p) v = lo;
    } else {
      if (a.min !== null && v < a.min) v = a.min;
      if (a.max !== null && v > a.max) v = a.max;
      if (isFactor(a) && !(v > 0)) v = 1;
    }
    return v === 0 ? 0 : +v.toPrecision(12); // no -0, and nothing that the URL would not give back
  });
}

/** The span of the plan's coordinates, at least 1e-9, so that axes of unlike units can be compared. */
export function spans(o: Pick<Group, 'chart' | 'elements'>): number[] {
  return o.chart.map((a, k) => {
    const p = period(a);
    if (p > 0) return p;
    let lo = Infinity;
    let hi = -Infinity;
    for (const e of o.elements) {
      const v = isFactor(a) ? Math.log(e[k]) : e[k];
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
    return Math.max(hi - lo, 1e-9);
  });
}

/** How far apart two coordinates of an axis are, round the period, factors by their ratio. */
export function apart(a: Axis, x: number, y: number): number {
  if (isFactor(a)) return Math.abs(Math.log(x / y));
  const p = period(a);
  const d = Math.abs(x - y);
  return p > 0 ? Math.min(d % p, p - (d % p)) : d;
}

/** The element of the plan next to g, and whether it is g. The index is -1 for an empty plan. */
export function nearest(o: Pick<Group, 'chart' | 'elements'>, g: Element, span: readonly number[] = spans(o)): { index: number; same: boolean } {
  let best = -1;
  let least = Infinity;
  const s3 = spatial(o.chart);
  for (let k = 0; k < o.elements.length; k++) {
    // Rotations by the angle between them: opposite axes meet at half a turn.
    let d = s3 ? (turnBetween(s3, g, o.elements[k]) / 180) ** 2 : 0;
    for (let j = 0; j < o.chart.length; j++) {
      if (s3 && j >= s3.r && j < s3.r + 3) continue;
      const t = apart(o.chart[j], g[j], o.elements[k][j]) / span[j];
      d += isSwitch(o.chart[j]) ? 100 * t * t : t * t; // the other side of a mirror is never near
    }
    if (d < least) {
      least = d;
      best = k;
    }
  }
  const turn = (j: number) => s3 !== null && j >= s3.r && j < s3.r + 3;
  return { index: best, same: best >= 0 && (!s3 || turnBetween(s3, g, o.elements[best]) <= 2e-6) && o.chart.every((a, j) => turn(j) || apart(a, g[j], o.elements[best][j]) <= 1e-6) };
}

const turnBetween = (s: Spatial, g: Element, h: Element): number => between(vector(s, g), vector(s, h));

/** Coordinates that a person typed: numbers separated by anything, "mirrored" for the switch. null if they do not fit the chart. */
export function parse(chart: readonly Axis[], text: string): number[] | null {
  const t = text.trim().toLowerCase().replace(/[−–]/g, '-');
  if (t === 'identity' || t === 'e') return identity(chart);
  const about = spatial(chart) && /^(.*?)(?:°|deg\w*)?\s*about\s+(-?[xyz]\b|.*)$/.exec(t);
  if (about) {
    const [, by, axis] = about;
    const a = /^-?[xyz]$/.test(axis) ? [0, 1, 2].map((k) => ('xyz'[k] === axis.slice(-1) ? (axis[0] === '-' ? -1 : 1) : 0)) : (axis.match(/[-+]?(?:\d+\.?\d*|\.\d+)/g) ?? []).map(Number);
    const n = Math.hypot(...a.slice(0, 3));
    const turn = Number.parseFloat(by);
    if (a.length < 3 || !(n > 0) || !Number.isFinite(turn)) return null;
    const s3 = spatial(chart)!;
    return chart.map((_, k) => (k >= s3.r && k < s3.r + 3 ? (a[k - s3.r] / n) * turn : k === s3.inversion && /invert/.test(t) ? 1 : 0));
  }
  const numbers = (t.match(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/g) ?? []).map(Number);
  const switches = chart.filter(isSwitch).length;
  if (switches && numbers.length === chart.length - switches) {
    const on = /mirror/.test(t) ? 1 : 0;
    return chart.map((a) => (isSwitch(a) ? on : (numbers.shift() as number)));
  }
  return chart.length && numbers.length === chart.length && numbers.every(Number.isFinite) ? numbers : null;
}

/** What one press of an arrow key moves along an axis: a degree, a pixel, a hundredth of a factor; the switch itself. */
export function keyStep(a: Axis, step: number | null): number {
  if (isSwitch(a)) return 1;
  if (step) return step;
  return isAngle(a) || form(a) === 'pixels' ? 1 : 0.01;
}

/** The element one step to a side along an axis; for plans with nothing between elements, the next element of the plan. */
export function stepped(o: Group, g: Element, axis: number, by: number): number[] {
  const a = o.chart[axis];
  if (o.finite || traits(o.layout).apart) return [...nextInPlan(o, g, by)];
  const h = [...g];
  h[axis] = isSwitch(a) ? (by > 0 ? 1 : 0) : isFactor(a) ? g[axis] * (1 + keyStep(a, o.steps[axis])) ** by : g[axis] + by * keyStep(a, o.steps[axis]);
  return canonical(o.chart, o.steps, h);
}

function nextInPlan(o: Group, g: Element, by: number): Element {
  const n = o.elements.length;
  const at = nearest(o, g).index;
  if (at < 0) return g;
  const circle = o.chart.length > 0 && isCircle(o.chart[0]);
  if (traits(o.layout).round && circle) {
    // Round the circle on the same side of a mirror.
    const side = (e: Element) => o.chart.slice(1).map((_, k) => e[k + 1]).join();
    const ring = o.elements.filter((e) => side(e) === side(o.elements[at])).sort((x, y) => x[0] - y[0]);
    const here = ring.indexOf(o.elements[at]);
    return ring[(((here + by) % ring.length) + ring.length) % ring.length];
  }
  return o.elements[Math.max(0, Math.min(n - 1, at + by))];
}

/** The element on the other side: half a turn further on a circle, mirrored coordinates for shifts, the inverse factor. */
export function opposite(o: Group, g: Element): number[] {
  const h = o.chart.map((a, k) => (isCircle(a) ? g[k] + 180 : isSwitch(a) ? g[k] : isFactor(a) ? 1 / g[k] : -g[k]));
  return canonical(o.chart, o.steps, h);
}

/** How far the plan reaches along an axis. */
export function reach(o: Pick<Group, 'chart' | 'elements'>, axis: number): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  for (const e of o.elements) {
    lo = Math.min(lo, e[axis]);
    hi = Math.max(hi, e[axis]);
  }
  return lo <= hi ? [lo, hi] : [0, 1];
}
