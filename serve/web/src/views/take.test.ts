import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spreadsheet } from './take';

test('a table to be pasted: tabs between cells, whatever the cells hold', () => {
  const t = { title: '', columns: [{ name: 'a', kind: 'text' as const }, { name: 'b', kind: 'float64' as const }], rows: [['x, "y"\n z\tw', 0.5], ['=1+1', null]] };
  assert.equal(spreadsheet(t), "a\tb\nx, \"y\" z w\t0.5\n'=1+1\t\n");
});
