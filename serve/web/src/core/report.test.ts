import { test } from 'node:test';
import assert from 'node:assert/strict';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type * as api from './api';
import { Random } from './random';
import { bitmap, directory, fromBase64, inflate, inside, keyOf, matrixOf, maxBlock, ReportSource, reversed, undelta, unplane, type Directory, type Entry, type KeptSample, type ReportAggregate } from './report';
import { decode, encode, type Tensor } from './safetensors';
import { aborted, Client, Failure } from './source';
import { fromBits, toBits } from './masks';
import { estimate, paired, perElement } from './stats';

const raw = (z: Uint8Array, bytes: number, name?: string) => {
  const out = new Uint8Array(inflateRawSync(z));
  if (out.length !== bytes) throw new Failure(200, 'damaged', `${name}: ${out.length}, not ${bytes}`);
  return Promise.resolve(out);
};

/** Blocks as nero report packs them. */
class Packer {
  readonly entries: Partial<Entry>[] = [];
  readonly blocks: string[] = [];

  add(entry: Partial<Entry> & { name: string; form: Entry['form'] }, bytes: Uint8Array): this {
    this.entries.push({ ...entry, bytes: bytes.length });
    this.blocks.push(deflateRawSync(bytes).toString('base64'));
    return this;
  }

  json(name: string, doc: unknown): this {
    return this.add({ name, form: 'json' }, new TextEncoder().encode(JSON.stringify(doc)));
  }

  text(): string {
    return JSON.stringify({ format: 1, version: 'test', run: 'r', home: '#/run/r?v=1', metric: 0, brief: 'Something is missing.', notes: ['Something.'], blocks: this.entries });
  }

  source(): ReportSource {
    return new ReportSource(directory(this.text()), (id) => this.blocks[id] ?? null, raw);
  }
}

const planes = (words: Uint8Array): Uint8Array => {
  const n = words.length / 4;
  const out = new Uint8Array(words.length);
  for (let i = 0; i < n; i++) for (let b = 0; b < 4; b++) out[b * n + i] = words[4 * i + b];
  return out;
};

const delta = (codes: Uint8Array, e: number): Uint8Array => codes.map((c, i) => (i % e ? c - codes[i - 1] : c));

// A run of 6 samples over 4 elements, two models, two metrics: the first linear, the second logarithmic. Sample 5 is not there.
const [N, E] = [6, 4];
const code = (m: number, k: number, i: number, g: number) => (i === 5 ? 255 : (37 * m + 11 * k + 53 * i + 29 * g) % 255);
const codes = (m: number, k: number) => Uint8Array.from({ length: N * E }, (_, p) => code(m, k, Math.floor(p / E), p % E));
const labels = [0, 1, 0, 1, 0, -1];
const card = { id: 'r', name: 'r', folder: '', begun: 0, changed: 0, digest: 'd', group: 'SO(2)', task: 'classification', models: ['one', 'two'], metrics: ['first', 'second'], samples: N, elements: E, state: { complete: true, done: N, total: N, running: false, seconds: null, rate: null } };
const classSlice = (label: number): api.Slice => ({ name: `c${label}`, label, n: 3, set: { label } });
const run = {
  ...card,
  orbit: { chart: [{ name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true }], steps: [0], elements: [[0], [90], [180], [270]], exact: [true, true, true, true], identity: 0, weights: [], finite: false, labels: ['0°', '90°', '180°', '270°'] },
  model_list: [{ name: 'one' }, { name: 'two' }],
  metric_list: [{ name: 'first', title: 'First', better: 'higher', range: [0, 1] }, { name: 'second', title: 'Second', better: 'lower', range: [0, null] }],
  classes: ['zero', 'one'],
  labelled: true,
  live: { inputs: true, pictures: true, models: false, reason: 'A report.' },
  slices: [classSlice(0), classSlice(1)],
};

