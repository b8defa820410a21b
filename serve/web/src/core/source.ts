// Where everything that the interface shows comes from: a server, or what lies inside a report. Nothing else in the interface knows
// which of the two it is.

import type * as api from './api';
import { datum, type Datum } from './datum';
import { decode, type Container } from './safetensors';

/** An answer: its status, its headers, and a body that is read once. */
export interface Reply {
  readonly status: number;
  header(name: string): string | null;
  json<T>(): Promise<T>;
  bytes(): Promise<ArrayBuffer>;
}

/** How a path is asked for. The default is GET. */
export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: unknown; // sent as JSON
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** Something that answers the calls of the API. Paths are those below api/v1/. */
export interface Source {
  /** A server stands behind it: models can be asked, slices kept, work started. */
  readonly live: boolean;
  /** Rejects with a Failure for every status from 400, and if nobody answers. */
  get(path: string, ask?: Ask): Promise<Reply>;
  /** A URL for an image or a download; empty if there is none. */
  href(path: string): string;
  /** Calls on for every event, and up when the connection comes or goes; events in between are lost. Returns what ends it. */
  listen(on: (e: api.Event) => void, up: (connected: boolean) => void): () => void;
}

/** Why a call was not answered. Status 0: nobody answered at all. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly remedy = '',
    /** Seconds to wait as the server asked, NaN if it did not. */
    readonly after = NaN,
  ) {
    super(detail);
    this.name = 'Failure';
  }

  /** Nobody is there: the server ended, or the network is gone. */
  get gone(): boolean {
    return this.status === 0;
  }
}

/** Whether an error says only that the caller no longer wanted the answer. */
export const aborted = (e: unknown): boolean => e instanceof DOMException && e.name === 'AbortError';

/** What went wrong, for people. */
export const words = (e: unknown): string => (e instanceof Failure ? [e.detail, /^GET /.test(e.remedy) ? '' : e.remedy].filter(Boolean).map((t, k, all) => (k < all.length - 1 && !/[.!?…]$/.test(t) ? t + '.' : t)).join(' ') : e instanceof Error ? e.message : String(e));

/** The server that the page came from. */
export class ServerSource implements Source {
  readonly live = true;
  private readonly base: URL;

