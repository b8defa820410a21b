import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeRun, FakeSource } from './fake';
import { Memory, sync, toURL, type Browser } from './history';
import { Client } from './source';
import { State } from './state';
import * as url from './url';

const wait = (ms = 0) => new Promise<void>((f) => setTimeout(f, ms));

/** A browser with a history. */
class Fake implements Browser {
  list: string[];
  at = 0;
  replaced = 0;
  private on: (() => void)[] = [];
  constructor(hash: string) {
    this.list = [hash];
  }
  hash = () => this.list[this.at];
  push = (h: string) => {
    this.list.splice(++this.at, Infinity, h);
  };
  replace = (h: string) => {
    this.list[this.at] = h;
    this.replaced++;
  };
  onChange = (f: () => void) => {
    this.on.push(f);
    return () => undefined;
  };
  go(by: number): void {
    this.at += by;
    this.on.forEach((f) => f());
  }
}

async function page(hash: string, source = new FakeSource()): Promise<{ s: State; b: Fake; end: () => void }> {
  const s = new State(new Client(source));
  const b = new Fake(hash);
  const ends = [s.start(), sync(s, b)];
  for (let k = 0; k < 300 && !(s.data.run.value && s.choice.layout.value && s.data.samples.value); k++) await wait(2);
  return { s, b, end: () => ends.forEach((f) => f()) };
}

test('an address says everything, and gives it back', async () => {
  const { s, b, end } = await page('#/run/fake?v=1&i=4&g=152.5&a=turned&b=plain&s=b&dr=umap&by=diff&map=cividis&m=error&cmp=diff&p=2&poly=3.5,-1,8.5,-1,8.5,1&zoom=3');
  assert.deepEqual([s.place.sample.value, s.place.g.value[0], s.place.a.value, s.place.b.value, s.place.metric.value, s.place.compare.value, s.choice.colorBy.value, s.place.cmap.value, s.place.pinned.value], [4, 152.5, 1, 0, 1, 'diff', 'diff', 'cividis', 2]);
  assert.equal(s.choice.parts.value.slice, 'b');
  assert.deepEqual(s.choice.parts.value.lasso?.poly, [3.5, -1, 8.5, -1, 8.5, 1]);
  assert.deepEqual(s.choice.embedding.value, { method: 'umap', of: 'ab' });
  await wait(300);
  const u = url.parse(b.hash()).state;
  assert.deepEqual([u.i, u.g, u.a, u.b, u.s, u.dr, u.by, u.map, u.m, u.cmp], [4, [152.5], 'turned', 'plain', 'b', 'umap', 'diff', 'cividis', 'error', 'diff']);
  assert.deepEqual(new Map(u.extra).get('zoom'), '3', 'an unknown key is kept');
  assert.deepEqual(s.tasks.notices.value, []);
  // The lasso is counted once its layout is there: it holds samples 6, 7 and 8, of which 7 is of class b.
  assert.deepEqual([...s.choice.mask.value], [0, 0, 0, 0, 0, 0, 0, 1, 0]);
  end();
});

test('the order of the samples and the fit of the layout are part of the address', async () => {
  // error is better low: the order by mean would be descending by itself.
  const { s, b, end } = await page('#/run/fake?m=error&ord=mean0&fit={"label":1}');
  assert.deepEqual(s.choice.rank.value, { by: 'mean0', descending: false });
  assert.equal(s.choice.embedding.value.fit, '{"label":1}');
  await wait(300);
  let extra = new Map(url.parse(b.hash()).state.extra);
  assert.deepEqual([extra.get('ord'), extra.get('fit')], ['mean0', '{"label":1}']);
  s.choice.rank.value = { by: 'sd1', descending: true };
  await wait(300);
  extra = new Map(url.parse(b.hash()).state.extra);
  assert.equal(extra.get('ord'), '-sd1');
  end();
  const bad = await page('#/run/fake?ord=mood&fit=[1]');
  assert.equal(bad.s.tasks.notices.value.length, 2, bad.s.tasks.notices.value.map((n) => n.text).join('\n'));
  assert.deepEqual([bad.s.choice.rank.value.by, bad.s.choice.embedding.value.fit], ['mean0', undefined]);
  bad.end();
});

test('what does not fit the run is left out with a notice', async () => {
  const { s, end } = await page('#/run/fake?i=400&g=1,2&a=nobody&m=speed&by=mood');
  assert.equal(s.tasks.notices.value.length, 5, s.tasks.notices.value.map((n) => n.text).join('\n'));
  assert.deepEqual([s.place.sample.value, s.place.a.value, s.place.metric.value, s.choice.colorBy.value], [0, 0, 0, 'mean0']);
  end();
});

