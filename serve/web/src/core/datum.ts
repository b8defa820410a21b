// Values other than pictures: points and features, edges, pairs, signals, and records of several of them. See serve/server/values.go.

import type { Container } from './safetensors';

/** N rows of W numbers, row by row: points, vectors, features; for pairs, N x N x W. */
export interface Rows {
  kind: 'rows' | 'pairs';
  n: number;
  w: number;
  data: Float32Array;
}

/** Directed edges between the nodes of a graph. */
export interface Links {
  kind: 'links';
  nodes: number;
  from: Int32Array;
  to: Int32Array;
}

/** C channels of T numbers, channel by channel; rate is numbers per second, 0 if that is not known. */
export interface Signal {
  kind: 'signal';
  c: number;
  t: number;
  rate: number;
  data: Float32Array;
}

/** An array without a form of its own, such as scores. */
export interface Plain {
  kind: 'tensor' | 'scores' | 'image' | 'frames';
  shape: readonly number[];
  data: Float32Array;
}

export interface Fields {
  kind: 'record';
  fields: readonly { name: string; value: Datum }[];
}

export type Datum = Rows | Links | Signal | Plain | Fields;

const floats = (d: ArrayLike<number> | ArrayLike<bigint>): Float32Array => (d instanceof Float32Array ? d : Float32Array.from(d as ArrayLike<number>));

/** The value of a name in an answer; null if there is none, or it is a picture of its own. What is not as it says it is left out. */
export function datum(c: Container, name: string, within = false): Datum | null {
  const kind = c.metadata[`${name}.kind`];
  if (kind === 'record') {
    const fields = (c.metadata[`${name}.fields`] ?? '').split('\n').filter(Boolean).flatMap((f) => {
      const value = datum(c, `${name}/${f}`, true);
      return value ? [{ name: f, value }] : [];
    });
    return { kind, fields };
  }
  const t = c.tensors[name];
  if (!t || kind === undefined) return null;
  const [a = 0, b = 0, d = 0] = t.shape;
  switch (kind) {
    case 'rows':
      return t.shape.length === 2 ? { kind, n: a, w: b, data: floats(t.data) } : null;
    case 'pairs':
      return t.shape.length === 3 && a === b ? { kind, n: a, w: d, data: floats(t.data) } : null;
    case 'links': {
      if (t.shape.length !== 2 || a !== 2) return null;
      const all = Int32Array.from(t.data as ArrayLike<number>);
      return { kind, nodes: Number(c.metadata[`${name}.nodes`] ?? 0) || 0, from: all.subarray(0, b), to: all.subarray(b) };
    }
    case 'signal':
      return t.shape.length === 2 ? { kind, c: a, t: b, rate: Number(c.metadata[`${name}.rate`] ?? 0) || 0, data: floats(t.data) } : null;
    case 'tensor':
    case 'scores':
      return { kind, shape: t.shape, data: floats(t.data) };
    case 'image':
    case 'frames':
      return within ? { kind, shape: t.shape, data: floats(t.data) } : null;
  }
  return null;
}

/** A field of a record by its name. */
export const field = (d: Datum | null | undefined, name: string): Datum | undefined => (d?.kind === 'record' ? d.fields.find((f) => f.name === name)?.value : undefined);

/** A value as a list of named ones: the fields of a record, or itself under a name. */
export const named = (d: Datum, name: string): readonly { name: string; value: Datum }[] => (d.kind === 'record' ? d.fields : [{ name, value: d }]);
