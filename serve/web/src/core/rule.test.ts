import { test } from 'node:test';
import assert from 'node:assert/strict';
import table from '../../testdata/rules.json';
import { RuleError, asShown, evaluate, fields, maxDepth, maxLength, modelOf, parse, problem, quote, stats, type Columns, type Stat } from './rule';
import { Random } from './random';

type Raw = (number | null)[];
interface RawColumns {
  n: number;
  models: string[];
  classes?: string[];
  label?: Raw;
  id?: string[];
  tags?: string[][];
  predicted?: Raw[];
  stats?: Partial<Record<Stat, Raw[]>>;
}

/** The columns of the file: null is what is missing, statistics are float32. */
function columns(raw: RawColumns): Columns {
  const { n, models } = raw;
  const c: Columns = { n, models };
  const ints = (list: Raw) => Int32Array.from(list, (x) => x ?? -1);
  if (raw.classes) c.classes = raw.classes;
  if (raw.label) c.label = ints(raw.label);
  if (raw.id) c.id = raw.id;
  if (raw.tags) c.tags = raw.tags;
  if (raw.predicted) c.predicted = raw.predicted.map(ints);
  if (raw.stats) c.stats = Object.fromEntries(Object.entries(raw.stats).map(([k, v]) => [k, v.map((list) => Float32Array.from(list, (x) => x ?? NaN))]));
  return c;
}

const sets = Object.fromEntries(Object.entries(table.columns as Record<string, RawColumns>).map(([k, v]) => [k, columns(v)]));
const two = sets['two']!;

test('the cases that both implementations are held to', () => {
  let [masks, errors] = [0, 0];
  const wrong: unknown[] = [];
  for (const c of table.cases as { rule: string; columns?: string; mask?: string; error?: { code: string; at: number } }[]) {
    const on = sets[c.columns ?? 'two']!;
    const what = JSON.stringify(c.rule);
    if (c.mask !== undefined) {
      masks++;
      assert.equal(problem(c.rule, on), null, what);
      const got = evaluate(c.rule, on).join('');
      if (got !== c.mask) wrong.push([what, got, c.mask]);
      continue;
    }
    errors++;
    const e = problem(c.rule, on);
    assert.ok(e, what);
    if (e.code !== c.error!.code || e.at !== c.error!.at) wrong.push([what, e.code, e.at, e.message, c.error]);
    assert.throws(() => evaluate(c.rule, on), RuleError);
    assert.ok(e.message.length > 10);
  }
  assert.deepEqual(wrong, []);
  assert.ok(masks > 60 && errors > 50);
});

test('limits', () => {
  const not = (n: number) => 'not '.repeat(n) + 'label = 0';
  assert.equal(problem(not(maxDepth), two), null);
  assert.deepEqual([problem(not(maxDepth + 1), two)?.code, problem(not(maxDepth + 1), two)?.at], ['deep', 4 * maxDepth]);
  assert.equal(problem('('.repeat(maxDepth) + 'label = 0' + ')'.repeat(maxDepth), two), null);
  assert.equal(problem('('.repeat(maxDepth + 1) + 'label = 0' + ')'.repeat(maxDepth + 1), two)?.code, 'deep');
  assert.equal(problem('label = 0' + ' '.repeat(maxLength - 9), two), null);
  assert.deepEqual([problem('label = 0' + ' '.repeat(maxLength - 8), two)?.code, problem('label = 0' + ' '.repeat(maxLength - 8), two)?.at], ['long', maxLength]);
  const chain = Array.from({ length: 200 }, () => 'label = 0').join(' or ');
  assert.equal(evaluate(chain, two).join(''), '10001000', 'a long rule is not a deep one');
});

test('the fields of a rule, for whoever has to load them', () => {
  const list = fields(parse('mean A < 0.4 and not (label in (1, 2) or max "it\'s \\"B\\"" - min b > 3)'));
  assert.deepEqual(list.map((f) => f.name), ['mean', 'label', 'max', 'min']);
  assert.deepEqual([list[0]!, list[2]!, list[3]!].map((f) => modelOf(f, two.models)), [0, 1, 1]);
});

// A second implementation, which never reads a text: a rule is built together with what it means.
interface Built {
  text: string;
  test: (i: number) => boolean;
}

function number(r: Random): { text: string; at: (i: number) => number; rough: boolean } {
  switch (r.int(4)) {
    case 0: {
      const x = r.pick([0, 0.1, 0.25, 0.3, 0.5, 1, 2, 5]);
      return { text: r.pick([String(x), x.toFixed(3), x.toExponential()]), at: () => x, rough: false };
    }
    case 1:
      return { text: 'index', at: (i) => i, rough: false };
    default: {
      const [s, m] = [r.pick(stats), r.int(2)];
      const name = r.pick(['AB'[m]!, 'ab'[m]!, quote(two.models[m]!)]);
      return { text: `${s} ${name}`, at: (i) => two.stats![s]![m]![i] as number, rough: true };
    }
  }
}

