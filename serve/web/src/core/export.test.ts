import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as X from './export';

const nasty = ['plain', 'a,b', 'say "x"', 'two\nlines', ' lead', '=1+1', '', 'ü☃', 'a|b', '<img src=x onerror=alert(1)>', '50 % & $1_2 #3 {x} ~^ \\cmd', '[x]'];
const table: X.Table = {
  title: 'Mean & spread <b>', notes: ['run digits, 3f2a'],
  columns: [{ name: 'sample', title: 'Sample' }, { name: 'mean_a', title: 'mean A' }, { name: 'ok', title: 'right' }],
  rows: nasty.map((s, k) => [s, k === 3 ? NaN : k / 3, k % 2 === 0]),
};

/** An independent reader of CSV, after the grammar of RFC 4180. */
function readCSV(s: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [], field = '', quoted = false, i = 0;
  for (; i < s.length; i++) {
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

test('CSV comes back as it was', () => {
  const rows = readCSV(X.csv(table));
  assert.deepEqual(rows[0], ['sample', 'mean_a', 'ok']);
  assert.deepEqual(rows.slice(1).map((r) => r[0]), nasty);
  assert.equal(rows[4][1], '', 'missing is empty');
  assert.equal(Number(rows[2][1]), 1 / 3, 'numbers keep all digits');
  assert.equal(rows[1][2], 'true');
});

test('JSON Lines come back as they were', () => {
  const rows = X.jsonl(table).trimEnd().split('\n').map((l) => JSON.parse(l) as Record<string, unknown>);
  assert.deepEqual(rows.map((r) => r['sample']), nasty);
  assert.equal(rows[3]['mean_a'], null);
  assert.equal(rows[1]['mean_a'], 1 / 3);
});

test('Markdown: every line has the columns, and nothing is markup', () => {
  const lines = X.markdown(table).split('\n'), body = lines.filter((l) => l.startsWith('| '));
  assert.equal(body.length, 2 + nasty.length);
  for (const l of body) assert.equal((l.match(/(?<!\\)\|/g) ?? []).length, 4, l);
  assert.equal(body[1], '| --- | ---: | --- |');
  assert.ok(!/(?<!\\)</.test(lines.join('\n')), 'no HTML');
  assert.match(lines[0], /^\*\*Mean &amp; spread \\<b\\>\*\*$/);
  assert.match(body[5], /two lines \| – \|/);
  assert.equal(X.mdText('# x'), '\\# x');
  assert.equal(X.mdText('1. x'), '1\\. x');
});

test('LaTeX: braces balance and specials are escaped', () => {
  const t = X.latex(table);
  const bare = t.replace(/\\[\\{}$&#_%]/g, '');
  assert.equal((bare.match(/{/g) ?? []).length, (bare.match(/}/g) ?? []).length);
  assert.equal(X.texText('50 % & $1_2 #3 {x} ~^ \\cmd'), '50 \\% \\& \\$1\\_2 \\#3 \\{x\\} \\textasciitilde{}\\textasciicircum{} \\textbackslash{}cmd');
  for (const l of t.split('\n').filter((l) => l.endsWith(' \\\\'))) assert.equal((l.replaceAll('\\&', '').match(/&/g) ?? []).length, 2, l);
  assert.match(t, /\{\}\[x\] &/, 'a bracket at the start of a line would be an argument of the line end');
  assert.match(t, /^% run digits, 3f2a$/m);
  assert.match(t, /\\begin\{tabular\}\{lrl\}/);
  assert.match(X.latex({ title: '', columns: [{ name: 'x', title: 'x' }], rows: [[-1.5e-7]] }), /\$-\$1\.500\$\\times 10\^\{-7\}\$/);
});

test('numbers for people', () => {
  assert.deepEqual([1 / 3, 0, -0, 72, 1e-7, 123456.789, NaN, Infinity, 2e6 + 0.5].map((v) => X.shown(v)), ['0.3333', '0', '0', '72', '1.000e-7', '123500', '–', '–', '2.000e+6']);
  assert.equal(X.shown(true), 'yes');
  assert.equal(X.exact(-0), '0');
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
