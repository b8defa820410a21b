// A source for tests: a small run whose numbers are known.

import type * as api from './api';
import { encode, type Tensor } from './safetensors';
import { Failure, type Ask, type Reply, type Source } from './source';

/** Value of model m at element k of sample i, for the metric j. */
export const value = (m: number, j: number, i: number, k: number, e: number): number => (m + 1) * 0.1 + j + i / 100 + 0.001 * Math.cos((2 * Math.PI * k) / e);

/** The run of a fake source: turns in steps of 30 degrees, two models, two metrics, and samples in three classes. */
export function fakeRun(n = 9, more: Partial<api.Run> = {}): api.Run {
  const e = 12;
  const elements = Array.from({ length: e }, (_, k) => [30 * k]);
  return {
    id: 'fake', name: 'fake', folder: 'lab/fake', begun: 0, changed: 0, digest: 'd', group: 'SO(2)', task: 'classification', models: ['plain', 'turned'], metrics: ['confidence', 'error'], samples: n, elements: e,
    state: { complete: true, done: n, total: n, running: false, seconds: null, rate: null },
    orbit: {
      name: 'SO(2)', title: 'turns, 12 angles', chart: [{ name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true }], steps: [0], layout: 'polar', elements,
      labels: elements.map((g) => `${g[0]}°`), exact: elements.map((g) => g[0] % 90 === 0), identity: 0, measure: 'uniform grid of 12 angles', weights: [], finite: false,
      moves: [{ name: 'turn left 90°', short: '+90°', element: [90], to: elements.map((_, k) => (k + 3) % e) }], indexed: false, kinds: [],
    },
    model_list: ['plain', 'turned'].map((name) => ({ name, sha256: '', run: 'fake', parameters: 0, scale: null, live: true })),
    metric_list: [
      { name: 'confidence', doc: '', better: 'higher', ref: 'target', range: [0, 1], title: 'confidence', wide: false },
      { name: 'error', doc: '', better: 'lower', ref: 'self', range: [0, null], title: 'error', wide: true },
    ],
    classes: ['a', 'b', 'c'], labelled: true, output: 'scores', failed: 0, live: { inputs: true, pictures: true, models: true },
    methods: [{ name: 'pca', title: 'PCA', doc: '', slow: false }, { name: 'umap', title: 'UMAP', doc: '', slow: true }],
    arrays: [0, 1].flatMap((m) => [0, 1].map((j) => ({ name: `curves.${m}.${j}`, shape: [n, e], bytes: n * e * 4 }))),
    slices: ['a', 'b', 'c'].map((name, label) => ({ name, label, n: n / 3, set: { label } })), audits: [], kernel: 'bilinear', engine: '', command: '', audit_command: 'nero audit', notes: [],
    scales: [{ lo: 0, hi: 1, log: false }, { lo: 1e-6, hi: 10, log: true }], details: [], window: [], boxed: false, input: 'image', inputs: [], outputs: [], weak: 0.5,
    ...more,
  };
}

const reply = (body: ArrayBuffer | object, status = 200, headers: Record<string, string> = {}): Reply => ({
  status,
  header: (h) => headers[h] ?? null,
  json: async <T>() => JSON.parse(JSON.stringify(body)) as T,
  bytes: async () => body as ArrayBuffer,
});

const f32 = (shape: number[], f: (k: number) => number): Tensor => ({ dtype: 'F32', shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, k) => f(k)) });

/** Answers the calls of the API for a fake run, and remembers what was asked. */
export class FakeSource implements Source {
  readonly asked: string[] = [];
  readonly bodies: unknown[] = [];
  emit: (e: api.Event) => void = () => undefined;
  up: (connected: boolean) => void = () => undefined;
  /** Answers in place of the usual ones. */
  override: (path: string, ask: Ask) => Reply | Promise<Reply> | null = () => null;
  kept: api.Slices = { format: 1, slices: [] };
  tag = '"1"';