function side(r: Random): { text: string; at: (i: number) => number; rough: boolean } {
  let s = number(r);
  if (r.chance(0.2)) {
    const t = s;
    s = { text: '-' + t.text, at: (i) => -t.at(i), rough: t.rough };
  }
  for (let k = r.chance(0.3) ? 1 + r.int(2) : 0; k > 0; k--) {
    const [t, u, minus] = [s, number(r), r.chance(0.5)];
    s = { text: `${t.text} ${minus ? '-' : '+'} ${u.text}`, at: (i) => (minus ? t.at(i) - u.at(i) : t.at(i) + u.at(i)), rough: t.rough || u.rough };
  }
  return s;
}

const relations: Record<string, (a: number, b: number) => boolean> = {
  '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b,
  '=': (a, b) => a === b, '!=': (a, b) => !Number.isNaN(a) && !Number.isNaN(b) && a !== b,
};

function condition(r: Random): Built {
  if (r.chance(0.3)) {
    const k = r.int(4);
    const negated = r.chance(0.5);
    return { text: `label ${negated ? 'not in' : 'in'} (${quote(two.classes![k]!)}, 1)`, test: (i) => two.label![i]! >= 0 && (two.label![i] === k || two.label![i] === 1) !== negated };
  }
  const [a, b, op] = [side(r), side(r), r.pick(Object.keys(relations))];
  const f = a.rough || b.rough ? Math.fround : (x: number) => x;
  return { text: `${a.text} ${op} ${b.text}`, test: (i) => relations[op]!(f(a.at(i)), f(b.at(i))) };
}

function build(r: Random, depth: number): Built {
  if (depth === 0 || r.chance(0.2)) return condition(r);
  const [a, b] = [build(r, depth - 1), build(r, depth - 1)];
  switch (r.int(3)) {
    case 0:
      return { text: `not (${a.text})`, test: (i) => !a.test(i) };
    case 1:
      return { text: `(${a.text}) ${r.pick(['and', 'AND'])} (${b.text})`, test: (i) => a.test(i) && b.test(i) };
    default:
      return { text: `(${a.text}) or\n(${b.text})`, test: (i) => a.test(i) || b.test(i) };
  }
}

test('fuzz: rules mean what they were built to mean', () => {
  const r = new Random(21);
  let chosen = 0;
  for (let round = 0; round < 3000; round++) {
    const b = build(r, r.int(4));
    const want = Array.from({ length: two.n }, (_, i) => (b.test(i) ? 1 : 0));
    assert.deepEqual([...evaluate(b.text, two)], want, b.text);
    chosen += want.reduce<number>((x, y) => x + y, 0);
  }
  assert.ok(chosen > 3000 && chosen < 21_000, 'the rules are neither all true nor all false');
});

test('fuzz: nothing but RuleError, at a place in the rule', () => {
  const r = new Random(22);
  let bad = 0;
  for (let round = 0; round < 5000; round++) {
    let text = r.chance(0.3) ? r.text(30) : build(r, 2).text;
    for (let k = r.int(4); k > 0; k--) {
      const at = r.int(text.length + 1);
      text = text.slice(0, at) + r.pick(['(', ')', 'not ', ' in ', '"', '-', '+', ',', '<', ' and ', 'mean ', 'label', '1', '.', '😀', '\\', '']) + text.slice(at + r.int(4));
    }
    const e = problem(text, two);
    if (e === null) {
      assert.equal(evaluate(text, two).length, two.n);
      continue;
    }
    bad++;
    assert.ok(Number.isInteger(e.at) && e.at >= 0 && e.at <= [...text].length, `${e.at} in ${JSON.stringify(text)}`);
  }
  assert.ok(bad > 1000 && bad < 5000, `${bad} of 5000 were refused`);
});

test('100,000 samples take no long time', () => {
  const n = 100_000;
  const c: Columns = { n, models: ['a'], label: new Int32Array(n), stats: { mean: [Float32Array.from({ length: n }, (_, i) => i / n)] } };
  const t0 = performance.now();
  const mask = evaluate('mean < 0.5 and not (label in (1, 2, 3))', c);
  assert.ok(performance.now() - t0 < 1000);
  assert.equal(mask.reduce((a, b) => a + b, 0), n / 2);
});

test('letters that somebody typed mean the models on show', () => {
  const models = ['one', 'two "2"', 'three'];
  assert.equal(asShown('mean A < 0.4 and min B > 1', models, [0, 1]), 'mean A < 0.4 and min B > 1');
  assert.equal(asShown('mean A < 0.4 and min  B > mean A', models, [2, 1]), 'mean "three" < 0.4 and min  "two \\"2\\"" > mean "three"');
  assert.equal(asShown('id = "mean A" and predicted A = label', models, [1]), 'id = "mean A" and predicted "two \\"2\\"" = label');
  assert.equal(asShown('mean B < 1', models, [2]), 'mean B < 1', 'there is no B on show');
  for (const r of ['mean A < 0.4', 'spread B >= 1 or not (max A in (1, 2))']) parse(asShown(r, models, [2, 0]));
});
