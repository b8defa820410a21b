/**
 * Rules that choose samples: `mean A < 0.4 and label = 6`. docs/SLICES.md has the grammar and what it means; the server reads the
 * same rules, and both are held to the cases of testdata/rules.json.
 */

/** What a rule looks at. All columns have one entry per sample; one that a run does not have, or that is not loaded, is left out. */
export interface Columns {
  /** Number of samples. */
  n: number;
  /** Names of the models; the letters A to F stand for them in this order. */
  models: readonly string[];
  /** Names of the classes. */
  classes?: readonly string[];
  /** Class of each sample; negative or NaN without one. */
  label?: ArrayLike<number>;
  id?: readonly string[];
  tags?: readonly (readonly string[])[];
  /** Class that a model predicts at the identity, by model; negative or NaN for none. */
  predicted?: readonly (ArrayLike<number> | undefined)[];
  /** Statistics over the orbit, by name and model, in float32; NaN for none. */
  stats?: Partial<Record<Stat, readonly (ArrayLike<number> | undefined)[]>>;
}

/** The statistics over the orbit of a sample: mean, lowest and highest value, standard deviation, value at the identity. */
export const stats = ['mean', 'min', 'max', 'spread', 'identity'] as const;
export type Stat = (typeof stats)[number];

/** Why a rule is refused. */
export type Code =
  | 'empty' | 'long' | 'deep' // no rule; too many characters; nested too deeply
  | 'character' | 'number' | 'text' // what is no symbol; no number; a text without its end
  | 'syntax' | 'field' // something else was expected; there is no such field
  | 'model' | 'class' | 'type' | 'missing'; // no such model, no such class; what cannot be compared; the run has no such column

/** What is wrong with a rule, and where: `at` counts characters (code points) from 0. */
export class RuleError extends Error {
  override name = 'RuleError';
  readonly code: Code;
  readonly at: number;

  constructor(code: Code, at: number, text: string) {
    super(text);
    this.code = code;
    this.at = at;
  }
}

/** Most characters of a rule. */
export const maxLength = 4096;
/** Most parentheses and nots within each other. */
export const maxDepth = 100;

type Op = '<' | '<=' | '>' | '>=' | '=' | '!=' | '~';

interface Token {
  kind: 'word' | 'number' | 'text' | 'symbol' | 'end';
  /** The word in lower case, the text without quotes, or the symbol. */
  value: string;
  number: number;
  at: number;
}

/** A field, with the model that stands behind it, if one does. */
export interface Field {
  name: Stat | 'predicted' | 'label' | 'index' | 'id' | 'tag';
  /** As written: a letter, or the name in quotes. */
  model: { letter: string } | { name: string } | null;
  at: number;
}

type Term = { sign: 1 | -1; at: number } & ({ kind: 'number'; value: number } | { kind: 'text'; value: string } | { kind: 'field'; field: Field });
type Sum = [Term, ...Term[]];

/** A rule that was read. */
export type Node =
  | { kind: 'and' | 'or'; list: Node[] }
  | { kind: 'not'; of: Node }
  | { kind: 'compare'; sides: Sum[]; ops: { op: Op; at: number }[] }
  | { kind: 'in'; left: Sum; not: boolean; items: Sum[]; at: number };

const fieldNames: readonly Field['name'][] = [...stats, 'predicted', 'label', 'index', 'id', 'tag'];
const reserved = ['and', 'or', 'not', 'in'];
const alternatives: Record<string, string> = { '==': '=', '≤': '<=', '≥': '>=', '≠': '!=', '−': '-' };
const symbols = ['<=', '>=', '==', '!=', '<', '>', '=', '~', '+', '-', '−', '≤', '≥', '≠', '(', ')', ','];