const values = Float32Array.from({ length: 2 * 2 * E }, (_, p) => Math.fround(p / 7));
values[3] = NaN;
const figures = (m: number) => {
  const words = new Float32Array(6 * N);
  for (let i = 0; i < N; i++) for (let k = 0; k < 5; k++) words[k * N + i] = i === 5 ? NaN : m + k + i / 8;
  new Int32Array(words.buffer).set(Array.from({ length: N }, (_, i) => (i === 5 ? -1 : i % E)), 5 * N);
  return new Uint8Array(words.buffer);
};
const curve = (model: number): Partial<api.Curve> => ({ model, metric: 0, n: [5, 5, 5, 5], mean: [1, 2, 3, 4] });
const pair: api.Pair = { a: 0, b: 1, n: [5], mean: [0.5], lo: [0.25], hi: [0.75], p10: [-1], p90: [2], orbit: { n: 5, mean: 0.5, sd: 1, lo: 0.25, hi: 0.75 }, verdict: 'better' };

function packed(): Packer {
  const u8 = (data: Uint8Array, ...shape: number[]): Tensor => ({ dtype: 'U8', shape, data });
  const i32 = (list: number[], ...shape: number[]): Tensor => ({ dtype: 'I32', shape, data: Int32Array.from(list) });
  const sample = encode(
    {
      at: i32([0, 1, 2, 3], E),
      classes: i32(Array.from({ length: 2 * E * 2 }, (_, p) => p % 2), 2, E, 2),
      scores: { dtype: 'U16', shape: [2, E, 2], data: Uint16Array.from({ length: 2 * E * 2 }, (_, p) => 4096 * p) },
      curves: u8(planes(new Uint8Array(values.buffer)), 4, 2, 2, E),
      top: u8(Uint8Array.from([0, 1, 255, 1, 1, 1, 0, 0]), 2, E),
      input: u8(Uint8Array.from({ length: E * 6 }, (_, p) => p), E, 2, 3, 1),
    },
    { lo: '0', hi: '255', done: 'true', replay: 'nero replay', error: '' },
  );
  const thumbs = encode({ of: i32([2, 0], 2), pictures: u8(Uint8Array.from({ length: 8 }, (_, p) => 30 * p), 2, 2, 2, 1) });
  const p = new Packer()
    .json('run', run)
    .json('runs', { version: 'test', runs: [card], audits: [], planned: [], problems: [] })
    .json('samples', { ids: ['a', 'b', 'c', 'd', 'e', '</script>'], labels, done: N })
    .json('slices', { format: 1, slices: [{ name: 'mine', label: -1, n: 2, set: { indexes: [1, 4] } }] })
    .json('audits/x', { audit: { id: 'x' }, document: {}, places: [] })
    .json('aggregate.0', { confidence: 0.9, sets: [{ key: 'all', n: 5, curves: [curve(0), curve(1)], pairs: [pair] }, { key: 'slice:mine', n: 2, curves: [curve(0), curve(1)], pairs: [] }] })
    .json('aggregate.0.pairs', { confidence: 0.9, sets: [{ key: 'slice:mine', n: 2, curves: [], pairs: [{ ...pair, verdict: 'worse' }] }] })
    .json('aggregate.0.classes', { confidence: 0.9, sets: [{ key: 'label:1', n: 2, curves: [curve(0), curve(1)], pairs: [pair] }] })
    .add({ name: 'sample.2', form: 'container' }, new Uint8Array(sample))
    .add({ name: 'thumbs.0', form: 'container', shape: [2] }, new Uint8Array(thumbs))
    .add({ name: 'embedding.pca.0.0.1', form: 'plane', shape: [3, 2], box: [-1, 1, 0, 10], axes: ['x', 'y'], notes: ['note'], fitted: 3 }, Uint8Array.from([0, 0xfe, 255, 0, 0xff, 255, 0xff, 0, 0xfe, 0x7f, 0, 0xff]));
  for (let m = 0; m < 2; m++) {
    p.add({ name: `curves.${m}.0`, form: 'curves', shape: [N, E], steps: 254, lo: 0, hi: 1, delta: true }, delta(codes(m, 0), E));
    p.add({ name: `curves.${m}.1`, form: 'curves', shape: [N, E], steps: 63, lo: 1e-4, hi: 10, log: true }, codes(m, 1).map((c) => (c === 255 ? 255 : c % 64)));
    p.add({ name: `samples.${m}.0`, form: 'planes', shape: [6, N] }, planes(figures(m)));
    p.add({ name: `top.${m}`, form: 'classes', shape: [N, E] }, Uint8Array.from({ length: N * E }, (_, k) => (k === 5 ? 255 : k % 2)));
  }
  return p;
}

