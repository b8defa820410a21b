// Sets of samples as masks: what can be told of a set without the server.

import type * as api from './api';
import { lasso } from './raster';

/** Evaluates a set as far as that can be done here; null where a rule or an unknown slice needs the server. */
export function evaluate(s: api.Set, of: { n: number; labels: readonly number[]; slices: readonly api.Slice[] }, depth = 0): Uint8Array | null {
  if (depth > 32) return null;
  const all = (x: api.Set[]) => x.map((y) => evaluate(y, of, depth + 1));
  const out = new Uint8Array(of.n);
  if (s.label !== undefined) {
    if (of.labels.length < of.n) return null;
    for (let i = 0; i < of.n; i++) out[i] = +(of.labels[i] === s.label);
  } else if (s.rule !== undefined) {
    return null;
  } else if (s.indexes) {
    for (const i of s.indexes) if (i >= 0 && i < of.n) out[i] = 1;
  } else if (s.bits !== undefined) {
    return fromBits(s.bits, of.n);
  } else if (s.slice !== undefined) {
    const k = of.slices.find((x) => x.name === s.slice);
    return k ? evaluate(k.set, of, depth + 1) : null;
  } else if (s.and || s.or) {
    const parts = all((s.and ?? s.or)!);
    if (parts.some((p) => !p)) return null;
    out.fill(s.and ? 1 : 0);
    for (const p of parts as Uint8Array[]) {
      if (s.and) for (let i = 0; i < of.n; i++) out[i] &= p[i] ? 1 : 0;
      else for (let i = 0; i < of.n; i++) out[i] |= p[i] ? 1 : 0;
    }
  } else if (s.not) {
    const m = evaluate(s.not, of, depth + 1);
    if (!m) return null;
    for (let i = 0; i < of.n; i++) out[i] = m[i] ? 0 : 1;
  } else {
    out.fill(1);
  }
  return out;
}

/** A mask as base64 of a bitset: sample i is bit i%8 of byte i/8. */
export function toBits(mask: Uint8Array): string {
  const bytes = new Uint8Array(Math.ceil(mask.length / 8));
  for (let i = 0; i < mask.length; i++) if (mask[i]) bytes[i >> 3] |= 1 << (i & 7);
  let s = '';
  for (let i = 0; i < bytes.length; i += 0x8000) s += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(s);
}

export function fromBits(bits: string, n: number): Uint8Array {
  const s = atob(bits);
  const out = new Uint8Array(n);
  for (let i = 0; i < n; i++) out[i] = (s.charCodeAt(i >> 3) >> (i & 7)) & 1;
  return out;
}

/** Which points lie in a polygon (even-odd rule). */
export function within(xy: Float32Array, poly: readonly number[]): Uint8Array {
  const out = new Uint8Array(xy.length / 2);
  lasso(xy, poly, out);
  return out;
}
