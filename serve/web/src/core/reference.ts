// Metrics that differ in what they compare with: iou with the data, iou@self with the model's own answer to the unmoved input, iou@consensus with what
// its answers over the orbit agree on. Pure functions.

import type { Metric } from './api';
import type { Reference } from './source';

/** The references in the order of menus, with what they are called. */
export const references: readonly { ref: Reference; name: string; doc: string }[] = [
  { ref: 'target', name: 'label', doc: 'what the data say' },
  { ref: 'self', name: 'self', doc: 'the model’s own answer to the unmoved input, moved along' },
  { ref: 'consensus', name: 'consensus', doc: 'what the model’s own answers over the orbit agree on, moved along' },
];

/** What has to be said wherever the consensus is the reference. */
export const caution = 'Consensus measures self-agreement, not correctness.';

/** The name of a metric without its reference. */
export const base = (name: string): string => name.replace(/@(target|self|consensus)$/, '');

/** The metrics of the same kind, by their reference; more than one if there is a choice. */
export function family(list: readonly Metric[], metric: number): Map<Reference, number> {
  const out = new Map<Reference, number>();
  const m = list[metric];
  if (!m) return out;
  list.forEach((x, k) => {
    if (base(x.name) === base(m.name) && !out.has(x.ref as Reference)) out.set(x.ref as Reference, k);
  });
  return out;
}

/** The metric of the same kind against another reference, -1 if there is none. */
export const sibling = (list: readonly Metric[], metric: number, ref: Reference): number => family(list, metric).get(ref) ?? -1;