const client = () => new Client(packed().source());
const rejects = (p: Promise<unknown>, code: string) => assert.rejects(p, (e: unknown) => e instanceof Failure && e.code === code && e.detail.length > 10);

test('documents are those of the file', async () => {
  const c = client();
  assert.equal(c.live, false);
  assert.equal((await c.runs()).runs[0]!.id, 'r');
  assert.equal((await c.run('r')).elements, E);
  assert.equal((await c.samples('r')).ids[5], '</script>');
  assert.equal((await c.audit('x')).audit.id, 'x');
  await rejects(c.audit('y'), 'not-in-file');
  for (const p of [c.audit('y'), c.sheet('y')]) await assert.rejects(p, (e: unknown) => e instanceof Failure && e.remedy.includes('name the folder of this, too') && !e.remedy.includes('budget'));
  await rejects(c.run('other'), 'unknown');
  await rejects(c.startJob('r'), 'report');
  await rejects(c.probe('r', 0, [0], [0], 1), 'not-in-file');
  await rejects(c.source.get('runs/%ff'), 'not-in-file');
  const cut = new AbortController();
  const late = c.samples('r', cut.signal);
  cut.abort();
  await assert.rejects(late, aborted);
  assert.equal(c.exportURL('r', 'samples', 'csv', {}), '');
});

test('arrays are those that were packed', async () => {
  const c = client();
  for (let m = 0; m < 2; m++) {
    const linear = await c.curves('r', m, 0, 'f32');
    assert.deepEqual([linear.n, linear.e, linear.lo, linear.hi, linear.exact], [N, E, 0, 1, false]);
    assert.deepEqual([...linear.data], [...codes(m, 0)]);
    const log = await c.curves('r', m, 1, 'u8');
    assert.ok(log.data instanceof Float32Array);
    assert.equal(log.exact, false); // floats that are steps all the same
    codes(m, 1).forEach((x, p) => {
      const want = x === 255 ? NaN : Math.fround(1e-4 * Math.exp((Math.log(1e5) * (x % 64)) / 63));
      assert.ok(Number.isNaN(want) ? Number.isNaN(log.data[p]) : Math.abs(log.data[p] / want - 1) < 1e-6);
    });
    const s = await c.stats('r', m, 0);
    assert.deepEqual([s.drawn, (await c.stats('r', m, 1)).drawn], [undefined, true]);
    assert.deepEqual([s.mean[3], s.sd[3], s.min[3], s.max[3], s.identity[3], s.worst[3]], [m + 3 / 8, m + 1 + 3 / 8, m + 2 + 3 / 8, m + 3 + 3 / 8, m + 4 + 3 / 8, 3]);
    assert.ok(Number.isNaN(s.mean[5]) && s.worst[5] === -1);
    // The other metric has no figures of its own: they are read from the drawings.
    const r = await c.stats('r', m, 1);
    const row = Array.from({ length: E }, (_, g) => log.data[E + g] as number);
    assert.ok(Math.abs(r.mean[1] - row.reduce((t, v) => t + v, 0) / E) < 1e-5);
    assert.deepEqual([r.min[1], r.max[1], r.identity[1], r.worst[1]], [Math.min(...row), Math.max(...row), row[0], row.indexOf(Math.max(...row))]);
    assert.deepEqual(await Promise.all([0, 1, 2].map(async (e) => (await c.top('r', m, e))[1])), [0, -1, 0]);
  }
  await rejects(c.curves('r', 7, 0, 'u8'), 'not-in-file');
  await rejects(c.source.get('runs/r/arrays/curves.0'), 'not-in-file');
});