function tokens(text: string): Token[] {
  const chars = [...text];
  if (chars.length > maxLength) throw new RuleError('long', maxLength, `a rule has at most ${maxLength} characters, and this has ${chars.length}`);
  const out: Token[] = [];
  const wordy = (c: string | undefined) => c !== undefined && /^[A-Za-z0-9_]$/.test(c);
  const digit = (c: string | undefined) => c !== undefined && c >= '0' && c <= '9' && c.length === 1;
  for (let i = 0; i < chars.length; ) {
    const c = chars[i] as string;
    const at = i;
    if (c === ' ' || c === '\t' || c === '\n' || c === '\r') {
      i++;
    } else if (digit(c) || (c === '.' && digit(chars[i + 1]))) {
      while (digit(chars[i])) i++;
      if (chars[i] === '.') i++;
      while (digit(chars[i])) i++;
      if (chars[i] === 'e' || chars[i] === 'E') {
        let j = i + 1;
        if (chars[j] === '+' || chars[j] === '-') j++;
        if (digit(chars[j])) for (i = j; digit(chars[i]); ) i++;
      }
      const s = chars.slice(at, i).join('');
      const x = Number(s);
      if (wordy(chars[i]) || chars[i] === '.' || !Number.isFinite(x)) throw new RuleError('number', at, `this is no number: write 6, 0.4, .4 or 1e-3`);
      out.push({ kind: 'number', value: s, number: x, at });
    } else if (wordy(c)) {
      while (wordy(chars[i])) i++;
      out.push({ kind: 'word', value: chars.slice(at, i).join('').toLowerCase(), number: NaN, at });
    } else if (c === '"' || c === "'") {
      let s = '';
      for (i++; i < chars.length && chars[i] !== c; i++) {
        if (chars[i] === '\\' && i + 1 < chars.length) i++;
        s += chars[i];
      }
      if (i >= chars.length) throw new RuleError('text', at, `the text that begins here has no end: ${c} is missing`);
      i++;
      out.push({ kind: 'text', value: s, number: NaN, at });
    } else {
      const s = symbols.find((x) => x === c + (x.length === 2 ? (chars[i + 1] ?? '') : ''));
      if (s === undefined) throw new RuleError('character', at, `“${c}” means nothing in a rule`);
      i += [...s].length;
      out.push({ kind: 'symbol', value: alternatives[s] ?? s, number: NaN, at });
    }
  }
  if (out.length === 0) throw new RuleError('empty', 0, 'the rule is empty');
  out.push({ kind: 'end', value: '', number: NaN, at: chars.length });
  return out;
}

