import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import cases from '../../testdata/markdown.json';
import * as X from './export';

/** The tables that the Go package writes, which the page has to write alike. */
function golden(form: X.TableFormat): string {
  for (let dir = process.cwd(); ; dir = path.dirname(dir)) {
    const name = path.join(dir, 'present', 'table', 'testdata', `example.${form}`);
    if (fs.existsSync(name)) return fs.readFileSync(name, 'utf8');
    assert.notEqual(dir, path.dirname(dir), 'run the tests inside the repository');
  }
}

const example: X.Table = {
  title: 'Confidence of a & b: 90 % of *all*',
  columns: [
    { name: 'name', kind: 'text' }, { name: 'mean', kind: 'float64' }, { name: 'x_deg', kind: 'float32' }, { name: 'n', kind: 'integer' }, { name: 'exact', kind: 'text' },
    { name: '@note', kind: 'text' },
  ],
  rows: [
    ['plain', 0.5, Math.fround(0.1), 3, true, null],
    ['=SUM(A1)', -0.25, Math.fround(1e-7), -4, false, 'a|b'],
    ['π "quoted", 50 % & more_less $x$ ^ ~ {} # \\ [1] *', NaN, Infinity, 123456789, true, 'line\nbreak\ttab'],
    ['-1', 123456.7, Math.fround(12345.6), 0, false, '<b>&amp;</b> `code` https://example.org'],
  ],
};

for (const form of ['csv', 'jsonl', 'md', 'tex'] as const) {
  test(`${form}: the same bytes as the command line`, () => assert.equal(X.tableText(example, form), golden(form)));
}

test('Markdown is escaped as the reports escape it', () => {
  const wrong = (cases as [string, string][]).filter(([text, want]) => X.mdText(text) !== want).map(([text, want]) => [text, X.mdText(text), want]);
  assert.deepEqual(wrong, []);
  assert.ok(cases.length > 200);
  assert.equal(X.mdText('a\ud800\udbff b\udc00'), 'a\ufffd\ufffd b\ufffd'); // halves of characters
});

const nasty = ['plain', 'a,b', 'say "x"', 'two\nlines', ' lead', 'x=1', '', 'ü☃', 'a|b', '<img src=x onerror=alert(1)>', '50 % & $1_2 #3 {x} ~^ \\cmd', '[x]', '\u2028', '\ud800'];
const table: X.Table = {
  title: 'T', notes: ['run digits, 3f2a_1', 'b\nc'],
  columns: [{ name: 'sample', kind: 'text' }, { name: 'mean_a', kind: 'float64' }, { name: 'ok', kind: 'text' }],
  rows: nasty.map((s, k) => [s, k === 3 ? NaN : k / 3, k % 2 === 0]),
};

/** An independent reader of CSV, after the grammar of RFC 4180. */
function readCSV(s: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [], field = '', quoted = false;
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (s[i + 1] === '"') { field += '"'; i++; } else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ',') { row.push(field); field = ''; }
    else if (c === '\n') { rows.push([...row, field]); row = []; field = ''; }
    else field += c;
  }
  assert.equal(field, '');
  return rows;
}

test('what a column holds is seen if it is not said', () => {
  const t: X.Table = { title: '', columns: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], rows: [[null, NaN, null], ['x', 2.5, null], ['y', 1e-9, null]] };
  assert.equal(X.tableText(t, 'md'), '| a | b | c |\n| :--- | ---: | ---: |\n|  |  |  |\n| x | 2.5 |  |\n| y | 1e-09 |  |\n');
});

test('CSV comes back as it was', () => {
  const rows = readCSV(X.tableText(table, 'csv'));
  assert.deepEqual(rows[0], ['sample', 'mean_a', 'ok']);
  assert.deepEqual(rows.slice(1).map((r) => r[0]), nasty);
  assert.equal(rows[4][1], '', 'missing is empty');
  assert.equal(Number(rows[2][1]), 1 / 3, 'numbers keep all digits');
});

test('JSON Lines come back as they were', () => {
  const rows = X.tableText(table, 'jsonl').trimEnd().split('\n').map((l) => JSON.parse(l) as Record<string, unknown>);
  assert.deepEqual(rows.map((r) => r['sample']), nasty);
  assert.equal(rows[3]['mean_a'], null);
  assert.equal(rows[1]['mean_a'], 1 / 3);
});

test('Markdown: every line has the columns, and nothing is markup', () => {
  const text = X.tableText(table, 'md'), body = text.split('\n').filter((l) => l.startsWith('| '));
  assert.equal(body.length, 2 + nasty.length);
  for (const l of body) assert.equal((l.match(/(?<!\\)\|/g) ?? []).length, 4, l);
  assert.ok(!text.includes('<'), 'no HTML');
  assert.match(text, /\n\nrun digits, 3f2a\\_1\n\nb c\n$/);
});