test('a kept sample is exact, another one is shown as it is drawn', async () => {
  const c = client();
  const one = (await c.sample('r', 2)) as KeptSample;
  assert.deepEqual([one.id, one.label, one.done, one.replay, one.error, one.rough], ['c', 0, true, 'nero replay', undefined, undefined]);
  assert.deepEqual(one.curves.flat(2), [...values].map((v) => (Number.isNaN(v) ? null : v)));
  assert.deepEqual(one.top, [[0, 1, -1, 1], [1, 1, 0, 0]]);
  assert.deepEqual(one.probabilities![1]![3], [(4096 * 14) / 65535, (4096 * 15) / 65535]);
  const p = await c.input('r', 2, [90]);
  assert.deepEqual([p.h, p.w, p.c, p.lo, p.hi, p.exact, [...p.data]], [2, 3, 1, 0, 255, true, [6, 7, 8, 9, 10, 11]]);
  assert.deepEqual([...(await c.input('r', 2, [450])).data], [6, 7, 8, 9, 10, 11]);
  await rejects(c.input('r', 2, [91]), 'not-in-file');
  await rejects(c.input('r', 2, []), 'not-in-file');
  const other = (await c.sample('r', 3)) as KeptSample;
  assert.deepEqual([other.rough, other.done, other.label, other.probabilities], [true, true, 1, undefined]);
  assert.deepEqual(other.curves[1]![0], Array.from({ length: E }, (_, g) => code(1, 0, 3, g) / 254));
  assert.deepEqual(other.top![0], [0, 1, 0, 1]);
  await assert.rejects(c.input('r', 3, [0]), /The input of sample 3 is not in this file, which keeps 1 of 6 samples whole/);
  assert.equal((await c.sample('r', 5)).done, false);
  await rejects(c.sample('r', 6), 'unknown');
});

test('what the file holds of all samples is asked as of a server', async () => {
  const s = client();
  const failed = async (f: Promise<unknown>, text: RegExp) => assert.rejects(f, (e: Error) => text.test(e.message));
  await failed(s.turns('r', { set: {}, model: 0, against: 'self' }), /does not hold this/);
  await failed(s.models('r', { set: { label: 1 }, base: 0 }), /of all samples/);
});

test('thumbs are pictures in a URL', async () => {
  const s = packed().source();
  await new Promise((f) => setTimeout(f, 20));
  assert.equal(s.href('runs/r/samples/1/thumb.png'), '');
  assert.equal(s.href('runs/q/samples/2/thumb.png'), '');
  assert.equal(s.href('runs/r/report?metric=0'), '');
  const url = s.href('runs/r/samples/0/thumb.png');
  assert.equal(url, bitmap(Uint8Array.from([120, 150, 180, 210]), 2, 2, 1));
  const px = Buffer.from(url.split(',')[1]!, 'base64');
  assert.deepEqual([px.toString('latin1', 0, 2), px.readUInt32LE(2), px.length, px.readInt32LE(18), px.readInt32LE(22)], ['BM', 70, 70, 2, 2]);
  // Rows from the bottom, padded to four bytes; blue comes first.
  assert.deepEqual([...px.subarray(54)], [180, 180, 180, 210, 210, 210, 0, 0, 120, 120, 120, 150, 150, 150, 0, 0]);
  assert.deepEqual([...Buffer.from(bitmap(Uint8Array.from([1, 2, 3]), 1, 1, 3).split(',')[1]!, 'base64').subarray(54)], [3, 2, 1, 0]);
});

