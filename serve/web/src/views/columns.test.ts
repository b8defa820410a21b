import assert from 'node:assert/strict';
import { test } from 'node:test';
import { opened, until } from '../core/opened';
import { columns } from './columns';

test('what the samples are ranked by has a column', async (t) => {
  const s = await opened(t);
  await until(() => s.data.stats[0].value !== null && s.data.stats[1].value !== null && s.data.curves[0].value !== null, 'the figures');
  const figures = () => columns(s).map((c) => c.figure);
  assert.ok(!figures().includes('change0'));
  for (const by of ['change0', 'similar0', 'corr0', 'ssim1', 'identity0', 'max1'] as const) {
    s.choice.rank.value = { by, descending: true };
    assert.equal(figures().filter((f) => f === by).length, 1, by);
  }
  s.choice.rank.value = { by: 'min1', descending: false };
  assert.equal(figures().filter((f) => f === 'worst1').length, 1, 'the least is the worst value, which is there');
});
