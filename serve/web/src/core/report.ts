// A report: the interface with a run inside, opened from disk. This is the Source that answers the calls of the API from what lies in the
// page; serve/handout in Go writes it.
//
// The page holds a directory (#nero-directory, JSON) and blocks (#nero-0, #nero-1, ...: base64 of deflated bytes). Nothing in them is
// believed: every size is compared with the directory, and with what deflate can do, before memory is taken for it.

import type * as api from './api';
import { nearest } from './orbit';
import { spatial, toQuat, turned, vector, type Spatial } from './rotation';
import * as rule from './rule';
import { decode, encode, type Container, type Tensor } from './safetensors';
import { Failure, words, type Ask, type Reply, type Source } from './source';
import { evaluate, toBits } from './masks';
import { decoded, estimate, kindOf, pairedCurve, paired, perElement, perSample, unbounded, verdict, type Estimate, type Matrix } from './stats';

/** The form of the data that is read. */
export const format = 1;

/** A block in the directory. See entry in serve/handout/pack.go. */
export interface Entry {
  name: string;
  bytes: number;
  form: 'json' | 'curves' | 'classes' | 'planes' | 'plane' | 'container';
  shape: number[];
  steps: number;
  lo: number;
  hi: number;
  log: boolean;
  delta: boolean;
  axes: string[];
  notes: string[];
  fitted: number;
  box: number[];
}

/** A sample as a report keeps it. */
export interface KeptSample extends api.Sample {
  /** Scores of the classes by model, element and class, null where they were not kept. */
  probabilities?: (api.Num[] | null)[][];
  /** The sample was not kept: its curves are those of the drawings, without the metrics of which the file has none. */
  rough?: boolean;
}

/** Curves of a report. */
export interface ReportAggregate extends api.Aggregate {
  /**
   * Some of them are summed up in the page, from the steps of the drawings. The verdict on a difference is empty if the file has no exact
   * figures of the samples: steps of drawings are no evidence.
   */
  rough?: boolean;
  /** The models whose figures over the orbit come from the steps too. */
  steps?: number[];
}

/** What a report says of itself. */
export interface Directory {
  version: string;
  run: string;
  /** The hash at which the page begins. */
  home: string;
  /** The metric that is shown first. */
  metric: number;
  /** What is missing, in a sentence; empty if nothing is. */
  brief: string;
  /** What was left out, in words. */
  notes: string[];
  blocks: Entry[];
}

/** The longest block that is read, in bytes. */
export const maxBlock = 1 << 28;
/** Deflate makes at most so many bytes of one. */
const maxRatio = 1032;

const damaged = (text: string): Failure => new Failure(200, 'damaged', `The report is damaged: ${text}.`, 'Copy the file again from where it came, or write it again with nero report.');

/** What helps where a run has something that is not in its report, and where a report is asked for what lies elsewhere. */
const larger = 'nero serve shows the whole run; a report with a larger budget holds more.';
const elsewhere = 'A report holds what lay in the folders that it was written of, and beside them: write it again and name the folder of this, too, or open that with nero serve.';

const isRecord = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);
const isSize = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;
const text = (x: unknown): string => (typeof x === 'string' ? x : '');
const texts = (x: unknown): string[] => (Array.isArray(x) ? x.map(String) : []);
const finite = (x: unknown, otherwise: number): number => (typeof x === 'number' && Number.isFinite(x) ? x : otherwise);
const product = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Bytes of a value by form, 0 where the shape does not say. */
const widths: Record<Entry['form'], number> = { json: 0, container: 0, curves: 1, classes: 1, planes: 4, plane: 2 };

/** Reads a directory. @throws Failure */
export function directory(json: string): Directory {
  let raw: unknown;
  try {
    raw = JSON.parse(json);
  } catch {
    throw damaged('its directory is no JSON');
  }
  if (!isRecord(raw) || !Array.isArray(raw['blocks'])) throw damaged('its directory has no list of blocks');
  if (raw['format'] !== format) throw damaged(`its data have the form ${String(raw['format'])}, and this page reads ${format}`);
  const seen = new Set<string>();
  const blocks = raw['blocks'].map((b: unknown): Entry => {
    if (!isRecord(b) || typeof b['name'] !== 'string' || seen.has(b['name'])) throw damaged('a block has no name of its own');
    const name = b['name'];
    seen.add(name);
    const form = b['form'] as Entry['form'];
    if (typeof form !== 'string' || !Object.prototype.hasOwnProperty.call(widths, form)) throw damaged(`block ${name} has an unknown form`);
    const { bytes } = b;
    if (!isSize(bytes) || bytes > maxBlock) throw damaged(`block ${name} claims ${String(bytes)} bytes, at most ${maxBlock} are read`);
    const shape = (b['shape'] ?? []) as unknown;
    if (!Array.isArray(shape) || shape.length > 8 || !shape.every(isSize)) throw damaged(`block ${name} has no shape`);
    if (widths[form] > 0 && (shape.length !== 2 || product(shape as number[]) * widths[form] !== bytes)) throw damaged(`block ${name} of shape ${shape.join(' × ')} has ${bytes} bytes`);
    const steps = finite(b['steps'], 0);
    if (form === 'curves' && !(Number.isInteger(steps) && steps >= 1 && steps <= 254)) throw damaged(`block ${name} has ${steps} steps`);
    const [lo, hi, log] = [finite(b['lo'], 0), finite(b['hi'], 0), b['log'] === true];
    if (form === 'curves' && (!(lo <= hi) || (log && !(lo > 0)))) throw damaged(`block ${name} has values from ${lo} to ${hi}`);
    const box = Array.isArray(b['box']) ? b['box'].map((x) => finite(x, NaN)) : [];
    if (form === 'plane' && (shape[1] !== 2 || box.length !== 4 || box.some(Number.isNaN))) throw damaged(`block ${name} has no range`);
    if (form === 'planes' && name.startsWith('samples.') && shape[0] !== 6) throw damaged(`block ${name} has ${String(shape[0])} lists, expected 6`);
    return { name, bytes, form, shape: shape as number[], steps, lo, hi, log, delta: b['delta'] === true, axes: texts(b['axes']), notes: texts(b['notes']), fitted: finite(b['fitted'], NaN), box };
  });
  return { version: text(raw['version']), run: text(raw['run']), home: text(raw['home']), metric: isSize(raw['metric']) ? raw['metric'] : 0, brief: text(raw['brief']), notes: texts(raw['notes']), blocks };
}

