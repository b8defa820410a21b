/**
 * Numbers and elements for people. The page says them as the reports do: number, count and label give the same texts as package
 * present/view, and testdata/texts.json, which that package writes, holds them to it.
 */
import type { Axis, Element } from './api';
import { firstOf, form, isAngle, isFactor } from './axis';
import { motionWords, spatial } from './rotation';

/**
 * v with this many digits after the first (toExponential), rounded to nearest, ties to even as in IEEE and in Go, where JavaScript
 * rounds ties up.
 */
function exponential(v: number, digits: number): string {
  const s = v.toExponential(digits);
  // A tie ends in 5 and zeros for good; 60 digits show that for every number that can be a tie here.
  const long = v.toExponential(Math.min(100, digits + 60));
  const [mantissa] = long.split('e') as [string];
  const cut = mantissa.indexOf('.') + 1 + digits;
  if (digits >= 0 && /^50*$/.test(mantissa.slice(digits === 0 ? mantissa.indexOf('.') + 1 : cut))) {
    const kept = digits === 0 ? mantissa.slice(0, mantissa.indexOf('.')) : mantissa.slice(0, cut);
    if (Number(kept.slice(-1)) % 2 === 0) return `${kept}e${long.split('e')[1]}`;
  }
  return s;
}

/** v with this many decimals, ties to even. */
function fixed(v: number, decimals: number): string {
  const s = v.toFixed(decimals);
  const long = v.toFixed(Math.min(100, decimals + 40));
  const at = long.indexOf('.') + 1 + decimals;
  if (!/^50*$/.test(long.slice(at))) return s;
  const kept = decimals === 0 ? long.slice(0, long.indexOf('.')) : long.slice(0, at);
  return Number(kept.slice(-1)) % 2 === 0 ? kept : s;
}

/** An exponent with at least two digits, as in 1.2e-07. */
const padded = (s: string) => s.replace(/e([+-])(\d)$/, 'e$10$2');

/** v with at most so many significant digits, without trailing zeros, with an exponent if it is very small or needs more digits: %g. */
export function general(v: number, digits: number): string {
  if (!Number.isFinite(v)) return Number.isNaN(v) ? 'NaN' : v > 0 ? '+Inf' : '-Inf';
  if (v === 0) return '0';
  const [mantissa, power] = exponential(v, digits - 1).split('e') as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits) {
    return padded(`${mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa}e${power}`);
  }
  const s = fixed(v, Math.max(0, digits - 1 - exponent));
  return s.includes('.') ? s.replace(/\.?0+$/, '') : s;
}

/** A number that was written with a hyphen, with a true minus before it; the hyphen of an exponent stays. */
export const minus = (s: string): string => s.replace(/^-/, '−');

/** A number with three significant digits or three decimals: "0.983", "12.40", "−1.2e-07"; "none" for NaN. */
export function number(v: number): string {
  const a = Math.abs(v);
  if (Number.isNaN(v)) return 'none';
  if (a === Infinity) return v > 0 ? '+Inf' : '−Inf';
  if (a === 0) return '0';
  if (a < 1e-3 || a >= 1e5) return minus(padded(exponential(v, 1)));
  return minus(fixed(v, a < 9.9995 ? 3 : a < 99.995 ? 2 : a < 999.95 ? 1 : 0));
}

/** An integer with commas between thousands: "12,345". */
export function count(n: number): string {
  return minus(String(Math.trunc(n)).replace(/\B(?=(\d{3})+$)/g, ','));
}

/** "12 of 12,345", and "all 12,345" if it is all of them. */
export function ofAll(n: number, all: number): string {
  return n === all ? `all ${count(all)}` : `${count(n)} of ${count(all)}`;
}

