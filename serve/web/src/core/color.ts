/**
 * Colors: tables for values, styles for models, a palette for classes. Packed colors are 32 bits with alpha highest, then blue,
 * green, red, which is what an ImageData holds on a little-endian machine, as all that run browsers are.
 */
import * as table from './lut';

/** 256 packed colors. */
export type LUT = Uint32Array;

/** The names of the tables: two sequential ones, a diverging and a cyclic one. */
export type LutName = 'viridis' | 'cividis' | 'puor' | 'twilight';

const unpack = (base64: string): LUT => {
  const s = atob(base64);
  return Uint32Array.from({ length: 256 }, (_, k) => 0xff000000 | (s.charCodeAt(3 * k + 2) << 16) | (s.charCodeAt(3 * k + 1) << 8) | s.charCodeAt(3 * k));
};

/** The tables by name. puor is for differences, purple below zero and orange above; twilight for directions, nothing else. */
export const luts: Readonly<Record<LutName, LUT>> = {
  viridis: unpack(table.viridis), cividis: unpack(table.cividis), puor: unpack(table.puor), twilight: unpack(table.twilight),
};

const turned = new WeakMap<LUT, LUT>();
/** A table from its end to its start: the same array every time. */
export function backwards(l: LUT): LUT {
  let b = turned.get(l);
  if (!b) turned.set(l, (b = l.slice().reverse()));
  return b;
}

/** Which end of a metric is good. */
export type Better = 'higher' | 'lower' | undefined;

/** The table for values of which one end is good: bright is good, in every view, whichever way the numbers run. */
export const goodness = (map: 'viridis' | 'cividis', better: Better): LUT => (better === 'lower' ? backwards(luts[map]) : luts[map]);

/** The table for differences around zero, such as B − A: orange is a gain and purple a loss, whichever way the numbers run. */
export const gains = (better: Better): LUT => (better === 'lower' ? backwards(luts.puor) : luts.puor);

/** #rrggbb as a packed color, opaque unless alpha (0 to 255) says otherwise. */
export function pack(hex: string, alpha = 255): number {
  const x = /^#[0-9a-f]{6}$/i.test(hex) ? parseInt(hex.slice(1), 16) : NaN;
  if (Number.isNaN(x)) throw new RangeError(`${hex} is no color #rrggbb`);
  return ((alpha << 24) | ((x & 255) << 16) | (x & 0xff00) | (x >> 16)) >>> 0;
}

/** A packed color as #rrggbb, without its alpha. */
export function css(packed: number): string {
  return '#' + (0x1000000 | ((packed & 255) << 16) | (packed & 0xff00) | ((packed >>> 16) & 255)).toString(16).slice(1);
}

/** The color of a value that is missing: grey, which is in none of the tables. */
export const none = { light: pack('#c4c7ca'), dark: pack('#4c5157') } as const;

/** What a color table is spread over. */
export interface Range {
  lo: number;
  hi: number;
  /** Equal ratios, not equal differences, are equally far apart; lo is above 0. */
  log?: boolean;
}

/** The place of v in a table, 0 to 255, clipped; -1 for NaN. A range without extent has everything in the middle. */
export function level(v: number, r: Range): number {
  if (Number.isNaN(v)) return -1;
  let t: number;
  if (r.log) t = Math.log(Math.max(v, 0) / r.lo) / Math.log(r.hi / r.lo);
  else t = (v - r.lo) / (r.hi - r.lo);
  if (Number.isNaN(t) || r.hi === r.lo) return 128;
  const k = Math.floor(256 * t);
  return k < 0 ? 0 : k > 255 ? 255 : k;
}

/** The range around zero that holds ±most, so that zero is the middle of a diverging table. */
export function around(most: number): Range {
  const m = Math.abs(most);
  return m > 0 && m < Infinity ? { lo: -m, hi: m } : { lo: -1, hi: 1 };
}

/** The place of an angle in a cyclic table, 0 to 255: 0 for whole turns; -1 for what is not finite. */
export function turn(degrees: number): number {
  if (!Number.isFinite(degrees)) return -1;
  const t = degrees / 360 - Math.floor(degrees / 360);
  return Math.floor(256 * t) & 255;
}

/** One packed color per value, `missing` for NaN. */
export function colorize(values: ArrayLike<number>, r: Range, lut: LUT, missing: number, out: Uint32Array = new Uint32Array(values.length)): Uint32Array {
  const n = values.length;
  if (r.log || !(r.hi > r.lo)) {
    for (let i = 0; i < n; i++) {
      const k = level(values[i] as number, r);
      out[i] = k < 0 ? missing : (lut[k] as number);
    }
    return out;
  }
  const [lo, d] = [r.lo, r.hi - r.lo];
  for (let i = 0; i < n; i++) {
    const t = Math.floor(256 * (((values[i] as number) - lo) / d));
    out[i] = t >= 0 ? (lut[t > 255 ? 255 : t] as number) : t < 0 ? (lut[0] as number) : missing;
  }
  return out;
}