test('samples and slices are steps, a drag is none', async () => {
  const { s, b, end } = await page('#/run/fake?i=1');
  await wait(300);
  const n = b.list.length;
  for (let a = 0; a < 40; a++) s.place.moveTo([a]);
  await wait(300);
  assert.equal(b.list.length, n);
  assert.match(b.hash(), /g=39/);
  s.place.setSample(3);
  await wait(100);
  s.choice.choose({ slice: 'c' });
  await wait(100);
  assert.equal(b.list.length, n + 2);
  b.go(-1);
  assert.equal(s.choice.parts.value.slice, '');
  b.go(-1);
  assert.equal(s.place.sample.value, 1);
  assert.deepEqual([...s.place.g.value], [39]);
  b.go(2);
  assert.deepEqual([s.place.sample.value, s.choice.parts.value.slice], [3, 'c']);
  await wait(300);
  assert.equal(b.list.length, n + 2, 'going back and forth makes no steps');
  end();
});

test('a rule and a slice at once both find a place', async () => {
  const { s, b, end } = await page('#/run/fake');
  s.choice.choose({ slice: 'a', rule: 'mean A < 0.5' });
  await wait(100);
  const again = new State(new Client(new FakeSource()));
  const stop = again.start();
  const end2 = sync(again, new Fake(b.hash()));
  for (let k = 0; k < 200 && !again.data.run.value; k++) await wait(2);
  assert.deepEqual([again.choice.parts.value.slice, again.choice.parts.value.rule], ['a', 'mean A < 0.5']);
  s.choice.choose({ slice: '' });
  assert.equal(toURL(s).s, 'mean A < 0.5');
  end();
  stop();
  end2();
});

test('one model alone stays one', async () => {
  const { s, b, end } = await page('#/run/fake?b=none');
  assert.equal(s.place.b.value, -1);
  await wait(300);
  assert.match(b.hash(), /b=none/);
  end();
  const single = fakeRun();
  single.model_list.pop();
  const p = await page('#/run/fake', new FakeSource(single));
  assert.equal(p.s.place.b.value, -1);
  assert.equal(toURL(p.s).b, null);
  p.end();
});

test('the list of runs and the findings have addresses', async () => {
  const { s, b, end } = await page('#/findings/audit-1');
  assert.deepEqual([s.place.page.value, s.place.audit.value], ['findings', 'audit-1']);
  s.place.page.value = 'runs';
  await wait(100);
  assert.equal(b.hash(), '#/runs');
  b.go(-1);
  assert.equal(s.place.page.value, 'findings');
  end();
});

test('the picked pixel, the picture of a sequence, the reference and all models have places in the address', async () => {
  const run = fakeRun();
  run.model_list.push({ ...run.model_list[0], name: 'third' });
  run.metric_list.push({ ...run.metric_list[0], name: 'confidence@consensus', ref: 'consensus' });
  const { s, b, end } = await page('#/run/fake?v=1&px=12,40&fr=1&all=1&ref=consensus', new FakeSource(run));
  assert.deepEqual([s.place.pixel.value, s.place.frame.value, s.place.every.value, s.place.metric.value, s.place.reference.value], [[12, 40], 1, true, 2, 'consensus']);
  await wait(300);
  const u = url.parse(b.hash()).state;
  const extra = new Map(u.extra);
  assert.deepEqual([extra.get('px'), extra.get('fr'), extra.get('all'), u.ref, u.m], ['12,40', '1', '1', 'consensus', 'confidence@consensus']);
  assert.deepEqual(s.tasks.notices.value, []);
  assert.ok(s.place.refer('target') && !s.place.refer('self'));
  s.place.pixel.value = null;
  s.place.every.value = false;
  s.place.frame.value = 0;
  await wait(300);
  assert.ok(!/[?&](px|fr|all)=/.test(b.hash()) && /ref=target/.test(b.hash()), b.hash());
  end();
});

test('a pixel, a picture and a reference that make no sense are left out with a notice', async () => {
  const { s, end } = await page('#/run/fake?v=1&px=12&fr=-1&all=1&m=confidence&ref=consensus');
  assert.deepEqual([s.place.pixel.value, s.place.frame.value, s.place.metric.value], [null, 0, 0]);
  assert.equal(s.tasks.notices.value.length, 3, s.tasks.notices.value.map((n) => n.text).join('\n'));
  end();
});