/** Reads a rule. @throws RuleError */
export function parse(text: string): Node {
  const list = tokens(text);
  let next = 0;
  const peek = () => list[next] as Token;
  const is = (kind: Token['kind'], value: string) => peek().kind === kind && peek().value === value;
  const take = (kind: Token['kind'], value: string) => is(kind, value) && ++next > 0;
  const found = (t: Token) => (t.kind === 'end' ? 'the rule ends' : `“${t.value}” stands`);
  const fail = (what: string): never => {
    throw new RuleError('syntax', peek().at, `expected ${what} where ${found(peek())}`);
  };
  const op = (): Op | null => {
    const t = peek();
    return t.kind === 'symbol' && ['<', '<=', '>', '>=', '=', '!=', '~'].includes(t.value) ? (t.value as Op) : null;
  };

  const or = (depth: number): Node => many('or', () => many('and', () => not(depth)));
  const many = (word: 'and' | 'or', one: () => Node): Node => {
    const first = one();
    if (!is('word', word)) return first;
    const all = [first];
    while (take('word', word)) all.push(one());
    return { kind: word, list: all };
  };
  const deeper = (depth: number): number => {
    if (depth >= maxDepth) throw new RuleError('deep', peek().at, `more than ${maxDepth} parentheses and nots within each other`);
    return depth + 1;
  };
  const not = (depth: number): Node => {
    if (is('word', 'not')) {
      const d = deeper(depth);
      next++;
      return { kind: 'not', of: not(d) };
    }
    if (is('symbol', '(')) {
      const d = deeper(depth);
      next++;
      const inner = or(d);
      if (!take('symbol', ')')) fail('“)”');
      return inner;
    }
    return comparison();
  };
  const comparison = (): Node => {
    const left = sum();
    const at = peek().at;
    const negated = take('word', 'not');
    if (take('word', 'in')) {
      if (!take('symbol', '(')) fail('“(” and a list');
      const items: Sum[] = [];
      do items.push([item()]);
      while (take('symbol', ','));
      if (!take('symbol', ')')) fail('“,” or “)”');
      return { kind: 'in', left, not: negated, items, at };
    }
    if (negated) fail('“in”');
    if (op() === null) fail('a comparison such as < 0.4');
    const sides = [left];
    const ops: { op: Op; at: number }[] = [];
    for (let o = op(); o !== null; o = op()) {
      ops.push({ op: o, at: peek().at });
      next++;
      sides.push(sum());
    }
    return { kind: 'compare', sides, ops };
  };
  const sum = (): Sum => {
    const all: Sum = [term(1)];
    for (;;) {
      if (take('symbol', '+')) all.push(term(1));
      else if (take('symbol', '-')) all.push(term(-1));
      else return all;
    }
  };
  const item = (): Term => {
    const t = term(1);
    if (t.kind === 'field') throw new RuleError('syntax', t.at, 'expected a number or a text in the list');
    return t;
  };
  const term = (sign: 1 | -1): Term => {
    const at = peek().at;
    if (take('symbol', '-')) sign = sign === 1 ? -1 : 1;
    const t = peek();
    if (t.kind === 'number') {
      next++;
      return { kind: 'number', value: t.number, sign, at };
    }
    if (t.kind === 'text') {
      next++;
      return { kind: 'text', value: t.value, sign, at };
    }
    if (t.kind !== 'word' || reserved.includes(t.value)) return fail('a field, a number or a text');
    const name = fieldNames.find((f) => f === t.value);
    if (name === undefined) throw new RuleError('field', t.at, `there is no field “${t.value}”, only ${fieldNames.join(', ')}`);
    next++;
    let model: Field['model'] = null;
    const m = peek();
    if (perModel(name)) {
      if (m.kind === 'text') model = { name: m.value };
      else if (m.kind === 'word' && /^[a-f]$/.test(m.value)) model = { letter: m.value.toUpperCase() };
      if (model !== null) next++;
    }
    return { kind: 'field', field: { name, model, at: t.at }, sign, at };
  };

  const rule = or(0);
  if (peek().kind !== 'end') fail('“and”, “or” or the end');
  return rule;
}

const perModel = (name: Field['name']) => name === 'predicted' || (stats as readonly string[]).includes(name);
const isStat = (name: Field['name']): name is Stat => (stats as readonly string[]).includes(name);

/** All fields of a rule, in the order in which they stand. */
export function fields(rule: Node): Field[] {
  switch (rule.kind) {
    case 'and':
    case 'or':
      return rule.list.flatMap(fields);
    case 'not':
      return fields(rule.of);
    case 'compare':
    case 'in':
      return (rule.kind === 'in' ? [rule.left] : rule.sides).flat().flatMap((t) => (t.kind === 'field' ? [t.field] : []));
  }
}

/** The index of the model that a field means. @throws RuleError if there is none. */
export function modelOf(f: Field, models: readonly string[]): number {
  const names = models.map((m, k) => `${k < 6 ? 'ABCDEF'[k] + ' ' : ''}“${m}”`).join(', ') || 'none';
  if (f.model === null) {
    if (models.length === 1) return 0;
    throw new RuleError('model', f.at, `${f.name} of which model? Write ${f.name} A, or its name in quotes; there are ${names}`);
  }
  const k = 'letter' in f.model ? f.model.letter.charCodeAt(0) - 65 : models.indexOf(f.model.name);
  if (k < 0 || k >= models.length) throw new RuleError('model', f.at, `there is no model ${'letter' in f.model ? f.model.letter : `“${f.model.name}”`}, only ${names}`);
  return k;
}

