// Masks in colours and numbers: the colour of each class, what two masks have in common, and what that says of each class.

import type { Picture } from '../core/source';
import { pixels } from './picture';

/** Colours of classes, the same in masks, references and legends: those of Okabe and Ito first, which people with any eyes tell apart. */
const first = [0xff202020, 0xffb27200, 0xff005ed5, 0xff5a7900, 0xff7f30a2, 0xff005b6b, 0xff6c635b, 0xffe9b456, 0xff3e88f0, 0xffa5d045];

/** Pixels that count for nothing. */
export const voidColor = 0xff8a8a8a;

/** The label of void pixels, as the server has it. */
export const nothing = -2;

/** The colour of a class: beyond the first ten by the golden angle, with lightness that alternates, so that neighbours differ. */
export function classColor(c: number): number {
  if (c < 0) return voidColor;
  if (c < first.length) return first[c];
  const h = (c * 137.508) % 360, l = [0.38, 0.62, 0.5][c % 3], s = 0.62;
  const part = (n: number) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return (0xff000000 | (part(4) << 16) | (part(8) << 8) | part(0)) >>> 0;
}

/** A colour for style sheets. */
export const css = (c: number): string => `rgb(${c & 255} ${(c >> 8) & 255} ${(c >> 16) & 255})`;

/** Pixels of a class: in both masks, in the answer, in what it is compared with. */
export interface Tally {
  both: number;
  got: number;
  want: number;
}

/** Counts the pixels of an answer against a reference by class, as the metrics do: void pixels of the reference count for nothing. Null where the answer has pixels without a class, or another size. */
export function tally(got: Int32Array, want: Int32Array): Map<number, Tally> | null {
  const out = new Map<number, Tally>();
  const of = (c: number): Tally => {
    let t = out.get(c);
    if (!t) out.set(c, (t = { both: 0, got: 0, want: 0 }));
    return t;
  };
  if (got.length !== want.length) return null;
  for (let i = 0; i < got.length; i++) {
    if (want[i] < 0) continue;
    if (got[i] < 0) return null;
    of(got[i]).got++;
    of(want[i]).want++;
    if (got[i] === want[i]) of(got[i]).both++;
  }
  return out;
}

/** Intersection over union; NaN where the class is in neither. */
export const iou = (t: Tally | undefined): number => (t && t.got + t.want > 0 ? t.both / (t.got + t.want - t.both) : NaN);

/** The mean over the classes that occur. */
export function meanIoU(of: ReadonlyMap<number, Tally> | null): number {
  if (!of || !of.size) return NaN;
  let sum = 0;
  for (const c of [...of.keys()].sort((a, b) => a - b)) sum += iou(of.get(c));
  return sum / of.size;
}

/** How a mask is drawn. */
export type Show = 'classes' | 'over' | 'wrong';

/** Halfway between two packed colours, with so much of the second, 0 to 1. */
function mixed(a: number, b: number, share: number): number {
  const part = (s: number) => Math.round((1 - share) * ((a >> s) & 255) + share * ((b >> s) & 255)) << s;
  return 0xff000000 | part(16) | part(8) | part(0);
}

const pale = 0xffb8b8b8;

/** Draws a mask: in the colours of its classes, over the picture that it is of, or where it is not what it is compared with. With a class chosen the others are pale. */
export function drawMask(of: { labels: Int32Array; picture?: Picture | null; reference?: Int32Array | null; show: Show; only?: number | null }, out: Uint32Array): void {
  const { labels, picture, reference, show } = of, only = of.only ?? null;
  const under = picture && picture.h * picture.w === labels.length ? new Uint32Array(labels.length) : null;
  if (under) pixels(picture!, under);
  for (let i = 0; i < labels.length; i++) {
    const c = labels[i], want = reference ? reference[i] : c, here = only === null || c === only;
    const base = under ? mixed(under[i], 0xff808080, 0.35) : pale;
    if (show === 'wrong' && reference) out[i] = want === nothing ? voidColor : c === want || !(here || want === only) ? base : classColor(c);
    else if (show === 'over') out[i] = here ? mixed(under ? under[i] : pale, classColor(c), 0.55) : under ? under[i] : pale;
    else out[i] = here ? classColor(c) : mixed(pale, classColor(c), 0.12);
  }
}
