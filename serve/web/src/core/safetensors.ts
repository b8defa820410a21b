/**
 * Reads and writes the container in which arrays travel: eight bytes little-endian header length, a JSON header that gives every
 * tensor its dtype, shape and data_offsets, then the data, little-endian. It is the safetensors format.
 *
 * Nothing in a container is believed: every size is compared with the bytes that are there before it is used, so a wrong header
 * costs no memory.
 */

/** What is wrong with a container, in words. No other error leaves this module. */
export class DecodeError extends Error {
  override name = 'DecodeError';
}

/** The element types that are read. BOOL is one byte, 0 or not 0. */
export type Dtype = 'BOOL' | 'U8' | 'I8' | 'U16' | 'I16' | 'U32' | 'I32' | 'I64' | 'F32' | 'F64';

/** The data of a tensor, in row-major order. */
export type Data =
  | Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

/** One array of a container. */
export interface Tensor {
  dtype: Dtype;
  /** Lengths of the axes, outermost first; empty for a single number. */
  shape: number[];
  /** The numbers, as many as the product of the shape. A view of the container's bytes where alignment allows. */
  data: Data;
}

/** A container: tensors and texts by name. The objects have no prototype, so no name means anything but an entry. */
export interface Container {
  tensors: Record<string, Tensor>;
  metadata: Record<string, string>;
}

/** An object without a prototype. */
const record = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

const kinds = {
  BOOL: Uint8Array, U8: Uint8Array, I8: Int8Array, U16: Uint16Array, I16: Int16Array, U32: Uint32Array, I32: Int32Array,
  I64: BigInt64Array, F32: Float32Array, F64: Float64Array,
} as const;

const isDtype = (s: unknown): s is Dtype => typeof s === 'string' && Object.prototype.hasOwnProperty.call(kinds, s);
const isSize = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;
const isRecord = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

/** Most axes of a tensor. */
const maxAxes = 8;

/** A name from a header, short enough for an error. */
const quote = (s: string) => JSON.stringify(s.length > 60 ? s.slice(0, 60) + '…' : s);

/**
 * Reads a container. `where` names it in errors: "curves.0.1 of run digits".
 *
 * @throws DecodeError that says what was expected and what was found.
 */
export function decode(buffer: ArrayBuffer, where = 'array'): Container {
  const fail = (text: string): never => {
    throw new DecodeError(`${where}: ${text}`);
  };
  if (buffer.byteLength < 8) fail(`${buffer.byteLength} bytes: a container has at least 8; the answer was cut off`);
  const head = new DataView(buffer);
  const length = head.getUint32(0, true);
  if (head.getUint32(4, true) !== 0 || length > buffer.byteLength - 8) {
    fail(`the header claims more bytes than the ${buffer.byteLength - 8} that follow: the answer was cut off, or is no container`);
  }
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array(buffer, 8, length)));
  } catch (e) {
    fail(`the header is no JSON: ${e instanceof Error ? e.message : String(e)}`);
  }
  if (!isRecord(header)) return fail('the header is no JSON object');
  const start = 8 + length;
  const size = buffer.byteLength - start;
  const tensors = record<Tensor>();
  const metadata = record<string>();
  const ranges: [number, number, string][] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') {
      if (!isRecord(entry)) return fail('__metadata__ is no JSON object');
      for (const [key, text] of Object.entries(entry)) {
        if (typeof text !== 'string') return fail(`${quote(key)} of __metadata__ is no text`);
        metadata[key] = text;
      }
      continue;
    }
    const what = `array ${quote(name)}`;
    if (!isRecord(entry)) return fail(`${what} has no description`);
    const { dtype, shape, data_offsets: offsets } = entry;
    if (!isDtype(dtype)) return fail(`${what} has the dtype ${quote(String(JSON.stringify(dtype)))}, expected one of ${Object.keys(kinds).join(', ')}`);
    if (!Array.isArray(shape) || shape.length > maxAxes || !shape.every(isSize)) return fail(`${what} has no shape of at most ${maxAxes} lengths`);
    if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize)) return fail(`${what} has no data_offsets [from, to]`);
    const [from, to] = offsets as [number, number];
    if (from > to || to > size) return fail(`${what} lies at bytes ${from} to ${to} of the data, which has ${size}`);
    const kind = kinds[dtype];
    const width = kind.BYTES_PER_ELEMENT;
    // A product that is no safe integer is larger than any buffer, unless a later length is 0.
    const count = shape.includes(0) ? 0 : shape.reduce((a: number, b: number) => a * b, 1);
    if (count * width !== to - from) return fail(`${what} of shape [${shape.join(', ')}] and dtype ${dtype} takes ${count * width} bytes, and has ${to - from}`);
    const at = start + from;
    const data = at % width === 0 ? new kind(buffer, at, count) : new kind(buffer.slice(at, start + to));
    tensors[name] = { dtype, shape: shape as number[], data };
    ranges.push([from, to, name]);
  }
  ranges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let end = 0;
  for (const [from, to, name] of ranges) {
    if (from !== end) return fail(`array ${quote(name)} begins at byte ${from} of the data, expected ${end}: arrays neither overlap nor leave holes`);
    end = to;
  }
  if (end !== size) fail(`${size - end} bytes after the last array`);
  return { tensors, metadata };
}

