import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Group } from '../../core/api';
import type { Series } from './common';
import { branches, freeRay } from './polar';

const scale = { lo: 0, ticks: [0.2, 0.4, 0.6, 0.8, 1].map((at) => ({ at, label: String(at) })), pos: (v: number) => v } as unknown as Parameters<typeof freeRay>[0]['scale'];

/** How far a direction is from another, in degrees. */
const apart = (a: number, b: number): number => Math.abs(((a - b + 540) % 360) - 180);

const ray = (orbit: Group, ...series: Series[]): number => freeRay({ orbit, series, scale }, branches(orbit));

test('the labels of the rings do not lie on a curve', () => {
  const elements = Array.from({ length: 72 }, (_, k) => [5 * k]);
  const orbit = { elements, finite: false } as unknown as Group;
  // A circle of 0.4 with a dent to the middle about 60 degrees, where labels would lie without a curve.
  const dent = elements.map(([a]) => (apart(a!, 67.5) < 20 ? 0.2 : apart(a!, 67.5) < 40 ? 0.4 : 0.9));
  const at = ray(orbit, { ink: 0, name: 'dent', values: dent });
  const near = dent[Math.round(at / 5) % 72]!;
  assert.ok(near === 0.9, `at ${at} degrees the curve is at ${near}, on a label`);
});

test('the labels of the rings do not lie on spokes', () => {
  // Quarter turns, with and without a mirror: four bundles of spokes, and room between them.
  const orbit = { elements: [0, 90, 180, 270].flatMap((a) => [[a, 0], [a, 1]]), finite: true } as unknown as Group;
  const at = ray(orbit, { ink: 0, name: 'A', values: [0.6, 0.4, 0.5, 0.5, 0.6, 0.5, 0.5, 0.6] }, { ink: 1, name: 'B', values: new Array(8).fill(0.8) });
  for (const spoke of [0, 90, 180, 270]) assert.ok(apart(at, spoke) > 20, `${at} degrees is beside the spokes at ${spoke}`);
});