test('LaTeX: braces balance, notes are comments', () => {
  const t = X.tableText(table, 'tex'), bare = t.replace(/\\[\\{}$&#_%]/g, '');
  assert.equal((bare.match(/{/g) ?? []).length, (bare.match(/}/g) ?? []).length);
  for (const l of t.split('\n').filter((l) => l.endsWith(' \\\\'))) assert.equal((l.replaceAll('\\&', '').match(/&/g) ?? []).length, 2, l);
  assert.match(t, /^% T\n% run digits, 3f2a_1\n% b c\n\\begin/);
});

test('numbers as Go writes them', () => {
  // strconv.FormatFloat(v, 'g', -1, 64) and (v, 'g', 4, 64), by hand from its documentation and checked with it.
  const shortest: [number, string][] = [[1e6, '1e+06'], [123456, '123456'], [1234567, '1.234567e+06'], [0.0001, '0.0001'], [0.00001, '1e-05'], [-2.5e-300, '-2.5e-300'], [100, '100'], [0.1 + 0.2, '0.30000000000000004'], [-0, '0']];
  for (const [v, s] of shortest) assert.equal(X.goFloat(v, 'shortest'), s);
  const four: [number, string][] = [[1234.5, '1234'], [1235.5, '1236'], [0.99996, '1'], [5000, '5000'], [10, '10'], [1e7, '1e+07'], [12345678, '1.235e+07'], [0.00012345, '0.0001234'], [1 / 3, '0.3333']];
  for (const [v, s] of four) assert.equal(X.goFloat(v, 4), s, String(v));
  assert.equal(X.goFloat(Math.fround(0.3), 'shortest', true), '0.3');
  assert.equal(X.goFloat(Math.fround(16777216), 'shortest', true), '1.6777216e+07');
  assert.deepEqual([12344.5, 12345.5, -12345.5, 99999.9].map((v) => X.rounded(v)), ['12344', '12346', '-12346', '100000']);
  assert.equal(X.rounded(72, 'integer'), '72');
});

test('float32 numbers come back', () => {
  for (let k = 0; k < 5000; k++) {
    const v = Math.fround(Math.sin(k) * 10 ** ((k % 60) - 30));
    const s = X.goFloat(v, 'shortest', true);
    assert.equal(Math.fround(Number(s)), v, s);
    assert.ok(s.replace(/[-.]|e.*/g, '').replace(/^0+/, '').length <= 9, s);
  }
});

test('file names', () => {
  assert.equal(X.fileName(['scatter', 'a/b\\c', 'PCA · A'], 'svg'), 'scatter-a-b-c-PCA-A.svg');
  assert.equal(X.fileName(['../../etc'], 'csv'), 'etc.csv');
  assert.equal(X.fileName(['***'], 'csv'), 'nero.csv');
  assert.ok(X.fileName(['x'.repeat(500)], 'png').length <= 104);
});

test('XML', () => {
  assert.equal(X.xml('<a b="c">&\u0001\'</a>'), '&lt;a b=&quot;c&quot;&gt;&amp;&#39;&lt;/a&gt;');
});

test('families become generic', () => {
  assert.equal(X.generic('system-ui, "Segoe UI", sans-serif'), 'sans-serif');
  assert.equal(X.generic('ui-monospace, Menlo'), 'monospace');
  assert.equal(X.generic('Georgia, serif'), 'serif');
});

test('colours lose no alpha', () => {
  const no = () => { throw new Error('not needed'); };
  assert.deepEqual(X.paint('rgb(0, 114, 178)', no), { color: '#0072b2', opacity: 1 });
  assert.deepEqual(X.paint('rgba(0, 0, 0, 0.25)', no), { color: '#000000', opacity: 0.25 });
  assert.deepEqual(X.paint('rgb(0 0 0 / 50%)', no), { color: '#000000', opacity: 0.5 });
  assert.deepEqual(X.paint('none', no), { color: 'none', opacity: 1 });
  assert.deepEqual(X.paint('url("#grad")', no), { color: 'url(#grad)', opacity: 1 });
  assert.deepEqual(X.paint('color(srgb 1 0 0)', () => [255, 0, 0, 51]), { color: '#ff0000', opacity: 0.2 });
});

test('wrap', () => {
  assert.deepEqual(X.wrap('one two  three', 7), ['one two', 'three']);
  assert.deepEqual(X.wrap('abcdefgh', 3), ['abc', 'def', 'gh']);
  assert.deepEqual(X.wrap('', 3), []);
});

test('a frame has title and caption as text, escaped', () => {
  const f = X.frame('<circle r="1"/>', 400, 300, { title: 'A <b>', caption: ['run x & y', 'digest 3f'], background: 'white' });
  assert.ok(f.svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"'));
  assert.match(f.svg, /<title>A &lt;b&gt;<\/title>/);
  assert.match(f.svg, /run x &amp; y/);
  assert.match(f.svg, /fill="#ffffff"/);
  assert.ok(f.width >= 424 && f.height > 340);
  assert.ok(!X.frame('', 4, 3, { title: '', caption: [], background: 'none' }).svg.includes('<rect'));
});
