// Slices: sets of samples with a name, how they are combined, and how they are kept with the run when others keep theirs. Pure, but
// for the one call that keeps them.

import type * as api from '../core/api';
import { Failure } from '../core/source';

/** The longest name of a slice, in characters. */
export const longest = 80;

/** size is how many samples a mask holds. */
export function size(mask: ArrayLike<number>): number {
  let n = 0;
  for (let i = 0; i < mask.length; i++) if (mask[i]) n++;
  return n;
}

/** indexesOf is the samples of a mask, ascending. */
export function indexesOf(mask: ArrayLike<number>): Int32Array {
  const out = new Int32Array(size(mask));
  for (let i = 0, k = 0; i < mask.length; i++) if (mask[i]) out[k++] = i;
  return out;
}

/** fromIndexes is the mask of n samples that holds these. */
export function fromIndexes(indexes: Iterable<number>, n: number): Uint8Array {
  const mask = new Uint8Array(n);
  for (const i of indexes) if (i >= 0 && i < n) mask[i] = 1;
  return mask;
}

/** combine is the union or the intersection of sets, in as few levels as it takes. */
export function combine(how: 'and' | 'or', sets: readonly api.Set[]): api.Set {
  const flat = sets.flatMap((s) => s[how] ?? [s]);
  return flat.length === 1 ? flat[0] : { [how]: flat };
}

/** invert is all the others. */
export function invert(s: api.Set): api.Set {
  return s.not ?? { not: s };
}

/** words is a set for people. class names the classes of the run. */
export function words(s: api.Set, classes: readonly string[] = []): string {
  const inner = (t: api.Set) => (t.and || t.or ? `(${words(t, classes)})` : words(t, classes));
  if (s.label !== undefined) return `class ${classes[s.label] ?? s.label}`;
  if (s.rule !== undefined) return s.rule;
  if (s.slice !== undefined) return `slice ${s.slice}`;
  if (s.indexes !== undefined) return s.indexes.length === 1 ? '1 chosen sample' : `${s.indexes.length} chosen samples`;
  if (s.bits !== undefined) return 'chosen samples';
  if (s.and) return s.and.map(inner).join(' and ');
  if (s.or) return s.or.map(inner).join(' or ');
  if (s.not) return `not ${inner(s.not)}`;
  return 'all samples';
}

/** naming says what is wrong with a name for a slice; empty if nothing is. */
export function naming(name: string, taken: readonly string[]): string {
  const t = name.trim();
  if (!t) return 'A slice needs a name.';
  if ([...t].length > longest) return `The name has ${[...t].length} characters; at most ${longest} are possible.`;
  if (/[\u0000-\u001f\u007f]/.test(t)) return 'The name contains a character that cannot be shown.';
  if (taken.includes(t)) return `There is a slice named ${t} already.`;
  return '';
}

/** freshName is the wanted name, or with a number behind it if it is taken. */
export function freshName(wanted: string, taken: readonly string[]): string {
  const base = [...wanted.trim()].slice(0, longest - 5).join('') || 'slice';
  if (!taken.includes(base)) return base;
  for (let k = 2; ; k++) if (!taken.includes(`${base} ${k}`)) return `${base} ${k}`;
}

/** added, removed and renamed are the document after an edit; the one given stays as it is. */
export const added = (d: api.Slices, s: api.Slice): api.Slices => ({ ...d, slices: [...d.slices, s] });
export const removed = (d: api.Slices, name: string): api.Slices => ({ ...d, slices: d.slices.filter((s) => s.name !== name) });
export const changed = (d: api.Slices, name: string, to: Partial<api.Slice>): api.Slices =>
  ({ ...d, slices: d.slices.map((s) => (s.name === name ? { ...s, ...to } : s)) });

const same = (a: api.Slice | undefined, b: api.Slice | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What became of two sets of changes to the same document. */
export interface Merged {
  doc: api.Slices;
  /** Slices that both changed: theirs keeps the name, mine got another. */
  clashes: string[];
}

/** merge puts the changes from base to mine on top of theirs. Nothing that anybody made is lost: what one removed and the other changed stays. */
export function merge(base: api.Slices, mine: api.Slices, theirs: api.Slices): Merged {
  const by = (d: api.Slices) => new Map(d.slices.map((s) => [s.name, s]));
  const b = by(base), m = by(mine), t = by(theirs), out: api.Slice[] = [], clashes: string[] = [];
  for (const s of theirs.slices) {
    const was = b.get(s.name), mineNow = m.get(s.name);
    if (same(was, s) && was) { // untouched by them: as I have it
      if (mineNow) out.push(mineNow);
    } else {
      out.push(s);
      if (mineNow && !same(mineNow, s) && !same(mineNow, was)) clashes.push(s.name);
    }
  }
  const names = () => out.map((s) => s.name);
  for (const s of mine.slices) {
    const was = b.get(s.name);
    if (clashes.includes(s.name)) {
      out.push({ ...s, name: freshName(s.name, [...names(), ...m.keys()]) });
    } else if (!t.has(s.name) && !same(was, s)) out.push(s); // new, or changed by me and removed by them
  }
  return { doc: { ...theirs, slices: out }, clashes };
}

/** What keeping leads to. */
export type Outcome =
  | { kind: 'kept'; doc: api.Slices }
  | { kind: 'conflict'; theirs: api.Slices; merged: Merged };

/** The two calls that keeping needs; the client of the API has them. */
export interface Keeper {
  slices(id: string): Promise<{ doc: api.Slices; tag: string }>;
  putSlices(id: string, body: api.Slices, tag: string): Promise<string>;
}

/**
 * keep keeps my document in the place of base. If somebody else was faster and changed something, it keeps nothing and says what the
 * two together would be; the reader decides.
 */
export async function keep(k: Keeper, id: string, base: api.Slices, mine: api.Slices): Promise<Outcome> {
  for (let tries = 0; ; tries++) {
    const now = await k.slices(id);
    if (JSON.stringify(now.doc.slices) !== JSON.stringify(base.slices)) {
      return { kind: 'conflict', theirs: now.doc, merged: merge(base, mine, now.doc) };
    }
    try {
      await k.putSlices(id, mine, now.tag);
      return { kind: 'kept', doc: mine };
    } catch (e) {
      if (!(e instanceof Failure) || e.status !== 412 || tries > 2) throw e;
    }
  }
}