  /** Calls go to api/v1/ beside the page, so that a proxy may put a prefix in front. */
  constructor(page: string) {
    this.base = new URL('api/v1/', page.replace(/[?#].*$/s, ''));
  }

  href(path: string): string {
    return new URL(path, this.base).href;
  }

  async get(path: string, ask: Ask = {}): Promise<Reply> {
    const init: RequestInit = { method: ask.method ?? 'GET', credentials: 'same-origin', headers: { ...ask.headers } };
    if (ask.signal) init.signal = ask.signal;
    if (ask.body !== undefined) {
      init.body = JSON.stringify(ask.body);
      init.headers = { ...ask.headers, 'Content-Type': 'application/json' };
    }
    let r: Response;
    try {
      r = await fetch(this.href(path), init);
    } catch (e) {
      if (aborted(e)) throw e;
      throw new Failure(0, 'gone', 'The server does not answer.', 'Start nero serve again; what was loaded stays.');
    }
    if (r.status >= 400) throw await failure(r);
    return { status: r.status, header: (n) => r.headers.get(n), json: <T>() => r.json() as Promise<T>, bytes: () => r.arrayBuffer() };
  }

  listen(on: (e: api.Event) => void, up: (connected: boolean) => void): () => void {
    let events: EventSource | null = null;
    const open = () => {
      events = new EventSource(this.href('events'));
      events.onopen = () => up(true);
      events.onerror = () => up(false); // the browser connects again by itself
      events.onmessage = (m) => {
        try {
          on(JSON.parse(String(m.data)) as api.Event);
        } catch {
          // A message of a later version: what it says is missing, nothing else.
        }
      };
    };
    // Browsers open six connections to a host, all tabs together: one that nobody looks at gives its own back.
    const seen = () => {
      if (document.hidden) {
        events?.close();
        events = null;
      } else if (!events) open();
    };
    document.addEventListener('visibilitychange', seen);
    seen();
    return () => {
      document.removeEventListener('visibilitychange', seen);
      events?.close();
    };
  }
}

async function failure(r: Response): Promise<Failure> {
  const after = Number.parseFloat(r.headers.get('Retry-After') ?? '');
  try {
    const p = (await r.json()) as Partial<api.Problem>;
    return new Failure(r.status, p.code ?? String(r.status), p.detail || p.title || r.statusText, p.remedy, after);
  } catch {
    return new Failure(r.status, String(r.status), `The server answered ${r.status} ${r.statusText}.`, '', after);
  }
}

/** A picture or a mask, H x W x C. Values of lo and hi are what 0 and 255 stand for if the data are bytes. */
export interface Picture {
  h: number;
  w: number;
  c: number;
  data: Uint8Array | Float32Array;
  lo: number;
  hi: number;
  exact: boolean;
  /** Of a sequence, every picture in the order of time; the picture itself is the first. */
  frames?: readonly Picture[];
  /** What is no picture at all: the picture is then one empty pixel. */
  datum?: Datum;
  /** What the data say about it, moved like it. */
  target?: Datum;
}

/** What a prediction is compared with. */
export type Reference = 'target' | 'self' | 'consensus';

/** A box in pixels from the outer edges of its picture: x to the right, y down; the angle in degrees, counter-clockwise. */
export interface Box {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  angle: number;
  score: number;
  label: number;
}

/** A vector at every pixel, row by row: u along the columns, v along the rows, downward. */
export interface Field {
  h: number;
  w: number;
  u: Float32Array;
  v: Float32Array;
}

/** Where a field is wrong, small: end-point errors as means over blocks of pixels, and the mean over all pixels. */
export interface ErrorMap {
  h: number;
  w: number;
  data: Float32Array;
  mean: number;
  ref: Reference;
}

/** A sample before it is moved. */
export interface Scene {
  picture: Picture;
  /** The crop window at the identity: left, top, width and height in pixels of the picture; null if the whole of it is moved. */
  window: readonly [number, number, number, number] | null;
}

/** The boxes that were recorded at an element, by model, and what the data say. */
export interface Recorded {
  sample: number;
  element: number;
  models: Map<number, readonly Box[]>;
  target: readonly Box[] | null;
}

/** What one model answered. */
export interface Answer {
  values: Float32Array; // one per metric
  top: number; // predicted class, -1 if there is none
  probabilities?: Float32Array;
  logits?: Float32Array;
  output?: Picture;
  reference?: Picture;
  /** What the reference picture is. */
  pictured?: Reference;
  /** Boxes, best first, and what they are compared with, in the frame of the element. */
  boxes?: readonly Box[];
  refs?: Partial<Record<Reference, readonly Box[]>>;
  /** A field and the one that it is compared with. */
  field?: Field;
  against?: { ref: Reference; field: Field };
  /** Numbers of another form, and those that they are compared with. */
  datum?: Datum;
  versus?: { ref: Reference; datum: Datum };
  /** The share of the elements that the consensus rests on; NaN without one. */
  support?: number;
}

/** The models' answers at any element. */
export interface Probe {
  seq: number;
  sample: number;
  g: api.Element;
  element: number;
  exact: boolean;
  milliseconds: number;
  input: Picture | null;
  models: Map<number, Answer>;
}

/** The samples in two dimensions. */
export interface Layout2D {
  xy: Float32Array; // x0, y0, x1, y1, ...; NaN where there is none
  axes: string[];
  notes: string[];
  fitted: number;
}

/** Values by sample and element, exact or as bytes over a range. */
export interface Matrix {
  n: number;
  e: number;
  data: Uint8Array | Float32Array;
  lo: number;
  hi: number;
  /** Others are for display: steps over the range, which a report with a logarithmic scale gives as floats. */
  exact: boolean;
}

/** Per-sample figures over the orbit. */
export interface Stats {
  mean: Float32Array;
  sd: Float32Array;
  min: Float32Array;
  max: Float32Array;
  identity: Float32Array;
  worst: Int32Array; // element
  /** They were read from the steps of a drawing. */
  drawn?: boolean;
}

/** The value of sample i at element k of a matrix. */
export function at(m: Matrix, i: number, k: number): number {
  const v = m.data[i * m.e + k];
  return m.data instanceof Uint8Array ? (v === 255 ? NaN : m.lo + ((m.hi - m.lo) * v) / 254) : v;
}

/** An element in a URL. */
export const elementText = (g: api.Element): string => g.map((x) => String(+x.toPrecision(12))).join(',');

const enc = encodeURIComponent;
const plus = (id: string): string => enc(id).replace(/%2B/gi, '+');
const opt = (signal?: AbortSignal): Ask => (signal ? { signal } : {});

/** The calls of the API with their types, over any source. */
export class Client {
  constructor(readonly source: Source) {}

  get live(): boolean {
    return this.source.live;
  }

  async runs(signal?: AbortSignal): Promise<api.Runs> {
    return (await this.source.get('runs', opt(signal))).json();
  }

  async run(id: string, signal?: AbortSignal): Promise<api.Run> {
    return (await this.source.get(`runs/${plus(id)}`, opt(signal))).json();
  }

  async samples(id: string, signal?: AbortSignal): Promise<api.Samples> {
    return (await this.source.get(`runs/${plus(id)}/samples`, opt(signal))).json();
  }

  async sample(id: string, i: number, signal?: AbortSignal): Promise<api.Sample> {
    return (await this.source.get(`runs/${plus(id)}/samples/${i}`, opt(signal))).json();
  }

  /** A URL for the small picture of a sample, moved by an element if one is given; empty if there is none. */
  thumb(id: string, i: number, g?: api.Element): string {
    return this.source.href(`runs/${plus(id)}/samples/${i}/thumb.png${g ? `?g=${elementText(g)}` : ''}`);
  }

  async input(id: string, i: number, g: api.Element, signal?: AbortSignal): Promise<Picture> {
    const c = decode(await (await this.source.get(`runs/${plus(id)}/samples/${i}/input?g=${elementText(g)}&dtype=u8`, opt(signal))).bytes());
    const p = picture(c, 'input');
    if (!p) throw new Failure(200, 'malformed', 'The answer holds no input.');
    return p;
  }

  /** The sample before it is moved, with the place of the crop window. */
  async scene(id: string, i: number, signal?: AbortSignal): Promise<Scene> {
    const c = decode(await (await this.source.get(`runs/${plus(id)}/samples/${i}/context`, opt(signal))).bytes());
    const p = picture(c, 'context');
    if (!p) throw new Failure(200, 'malformed', 'The answer holds no picture.');
    const w = (c.metadata['window'] ?? '').split(',').filter(Boolean).map(Number);
    return { picture: p, window: w.length === 4 && w.every(Number.isFinite) ? (w as [number, number, number, number]) : null };
  }

  /** The boxes that were recorded at an element of the plan. */
  async boxes(id: string, i: number, g: api.Element, signal?: AbortSignal): Promise<Recorded> {
    const b = await (await this.source.get(`runs/${plus(id)}/samples/${i}/boxes?g=${elementText(g)}`, opt(signal))).json<api.Boxes>();
    return { sample: b.index, element: b.element, models: new Map(b.models.map((m) => [m.model, m.boxes.map(boxOf)])), target: b.target ? b.target.map(boxOf) : null };
  }

  async probe(id: string, i: number, g: api.Element, models: readonly number[], seq: number, signal?: AbortSignal, ref?: Reference): Promise<Probe> {
    const r = await this.source.get(`runs/${plus(id)}/samples/${i}/probe?g=${elementText(g)}&models=${models.join(',')}&seq=${seq}${ref ? `&ref=${ref}` : ''}`, opt(signal));
    return probeOf(decode(await r.bytes()), models);
  }

  /** Maps of the errors of fields, by model; a model whose reference is not there, or not yet, has none. */
  async errors(id: string, i: number, g: api.Element, models: readonly number[], ref: Reference | null, signal?: AbortSignal): Promise<Map<number, ErrorMap>> {
    const c = decode(await (await this.source.get(`runs/${plus(id)}/samples/${i}/errors?g=${elementText(g)}&models=${models.join(',')}${ref ? `&ref=${ref}` : ''}`, opt(signal))).bytes());
    const out = new Map<number, ErrorMap>();
    for (const m of models) {
      const t = c.tensors[`errors.${m}`];
      const of = c.metadata[`errors.${m}.ref`] ?? '';
      if (t && t.shape.length === 2 && isReference(of)) out.set(m, { h: t.shape[0] as number, w: t.shape[1] as number, data: floats(t.data), mean: number(c.metadata[`errors.${m}.mean`], NaN), ref: of });
    }
    return out;
  }

  async curves(id: string, model: number, metric: number, dtype: 'u8' | 'f32', signal?: AbortSignal): Promise<Matrix> {
    const name = `curves.${model}.${metric}`;
    const c = decode(await (await this.source.get(`runs/${plus(id)}/arrays/${name}?dtype=${dtype}`, opt(signal))).bytes());
    const t = tensor(c, name);
    const data = t.data instanceof Uint8Array ? t.data : floats(t.data);
    return { n: t.shape[0], e: t.shape[1], data, lo: number(c.metadata['lo'], 0), hi: number(c.metadata['hi'], 1), exact: !(data instanceof Uint8Array) && c.metadata['drawn'] !== 'true' };
  }

  /** The classes that a model answers at one element, by sample; -1 for none. */
  async top(id: string, model: number, element: number, signal?: AbortSignal): Promise<Int32Array> {
    const name = `top.${model}`;
    const { data, shape } = tensor(decode(await (await this.source.get(`runs/${plus(id)}/arrays/${name}?dtype=u8`, opt(signal))).bytes()), name);
    const [n, e] = shape;
    const none = data instanceof Uint8Array ? 255 : -1;
    const out = new Int32Array(n);
    for (let i = 0; i < n; i++) out[i] = data[i * e + element] === none ? -1 : Number(data[i * e + element]);
    return out;
  }

  async stats(id: string, model: number, metric: number, signal?: AbortSignal): Promise<Stats> {
    const c = decode(await (await this.source.get(`runs/${plus(id)}/arrays/samples.${model}.${metric}`, opt(signal))).bytes());
    const f = (n: string) => floats(tensor(c, n).data);
    return { mean: f('mean'), sd: f('sd'), min: f('min'), max: f('max'), identity: f('identity'), worst: Int32Array.from(tensor(c, 'worst').data as ArrayLike<number>), ...(c.metadata['drawn'] === 'true' ? { drawn: true } : {}) };
  }

  async aggregate(id: string, body: api.AggregateRequest, signal?: AbortSignal): Promise<api.Aggregate> {
    return (await this.source.get(`runs/${plus(id)}/aggregate`, { method: 'POST', body, ...opt(signal) })).json();
  }

  async select(id: string, body: api.Set, signal?: AbortSignal): Promise<api.Selected> {
    return (await this.source.get(`runs/${plus(id)}/select`, { method: 'POST', body, ...opt(signal) })).json();
  }

  /** The layout of the samples, or the task that computes it. */
  async embedding(id: string, q: { method: string; metric: number; models: readonly number[]; slice?: string; set?: string; seed?: number }, signal?: AbortSignal): Promise<Layout2D | api.Task> {
    const p = new URLSearchParams({ method: q.method, metric: String(q.metric), models: q.models.join(',') });
    if (q.slice) p.set('slice', q.slice);
    if (q.set) p.set('set', q.set);
    if (q.seed) p.set('seed', String(q.seed));
    const r = await this.source.get(`runs/${plus(id)}/embedding?${p}`, opt(signal));
    if (r.status === 202) return r.json<api.Task>();
    const c = decode(await r.bytes());
    return { xy: floats(tensor(c, 'xy').data), axes: list(c.metadata['axes']), notes: list(c.metadata['notes']), fitted: number(c.metadata['fitted'], NaN) };
  }

  /** The kept slices and the tag that a change has to name. */
  async slices(id: string, signal?: AbortSignal): Promise<{ doc: api.Slices; tag: string }> {
    const r = await this.source.get(`runs/${plus(id)}/slices`, opt(signal));
    return { doc: await r.json<api.Slices>(), tag: r.header('ETag') ?? '' };
  }

  async putSlices(id: string, body: api.Slices, tag: string): Promise<string> {
    const r = await this.source.get(`runs/${plus(id)}/slices`, { method: 'PUT', body, headers: tag ? { 'If-Match': tag } : {} });
    return r.header('ETag') ?? '';
  }

  /** Which classes turn into which when samples are moved. */
  async turns(id: string, body: api.TurnsRequest, signal?: AbortSignal): Promise<api.Turns> {
    return (await this.source.get(`runs/${plus(id)}/turns`, { method: 'POST', body, ...opt(signal) })).json();
  }

  /** Every model by every metric. */
  async models(id: string, body: api.ModelsRequest, signal?: AbortSignal): Promise<api.Models> {
    return (await this.source.get(`runs/${plus(id)}/models`, { method: 'POST', body, ...opt(signal) })).json();
  }

  /** Slices on which a model is worse than on the other samples. */
  async search(id: string, body: api.SearchRequest, signal?: AbortSignal): Promise<api.Search> {
    return (await this.source.get(`runs/${plus(id)}/search`, { method: 'POST', body, ...opt(signal) })).json();
  }

  /** What people say of a run, and the tag that a change has to name. */
  async remarks(id: string, signal?: AbortSignal): Promise<{ doc: api.Remarks; tag: string }> {
    const r = await this.source.get(`runs/${plus(id)}/remarks`, opt(signal));
    return { doc: await r.json<api.Remarks>(), tag: r.header('ETag') ?? '' };
  }

  /** Changes what people say of a run; a change that somebody else makes at the same time is kept. */
  async remark(id: string, change: (doc: api.Remarks) => api.Remarks): Promise<api.Remarks> {
    for (let tries = 3; ; tries--) {
      const { doc, tag } = await this.remarks(id);
      try {
        const r = await this.source.get(`runs/${plus(id)}/remarks`, { method: 'PUT', body: change(doc), headers: tag ? { 'If-Match': tag } : {} });
        return await r.json<api.Remarks>();
      } catch (e) {
        if (!(e instanceof Failure && e.status === 412) || tries <= 1) throw e;
      }
    }
  }

  async startJob(id: string): Promise<void> {
    await this.source.get(`runs/${plus(id)}/job`, { method: 'POST' });
  }

  async stopJob(id: string): Promise<void> {
    await this.source.get(`runs/${plus(id)}/job`, { method: 'DELETE' });
  }

  async cancelTask(id: string): Promise<void> {
    await this.source.get(`tasks/${enc(id)}`, { method: 'DELETE' });
  }

  /** What one of the commands found that make neither runs nor audits. */
  async sheet(id: string, signal?: AbortSignal): Promise<api.OpenSheet> {
    return (await this.source.get(`sheets/${enc(id)}`, opt(signal))).json();
  }

  /** Which questions arise, and what follows from the answers. */
  async identify(body: api.IdentifyRequest, signal?: AbortSignal): Promise<api.Identified> {
    return (await this.source.get('identify', { method: 'POST', body, ...opt(signal) })).json();
  }

  async audit(id: string, signal?: AbortSignal): Promise<api.Findings> {
    return (await this.source.get(`audits/${enc(id)}`, opt(signal))).json();
  }

  /** A URL for a download of a table; empty if there is none. */
  exportURL(id: string, table: 'aggregate' | 'samples' | 'orbit' | 'compare' | 'confusion' | 'models' | 'search' | 'remarks' | 'findings', ext: 'csv' | 'jsonl' | 'md' | 'tex', q: Record<string, string | number>): string {
    return this.source.href(`runs/${plus(id)}/export/${table}.${ext}${query(q)}`);
  }

  /** A URL for the run as one HTML file; empty if there is none. */
  reportURL(id: string, q: Record<string, string | number>): string {
    return this.source.href(`runs/${plus(id)}/report${query(q)}`);
  }
}

function query(q: Record<string, string | number>): string {
  const p = new URLSearchParams(Object.entries(q).map(([k, v]) => [k, String(v)]));
  const t = p.toString();
  return t && '?' + t;
}

const number = (s: string | undefined, otherwise: number): number => {
  const v = s === undefined || s === '' ? NaN : Number(s);
  return Number.isFinite(v) ? v : otherwise;
};

/** A list in the metadata: a JSON array, or lines. */
function list(s: string | undefined): string[] {
  if (!s) return [];
  try {
    const v: unknown = JSON.parse(s);
    if (Array.isArray(v)) return v.map(String);
  } catch {
    // lines, then
  }
  return s.split('\n').filter(Boolean);
}

const floats = (d: ArrayLike<number> | ArrayLike<bigint>): Float32Array => (d instanceof Float32Array ? d : Float32Array.from(d as ArrayLike<number>));

function tensor(c: Container, name: string) {
  const t = c.tensors[name];
  if (!t) throw new Failure(200, 'malformed', `The answer holds no tensor ${name}.`, 'Page and server may be of different versions: reload the page.');
  return t;
}

const boxOf = (b: api.Box): Box => ({ x1: b.x1 ?? NaN, y1: b.y1 ?? NaN, x2: b.x2 ?? NaN, y2: b.y2 ?? NaN, angle: b.angle ?? NaN, score: b.score ?? NaN, label: b.label });

/** The boxes of a tensor: rows of x1, y1, x2, y2, angle, score and label. */
function boxesIn(c: Container, name: string): Box[] | undefined {
  const t = c.tensors[name];
  if (!t || t.shape.length !== 2 || t.shape[1] !== 7) return undefined;
  const d = floats(t.data);
  return Array.from({ length: t.shape[0] }, (_, i) => {
    const [x1, y1, x2, y2, angle, score, label] = d.subarray(7 * i, 7 * i + 7);
    return { x1, y1, x2, y2, angle, score, label };
  });
}

/** The field of a tensor of shape 2 x H x W. */
function fieldIn(c: Container, name: string): Field | undefined {
  const t = c.tensors[name];
  if (!t || t.shape.length !== 3 || t.shape[0] !== 2) return undefined;
  const [, h, w] = t.shape;
  const d = floats(t.data);
  return { h, w, u: d.subarray(0, h * w), v: d.subarray(h * w, 2 * h * w) };
}

const isReference = (t: string | undefined): t is Reference => t === 'target' || t === 'self' || t === 'consensus';

/** The picture of a container, null if it holds none. Shapes of fewer than three sizes are rows of grey; those of four are pictures in the order of time. */
export function picture(c: Container, name: string): Picture | null {
  const other = datum(c, name);
  if (other) {
    const target = name === 'input' ? datum(c, 'target') : null;
    return { h: 1, w: 1, c: 1, data: new Uint8Array(1), lo: 0, hi: 1, exact: c.metadata['exact'] === 'true', datum: other, ...(target ? { target } : {}) };
  }
  const t = c.tensors[name];
  if (!t) return null;
  if (t.shape.length === 4) {
    const [n, h, w, ch] = t.shape;
    const step = h * w * ch;
    if (n < 1) return null;
    const part = (k: number) => picture({ tensors: { [name]: { dtype: t.dtype, shape: [h, w, ch], data: (t.data as Uint8Array).subarray(k * step, (k + 1) * step) } }, metadata: c.metadata }, name) as Picture;
    const frames = Array.from({ length: n }, (_, k) => part(k));
    return { ...frames[0], frames };
  }
  const [h, w, ch] = t.shape.length >= 3 ? t.shape : t.shape.length === 2 ? [t.shape[0], t.shape[1], 1] : [1, t.shape[0] ?? 1, 1];
  const data = t.data instanceof Uint8Array ? t.data : floats(t.data);
  const m = (k: string) => c.metadata[`${name}.${k}`] ?? c.metadata[k];
  let lo = number(m('lo'), NaN);
  let hi = number(m('hi'), NaN);
  if (!(hi > lo)) {
    [lo, hi] = [0, 1];
    if (data instanceof Float32Array) [lo, hi] = extent(data);
  }
  return { h, w, c: ch, data, lo, hi, exact: c.metadata['exact'] === 'true' };
}

function extent(d: Float32Array): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  for (const v of d) {
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  return hi > lo ? [lo, hi] : [lo === Infinity ? 0 : lo, (lo === Infinity ? 0 : lo) + 1];
}

function probeOf(c: Container, asked: readonly number[]): Probe {
  const m = c.metadata;
  const models = new Map<number, Answer>();
  for (const k of asked) {
    const values = c.tensors[`values.${k}`];
    if (!values) continue;
    const a: Answer = { values: floats(values.data), top: Number(c.tensors[`top.${k}`]?.data[0] ?? -1) };
    const p = c.tensors[`probabilities.${k}`];
    if (p) a.probabilities = floats(p.data);
    const l = c.tensors[`logits.${k}`];
    if (l) a.logits = floats(l.data);
    const output = picture(c, `output.${k}`);
    const reference = c.tensors[`field.${k}`] ? null : picture(c, `reference.${k}`);
    if (output?.datum) {
      a.datum = output.datum;
      const by = m[`reference.${k}`];
      if (reference?.datum && isReference(by)) a.versus = { ref: by, datum: reference.datum };
    } else {
      if (output) a.output = output;
      if (reference) a.reference = reference;
      const by = m[`reference.${k}`];
      if (reference && isReference(by)) a.pictured = by;
    }
    const boxes = boxesIn(c, `boxes.${k}`);
    if (boxes) {
      a.boxes = boxes;
      a.refs = {};
      for (const r of ['target', 'self', 'consensus'] as const) {
        const of = boxesIn(c, `boxes.${r}.${k}`);
        if (of) a.refs[r] = of;
      }
    }
    const field = fieldIn(c, `field.${k}`);
    if (field) a.field = field;
    const against = fieldIn(c, `reference.${k}`);
    const ref = m[`reference.${k}`];
    if (field && against && isReference(ref)) a.against = { ref, field: against };
    if (m[`support.${k}`] !== undefined) a.support = number(m[`support.${k}`], NaN);
    models.set(k, a);
  }
  return {
    seq: number(m['seq'], -1),
    sample: number(m['sample'], -1),
    g: (m['g'] ?? '').split(',').filter(Boolean).map(Number),
    element: number(m['element'], -1),
    exact: m['exact'] === 'true',
    milliseconds: number(m['milliseconds'], NaN),
    input: picture(c, 'input'),
    models,
  };
}
