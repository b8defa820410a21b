// Numbers and counts for people, as the reports write them.

import * as format from '../core/format';

/** A number as the reports write it: "0.983", "12.40", "1.2e-07"; "–" for what is missing. */
export function num(v: number | null | undefined): string {
  if (v === null || v === undefined || Number.isNaN(v)) return '–';
  return format.number(v).replace(/^-/, '−');
}

/** With a sign, for differences. */
export const signed = (v: number | null | undefined): string => (v === null || v === undefined || Number.isNaN(v) ? '–' : format.signed(v));

/** An interval in brackets, empty if there is none. */
export const interval = (lo: number | null, hi: number | null): string => (lo === null || hi === null || !Number.isFinite(lo) || !Number.isFinite(hi) ? '' : `[${num(lo)}, ${num(hi)}]`);

/** Commas between thousands. */
export const count = format.count;

/** Seconds that are left, in words. */
export function left(seconds: number | null): string {
  if (seconds === null || !(seconds >= 0)) return '';
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min left`;
  return `${+(seconds / 3600).toPrecision(2)} h left`;
}