  constructor(
    public run: api.Run = fakeRun(),
    readonly live = true,
  ) {}

  href(path: string): string {
    return `http://fake/api/v1/${path}`;
  }

  listen(on: (e: api.Event) => void, up: (connected: boolean) => void): () => void {
    this.emit = on;
    this.up = up;
    return () => undefined;
  }

  async get(path: string, ask: Ask = {}): Promise<Reply> {
    this.asked.push(`${ask.method ?? 'GET'} ${path}`);
    this.bodies.push(ask.body);
    await new Promise<void>((done) => setTimeout(done, 0));
    if (ask.signal?.aborted) throw new DOMException('aborted', 'AbortError');
    const other = this.override(path, ask);
    if (other) return other;
    const { samples: n, elements: e } = this.run;
    const m = /^runs\/([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(path);
    if (!m || decodeURIComponent(m[1]) !== this.run.id) throw new Failure(404, 'no-run', `There is no run ${m?.[1]}.`);
    const rest = m[2] ?? '';
    const q = new URLSearchParams(m[3] ?? '');
    const parts = rest.split(/[/.]/);
    if (rest === '') return reply(this.run);
    if (rest === 'samples') return reply({ ids: Array.from({ length: n }, (_, i) => `s${i}`), labels: Array.from({ length: n }, (_, i) => i % 3), done: n });
    if (rest.startsWith('arrays/curves.')) return reply(encode({ [rest.slice(7)]: f32([n, e], (k) => value(+parts[2], +parts[3], Math.floor(k / e), k % e, e)) }, { lo: '0', hi: '1' }));
    if (rest.startsWith('arrays/samples.')) {
      const of = (k: number) => value(+parts[2], +parts[3], k, 3, e);
      return reply(encode({ mean: f32([n], of), sd: f32([n], () => 0), min: f32([n], of), max: f32([n], of), identity: f32([n], of), worst: { dtype: 'I32', shape: [n], data: new Int32Array(n) } }));
    }
    if (/^samples\/\d+$/.test(rest)) {
      const i = +parts[1];
      return reply({ index: i, id: `s${i}`, label: i % 3, done: true, curves: [0, 1].map((a) => [0, 1].map((j) => Array.from({ length: e }, (_, k) => value(a, j, i, k, e)))) });
    }
    if (rest.endsWith('/probe')) {
      const models = (q.get('models') ?? '').split(',');
      const g = Number(q.get('g'));
      return reply(encode(Object.fromEntries(models.map((x) => [`values.${x}`, f32([2], (j) => Number(x) * 100 + j + g / 1000)])), { seq: q.get('seq') ?? '', sample: parts[1], g: String(g), element: '-1', exact: 'false' }));
    }
    if (rest.endsWith('/input')) return reply(encode({ input: f32([2, 2, 1], (k) => k) }, { lo: '0', hi: '3', exact: 'true' }));
    if (rest === 'embedding') return reply(encode({ xy: f32([n, 2], (k) => (k % 2 ? 0 : k / 2)) }, { axes: '["x","y"]', notes: '[]', fitted: String(n) }));
    if (rest === 'aggregate') return reply({ n, confidence: 0.95, curves: [] });
    if (rest === 'select') return reply({ n: 1, bits: btoa(String.fromCharCode(1, 0)) });
    if (rest === 'slices' && ask.method === 'PUT') {
      if (ask.headers?.['If-Match'] !== this.tag) throw new Failure(412, 'changed', 'Somebody else changed the slices.');
      this.kept = ask.body as api.Slices;
      this.tag = `"${Number(this.tag.replace(/"/g, '')) + 1}"`;
      return reply({}, 200, { ETag: this.tag });
    }
    if (rest === 'slices') return reply(this.kept, 200, { ETag: this.tag });
    throw new Failure(404, 'no-call', `There is no call ${path}.`);
  }
}
