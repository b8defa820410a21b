import { test } from 'node:test';
import assert from 'node:assert/strict';
import { FakeSource } from '../core/fake';
import { Client } from '../core/source';
import { State } from '../core/state';
import { about, explain, title } from './figures';

test('figures from the steps of a drawing say so', async (t) => {
  const s = new State(new Client(new FakeSource()));
  t.after(s.start());
  s.show('fake');
  for (let k = 0; k < 500 && !(s.data.curves[0].value && s.data.stats[0].value && s.data.curves[1].value); k++) await new Promise((done) => setTimeout(done, 2));
  const curves = s.data.curves[0].value!;
  assert.ok(curves.exact);
  assert.deepEqual([about(s, 'similar0'), title(s, 'similar0').includes('≈'), explain(s, 'similar0').includes('about right')], [false, false, false]);
  s.data.curves[0].set({ ...curves, exact: false, data: new Uint8Array(curves.data.length), lo: 0, hi: 1 });
  assert.deepEqual([about(s, 'similar0'), about(s, 'similar1'), about(s, 'mean0')], [true, false, false]);
  assert.equal(title(s, 'similar0'), '≈ distance from the mean curve A');
  assert.match(explain(s, 'similar0'), /about right/);
  s.data.stats[1].set({ ...s.data.stats[1].value!, drawn: true });
  assert.deepEqual([about(s, 'mean1'), about(s, 'mean0'), about(s, 'diff'), about(s, 'label'), about(s, 'predicted1')], [true, false, true, false, false]);
});