/** The bytes of base64. @throws Failure */
export function fromBase64(s: string, name = 'a block'): Uint8Array {
  let raw: string;
  try {
    raw = atob(s.trim());
  } catch {
    throw damaged(`${name} is no base64`);
  }
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

/** Inflates to exactly so many bytes. No more are made, and no memory is taken for more than the bytes can become. @throws Failure */
export async function inflate(z: Uint8Array, bytes: number, name = 'a block'): Promise<Uint8Array> {
  if (bytes > z.length * maxRatio + 64) throw damaged(`${name} claims ${bytes} bytes, which its ${z.length} cannot become`);
  const stream = new DecompressionStream('deflate-raw');
  const writer = stream.writable.getWriter();
  // What goes wrong with the writing is seen when reading.
  writer.write(z as Uint8Array<ArrayBuffer>).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader();
  const out = new Uint8Array(bytes);
  let at = 0;
  for (;;) {
    let part: ReadableStreamReadResult<Uint8Array>;
    try {
      part = await reader.read();
    } catch {
      throw damaged(`${name} cannot be inflated`);
    }
    if (part.done) break;
    if (at + part.value.length > bytes) {
      reader.cancel().catch(() => undefined);
      throw damaged(`${name} is longer than its ${bytes} bytes`);
    }
    out.set(part.value, at);
    at += part.value.length;
  }
  if (at !== bytes) throw damaged(`${name} has ${at} of its ${bytes} bytes`);
  return out;
}

/** Takes the differences along rows of e back, in place. */
export function undelta(raw: Uint8Array, e: number): Uint8Array {
  if (e > 0) for (let at = 0; at < raw.length; at += e) for (let j = at + 1; j < Math.min(at + e, raw.length); j++) raw[j] = (raw[j] + raw[j - 1]) & 255;
  return raw;
}

/** The words of which all the lowest bytes come first, then the next ones. */
export function unplane(raw: Uint8Array): Uint8Array {
  const n = Math.floor(raw.length / 4);
  const out = new Uint8Array(4 * n);
  for (let b = 0; b < 4; b++) for (let i = 0; i < n; i++) out[4 * i + b] = raw[b * n + i];
  return out;
}

/** Values as the page computes with them: codes of 254 steps where these hold them, else floats. */
export function matrixOf(raw: Uint8Array, d: Entry): Matrix {
  const [n, e] = d.shape as [number, number];
  const codes = d.delta ? undelta(raw.slice(), e) : raw;
  if (!d.log && 254 % d.steps === 0) {
    const by = 254 / d.steps;
    return { n, e, lo: d.lo, hi: d.hi, data: by === 1 ? codes : codes.map((c) => (c === 255 ? 255 : Math.min(254, c * by))) };
  }
  const [from, to] = d.log ? [Math.log(d.lo), Math.log(d.hi)] : [d.lo, d.hi];
  const table = Float32Array.from({ length: 256 }, (_, c) => {
    const v = from + ((to - from) * c) / d.steps;
    return c > d.steps ? NaN : d.log ? Math.exp(v) : v;
  });
  return { n, e, lo: d.lo, hi: d.hi, data: Float32Array.from(codes, (c) => table[c]) };
}

/** Figures over the orbits, one list each. */
interface Figures {
  mean: Float32Array;
  sd: Float32Array;
  min: Float32Array;
  max: Float32Array;
  identity: Float32Array;
  worst: Int32Array;
}

/** A set as the curves of it are found in the file, empty if they are not. */
export function keyOf(s: api.Set): string {
  const keys = Object.keys(s).filter((k) => s[k as keyof api.Set] !== undefined);
  if (keys.length === 0) return 'all';
  if (keys.length > 1) return '';
  return s.label !== undefined ? `label:${s.label}` : s.slice !== undefined ? `slice:${s.slice}` : '';
}

interface Sum {
  key: string;
  n: number;
  curves: api.Curve[];
  pairs: api.Pair[];
  /** One for each model. */
  says?: string[];
}

const num = (v: number): api.Num => (Number.isFinite(v) ? v : null);
const nums = (v: ArrayLike<number>): api.Num[] => Array.from(v, num);
const est = ({ n, mean, sd, lo, hi }: Estimate): api.Estimate => ({ n, mean: num(mean), sd: num(sd), lo: num(lo), hi: num(hi) });
const minus = (v: api.Num): api.Num => (v === null ? null : -v + 0);

/** A difference the other way round. */
export function reversed(p: api.Pair, better: string): api.Pair {
  const turn = (list: api.Num[]) => list.map(minus);
  const o: api.Estimate = { n: p.orbit.n, mean: minus(p.orbit.mean), sd: p.orbit.sd, lo: minus(p.orbit.hi), hi: minus(p.orbit.lo) };
  const says = verdict({ ...o, missing: 0, mean: o.mean ?? NaN, sd: o.sd ?? NaN, lo: o.lo ?? -Infinity, hi: o.hi ?? Infinity }, better === 'lower' ? 'lower' : 'higher');
  return { a: p.b, b: p.a, n: p.n, mean: turn(p.mean), lo: turn(p.hi), hi: turn(p.lo), p10: turn(p.p90), p90: turn(p.p10), orbit: o, verdict: says };
}

/** A small picture as a BMP in a URL: an image of which every byte is known without a library. Channels are one or three. */
export function bitmap(px: Uint8Array, h: number, w: number, c: number): string {
  const stride = (3 * w + 3) & ~3;
  const size = 54 + stride * h;
  const out = new Uint8Array(size);
  const v = new DataView(out.buffer);
  v.setUint16(0, 0x4d42, true);
  v.setUint32(2, size, true);
  v.setUint32(10, 54, true);
  v.setUint32(14, 40, true);
  v.setInt32(18, w, true);
  v.setInt32(22, h, true);
  v.setUint16(26, 1, true);
  v.setUint16(28, 24, true);
  for (let y = 0; y < h; y++)
    for (let x = 0; x < w; x++)
      for (let k = 0; k < 3; k++) out[54 + (h - 1 - y) * stride + 3 * x + 2 - k] = px[(y * w + x) * c + (c >= 3 ? k : 0)];
  let s = '';
  for (let i = 0; i < size; i += 0x8000) s += String.fromCharCode(...out.subarray(i, i + 0x8000));
  return `data:image/bmp;base64,${btoa(s)}`;
}

/** Moves rows of three numbers by an element of space, in place; false for types whose map is not this one. */
export function moveRows(s: Spatial, g: readonly number[], type: string, data: Float32Array, shape: readonly number[]): boolean {
  if (shape[1] !== 3 || !/^(positions|vectors|pseudovectors)$/.test(type)) return false;
  const q = toQuat(vector(s, g));
  const flip = s.inversion >= 0 && g[s.inversion] && type !== 'pseudovectors' ? -1 : 1;
  const shift = s.t >= 0 && type === 'positions' ? [g[s.t], g[s.t + 1], g[s.t + 2]] : [0, 0, 0];
  for (let k = 0; k + 2 < data.length; k += 3) {
    const v = turned(q, [data[k], data[k + 1], data[k + 2]]);
    for (let j = 0; j < 3; j++) data[k + j] = flip * v[j] + shift[j];
  }
  return true;
}

/** Bytes of inflated blocks that are kept; the oldest go first. */
const cacheBytes = 96 << 20;

/** A run that lies in the page. It is asked like a server and asks nobody. */
export class ReportSource implements Source {
  readonly live = false;
  /** Called with what a reader has to know, such as that a change is not kept. */
  tell: (text: string) => void = () => undefined;

  private readonly blocks = new Map<string, { entry: Entry; id: number }>();
  private readonly raw = new Map<string, Promise<Uint8Array>>();
  private cached = 0;
  private readonly matrices = new Map<string, Promise<Matrix>>();
  private readonly thumbs = new Map<number, { px: Uint8Array; h: number; w: number; c: number }>();
  private slices: api.Slices | null = null;
  private tag = 1;
  private metric: number;
  private card: Promise<api.Run> | null = null;
  private table: Promise<api.Samples> | null = null;

  /** block gives the text of a block by its number, null if it is not there. */
  constructor(
    readonly directory: Directory,
    private readonly block: (id: number) => string | null,
    private readonly unpack: typeof inflate = inflate,
  ) {
    directory.blocks.forEach((entry, id) => this.blocks.set(entry.name, { entry, id }));
    this.metric = directory.metric;
    void this.readThumbs();
  }

  /** The hash at which the page begins. */
  get home(): string {
    return this.directory.home.startsWith('#/') ? this.directory.home : '#/runs';
  }

  /** What a reader has to know first; empty if nothing is missing. */
  get notice(): string {
    return this.directory.brief;
  }

  /** Whether what other commands found is in the file. */
  get sheets(): boolean {
    return this.directory.blocks.some((b) => b.name.startsWith('sheets/'));
  }

  listen(): () => void {
    return () => undefined;
  }

  href(path: string): string {
    const m = /^runs\/([^/?]+)\/samples\/(\d+)\/thumb\.png$/.exec(path);
    const t = m && decodeURIComponent(m[1]) === this.directory.run ? this.thumbs.get(Number(m[2])) : undefined;
    return t ? bitmap(t.px, t.h, t.w, t.c) : '';
  }

  async get(path: string, ask: Ask = {}): Promise<Reply> {
    const stop = () => {
      if (ask.signal?.aborted) throw new DOMException('The answer is no longer wanted.', 'AbortError');
    };
    stop();
    let answer: Awaited<ReturnType<typeof this.answer>>;
    try {
      answer = await this.answer(path, ask);
    } catch (e) {
      // Documents are held to their form by who wrote them: one that is not what it should be is noticed when it is used.
      throw e instanceof Failure ? e : damaged(e instanceof Error ? e.message : String(e));
    }
    stop();
    const headers = answer.headers ?? {};
    return {
      status: 200,
      header: (name) => headers[name.toLowerCase()] ?? null,
      json: <T>() => Promise.resolve(answer.doc as T),
      bytes: () => Promise.resolve(answer.bytes ?? new ArrayBuffer(0)),
    };
  }

  private async answer(path: string, ask: Ask): Promise<{ doc?: unknown; bytes?: ArrayBuffer; headers?: Record<string, string> }> {
    const [where, query = ''] = path.split('?', 2) as [string, string?];
    let parts: string[];
    try {
      parts = where.split('/').map(decodeURIComponent);
    } catch {
      throw this.missing(`the call ${where}`);
    }
    const q = new URLSearchParams(query);
    const method = ask.method ?? 'GET';
    const [kind, id, what, item, last] = parts;
    if (method === 'GET' && kind === 'runs' && parts.length === 1) return { doc: await this.json('runs') };
    if (method === 'GET' && kind === 'audits' && parts.length === 2) return { doc: await this.json(`audits/${id}`, 'this audit', elsewhere) };
    if (method === 'GET' && kind === 'sheets' && parts.length === 2) return { doc: await this.json(`sheets/${id}`, 'this page', elsewhere) };
    if (kind === 'runs' && id !== undefined && id !== this.directory.run) throw new Failure(404, 'unknown', `The run ${id} is not in this file, which holds ${this.directory.run}.`, 'Ask whoever made the report, or use nero serve.');
    if (kind === 'runs' && parts.length === 2 && method === 'GET') return { doc: await this.run() };
    if (kind === 'runs' && parts.length === 3) {
      if (what === 'samples' && method === 'GET') return { doc: await this.samples() };
      if (what === 'aggregate' && method === 'POST') return { doc: await this.aggregate(ask.body as api.AggregateRequest) };
      if ((what === 'turns' || what === 'models') && method === 'POST') return { doc: await this.further(what, ask.body) };
      if (what === 'select' && method === 'POST') {
        const mask = await this.mask(ask.body as api.Set);
        return { doc: { n: mask.reduce((t, x) => t + x, 0), bits: toBits(mask) } };
      }
      if (what === 'embedding' && method === 'GET') return { bytes: await this.embedding(q) };
      if (what === 'slices' && method === 'GET') return { doc: await this.kept(), headers: { etag: this.etag } };
      if (what === 'slices' && method === 'PUT') return this.keep(ask);
    }
    if (kind === 'runs' && parts.length === 4 && method === 'GET') {
      if (what === 'samples') return { doc: await this.sample(index(item)) };
      if (what === 'arrays') return { bytes: await this.array(item as string) };
    }
    if (kind === 'runs' && parts.length === 5 && method === 'GET' && what === 'samples' && last === 'input') return { bytes: await this.input(index(item), q.get('g') ?? '') };
    if (kind === 'runs' && parts.length === 5 && method === 'GET' && what === 'samples' && last === 'probe') return { bytes: await this.masks(index(item), q.get('g') ?? '', q.get('models') ?? '') };
    if (kind === 'runs' && parts.length === 5 && method === 'GET' && what === 'samples' && last === 'boxes') return { doc: await this.boxes(index(item), q.get('g') ?? '') };
    if (kind === 'runs' && parts.length === 5 && method === 'GET' && what === 'samples' && last === 'errors') return { bytes: await this.errors(index(item), q.get('g') ?? '', q.get('models') ?? '') };
    if (kind === 'runs' && parts.length === 5 && method === 'GET' && what === 'samples' && last === 'context') throw this.missing('the pictures around the crop window: what was fed is shown');
    throw new Failure(501, 'report', 'A report holds what was recorded: it asks no model, starts no work and makes no tables of its own.', 'Open the run with nero serve.');
  }

  private missing(what: string, remedy = larger): Failure {
    return new Failure(404, 'not-in-file', `This file does not hold ${what}.`, remedy);
  }

  private has(name: string): boolean {
    return this.blocks.has(name);
  }

  private entry(name: string, form: Entry['form'], what = name, remedy = larger): Entry {
    const b = this.blocks.get(name);
    if (!b) throw this.missing(what, remedy);
    if (b.entry.form !== form) throw damaged(`block ${name} is ${b.entry.form}, expected ${form}`);
    return b.entry;
  }

  /** The bytes of a block, which are shared. */
  private bytes(name: string, what = name): Promise<Uint8Array> {
    const b = this.blocks.get(name);
    if (!b) return Promise.reject(this.missing(what));
    const old = this.raw.get(name);
    if (old) {
      this.raw.delete(name);
      this.raw.set(name, old);
      return old;
    }
    const now = (async () => {
      const s = this.block(b.id);
      if (s === null) throw damaged(`block ${name} is not there`);
      return this.unpack(fromBase64(s, name), b.entry.bytes, name);
    })();
    this.raw.set(name, now);
    this.cached += b.entry.bytes;
    for (const k of this.raw.keys()) {
      if (this.cached <= cacheBytes || k === name) break;
      this.raw.delete(k);
      this.cached -= this.blocks.get(k)?.entry.bytes ?? 0;
    }
    return now;
  }

  private async json<T>(name: string, what = name, remedy = larger): Promise<T> {
    this.entry(name, 'json', what, remedy);
    try {
      return JSON.parse(new TextDecoder().decode(await this.bytes(name))) as T;
    } catch (e) {
      throw e instanceof Failure ? e : damaged(`block ${name} is no JSON`);
    }
  }

  private async container(name: string, what = name): Promise<Container> {
    this.entry(name, 'container', what);
    const raw = await this.bytes(name);
    return decode(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength) as ArrayBuffer, name);
  }

  private run(): Promise<api.Run> {
    return (this.card ??= this.json<api.Run>('run'));
  }

  private samples(): Promise<api.Samples> {
    return (this.table ??= this.json<api.Samples>('samples'));
  }

  // ---- samples ----

  private async sample(i: number): Promise<KeptSample> {
    const [run, all] = [await this.run(), await this.samples()];
    if (!(i < run.samples)) throw new Failure(404, 'unknown', `There is no sample ${i}: the run has ${run.samples}.`);
    if (!this.has(`sample.${i}`)) return this.drawn(i, run, all);
    const c = await this.container(`sample.${i}`);
    const [m, k, e] = [run.model_list.length, run.metric_list.length, run.elements];
    const t = c.tensors['curves'];
    if (!t || t.dtype !== 'U8' || t.data.length !== 4 * m * k * e) throw damaged(`sample ${i} has no curves of ${m} × ${k} × ${e}`);
    const values = new Float32Array(unplane(t.data as Uint8Array).buffer);
    const doc: KeptSample = {
      index: i,
      id: all.ids[i] ?? String(i),
      label: all.labels[i] ?? -1,
      done: c.metadata['done'] === 'true',
      curves: Array.from({ length: m }, (_, x) => Array.from({ length: k }, (_, y) => nums(values.subarray((x * k + y) * e, (x * k + y + 1) * e)))),
    };
    if (all.tags?.[i]) doc.tags = all.tags[i];
    if (c.metadata['error']) doc.error = c.metadata['error'];
    if (c.metadata['replay']) doc.replay = c.metadata['replay'];
    const top = c.tensors['top'];
    if (top && top.data.length === m * e) doc.top = Array.from({ length: m }, (_, x) => Array.from(top.data.slice(x * e, (x + 1) * e) as ArrayLike<number>, (v) => (top.dtype === 'U8' && v === 255 ? -1 : v)));
    for (const name of ['support', 'agreement'] as const) {
      const of: unknown = c.metadata[name] ? JSON.parse(c.metadata[name]) : null;
      if (Array.isArray(of)) doc[name] = of.map((v) => (typeof v === 'number' ? v : null));
    }
    const scores = probabilities(c, m, e, run.classes.length);
    if (scores) doc.probabilities = scores;
    return doc;
  }

  /** The best boxes of a kept sample at an element, in steps of a sixteenth of a pixel. */
  private async boxes(i: number, g: string): Promise<api.Boxes> {
    const run = await this.run();
    const c = this.has(`sample.${i}`) ? await this.container(`sample.${i}`) : null;
    const [counts, words] = [c?.tensors['counts'], c?.tensors['boxes']];
    if (!counts || !words) throw new Failure(404, 'not-in-file', `The boxes of sample ${i} are not in this file; its values along the orbit are.`, 'nero serve shows all of them.');
    const [models, e] = [run.model_list.length, run.elements];
    const most = words.shape[2] ?? 0;
    if (counts.data.length !== models * e || words.dtype !== 'U16' || words.data.length !== models * e * most * 7) throw damaged(`sample ${i} has no boxes of ${models} × ${e}`);
    const { index: at, same } = nearest(run.orbit, g.split(',').map(Number));
    if (at < 0 || !same) throw this.missing(`boxes at ${g}, which is no element of the plan`);
    const doc: api.Boxes = { index: i, element: at, g: run.orbit.elements[at], width: run.window[1] ?? 0, height: run.window[0] ?? 0, models: [] };
    const [target, shown] = [c?.tensors['target'], c?.tensors['at']];
    const row = target && shown ? Array.from(shown.data as ArrayLike<number>).indexOf(at) : -1;
    if (target && row >= 0 && target.data.length >= (row + 1) * 7) {
      const [x1, y1, x2, y2, angle, score, label] = Array.from(target.data.slice(row * 7, row * 7 + 7) as ArrayLike<number>);
      doc.target = Number.isNaN(x1) ? [] : [{ x1, y1, x2, y2, angle, score, label }];
    }
    for (let m = 0; m < models; m++) {
      const n = Number(counts.data[m * e + at]);
      if (n === 255) continue;
      doc.models.push({ model: m, boxes: Array.from({ length: Math.min(n, most) }, (_, k) => {
        const from = ((m * e + at) * most + k) * 7;
        const [x1, y1, x2, y2, angle, score, label] = Array.from(words.data.slice(from, from + 7) as ArrayLike<number>);
        const px = (v: number) => v / 16 - 512;
        return { x1: px(x1), y1: px(y1), x2: px(x2), y2: px(y2), angle: (360 * angle) / 65535, score: score / 65535, label: label === 65535 ? -1 : label };
      }) });
    }
    return doc;
  }

  /** The masks that were kept of a sample at an element, as a server that asks its models sends them. */
  private async masks(i: number, g: string, models: string): Promise<ArrayBuffer> {
    const run = await this.run();
    const c = this.has(`sample.${i}`) ? await this.container(`sample.${i}`) : null;
    const [masks, truth, at] = [c?.tensors['masks'], c?.tensors['truth'], c?.tensors['masked']];
    const none = (what: string) => new Failure(404, 'not-in-file', `${what} not in this file; the values along the orbit are.`, 'nero serve shows all of them.');
    if (!c || !masks || !at) throw none(`The answers to sample ${i} are`);
    const { index: element, same } = nearest(run.orbit, g.split(',').map(Number));
    const row = same ? Array.from(at.data as ArrayLike<number>).indexOf(element) : -1;
    if (row < 0) throw none(`The masks of sample ${i} at this element are`);
    const [m, k, h, w] = masks.shape as [number, number, number, number];
    if (masks.dtype !== 'U8' || masks.shape.length !== 4 || m !== run.model_list.length || k !== at.data.length || m * k * h * w !== masks.data.length) throw damaged(`sample ${i} has no masks of ${run.model_list.length} × ${at.data.length}`);
    if (truth && (truth.dtype !== 'U8' || truth.data.length !== k * h * w)) throw damaged(`the truth of sample ${i} is not as large as its masks`);
    const cut = (from: ArrayLike<number> | ArrayLike<bigint>, n: number): Tensor => ({ dtype: 'I32', shape: [h, w, 1], data: Int32Array.from((from as Uint8Array).subarray(n * h * w, (n + 1) * h * w), (l) => (l === 255 ? -2 : l === 254 ? -1 : l)) });
    const tensors: Record<string, Tensor> = {}, about: Record<string, string> = { sample: String(i), element: String(element), g: (run.orbit.elements[element] ?? []).join(), exact: String(run.orbit.exact[element] === true), seq: '0' };
    const kept = await this.sample(i);
    for (const model of models.split(',').map(Number)) {
      if (!(model >= 0 && model < m)) continue;
      tensors[`values.${model}`] = { dtype: 'F32', shape: [run.metric_list.length], data: Float32Array.from(run.metric_list, (_, j) => kept.curves[model]?.[j]?.[element] ?? NaN) };
      tensors[`output.${model}`] = cut(masks.data, model * k + row);
      if (!truth) continue;
      tensors[`reference.${model}`] = cut(truth.data, row);
      about[`reference.${model}`] = 'target';
    }
    try {
      const input = decode(await this.input(i, about['g'] ?? ''));
      if (input.tensors['input']) tensors['input'] = input.tensors['input'];
      for (const [key, v] of Object.entries(input.metadata)) if (/^(input\.)?(lo|hi)$/.test(key)) about[key.startsWith('input') ? key : `input.${key}`] = v;
    } catch (e) {
      if (!(e instanceof Failure)) throw e; // the masks stand for themselves
    }
    return encode(tensors, about);
  }

  /** A sample that was not kept: its curves as they are drawn, its predicted classes. */
  private async drawn(i: number, run: api.Run, all: api.Samples): Promise<KeptSample> {
    const doc: KeptSample = { index: i, id: all.ids[i] ?? String(i), label: all.labels[i] ?? -1, done: false, rough: true, curves: [] };
    if (all.tags?.[i]) doc.tags = all.tags[i];
    if (all.errors?.[String(i)]) doc.error = all.errors[String(i)] as string;
    const [e, top] = [run.elements, [] as number[][]];
    for (let m = 0; m < run.model_list.length; m++) {
      const row: api.Num[][] = [];
      for (let k = 0; k < run.metric_list.length; k++) {
        if (!this.has(`curves.${m}.${k}`)) continue; // a hole: there is nothing to show
        const d = this.entry(`curves.${m}.${k}`, 'curves');
        if ((i + 1) * e > d.bytes) throw damaged(`block ${d.name} has fewer rows than the run`);
        const one = matrixOf(await this.row(d, i), { ...d, shape: [1, d.shape[1] as number], delta: d.delta });
        row[k] = Array.from(one.data, (v) => num(one.data instanceof Uint8Array ? decoded(one, v) : v));
        doc.done ||= row[k].some((v) => v !== null);
      }
      doc.curves.push(row);
      const classes = await this.classes(m);
      if (classes) top.push(Array.from({ length: e }, (_, j) => classes(i * e + j)));
    }
    if (doc.curves.every((r) => r.length === 0)) throw this.missing(`the orbit of sample ${i}`);
    if (top.length === run.model_list.length) doc.top = top;
    return doc;
  }

  /** The bytes of a row as they are stored. */
  private async row(d: Entry, i: number): Promise<Uint8Array> {
    const e = d.shape[1] as number;
    return (await this.bytes(d.name)).slice(i * e, (i + 1) * e);
  }

  /** The predicted class of a model by place, null if the file has none. */
  private async classes(model: number): Promise<((at: number) => number) | null> {
    const b = this.blocks.get(`top.${model}`);
    if (!b) return null;
    const raw = await this.bytes(`top.${model}`);
    if (b.entry.form === 'classes') return (at) => ((raw[at] ?? 255) === 255 ? -1 : raw[at]);
    if (b.entry.form !== 'planes') throw damaged(`block top.${model} holds no classes`);
    const n = raw.length / 4;
    return (at) => raw[at] | (raw[n + at] << 8) | (raw[2 * n + at] << 16) | (raw[3 * n + at] << 24);
  }

  private async input(i: number, g: string): Promise<ArrayBuffer> {
    const run = await this.run();
    if (!this.has(`sample.${i}`)) {
      const kept = [...this.blocks.keys()].filter((x) => x.startsWith('sample.')).length;
      throw new Failure(404, 'not-in-file', `The input of sample ${i} is not in this file, which keeps ${kept} of ${run.samples} samples whole.`, 'Its curve is shown in the steps of the drawings.');
    }
    const c = await this.container(`sample.${i}`);
    const other = Object.keys(c.tensors).filter((n) => n === 'input' || n.startsWith('input/'));
    const t = c.tensors[other[0] ?? ''];
    const at = c.tensors['at'];
    const at0 = g === '' ? [] : g.split(',').map(Number);
    const near = at0.length === run.orbit.chart.length && at0.every(Number.isFinite) ? nearest(run.orbit, at0) : { index: -1, same: false };
    if (!t || !at) throw new Failure(404, 'not-in-file', `The input of sample ${i} is not in this file.`, run.live.reason ?? '');
    const kept = Array.from(at.data as ArrayLike<number>);
    const row = near.same ? kept.indexOf(near.index) : -1;
    if (c.metadata['input.kind']) return this.values(run, c, other, kept, row, at0, near.index, i);
    if (row < 0) throw new Failure(404, 'not-in-file', 'The input at this element is not in this file.', 'It holds those of elements of the plan.');
    const shape = t.shape.slice(1);
    const size = product(shape);
    if (t.shape[0] !== at.data.length || (row + 1) * size > t.data.length) throw damaged(`the inputs of sample ${i} do not fit their elements`);
    const one: Tensor = { dtype: t.dtype, shape, data: t.data.slice(row * size, (row + 1) * size) as Uint8Array };
    return encode({ input: one }, { lo: c.metadata['lo'] ?? '0', hi: c.metadata['hi'] ?? '1', exact: String(run.orbit.exact[near.index] === true), element: String(near.index), g, sample: String(i) });
  }

  /** The maps of the errors of fields at an element of the plan, of models that are kept. */
  private async errors(i: number, g: string, models: string): Promise<ArrayBuffer> {
    const run = await this.run();
    const c = this.has(`sample.${i}`) ? await this.container(`sample.${i}`) : null;
    const t = c?.tensors['errors'];
    if (!c || !t) {
      const held = [...this.blocks.values()].filter((b) => b.entry.notes?.includes('maps')).length;
      throw new Failure(404, 'not-in-file', held ? `This file has maps of errors of ${held} of ${run.samples} samples, and not of this one.` : 'This file has no maps of errors.', 'nero serve shows them while the models can be asked.');
    }
    const [m, e] = [run.model_list.length, run.elements];
    const size = product(t.shape.slice(2));
    if (t.dtype !== 'U8' || t.shape.length !== 4 || t.data.length !== m * e * size) throw damaged(`the maps of sample ${i} do not fit its elements`);
    const at = g === '' ? [] : g.split(',').map(Number);
    const near = at.length === run.orbit.chart.length && at.every(Number.isFinite) ? nearest(run.orbit, at) : { index: -1, same: false };
    if (!near.same) throw new Failure(404, 'not-in-file', 'This file has maps of errors at the elements of the plan.');
    const step = Number(c.metadata['errors.hi']) / 254;
    const means: unknown = JSON.parse(c.metadata['errors.mean'] ?? '[]');
    const out: Record<string, Tensor> = {};
    const meta: Record<string, string> = { sample: String(i), g, element: String(near.index) };
    for (const k of models.split(',').map(Number)) {
      const mean: unknown = Array.isArray(means) ? means[k * e + near.index] : null;
      if (!(k >= 0 && k < m) || typeof mean !== 'number') continue;
      const from = (k * e + near.index) * size;
      out[`errors.${k}`] = { dtype: 'F32', shape: t.shape.slice(2), data: Float32Array.from(t.data.slice(from, from + size) as Uint8Array, (v) => (v === 255 ? NaN : v * step)) };
      meta[`errors.${k}.mean`] = String(mean);
      meta[`errors.${k}.ref`] = c.metadata['errors.ref'] ?? '';
    }
    return encode(out, meta);
  }

  /** An input that is no picture. Motions of space are done here, from the input at the identity, where that is all there is. */
  private values(run: api.Run, c: Container, names: readonly string[], kept: readonly number[], row: number, g: readonly number[], element: number, i: number): ArrayBuffer {
    const home = kept.indexOf(run.orbit.identity);
    const s3 = spatial(run.orbit.chart);
    const from = row >= 0 ? row : s3 ? home : -1;
    if (from < 0) throw new Failure(404, 'not-in-file', 'The input at this element is not in this file.', `It holds those at ${kept.length} elements: ${kept.slice(0, 4).map((k) => run.orbit.labels[k]).join(', ')}${kept.length > 4 ? ' and others' : ''}.`);
    const tensors: Record<string, Tensor> = {};
    for (const name of names) {
      const t = c.tensors[name];
      const shape = t.shape.slice(1);
      const size = product(shape);
      if (t.shape[0] !== kept.length || kept.length * size !== t.data.length) throw damaged(`the inputs of sample ${i} do not fit their elements`);
      const data = t.data.slice(from * size, (from + 1) * size) as Float32Array;
      if (from !== row && s3) {
        const type = run.inputs.find((p) => p.name === name.slice(6))?.type ?? (run.inputs.length === 1 ? run.inputs[0].type : 'positions');
        if (type !== 'unchanged' && !(data instanceof Int32Array) && !moveRows(s3, g, type ?? '', data, shape)) throw new Failure(404, 'not-in-file', 'The input at this element is not in this file.', 'It holds that of the identity.');
      }
      tensors[name] = { dtype: t.dtype, shape, data };
    }
    const about = Object.fromEntries(Object.entries(c.metadata).filter(([k]) => k.startsWith('input')));
    return encode(tensors, { ...about, exact: String(run.orbit.exact[element] === true), element: String(element), g: g.join(), sample: String(i) });
  }

  private async readThumbs(): Promise<void> {
    for (const name of this.blocks.keys()) {
      if (!name.startsWith('thumbs.')) continue;
      try {
        const c = await this.container(name);
        const [of, pictures] = [c.tensors['of'], c.tensors['pictures']];
        if (!of || !pictures || pictures.shape.length !== 4 || pictures.shape[0] !== of.data.length || pictures.dtype !== 'U8') continue;
        const [, h, w, ch] = pictures.shape as [number, number, number, number];
        if (h * w > 1 << 16) continue;
        Array.from(of.data as ArrayLike<number>).forEach((i, k) => this.thumbs.set(i, { px: (pictures.data as Uint8Array).subarray(k * h * w * ch, (k + 1) * h * w * ch), h, w, c: ch }));
      } catch {
        // Without the small pictures everything else is as it is.
      }
    }
  }

  // ---- arrays ----

  /** The values of a metric under a model. */
  private matrix(model: number, metric: number): Promise<Matrix> {
    const name = `curves.${model}.${metric}`;
    let m = this.matrices.get(name);
    if (!m) {
      m = (async () => {
        const d = this.entry(name, 'curves', `the values of every sample for ${(await this.run()).metric_list[metric]?.title ?? 'this metric'}`);
        return matrixOf(await this.bytes(name), d);
      })();
      this.matrices.set(name, m);
      m.catch(() => this.matrices.delete(name));
      for (const k of this.matrices.keys()) {
        if (this.matrices.size <= 12) break;
        this.matrices.delete(k);
      }
    }
    return m;
  }

  private async figures(model: number, metric: number): Promise<Figures> {
    const name = `samples.${model}.${metric}`;
    if (this.has(name)) {
      const [, n] = this.entry(name, 'planes').shape as [number, number];
      const buffer = unplane(await this.bytes(name)).buffer;
      const list = (k: number) => new Float32Array(buffer, 4 * k * n, n);
      return { mean: list(0), sd: list(1), min: list(2), max: list(3), identity: list(4), worst: new Int32Array(buffer, 20 * n, n) };
    }
    // Read from the drawings, as coarse as they are.
    const run = await this.run();
    const m = await this.matrix(model, metric);
    const p = perSample(m, run.orbit.weights.length === m.e ? run.orbit.weights : null);
    const id = run.orbit.identity;
    const lower = run.metric_list[metric]?.better === 'lower';
    const value = (i: number) => (m.data instanceof Uint8Array ? decoded(m, m.data[i * m.e + id]) : m.data[i * m.e + id]);
    return {
      mean: Float32Array.from(p.mean),
      sd: Float32Array.from(p.variance, Math.sqrt),
      min: Float32Array.from(p.min),
      max: Float32Array.from(p.max),
      identity: Float32Array.from({ length: m.n }, (_, i) => (id >= 0 ? value(i) : NaN)),
      worst: lower ? p.argmax : p.argmin,
    };
  }

  private async array(name: string): Promise<ArrayBuffer> {
    const at = /^(curves|samples|top)\.(\d{1,6})(?:\.(\d{1,6}))?$/.exec(name);
    if (!at || (at[1] === 'top') !== (at[3] === undefined)) throw this.missing(`the array ${name}`);
    const [model, metric] = [Number(at[2]), Number(at[3] ?? 0)];
    if (at[1] !== 'top') this.metric = metric; // rules are about the metric shown
    if (at[1] === 'curves') {
      const m = await this.matrix(model, metric);
      const dtype = m.data instanceof Uint8Array ? 'U8' : 'F32';
      return encode({ [name]: { dtype, shape: [m.n, m.e], data: m.data } }, { lo: String(m.lo), hi: String(m.hi), drawn: 'true' });
    }
    if (at[1] === 'samples') {
      const f = await this.figures(model, metric);
      const floats = (data: Float32Array): Tensor => ({ dtype: 'F32', shape: [data.length], data });
      return encode({ mean: floats(f.mean), sd: floats(f.sd), min: floats(f.min), max: floats(f.max), identity: floats(f.identity), worst: { dtype: 'I32', shape: [f.worst.length], data: f.worst } }, this.has(name) ? {} : { drawn: 'true' });
    }
    const b = this.blocks.get(name);
    if (!b) throw this.missing('the predicted classes of every sample');
    const raw = await this.bytes(name);
    if (b.entry.form === 'classes') return encode({ [name]: { dtype: 'U8', shape: b.entry.shape, data: raw } });
    if (b.entry.form !== 'planes') throw damaged(`block ${name} holds no classes`);
    return encode({ [name]: { dtype: 'I32', shape: b.entry.shape, data: new Int32Array(unplane(raw).buffer) } });
  }

  private async embedding(q: URLSearchParams): Promise<ArrayBuffer> {
    const run = await this.run();
    const metric = Number(q.get('metric') ?? 0);
    const models = (q.get('models') ?? '').split(',').filter(Boolean).map(Number).sort((x, y) => x - y);
    const method = q.get('method') ?? 'pca';
    const of = (k: number) => `embedding.${method}.${k}.${[...new Set(models)].join('.')}`;
    const notes: string[] = [];
    let name = of(metric);
    if (!this.has(name) && this.has(of(this.directory.metric))) {
      name = of(this.directory.metric);
      notes.push(`Laid out by ${run.metric_list[this.directory.metric]?.title ?? 'another metric'}, the metric of which this file holds a layout.`);
    }
    const d = this.entry(name, 'plane', `the layout ${method} of these models`);
    const raw = await this.bytes(name);
    const n = d.shape[0];
    const xy = new Float32Array(2 * n);
    for (let axis = 0; axis < 2; axis++) {
      const [lo, hi] = [d.box[2 * axis], d.box[2 * axis + 1]];
      for (let i = 0; i < n; i++) {
        const code = raw[2 * axis * n + i] | (raw[(2 * axis + 1) * n + i] << 8);
        xy[2 * i + axis] = code === 65535 ? NaN : lo + ((hi - lo) * code) / 65534;
      }
    }
    return encode({ xy: { dtype: 'F32', shape: [n, 2], data: xy } }, { axes: JSON.stringify(d.axes), notes: JSON.stringify([...notes, ...d.notes]), fitted: String(d.fitted) });
  }

  /** What the file holds of all samples: what moved samples are taken for, and every model by every metric. */
  private async further(what: 'turns' | 'models', body: unknown): Promise<unknown> {
    const q = body as Partial<api.TurnsRequest & api.ModelsRequest>, name = what === 'models' ? 'models' : `turns.${q.model ?? 0}.${q.against || 'truth'}`;
    if (Object.keys(q.set ?? {}).length > 0) throw new Failure(501, 'report', 'The file holds this of all samples, and not of those that are chosen.', 'Choose all samples, or open the run with nero serve.');
    if (!this.has(name) || (what === 'models' && (q.base ?? 0) !== 0)) throw new Failure(501, 'report', 'The file does not hold this.', 'Open the run with nero serve.');
    return this.json(name);
  }

  // ---- sets and curves of them ----

  private async kept(): Promise<api.Slices> {
    return (this.slices ??= this.has('slices') ? await this.json<api.Slices>('slices') : { format: 1, slices: [] });
  }

  private get etag(): string {
    return `"report-${this.tag}"`;
  }

  private async keep(ask: Ask): Promise<{ doc: api.Slices; headers: Record<string, string> }> {
    await this.kept();
    const match = ask.headers?.['If-Match'];
    if (match !== undefined && match !== this.etag) throw new Failure(412, 'changed', 'The slices have changed meanwhile.', 'Read them again.');
    const doc = ask.body as api.Slices;
    if (!isRecord(doc) || !Array.isArray(doc.slices)) throw new Failure(400, 'body', 'These are no slices.');
    this.slices = doc;
    this.tag++;
    this.tell('Slices of a report are kept as long as this page is open. The address holds the choice: copy the link to keep it.');
    return { doc, headers: { etag: this.etag } };
  }

  /** Which samples a set chooses. */
  private async mask(set: api.Set): Promise<Uint8Array> {
    const [run, all, kept] = [await this.run(), await this.samples(), await this.kept()];
    const known = [...run.slices, ...kept.slices];
    const plain = await this.plain(set ?? {}, known, 0);
    const mask = evaluate(plain, { n: run.samples, labels: all.labels, slices: known });
    if (!mask) throw new Failure(400, 'set', 'The choice names a slice that is not there.');
    return mask;
  }

  /** A set without rules: each is evaluated. */
  private async plain(set: api.Set, known: readonly api.Slice[], depth: number): Promise<api.Set> {
    if (depth > 32) throw new Failure(400, 'set', 'The choice is nested too deeply.');
    if (set.rule !== undefined) return { bits: toBits(await this.rule(set.rule, set.metric ?? this.metric)) };
    if (set.and) return { and: await Promise.all(set.and.map((s) => this.plain(s, known, depth + 1))) };
    if (set.or) return { or: await Promise.all(set.or.map((s) => this.plain(s, known, depth + 1))) };
    if (set.not) return { not: await this.plain(set.not, known, depth + 1) };
    if (set.slice !== undefined) {
      const of = known.find((s) => s.name === set.slice);
      if (of) return this.plain(of.set, known, depth + 1);
    }
    return set;
  }

  private async rule(text: string, metric: number): Promise<Uint8Array> {
    const [run, all] = [await this.run(), await this.samples()];
    let node: rule.Node;
    try {
      node = rule.parse(text);
    } catch (e) {
      throw new Failure(400, 'rule', e instanceof Error ? e.message : String(e));
    }
    const c: rule.Columns = { n: run.samples, models: run.models, classes: run.classes, id: all.ids };
    if (run.labelled) c.label = all.labels;
    if (all.tags) c.tags = all.tags;
    const fields = rule.fields(node);
    if (fields.some((f) => rule.stats.some((s) => s === f.name))) {
      const figures = await Promise.all(run.models.map((_, m) => this.figures(m, metric)));
      c.stats = { mean: figures.map((f) => f.mean), min: figures.map((f) => f.min), max: figures.map((f) => f.max), spread: figures.map((f) => f.sd), identity: figures.map((f) => f.identity) };
    }
    if (fields.some((f) => f.name === 'predicted') && run.orbit.identity >= 0)
      c.predicted = await Promise.all(
        run.models.map(async (_, m) => {
          const of = await this.classes(m);
          return of ? Int32Array.from({ length: run.samples }, (_x, i) => of(i * run.elements + run.orbit.identity)) : undefined;
        }),
      );
    try {
      return rule.evaluate(node, c);
    } catch (e) {
      throw new Failure(400, 'rule', e instanceof Error ? e.message : String(e));
    }
  }

  private async sums(metric: number, key: string): Promise<{ confidence: number; sum: Sum } | null> {
    if (key === '') return null;
    if (key.startsWith('slice:') && this.tag > 1) return null; // a slice of this name may be another one by now
    for (const name of [`aggregate.${metric}`, `aggregate.${metric}.classes`]) {
      if (!this.has(name)) continue;
      const doc = await this.json<{ confidence: number; sets: Sum[] }>(name);
      const sum = doc.sets.find((s) => s.key === key);
      if (!sum) continue;
      // Differences of the kept slices by a metric that is not shown first lie apart, if they have found room.
      const apart = `aggregate.${metric}.pairs`;
      const more = sum.pairs.length === 0 && key.startsWith('slice:') && this.has(apart) ? (await this.json<{ sets: Sum[] }>(apart)).sets.find((s) => s.key === key) : undefined;
      return { confidence: doc.confidence, sum: more ? { ...sum, pairs: more.pairs } : sum };
    }
    return null;
  }

  private async aggregate(ask: api.AggregateRequest): Promise<ReportAggregate> {
    const run = await this.run();
    const about = run.metric_list[ask.metric];
    if (!about) throw new Failure(400, 'metric', `There is no metric ${ask.metric}.`);
    const models = ask.models ?? run.model_list.map((_, m) => m);
    const exact = await this.sums(ask.metric, keyOf(ask.set ?? {}));
    const confidence = exact?.confidence ?? (await this.confidence());
    const exactly = (m: number) => this.has(`samples.${m}.${ask.metric}`);
    let mask: Uint8Array | null = null;
    const chosen = async () => (mask ??= await this.there(await this.mask(ask.set ?? {}), ask.metric));
    const doc: ReportAggregate = { n: exact?.sum.n ?? 0, confidence, curves: [] };
    // A sentence names its inputs: of a choice that the file has none of, that of all inputs stands.
    const says = exact?.sum.says ?? (await this.sums(ask.metric, 'all'))?.sum.says;
    if (says) doc.says = models.map((m) => says[m] ?? '');
    let rough = false;
    for (const m of models) {
      const c = exact?.sum.curves.find((x) => x.model === m);
      if (c) {
        doc.curves.push(c);
        continue;
      }
      if (about.pooled) throw new Failure(404, 'not-in-file', `${about.title} is one number of a whole set, and that of this choice is not in the file.`, 'nero serve works it out.');
      rough = true;
      const in_ = await chosen();
      doc.n = in_.reduce((t, x) => t + x, 0);
      doc.curves.push(await this.curve(m, ask.metric, in_, confidence));
      if (!exactly(m)) (doc.steps ??= []).push(m);
    }
    const [a, b] = ask.pair ?? [];
    if (a !== undefined && b !== undefined && a !== b) {
      const p = exact?.sum.pairs.find((x) => x.a === a && x.b === b);
      const turned = p ?? exact?.sum.pairs.find((x) => x.a === b && x.b === a);
      if (p) doc.pair = p;
      else if (turned) doc.pair = reversed(turned, about.better);
      else if (!about.pooled && this.has(`curves.${a}.${ask.metric}`) && this.has(`curves.${b}.${ask.metric}`)) {
        rough = true;
        doc.pair = await this.difference(a, b, about, ask.metric, await chosen(), confidence);
        if (!exactly(a) || !exactly(b)) doc.pair.verdict = '';
      }
    }
    if (rough) {
      doc.rough = true;
      this.tell('Curves of this choice are summed up in the page from the values of the drawings. Those of the whole run and of the slices that came with it are exact where the file holds them.');
    }
    return doc;
  }

  /** The confidence of the intervals of the run, which all that the file has been given share. */
  private async confidence(): Promise<number> {
    for (const name of this.blocks.keys()) {
      if (!/^aggregate\.\d+(\.classes)?$/.test(name)) continue;
      const c = (await this.json<{ confidence?: unknown }>(name)).confidence;
      if (typeof c === 'number' && c > 0 && c < 1) return c;
    }
    return 0.95;
  }

  /** The samples of a set that have values. */
  private async there(mask: Uint8Array, metric: number): Promise<Uint8Array> {
    const m = await this.matrix(0, metric);
    const out = mask.slice();
    for (let i = 0; i < out.length; i++) {
      if (!out[i]) continue;
      let any = false;
      for (let k = 0; k < m.e && !any; k++) {
        const v = m.data[i * m.e + k];
        any = m.data instanceof Uint8Array ? v !== 255 : !Number.isNaN(v);
      }
      if (!any) out[i] = 0;
    }
    return out;
  }

  private async curve(model: number, metric: number, mask: Uint8Array, confidence: number): Promise<api.Curve> {
    const [run, all] = [await this.run(), await this.samples()];
    const about = run.metric_list[metric]!;
    const [lower, kind] = [about.better === 'lower', kindOf(about)];
    const m = await this.matrix(model, metric);
    const f = await this.figures(model, metric);
    const c = perElement(m, mask, confidence, kind);
    const extreme = lower ? f.max : f.min;
    const [weights, id] = [run.orbit.weights, run.orbit.identity];
    // Of the identity in the mean over the orbit; all of it where nothing is moved or the plan does not have it.
    const share = id < 0 ? 1 : weights.length === m.e ? weights[id] / weights.reduce((x, y) => x + y, 0) : 1 / m.e;
    const worse = (x: number, y: number) => (lower ? x > y : x < y);
    let [element, sample] = [-1, -1];
    c.mean.forEach((v, k) => {
      if (!Number.isNaN(v) && (element < 0 || worse(v, c.mean[element]))) element = k;
    });
    extreme.forEach((v, i) => {
      if (mask[i] && !Number.isNaN(v) && (sample < 0 || worse(v, extreme[sample]))) sample = i;
    });
    return {
      model,
      metric,
      slice: 0,
      n: Array.from(c.n),
      bad: Array.from(c.missing),
      mean: nums(c.mean),
      sd: nums(c.sd),
      lo: nums(c.lo),
      hi: nums(c.hi),
      p10: nums(c.p10),
      p90: nums(c.p90),
      min: nums(c.min),
      max: nums(c.max),
      // A mean over an orbit is no 0 or 1, and a change has no range that matters; the worst of an orbit that is not whole is not known.
      orbit: est(estimate(f.mean, mask, confidence, { ...kind, binary: false })),
      worst: est(estimate(extreme.map((v, i) => (Number.isNaN(f.mean[i]) ? NaN : v)), mask, confidence, kind)),
      moved: share < 1 ? est(estimate(Float64Array.from(f.mean, (v, i) => (v - share * f.identity[i]) / (1 - share)), mask, confidence, { ...kind, binary: false })) : { n: 0, mean: null, sd: null, lo: null, hi: null },
      change: est(estimate(Float64Array.from(f.mean, (v, i) => v - f.identity[i]), mask, confidence, unbounded)),
      worst_element: element,
      worst_sample: sample < 0 ? '' : (all.ids[sample] ?? ''),
      worst_at: sample < 0 ? -1 : f.worst[sample],
      worst_value: sample < 0 ? null : num(extreme[sample]),
      bad_at: -1,
    };
  }

  private async difference(a: number, b: number, about: api.Metric, metric: number, mask: Uint8Array, confidence: number): Promise<api.Pair> {
    const [x, y] = [await this.matrix(a, metric), await this.matrix(b, metric)];
    const kind = kindOf(about);
    const c = pairedCurve(x, y, mask, confidence, kind);
    const [p, q] = [await this.figures(a, metric), await this.figures(b, metric)];
    const o = paired(p.mean, q.mean, mask, confidence, kind);
    return { a, b, n: Array.from(c.n), mean: nums(c.mean), lo: nums(c.lo), hi: nums(c.hi), p10: nums(c.p10), p90: nums(c.p90), orbit: est(o), verdict: verdict(o, about.better) };
  }
}