/** The code of NaN in arrays of bytes. */
export const codeNaN = 255;

/**
 * The colors of the 256 codes of an array of bytes, in which 0 to 254 stand for equally spaced values from lo to hi and 255 for
 * NaN, on a scale r that need not be the array's own.
 */
export function codes(lo: number, hi: number, r: Range, lut: LUT, missing: number): LUT {
  const values = Float64Array.from({ length: 256 }, (_, k) => (k === codeNaN ? NaN : lo + ((hi - lo) * k) / 254));
  return colorize(values, r, lut, missing);
}

/** A table as a CSS gradient, from its first color to its last. */
export function gradient(lut: LUT, direction = 'to right', stops = 17): string {
  const list = Array.from({ length: stops }, (_, k) => css(lut[Math.round((255 * k) / (stops - 1))] as number));
  return `linear-gradient(${direction}, ${list.join(', ')})`;
}

/** The shapes of marks. */
export type Mark = 'disc' | 'square' | 'triangle' | 'diamond' | 'cross' | 'ring';

/** How a model looks, in every plot alike. Color never is alone: dash and mark tell models apart too. */
export interface ModelStyle {
  /** Of lines and marks; at least 3:1 against the background of cards. */
  color: string;
  /** Of text; at least 4.5:1. */
  text: string;
  /** stroke-dasharray in pixels, empty for a solid line. */
  dash: string;
  mark: Mark;
}

/** Most models that are told apart. */
export const maxModels = 6;

// The first two are Okabe and Ito's blue and vermilion; the others are as far from them, and from each other, as the contrast with the
// background allows. The reports of audits have them too.
const light: readonly [string, string][] = [
  ['#0072b2', '#00629a'], ['#d55e00', '#b04a00'], ['#00795a', '#006b4f'], ['#a2307f', '#952a74'], ['#6b5b00', '#615200'], ['#5b636c', '#525960'],
];
const dark: readonly [string, string][] = [
  ['#56b4e9', '#56b4e9'], ['#f0883e', '#f0883e'], ['#45d0a5', '#45d0a5'], ['#ee8fcb', '#ee8fcb'], ['#e3cf57', '#e3cf57'], ['#a3a9b1', '#a3a9b1'],
];
const dashes = ['', '5 2.5', '1.5 2.5', '8 2.5 1.5 2.5', '8 2 1.5 2 1.5 2', '12 4'];
const marks: readonly Mark[] = ['disc', 'square', 'triangle', 'diamond', 'cross', 'ring'];

/** The style of model k, counted from 0; from maxModels on they repeat. */
export function modelStyle(k: number, onDark: boolean): ModelStyle {
  const j = ((k % maxModels) + maxModels) % maxModels;
  const [color, text] = (onDark ? dark : light)[j] as [string, string];
  return { color, text, dash: dashes[j] as string, mark: marks[j] as Mark };
}

/** How many classes have colors of their own. */
export const maxClasses = 10;

// Matthew Petroff, Accessible color sequences for data visualization (2021), ten colors, those for the dark theme lightened and those for
// the light one darkened until they stand out from the background.
const classesLight = ['#3c8ad1', '#c77f00', '#bd1f01', '#858e8c', '#832db6', '#a96b59', '#e76300', '#978b45', '#717581', '#4d9b9e'].map((c) => pack(c));
const classesDark = ['#3f90da', '#ffa90e', '#ef5438', '#b4c2c0', '#b06ad9', '#c58a79', '#f57c1f', '#d3c97f', '#868b98', '#92dadd'].map((c) => pack(c));

/** The packed color of class k, counted from 0; from maxClasses on they repeat, which a legend has to say. `none` for a negative k. */
export function classColor(k: number, onDark: boolean): number {
  if (!(k >= 0)) return onDark ? none.dark : none.light;
  return (onDark ? classesDark : classesLight)[Math.floor(k) % maxClasses] as number;
}

/** Relative luminance, 0 to 1, of #rrggbb (WCAG 2.2). */
export function luminance(hex: string): number {
  const p = pack(hex);
  const f = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * f((p & 255) / 255) + 0.7152 * f(((p >>> 8) & 255) / 255) + 0.0722 * f(((p >>> 16) & 255) / 255);
}

/** Contrast ratio of two colors #rrggbb, 1 to 21 (WCAG 2.2). */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Black or white, whichever can be read on this color. */
export function inkOn(hex: string): '#000000' | '#ffffff' {
  return contrast(hex, '#000000') >= contrast(hex, '#ffffff') ? '#000000' : '#ffffff';
}