test('curves of sets that came with the file are exact, others are summed up here', async () => {
  const said: string[] = [];
  const source = packed().source();
  source.tell = (t) => said.push(t);
  const c = new Client(source);
  const ask = async (q: api.AggregateRequest) => (await c.aggregate('r', q)) as ReportAggregate;
  const all = await ask({ set: {}, metric: 0, models: [1, 0], pair: [0, 1] });
  assert.deepEqual([all.n, all.confidence, all.curves.map((x) => x.model), all.pair, all.rough], [5, 0.9, [1, 0], pair, undefined]);
  const turned = await ask({ set: { label: 1 }, metric: 0, models: [1, 0], pair: [1, 0] });
  assert.deepEqual(turned.pair, { a: 1, b: 0, n: [5], mean: [-0.5], lo: [-0.75], hi: [-0.25], p10: [-2], p90: [1], orbit: { n: 5, mean: -0.5, sd: 1, lo: -0.75, hi: -0.25 }, verdict: 'worse' });
  assert.equal((await ask({ set: { slice: 'mine' }, metric: 0 })).n, 2);
  const apart = await ask({ set: { slice: 'mine' }, metric: 0, pair: [0, 1] });
  assert.deepEqual([apart.rough, apart.pair?.verdict], [undefined, 'worse']);
  assert.deepEqual(said, []);
  const some = await ask({ set: { not: { indexes: [0] } }, metric: 0, models: [0], pair: [0, 1] });
  assert.deepEqual([some.n, some.rough, said.length], [4, true, 1]); // sample 5 has no values
  const mask = Uint8Array.from([0, 1, 1, 1, 1, 0]);
  const want = perElement({ n: N, e: E, lo: 0, hi: 1, data: codes(0, 0) }, mask, 0.95);
  assert.deepEqual(some.curves[0]!.mean, [...want.mean]);
  assert.deepEqual(some.curves[0]!.p10, [...want.p10]);
  const orbit = estimate(Float32Array.from({ length: N }, (_, i) => i / 8), mask);
  assert.equal(some.curves[0]!.orbit.mean, orbit.mean);
  assert.deepEqual([some.curves[0]!.worst_sample, some.curves[0]!.worst_value], ['b', 2 + 1 / 8]);
  assert.deepEqual([some.pair!.orbit.mean, some.pair!.n], [1, [4, 4, 4, 4]]);
  // The same confidence and the same rules as those of the server: four differences of 1 each, of values from 0 to 1, have an interval.
  const unit = { range: [0, 1], binary: false } as const;
  const ones = paired(Float32Array.from({ length: N }, (_, i) => i / 8), Float32Array.from({ length: N }, (_, i) => 1 + i / 8), mask, 0.9, unit);
  assert.deepEqual([some.confidence, some.pair!.orbit.lo, some.pair!.orbit.hi, some.pair!.verdict, some.steps], [0.9, ones.lo, 1, 'no clear difference', undefined]);
  assert.ok(Math.abs(ones.lo - (2 * Math.pow(0.05, 1 / 4) - 1)) < 1e-12);
  const kept = estimate(Float32Array.from({ length: N }, (_, i) => i / 8), mask, 0.9, unit);
  assert.deepEqual([some.curves[0]!.orbit.lo, some.curves[0]!.orbit.hi], [kept.lo, kept.hi]);
  assert.ok(some.curves[0]!.lo.every((v) => v! >= 0) && some.curves[0]!.hi.every((v) => v! <= 1));
  // Of the second metric the file has the drawings alone: numbers, and no verdict.
  const coarse = await ask({ set: {}, metric: 1, models: [0], pair: [0, 1] });
  assert.deepEqual([coarse.rough, coarse.steps, coarse.pair!.verdict, coarse.pair!.orbit.n], [true, [0], '', 5]);
  // A rule is about the metric that is shown.
  const ruled = await c.select('r', { rule: 'mean A > 0.3 and label = 1' });
  assert.deepEqual([...fromBits(ruled.bits, N)], [0, 0, 0, 1, 0, 0]);
  assert.deepEqual([...fromBits((await c.select('r', { and: [{ rule: 'predicted A = label' }, { slice: 'mine' }] })).bits, N)], [0, 0, 0, 0, 1, 0]);
  await rejects(c.select('r', { rule: 'mean <' }), 'rule');
  await rejects(c.select('r', { slice: 'nobody' }), 'set');
  await rejects(ask({ set: {}, metric: 9 }), 'metric');
});

