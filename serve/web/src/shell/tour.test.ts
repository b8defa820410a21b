import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steps, wanted } from './tour';

test('the tour starts by itself only for a first visit to a server', () => {
  assert.equal(wanted(true, 'http://localhost:1/#/run/x', null, false), true);
  assert.equal(wanted(false, 'file:///r.html', null, false), false, 'a report');
  assert.equal(wanted(true, 'http://localhost:1/#/run/x', 'seen', false), false);
  assert.equal(wanted(true, 'http://localhost:1/#/run/x', null, true), false, 'a program looks');
  assert.equal(wanted(true, 'http://localhost:1/?tour=0#/run/x', null, false), false);
  assert.equal(wanted(true, 'http://localhost:1/#/run/x?i=3&tour=0', null, false), false);
  assert.equal(wanted(true, 'http://localhost:1/?tour=1#/run/x?i=3', null, false), true);
});

test('four to six steps', () => {
  assert.ok(steps.length >= 4 && steps.length <= 6);
});
