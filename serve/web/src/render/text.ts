// Numbers and counts for people, as the reports write them.

/** Three significant digits: "0.983", "12.4", "1.2e-7"; "–" for what is missing. */
export function num(v: number | null | undefined): string {
  if (v === null || v === undefined || Number.isNaN(v)) return '–';
  if (!Number.isFinite(v)) return v > 0 ? '∞' : '−∞';
  const a = Math.abs(v);
  const t = a === 0 ? '0' : a < 1e-3 || a >= 1e5 ? v.toExponential(1).replace('e+', 'e') : a < 9.9995 ? v.toFixed(3) : a < 99.995 ? v.toFixed(2) : a < 999.95 ? v.toFixed(1) : v.toFixed(0);
  return t.replace('-', '−').replace('e−', 'e−').replace(/e-/, 'e−');
}

/** With a sign, for differences. */
export const signed = (v: number | null | undefined): string => (typeof v === 'number' && v > 0 ? '+' : '') + num(v);

/** An interval in brackets, empty if there is none. */
export const interval = (lo: number | null, hi: number | null): string => (lo === null || hi === null ? '' : `[${num(lo)}, ${num(hi)}]`);

/** Commas between thousands. */
export const count = (n: number): string => n.toLocaleString('en-US');

/** Seconds that are left, in words. */
export function left(seconds: number | null): string {
  if (seconds === null || !(seconds >= 0)) return '';
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min left`;
  return `${+(seconds / 3600).toPrecision(2)} h left`;
}
