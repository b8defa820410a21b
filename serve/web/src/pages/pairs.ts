// Which runs can be looked at side by side.

import type { RunCard } from '../core/api';

/** pairing says why two runs cannot be compared; empty if nothing that a list tells stands against it. */
export function pairing(a: RunCard, b: RunCard): string {
  if (a.id === b.id) return 'It is the same run.';
  if (a.task !== b.task) return `One is about ${a.task}, the other about ${b.task}.`;
  if (a.group !== b.group) return `Their groups differ: ${a.group} and ${b.group}.`;
  if (a.elements !== b.elements) return `Their orbits differ: ${a.elements} and ${b.elements} elements.`;
  const shared = a.metrics.filter((m) => b.metrics.includes(m));
  if (shared.length === 0) return `They have no metric in common: ${a.metrics.join(', ')} and ${b.metrics.join(', ')}.`;
  if (a.state.done === 0 || b.state.done === 0) return `Nothing of ${a.state.done === 0 ? a.name : b.name} is computed yet.`;
  return '';
}

/** pairID is the id of two runs side by side. */
export const pairID = (a: RunCard, b: RunCard): string => `${a.id}+${b.id}`;

/** kindOf is what a verdict is, whatever its words: passed, failed, or not decided. */
export function kindOf(verdict: string): 'pass' | 'fail' | 'open' {
  return /^pass/i.test(verdict) ? 'pass' : /^(fail|broken|reject)/i.test(verdict) ? 'fail' : 'open';
}