test('what the views show is part of the address: by class, band, plane, tiles, zoom', async () => {
  const { s, b, end } = await page('#/run/fake?cls=1&band=interval&plane=xz&tiles=values&z=2.5,0.1,-0.25');
  assert.deepEqual([s.place.byClass.value, s.place.band.value, s.place.plane.value, s.place.mapped.value], [true, 'interval', 'xz', false]);
  assert.deepEqual(s.place.zoom.value, { layout: s.choice.layoutKey.value, k: 2.5, x: 0.1, y: -0.25 });
  await wait(300);
  let extra = new Map(url.parse(b.hash()).state.extra);
  assert.deepEqual(['cls', 'band', 'plane', 'tiles', 'z'].map((k) => extra.get(k)), ['1', 'interval', 'xz', 'values', '2.5,0.1,-0.25']);
  // Another layout is another picture, whose zoom this is not.
  s.choice.embedding.value = { method: 'umap', of: 'ab' };
  s.place.byClass.value = false;
  s.place.band.value = 'none';
  await wait(300);
  extra = new Map(url.parse(b.hash()).state.extra);
  assert.deepEqual(['cls', 'band', 'z'].map((k) => extra.get(k)), [undefined, 'none', undefined]);
  end();
  const bad = await page('#/run/fake?band=wide&plane=%3Cb%3E&z=0,1');
  assert.equal(bad.s.tasks.notices.value.length, 3, bad.s.tasks.notices.value.map((n) => n.text).join(' '));
  assert.equal(bad.s.place.zoom.value, null);
  bad.end();
});

test('the view below the table is a step that Back takes back, and further models are part of the address', async () => {
  const three = fakeRun(9, { models: ['plain', 'turned', 'third'], model_list: ['plain', 'turned', 'third'].map((name) => ({ name, sha256: '', run: 'fake', parameters: 0, scale: null, live: true })) });
  const { s, b, end } = await page('#/run/fake?look=models&more=2,9,2', new FakeSource(three));
  assert.equal(s.place.look.value, 'models');
  assert.deepEqual([s.place.others.value, s.place.shown.value], [[2], [0, 1, 2]]);
  await wait(300);
  const at = b.at;
  s.place.look.value = 'curves';
  await wait(100);
  assert.equal(b.at, at + 1);
  assert.equal(new Map(url.parse(b.hash()).state.extra).get('look'), 'curves');
  b.go(-1);
  await wait(50);
  assert.deepEqual([s.place.look.value, s.place.others.value], ['models', [2]]);
  // A model that is A or B is not shown twice; beside A alone there is none.
  s.place.b.value = 2;
  assert.deepEqual(s.place.shown.value, [0, 2]);
  s.place.b.value = -1;
  assert.deepEqual(s.place.shown.value, [0]);
  end();
  const bad = await page('#/run/fake?look=%3Cb%3E&more=third', new FakeSource(three));
  assert.equal(bad.s.tasks.notices.value.length, 2, bad.s.tasks.notices.value.map((n) => n.text).join(' '));
  assert.deepEqual([bad.s.place.look.value, bad.s.place.others.value], ['', []]);
  bad.end();
});

/** A document that only hears. */
class Heard {
  readonly on = new Map<string, (e: never) => void>();
  addEventListener = (name: string, f: unknown): void => void this.on.set(name, f as (e: never) => void);
  fire(name: string, e: object): boolean {
    let kept = true;
    this.on.get(name)?.({ ...e, preventDefault: () => (kept = false) } as never);
    return kept;
  }
}

test('a document without an address keeps its history in memory', () => {
  const doc = new Heard();
  const b = new Memory(doc as unknown as Document);
  let heard = 0;
  const end = b.onChange(() => void heard++);
  assert.equal(b.hash(), '');
  b.replace('#/run/a');
  b.push('#/run/a?i=3');
  b.push('#/run/a?i=4');
  assert.equal(heard, 0, 'what the page writes itself is no news to it');
  assert.equal(doc.fire('keydown', { altKey: false, key: 'ArrowLeft' }), true, 'an arrow alone moves the needle');
  assert.equal(doc.fire('keydown', { altKey: true, key: 'ArrowLeft' }), false);
  assert.equal(b.hash(), '#/run/a?i=3');
  assert.equal(heard, 1);
  doc.fire('keydown', { altKey: true, key: 'ArrowRight' });
  assert.equal(b.hash(), '#/run/a?i=4');
  doc.fire('keydown', { altKey: true, key: 'ArrowRight' });
  assert.equal(heard, 2, 'there is nothing further');
  b.go(-1);
  b.follow('#/findings/x');
  assert.equal(b.hash(), '#/findings/x');
  b.go(1);
  assert.equal(b.hash(), '#/findings/x', 'what had been taken back is gone');
  b.go(-9);
  assert.equal(b.hash(), '#/run/a');
  end();
  b.go(1);
  assert.equal(heard, 5);
});