/** A word with its number: "1 sample", "2 samples". */
export function many(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

/** A difference, with its sign: "+0.120", "−0.120", "0". */
export function signed(v: number): string {
  const s = number(v);
  return v > 0 ? `+${s.replace(/^\+/, '')}` : s;
}

/** A fraction in percent with three significant digits: "12.3%", "100%", "none" for NaN. */
export function percent(v: number): string {
  return Number.isNaN(v) ? 'none' : `${minus(general(100 * v, 3))}%`;
}

/** The confidence of intervals, which a study may choose, in percent: "95 %", "99.9 %". */
export const level = (confidence: number): string => `${+(100 * confidence).toPrecision(4)} %`;

/** An interval: "0.931 to 0.954", "not known" if nothing bounds it. */
export function interval(lo: number, hi: number): string {
  return Number.isFinite(lo) && Number.isFinite(hi) ? `${number(lo)} to ${number(hi)}` : 'not known';
}

/** An amount of bytes: "3.6 MB" (powers of 1000). */
export function bytes(n: number): string {
  let k = 0;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  for (; n >= 999.5 && k < units.length - 1; k++) n /= 1000;
  return `${k === 0 ? n : general(n, 3)} ${units[k]}`;
}

/** A span of time: "3 ms", "1.5 s", "42 s", "3 min 5 s", "2 h 10 min"; "not known" if it is not finite. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return 'not known';
  if (seconds < 0.9995) return `${general(Math.round(1000 * seconds), 3)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return s % 60 === 0 ? `${s / 60} min` : `${Math.floor(s / 60)} min ${s % 60} s`;
  const m = Math.round(seconds / 60);
  return m % 60 === 0 ? `${m / 60} h` : `${Math.floor(m / 60)} h ${m % 60} min`;
}

/** The name of a metric for people: underscores are spaces. */
export function words(name: string): string {
  return name.replace(/_/g, ' ');
}

/** What a number of an element is: a coordinate of an axis, or of a motion of space the angle of its turn or a part of its axis. */
type Of = Axis | 'turn' | 'part';

/** An element in words, its numbers written by `text`. */
function named(chart: readonly Axis[], e: Element, text: (v: number, of: Of) => string): string {
  if (chart.length !== e.length) return `[${e.join(' ')}]`;
  if (e.length === 0) return 'identity';
  const s = spatial(chart);
  if (s) return motionWords(s, e, (v, k) => text(v, k === s.r ? 'turn' : (chart[k] as Axis)), (v) => text(v, 'part'));
  const [turn, mirror] = [firstOf(chart, 'turn'), firstOf(chart, 'mirror')];
  const part = (a: Axis, v: number, name: boolean): string => {
    const n = text(v, a);
    const before = name ? `${a.name} ` : '';
    if (isFactor(a)) return `${before}×${n}`;
    if (isAngle(a)) return `${name && a !== chart[turn] ? before : ''}${n}°`;
    return `${before}${n} ${a.unit}`.trim();
  };
  if (e.length === 1) return part(chart[0] as Axis, e[0] as number, false);
  let mirrored = '';
  const parts: string[] = [];
  chart.forEach((a, k) => {
    if (k === mirror) mirrored = e[k] !== 0 ? ' mirrored' : '';
    else parts.push(part(a, e[k] as number, true));
  });
  return (parts.join(', ') + mirrored).trim();
}

/** An element of a plan: "90°", "90° mirrored", "×1.25", "dx 3 px, dy −1 px", with six significant digits. */
export function label(chart: readonly Axis[], e: Element): string {
  return named(chart, e, (v, of) => minus(general(v + 0, of === 'part' ? 3 : of === 'turn' ? 4 : 6)));
}

/** An element with three significant digits, as there is room for beside an axis; whole degrees and pixels keep theirs. */
export function tick(chart: readonly Axis[], e: Element): string {
  return named(chart, e, (v, of) => minus(of === 'turn' ? general(v, 4) : Math.abs(v) >= 99.95 && Math.abs(v) < 1e6 ? fixed(v, 0) : general(v + 0, 3)));
}

/**
 * Where a drag is: "152.0°", "×1.250", "dx 3 px, dy −1 px". The number of decimals does not change while it moves, so that the text stays
 * where it is; whole pixels and counts have none.
 */
export function position(chart: readonly Axis[], e: Element): string {
  return named(chart, e, (v, of) => {
    const decimals = of === 'part' ? 2 : of === 'turn' || isAngle(of) ? 1 : isFactor(of) ? 3 : Number.isInteger(v) ? 0 : form(of) === 'pixels' ? 1 : 2;
    const s = v.toFixed(decimals);
    return Number(s) === 0 ? s.replace(/^-/, '') : minus(s);
  });
}
