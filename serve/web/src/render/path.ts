// SVG paths of curves and bands, straight and round a circle. Pure functions of numbers, so that they can be tested without a page.

/** A point of a curve: where it is (degrees on a circle, 0 to 1 on a line) and its fraction of the way up the scale, NaN for none. */
export interface Point {
  x: number;
  u: number;
}

/** A stretch of a curve without gaps. */
export interface Stretch<P> {
  points: P[];
  closed: boolean;
}

const n2 = (v: number): string => String(Math.round(v * 100) / 100);
const clamp = (u: number): number => (u < 0 ? 0 : u > 1 ? 1 : u);

/** Where an angle and a fraction of the radius lie: 0 degrees to the right, counter-clockwise, y downward. */
export function onDisc(angle: number, u: number, r: number): [number, number] {
  const t = (angle * Math.PI) / 180;
  return [r * u * Math.cos(t), -r * u * Math.sin(t)];
}

/** The angle of a place, counter-clockwise from the right, 0 to below 360. */
export function angleAt(x: number, y: number): number {
  const d = (Math.atan2(-y, x) * 180) / Math.PI;
  return d < 0 ? d + 360 : d === 0 ? 0 : d;
}

/** Cuts a curve where values are missing. A closed one without gaps stays closed; with gaps, the stretch over the end is one. */
export function stretches<P>(points: readonly P[], missing: (p: P) => boolean, closed: boolean): Stretch<P>[] {
  const out: Stretch<P>[] = [];
  let now: P[] = [];
  for (const p of points) {
    if (missing(p)) {
      if (now.length) out.push({ points: now, closed: false });
      now = [];
    } else {
      now.push(p);
    }
  }
  if (now.length === points.length) return now.length ? [{ points: now, closed: closed && now.length > 2 }] : [];
  if (now.length) out.push({ points: now, closed: false });
  if (closed && out.length > 1 && !missing(points[0]) && !missing(points[points.length - 1])) {
    const last = out.pop() as Stretch<P>;
    out[0] = { points: [...last.points, ...out[0].points], closed: false };
  }
  return out;
}

/** Whether sorted angles go all the way round: the gap from the last to the first is no wider than others. */
export function surrounds(angles: readonly number[]): boolean {
  if (angles.length < 2) return false;
  let widest = 0;
  for (let i = 1; i < angles.length; i++) widest = Math.max(widest, angles[i] - angles[i - 1]);
  return angles[0] + 360 - angles[angles.length - 1] <= 1.5 * widest + 1e-9;
}

/** Longest arc that is drawn straight, in degrees. */
const chord = 3;

/** The places along a stretch; between two points the value goes straight with the angle, so that a constant is a circle. */
export function arc(points: readonly Point[], closed: boolean, r: number): [number, number][] {
  const out: [number, number][] = [];
  const n = points.length;
  for (let i = 0; i < (closed ? n : n - 1); i++) {
    const p = points[i];
    const q = points[(i + 1) % n];
    const turn = (((q.x - p.x) % 360) + 360) % 360;
    const k = Math.max(1, Math.ceil(turn / chord));
    for (let j = 0; j < k; j++) {
      const t = j / k;
      out.push(onDisc(p.x + t * turn, clamp(p.u + t * (q.u - p.u)), r));
    }
  }
  if (n && !closed) out.push(onDisc(points[n - 1].x, clamp(points[n - 1].u), r));
  return out;
}

const through = (p: readonly (readonly [number, number])[]): string => p.map(([x, y], i) => `${i ? 'L' : 'M'}${n2(x)},${n2(y)}`).join('');

/** A curve round a circle. */
export function polarPath(points: readonly Point[], closed: boolean, r: number): string {
  return stretches(points, (p) => Number.isNaN(p.u), closed)
    .map((s) => through(arc(s.points, s.closed, r)) + (s.closed ? 'Z' : ''))
    .join('');
}

/** A band round a circle, for fill-rule evenodd. */
export function polarBand(points: readonly { x: number; lo: number; hi: number }[], closed: boolean, r: number): string {
  return stretches(points, (p) => Number.isNaN(p.lo) || Number.isNaN(p.hi), closed)
    .map((s) => {
      const outer = arc(s.points.map((p) => ({ x: p.x, u: p.hi })), s.closed, r);
      const inner = arc(s.points.map((p) => ({ x: p.x, u: p.lo })), s.closed, r);
      return s.closed ? through(outer) + 'Z' + through(inner) + 'Z' : through([...outer, ...inner.reverse()]) + 'Z';
    })
    .join('');
}

/** A curve over a line: x is a fraction of w, u of h, upward. */
export function linePath(points: readonly Point[], w: number, h: number): string {
  return stretches(points, (p) => Number.isNaN(p.u), false)
    .map((s) => through(s.points.length === 1 ? [[s.points[0].x * w - 1, h * (1 - clamp(s.points[0].u))], [s.points[0].x * w + 1, h * (1 - clamp(s.points[0].u))]] : s.points.map((p) => [p.x * w, h * (1 - clamp(p.u))] as const)))
    .join('');
}

export function lineBand(points: readonly { x: number; lo: number; hi: number }[], w: number, h: number): string {
  return stretches(points, (p) => Number.isNaN(p.lo) || Number.isNaN(p.hi), false)
    .map((s) => through([...s.points.map((p) => [p.x * w, h * (1 - clamp(p.hi))] as const), ...[...s.points].reverse().map((p) => [p.x * w, h * (1 - clamp(p.lo))] as const)]) + 'Z')
    .join('');
}