test('slices change as long as the page is open', async () => {
  const source = packed().source();
  const said: string[] = [];
  source.tell = (t) => said.push(t);
  const c = new Client(source);
  const { doc, tag } = await c.slices('r');
  assert.equal(doc.slices[0]!.name, 'mine');
  const next = { format: 1, slices: [{ name: 'mine', label: -1, n: 1, set: { bits: toBits(Uint8Array.from([1, 0, 0, 0, 0, 0])) } }] };
  const now = await c.putSlices('r', next, tag);
  assert.ok(now && now !== tag && said.length === 1);
  assert.deepEqual((await c.slices('r')).doc, next);
  await rejects(c.putSlices('r', doc, tag), 'changed');
  // The curves of the slice of that name are no longer those that came with the file.
  assert.deepEqual([(await c.aggregate('r', { set: { slice: 'mine' }, metric: 0 })).n], [1]);
});

test('a layout stands in for that of another metric, and says so', async () => {
  const c = client();
  const l = await c.embedding('r', { method: 'pca', metric: 0, models: [1, 0] });
  assert.ok('xy' in l);
  assert.deepEqual([...l.xy], [-1, 5, 1, 0, NaN, 10]);
  assert.deepEqual([l.axes, l.notes, l.fitted], [['x', 'y'], ['note'], 3]);
  const other = await c.embedding('r', { method: 'pca', metric: 1, models: [0, 1] });
  assert.ok('xy' in other && other.notes[0]!.includes('Laid out by First'));
  await rejects(c.embedding('r', { method: 'umap', metric: 0, models: [0, 1] }), 'not-in-file');
  await rejects(c.embedding('r', { method: 'pca', metric: 0, models: [0] }), 'not-in-file');
});

test('small parts', () => {
  assert.deepEqual([keyOf({}), keyOf({ label: 3 }), keyOf({ slice: 'x' }), keyOf({ rule: 'x' }), keyOf({ label: 1, slice: 'x' })], ['all', 'label:3', 'slice:x', '', '']);
  assert.deepEqual([...undelta(Uint8Array.from([1, 255, 3, 10, 1, 1]), 3)], [1, 0, 3, 10, 11, 12]);
  assert.deepEqual([...unplane(Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]))], [1, 3, 5, 7, 2, 4, 6, 8]);
  const coarse = { steps: 127, lo: 0, hi: 254, shape: [1, 3], delta: false, log: false } as unknown as Entry;
  assert.deepEqual([...matrixOf(Uint8Array.from([1, 127, 255]), coarse).data], [2, 254, 255]);
  const third = matrixOf(Uint8Array.from([1, 63, 255]), { ...coarse, steps: 63, hi: 63 });
  assert.deepEqual([third.data[0], third.data[1], Number.isNaN(third.data[2])], [1, 63, true]);
  assert.equal(reversed({ ...pair, orbit: { n: 1, mean: null, sd: null, lo: null, hi: null } }, 'higher').verdict, 'no clear difference');
});

test('inflate makes as many bytes as were promised, and no more', { skip: !rawDeflate() }, async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) % 251);
  const z = deflateRawSync(bytes);
  assert.deepEqual(await inflate(z, bytes.length), bytes);
  for (const n of [0, 99_999, 100_001]) await rejects(inflate(z, n), 'damaged');
  await rejects(inflate(z.subarray(0, z.length / 2), bytes.length), 'damaged');
  await rejects(inflate(Uint8Array.from([7, 7, 7, 7]), 100), 'damaged');
  // A bomb is refused before memory is taken for it.
  await assert.rejects(inflate(z, maxBlock * 4), /cannot become/);
  const bomb = deflateRawSync(new Uint8Array(5_000_000));
  await rejects(inflate(bomb, 1000), 'damaged');
});

/** Whether this Node knows deflate-raw, which browsers do. */
function rawDeflate(): boolean {
  try {
    new DecompressionStream('deflate-raw');
    return true;
  } catch {
    return false;
  }
}

