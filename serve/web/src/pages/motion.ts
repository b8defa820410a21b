// What a family of linear or affine maps does to places: how it moves them a little, and how far they are after a while.

/** A matrix of rows, with the shift as the last column where there is one more column than rows. */
export type Matrix = readonly (readonly number[])[];

/** How fast a place is moved: A p + a. */
export function velocity(m: Matrix, p: readonly number[]): number[] {
  return m.map((row) => row.reduce((sum, v, c) => sum + v * (c < m.length ? (p[c] ?? 0) : 1), 0));
}

/** The map that a family has made after a while, exp(t A), as rows with the shift last. */
export function flow(m: Matrix, t: number): number[][] {
  const n = m.length, N = n + 1;
  const a = Array.from({ length: N }, (_, r) => Array.from({ length: N }, (_, c) => (r < n ? (m[r]![c] ?? 0) * t : 0)));
  const size = Math.max(...a.map((row) => row.reduce((s, v) => s + Math.abs(v), 0)), 0);
  if (!Number.isFinite(size)) return m.map((_, r) => Array.from({ length: N }, (_, c) => (r === c ? 1 : 0)));
  // The series of a matrix that is halved until it is small, squared as often.
  const halvings = Math.max(0, Math.ceil(Math.log2(size || 1)) + 2), small = a.map((row) => row.map((v) => v / 2 ** halvings));
  const times = (x: number[][], y: number[][]): number[][] => x.map((row) => y[0]!.map((_, c) => row.reduce((s, v, k) => s + v * y[k]![c]!, 0)));
  let out: number[][] = a.map((_, r) => a.map((_, c) => (r === c ? 1 : 0))), term = out;
  for (let k = 1; k <= 12; k++) {
    term = times(term, small).map((row) => row.map((v) => v / k));
    out = out.map((row, r) => row.map((v, c) => v + term[r]![c]!));
  }
  for (let k = 0; k < halvings; k++) out = times(out, out);
  return out.slice(0, n);
}

/** A place under a map with the shift last. */
export const moved = (m: Matrix, p: readonly number[]): number[] => velocity(m, p);

/** How much of the parameter turns a typical place by about a sixth of a circle, or grows it by a half: for pictures that move to and fro. */
export function reach(m: Matrix, size: number): number {
  const most = Math.max(0, ...m.flatMap((row) => row.slice(0, m.length).map(Math.abs)));
  const shift = Math.max(0, ...m.map((row) => Math.abs(row[m.length] ?? 0)));
  const speed = Math.max(most, size > 0 ? shift / size : 0);
  return speed > 0 ? 0.9 / speed : 0;
}

/** A matrix as a motion in words, such as x' = y, y' = -x: what each coordinate changes by. */
export function motionWords(m: Matrix, axes: readonly string[]): string {
  const most = Math.max(0, ...m.flat().map(Math.abs)), number = (v: number) => String(+Math.abs(v).toPrecision(3));
  const parts = m.flatMap((row, r) => {
    const terms = row.map((v, c) => ({ v, name: c < m.length ? axes[c]! : '' })).filter(({ v }) => Math.abs(v) > 1e-3 * most);
    if (terms.length === 0) return [];
    const text = terms.map(({ v, name }, k) => `${v < 0 ? (k > 0 ? ' − ' : '−') : k > 0 ? ' + ' : ''}${name && number(v) === '1' ? '' : number(v)}${name && number(v) !== '1' ? '·' : ''}${name}`).join('');
    return [`${axes[r]}′ = ${text}`];
  });
  return parts.length > 12 ? [...parts.slice(0, 12), '…'].join(', ') : parts.join(', ') || 'nothing moves';
}

/** The coordinates of a place by name. */
export const axesOf = (n: number): string[] => (n <= 3 ? ['x', 'y', 'z'].slice(0, n) : Array.from({ length: n }, (_, k) => `x${k + 1}`));

/** Places spread over a sphere, as the golden angle lays them. */
export function sphere(n: number): number[][] {
  return Array.from({ length: n }, (_, k) => {
    const z = 1 - (2 * k + 1) / n, r = Math.sqrt(1 - z * z), a = k * Math.PI * (3 - Math.sqrt(5));
    return [r * Math.cos(a), r * Math.sin(a), z];
  });
}

/** A grid of places in a square of a half width. */
export function square(side: number, half: number): number[][] {
  return Array.from({ length: side * side }, (_, k) => [half * ((2 * (k % side)) / (side - 1) - 1), half * ((2 * Math.floor(k / side)) / (side - 1) - 1)]);
}

/** A place of space on paper: seen from above and the side, z up. */
export function paper(p: readonly number[]): [number, number] {
  const [x = 0, y = 0, z = 0] = p;
  return [0.866 * (x - y), -(z * 0.82) + 0.3 * (x + y)];
}