/** A side of a comparison: a number per sample (a class is one, too), NaN for what is missing. */
interface Side {
  kind: 'number' | 'class';
  at: (i: number) => number;
  /** It contains a statistic, which is a float32. */
  rough: boolean;
}

type Test = (i: number) => boolean;

/** The value of a column of classes: NaN for none. */
const classAt = (column: ArrayLike<number>) => (i: number) => {
  const v = column[i] as number;
  return v >= 0 ? v : NaN;
};

function compile(rule: Node, c: Columns): Test {
  switch (rule.kind) {
    case 'and': {
      const all = rule.list.map((r) => compile(r, c));
      return (i) => all.every((t) => t(i));
    }
    case 'or': {
      const all = rule.list.map((r) => compile(r, c));
      return (i) => all.some((t) => t(i));
    }
    case 'not': {
      const t = compile(rule.of, c);
      return (i) => !t(i);
    }
    case 'compare': {
      const all = rule.ops.map((o, k) => compare(rule.sides[k] as Sum, o.op, rule.sides[k + 1] as Sum, o.at, c));
      return all.length === 1 ? (all[0] as Test) : (i) => all.every((t) => t(i));
    }
    case 'in': {
      const equal = rule.items.map((item) => compare(rule.left, '=', item, rule.at, c));
      const there = present(rule.left, c);
      return rule.not ? (i) => there(i) && !equal.some((t) => t(i)) : (i) => equal.some((t) => t(i));
    }
  }
}

/** The one field of a side that is nothing else, or null. */
const alone = (s: Sum): Field | null => (s.length === 1 && s[0].kind === 'field' && s[0].sign === 1 ? s[0].field : null);

/** Whether the left side of "in" has a value. */
function present(s: Sum, c: Columns): Test {
  const f = alone(s);
  if (f !== null && (f.name === 'id' || f.name === 'tag')) return () => true;
  const side = numeric(s, c);
  return (i) => !Number.isNaN(side.at(i));
}

function compare(left: Sum, op: Op, right: Sum, at: number, c: Columns): Test {
  const f = alone(left);
  if (f !== null && (f.name === 'id' || f.name === 'tag')) return texts(f, op, right, at, c);
  const l = numeric(left, c);
  if (op === '~') throw new RuleError('type', at, '~ looks for a part of an id or a tag, and of nothing else');
  const r0 = right[0];
  if (right.length === 1 && r0.kind === 'text' && r0.sign === 1) {
    if (l.kind !== 'class') throw new RuleError('type', r0.at, 'a text can be compared with id, tag, label and predicted only');
    if (op !== '=' && op !== '!=') throw new RuleError('type', at, `names of classes have no order: ${op} takes their numbers`);
    const k = c.classes?.indexOf(r0.value) ?? -1;
    if (k < 0) throw new RuleError('class', r0.at, `there is no class “${r0.value}”, only ${(c.classes ?? []).slice(0, 12).map((n) => `“${n}”`).join(', ') || 'numbers'}`);
    return op === '=' ? (i) => l.at(i) === k : (i) => l.at(i) >= 0 && l.at(i) !== k;
  }
  const r = numeric(right, c);
  const [x, y] = l.rough || r.rough ? [(i: number) => Math.fround(l.at(i)), (i: number) => Math.fround(r.at(i))] : [l.at, r.at];
  switch (op) {
    case '<':
      return (i) => x(i) < y(i);
    case '<=':
      return (i) => x(i) <= y(i);
    case '>':
      return (i) => x(i) > y(i);
    case '>=':
      return (i) => x(i) >= y(i);
    case '=':
      return (i) => x(i) === y(i);
    case '!=':
      return (i) => x(i) < y(i) || x(i) > y(i); // not NaN
  }
}