test('a directory is not believed', () => {
  const good = JSON.parse(packed().text()) as { format: number; blocks: Record<string, unknown>[] };
  const bad = (change: (d: typeof good) => void) => {
    const d = structuredClone(good);
    change(d);
    assert.throws(() => directory(JSON.stringify(d)), (e: unknown) => e instanceof Failure && e.code === 'damaged');
  };
  const at = (name: string) => good.blocks.findIndex((b) => b['name'] === name);
  bad((d) => (d.format = 2));
  bad((d) => (d.blocks[1]!['name'] = d.blocks[0]!['name']));
  bad((d) => (d.blocks[0]!['bytes'] = -1));
  bad((d) => (d.blocks[0]!['bytes'] = maxBlock + 1));
  bad((d) => (d.blocks[0]!['form'] = 'toString'));
  bad((d) => (d.blocks[at('curves.0.0')]!['shape'] = [N, E + 1]));
  bad((d) => (d.blocks[at('curves.0.0')]!['shape'] = [1e300, 0]));
  bad((d) => (d.blocks[at('curves.0.0')]!['steps'] = 0));
  bad((d) => (d.blocks[at('curves.0.1')]!['lo'] = 0));
  bad((d) => (d.blocks[at('samples.0.0')]!['shape'] = [3, 12]));
  bad((d) => (d.blocks[at('embedding.pca.0.0.1')]!['box'] = [0, 1]));
  for (const text of ['', '[]', '{}', 'null', '{"format":1}', '{"format":1,"blocks":[1]}']) assert.throws(() => directory(text), Failure);
});

test('whatever the file holds, calls end with an answer or a Failure', async () => {
  const r = new Random(11);
  const good = packed();
  const paths = ['runs', 'runs/r', 'runs/r/samples', 'runs/r/samples/2', 'runs/r/samples/3', 'runs/r/samples/2/input?g=90', 'runs/r/arrays/curves.0.0', 'runs/r/arrays/curves.1.1', 'runs/r/arrays/samples.0.0', 'runs/r/arrays/samples.0.1', 'runs/r/arrays/top.0', 'runs/r/embedding?models=0,1', 'runs/r/slices', 'audits/x', 'runs/r/samples/2/probe'];
  let answers = 0;
  for (let k = 0; k < 300; k++) {
    const text = good.text().split('');
    const blocks = [...good.blocks];
    // Some characters of the directory, or of a block, become others.
    if (r.chance(0.3)) for (let j = r.int(4); j >= 0; j--) text[r.int(text.length)] = r.pick([...'0129,:"[]{}a-']);
    else {
      const b = r.int(blocks.length);
      const s = (blocks[b] as string).split('');
      for (let j = r.int(6); j >= 0; j--) s[r.int(s.length)] = r.pick([...'ABab01+/=<']);
      blocks[b] = s.join('');
    }
    let d: Directory;
    try {
      d = directory(text.join(''));
    } catch (e) {
      assert.ok(e instanceof Failure, String(e));
      continue;
    }
    const s = new ReportSource(d, (id) => blocks[id] ?? null, async (z, bytes, name) => {
      try {
        return await raw(z, bytes, name);
      } catch (e) {
        throw e instanceof Failure ? e : new Failure(200, 'damaged', String(e));
      }
    });
    for (const path of paths) {
      try {
        await s.get(path);
        answers++;
      } catch (e) {
        assert.ok(e instanceof Failure, `${path}: ${String(e)}`);
      }
    }
  }
  assert.ok(answers > 2000, `${answers}`);
});

test('a page that is no report has none, and a damaged one says so', async () => {
  const page = (texts: Record<string, string>) => ({ getElementById: (id: string) => (texts[id] === undefined ? null : ({ textContent: texts[id] } as unknown as HTMLElement)) });
  assert.equal(inside(page({})), null);
  const p = packed();
  const ok = inside(page({ 'nero-directory': p.text(), ...Object.fromEntries(p.blocks.map((b, k) => [`nero-${k}`, b])) }));
  assert.ok(ok && ok.home === '#/run/r?v=1' && ok.notice === 'Something is missing.');
  if (rawDeflate()) assert.equal(((await (await ok.get('runs/r')).json()) as api.Run).id, 'r');
  const broken = inside(page({ 'nero-directory': '{' }))!;
  await rejects(broken.get('runs'), 'damaged');
  assert.ok(broken.notice.includes('damaged'));
  assert.throws(() => fromBase64('%%%'), Failure);
  assert.equal(decode(encode({})).tensors['x'], undefined);
});