/**
 * A tensor that has to be there, with one of these dtypes and this shape, in which null stands for any length.
 *
 * @throws DecodeError if it is not.
 */
export function need<D extends Data>(c: Container, name: string, dtypes: readonly Dtype[], shape: readonly (number | null)[], where = 'array'): Tensor & { data: D } {
  const t: Tensor | undefined = c.tensors[name];
  if (!t) throw new DecodeError(`${where}: no array ${quote(name)}, only ${Object.keys(c.tensors).slice(0, 10).map(quote).join(', ') || 'none'}`);
  if (!dtypes.includes(t.dtype)) throw new DecodeError(`${where}: array ${quote(name)} has the dtype ${t.dtype}, expected ${dtypes.join(' or ')}`);
  if (t.shape.length !== shape.length || shape.some((n, k) => n !== null && n !== t.shape[k])) {
    throw new DecodeError(`${where}: array ${quote(name)} has the shape [${t.shape.join(', ')}], expected [${shape.map((n) => n ?? 'any').join(', ')}]`);
  }
  return t as Tensor & { data: D };
}

/** A number in the metadata that has to be there and be finite. @throws DecodeError if it is not. */
export function needNumber(c: Container, key: string, where = 'array'): number {
  const text: string | undefined = c.metadata[key];
  const x = text === undefined || text.trim() === '' ? NaN : Number(text);
  if (!Number.isFinite(x)) throw new DecodeError(`${where}: the metadata says ${key} = ${text === undefined ? 'nothing' : quote(text)}, expected a number`);
  return x;
}

/** Writes a container, arrays in the order of their entries, the first at a multiple of eight bytes. */
export function encode(tensors: Readonly<Record<string, Tensor>>, metadata: Readonly<Record<string, string>> = {}): ArrayBuffer {
  const entries: string[] = [];
  const texts = Object.entries(metadata);
  if (texts.length > 0) entries.push(`"__metadata__":{${texts.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`);
  let end = 0;
  for (const [name, t] of Object.entries(tensors)) {
    const from = end;
    end += t.data.byteLength;
    entries.push(`${JSON.stringify(name)}:${JSON.stringify({ dtype: t.dtype, shape: t.shape, data_offsets: [from, end] })}`);
  }
  const text = new TextEncoder().encode(`{${entries.join(',')}}`);
  const length = Math.ceil(text.length / 8) * 8;
  const out = new Uint8Array(8 + length + end);
  new DataView(out.buffer).setUint32(0, length, true);
  out.fill(0x20, 8, 8 + length);
  out.set(text, 8);
  let at = 8 + length;
  for (const t of Object.values(tensors)) {
    out.set(new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength), at);
    at += t.data.byteLength;
  }
  return out.buffer;
}