function index(s: string | undefined): number {
  if (s === undefined || !/^\d{1,9}$/.test(s)) throw new Failure(404, 'unknown', `There is no sample ${s}.`);
  return Number(s);
}

/** The scores of the classes by model and element, null where they were not kept. */
function probabilities(c: Container, models: number, elements: number, classes: number): (api.Num[] | null)[][] | null {
  const [of, values] = [c.tensors['classes'], c.tensors['scores']];
  if (!of || !values || of.dtype !== 'I32' || values.dtype !== 'U16' || values.shape.length !== 3) return null;
  const k = values.shape[2] as number;
  if (of.data.length !== models * elements * k || values.data.length !== of.data.length) throw damaged('scores do not fit their classes');
  return Array.from({ length: models }, (_, m) =>
    Array.from({ length: elements }, (_x, e) => {
      const out: api.Num[] = [];
      for (let j = 0; j < k; j++) {
        const at = (m * elements + e) * k + j;
        const cls = Number(of.data[at]);
        if (cls >= 0 && cls < classes) {
          while (out.length < classes) out.push(null);
          out[cls] = Number(values.data[at]) / 65535;
        }
      }
      return out.length ? out : null;
    }),
  );
}

/** The report that a page is, null if it is none. A damaged one answers every call with what is wrong. */
export function inside(page: Pick<Document, 'getElementById'>): ReportSource | null {
  const head = page.getElementById('nero-directory');
  if (!head) return null;
  const block = (id: number) => page.getElementById(`nero-${id}`)?.textContent ?? null;
  try {
    return new ReportSource(directory(head.textContent ?? ''), block);
  } catch (e) {
    const why = e instanceof Failure ? e : damaged(String(e));
    const source = new ReportSource({ version: '', run: '', home: '#/runs', metric: 0, brief: words(why), notes: [], blocks: [] }, () => null);
    source.get = () => Promise.reject(why);
    return source;
  }
}