function texts(f: Field, op: Op, right: Sum, at: number, c: Columns): Test {
  const t = right[0];
  if (right.length !== 1 || t.kind !== 'text' || t.sign !== 1) throw new RuleError('type', t.at, `${f.name} can be compared with a text only: ${f.name} = "..."`);
  const want = t.value;
  if (op !== '=' && op !== '!=' && op !== '~') throw new RuleError('type', at, `${f.name} has no order: =, != and ~ are possible`);
  if (f.name === 'id') {
    const id = need(c.id, f, 'ids');
    if (op === '~') return (i) => (id[i] as string).includes(want);
    return op === '=' ? (i) => id[i] === want : (i) => id[i] !== want;
  }
  const tags = need(c.tags, f, 'tags');
  if (op === '~') return (i) => (tags[i] ?? []).some((s) => s.includes(want));
  return op === '=' ? (i) => (tags[i] ?? []).includes(want) : (i) => !(tags[i] ?? []).includes(want);
}

function need<T>(column: T | undefined, f: Field, what: string): T {
  if (column === undefined) throw new RuleError('missing', f.at, `this run has no ${what}`);
  return column;
}

function numeric(s: Sum, c: Columns): Side {
  const f = alone(s);
  if (f !== null) return fieldSide(f, c);
  const parts = s.map((t): Side => {
    if (t.kind === 'text') throw new RuleError('type', t.at, 'a text stands where a number is needed');
    const side: Side = t.kind === 'number' ? { kind: 'number', at: () => t.value, rough: false } : fieldSide(t.field, c);
    if (side.kind === 'class') throw new RuleError('type', t.at, 'classes are names: they cannot be added or subtracted');
    return t.sign === 1 ? side : { ...side, at: (i) => -side.at(i) };
  });
  const [one] = parts as [Side];
  if (parts.length === 1) return one;
  return {
    kind: 'number',
    rough: parts.some((p) => p.rough),
    at: (i) => {
      let x = 0;
      for (const p of parts) x += p.at(i);
      return x;
    },
  };
}

function fieldSide(f: Field, c: Columns): Side {
  if (f.name === 'index') return { kind: 'number', at: (i) => i, rough: false };
  if (f.name === 'label') return { kind: 'class', at: classAt(need(c.label, f, 'labels')), rough: false };
  if (f.name === 'predicted') return { kind: 'class', at: classAt(need(c.predicted?.[modelOf(f, c.models)], f, 'predicted classes')), rough: false };
  if (isStat(f.name)) {
    const column = need(c.stats?.[f.name]?.[modelOf(f, c.models)], f, `${f.name} of this model`);
    return { kind: 'number', at: (i) => column[i] as number, rough: true };
  }
  throw new RuleError('type', f.at, `${f.name} is a text, and a number is needed`);
}

/** 1 for every sample that the rule chooses, 0 for the others. @throws RuleError */
export function evaluate(rule: string | Node, columns: Columns): Uint8Array {
  const test = compile(typeof rule === 'string' ? parse(rule) : rule, columns);
  const out = new Uint8Array(columns.n);
  for (let i = 0; i < out.length; i++) out[i] = test(i) ? 1 : 0;
  return out;
}

/** What is wrong with a rule, or null: for a field that says so while somebody types. */
export function problem(text: string, columns: Columns): RuleError | null {
  try {
    compile(parse(text), columns);
    return null;
  } catch (e) {
    if (e instanceof RuleError) return e;
    throw e;
  }
}

/** A text as a rule writes it. */
export function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/**
 * A rule that somebody typed beside plots of A and B, in which A and B mean what the plots show, as a rule in which they mean the run's
 * first and second model: names stand for the letters where the two differ. shown are the indexes of the models that are A and B.
 */
export function asShown(rule: string, models: readonly string[], shown: readonly number[]): string {
  if (shown.every((m, k) => m === k)) return rule;
  const letter = new RegExp(`\\b(${[...stats, 'predicted'].join('|')})(\\s+)([AB])\\b`, 'g');
  return rule
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((part, k) => (k % 2 ? part : part.replace(letter, (all, field: string, gap: string, l: string) => {
      const name = models[shown[l === 'A' ? 0 : 1] ?? -1];
      return name === undefined ? all : `${field}${gap}${quote(name)}`;
    })))
    .join('');
}
