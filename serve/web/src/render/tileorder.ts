// Where the elements of a finite group lie as tiles, and how each turns a letter. Pure functions.

import type { Axis, Element } from '../core/api';
import { firstOf, isCircle } from '../core/axis';

/** A tile: an element of the plan, what it is called in short, and how it turns a letter F. */
export interface Tile {
  k: number;
  name: string;
  /** Degrees, counter-clockwise; the mirror, if there is one, exchanges left and right before. */
  angle: number;
  mirrored: boolean;
  reversed: boolean;
}

/** Which axes of a chart turn, mirror and reverse; -1 for none. */
export function motions(chart: readonly Axis[]): { angle: number; mirror: number; reverse: number } {
  const angle = chart.findIndex(isCircle);
  return { angle, mirror: firstOf(chart, 'mirror'), reverse: firstOf(chart, 'time reversal', 'reversal') };
}

/**
 * The number of an element of the square's symmetries as particle image velocimetry counts them: even numbers turn by 45° times the
 * number, odd ones mirror; a primed number also reverses time. -1 if it is none of them.
 */
export function squareNumber(angle: number, mirrored: boolean): number {
  const quarter = angle / 90;
  if (!Number.isInteger(quarter)) return -1;
  return (mirrored ? 3 + 2 * quarter : 2 * quarter) % 8;
}

/** Rows of tiles for the square's symmetries, without and with time reversal. */
const square = [['2', '1'], ['3', '0'], ['4', '7'], ['5', '6']] as const;

/** The tiles row by row, -1 where none lies. The square's symmetries lie as their pictures would be unfolded; others in the order of the plan. */
export function tiles(chart: readonly Axis[], elements: readonly Element[]): { columns: number; tiles: readonly (Tile | null)[] } {
  const m = motions(chart);
  const of = (k: number): Tile => {
    const e = elements[k];
    const angle = m.angle >= 0 ? e[m.angle] : 0;
    const mirrored = m.mirror >= 0 && e[m.mirror] === 1;
    const reversed = m.reverse >= 0 && e[m.reverse] === 1;
    const n = m.angle >= 0 && m.mirror >= 0 ? squareNumber(angle, mirrored) : -1;
    return { k, name: n < 0 ? '' : `${n}${reversed ? '′' : ''}`, angle, mirrored, reversed };
  };
  const all = elements.map((_, k) => of(k));
  const axes = [m.angle, m.mirror, m.reverse].filter((k) => k >= 0).length;
  const named = new Map(all.map((t) => [t.name, t]));
  if (axes === chart.length && !named.has('') && named.size === elements.length && (elements.length === 8 || elements.length === 16)) {
    const rows = square.map(([a, b]) => (elements.length === 16 ? [`${a}′`, a, b, `${b}′`] : [a, b]));
    if (rows.flat().every((n) => named.has(n))) return { columns: rows[0].length, tiles: rows.flat().map((n) => named.get(n) as Tile) };
  }
  // As near to a square as whole rows allow, the widest that divides the number if there is one.
  const n = elements.length;
  const root = Math.ceil(Math.sqrt(n));
  let columns = root;
  for (let c = root; c <= Math.min(n, 2 * root); c++) {
    if (n % c === 0) {
      columns = c;
      break;
    }
  }
  return { columns: Math.max(1, columns), tiles: all };
}

/** The tile that an arrow key leads to from tile `at`, within a grid of so many columns; at the edges it stays. */
export function stepTile(n: number, columns: number, at: number, key: string): number {
  const c = at % columns;
  switch (key) {
    case 'ArrowRight': return c + 1 < columns && at + 1 < n ? at + 1 : at;
    case 'ArrowLeft': return c > 0 ? at - 1 : at;
    case 'ArrowDown': return at + columns < n ? at + columns : at;
    case 'ArrowUp': return at >= columns ? at - columns : at;
    default: return at;
  }
}
