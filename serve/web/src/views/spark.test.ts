import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Group } from '../core/api';
import { spark } from './spark';

const group = (part: Partial<Group>): Group => ({
  name: 'SO(2)', title: '', chart: [{ name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true }], steps: [0], layout: 'polar', elements: [[0], [90], [180], [270]], labels: [], exact: [],
  identity: 0, measure: '', weights: [], finite: false, moves: [], indexed: false, kinds: [], ...part,
});

test('round: 0° to the right, counter-clockwise, closed', () => {
  assert.equal(spark([1, 1, 0.5, 0], group({}), 0, 1, 22), 'M21.0 11.0L11.0 1.0L6.0 11.0L11.0 11.0Z');
});

test('a gap stays open', () => {
  assert.equal(spark([1, NaN, 1, 1], group({}), 0, 1, 22), 'M21.0 11.0M1.0 11.0L11.0 21.0');
});

test('a line goes from left to right, in the order of the coordinate', () => {
  const o = group({ layout: 'line', chart: [{ name: 'dx', unit: 'px', kind: { name: 'right', form: 'pixels' }, min: -9, max: 9, periodic: false }], elements: [[0], [5], [-5]] });
  assert.equal(spark([0, 1, 1], o, 0, 1, 22), 'M1.0 1.0L11.0 21.0L21.0 1.0');
});

test('of two axes it is drawn along the first, where the other is as at the identity', () => {
  const o = group({ chart: [{ name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true }, { name: 'mirror', unit: '', kind: { name: 'mirror', form: 'switch' }, min: 0, max: 1, periodic: false }], elements: [[0, 0], [180, 0], [0, 1], [180, 1]] });
  assert.equal(spark([1, 1, 0, 0], o, 0, 1, 22), 'M21.0 11.0L1.0 11.0');
});
