// How far a run is that is not complete, in words.

import type * as api from './api';
import { count } from './format';
import { left } from '../render/text';

/** Whether this page can stop the run: it is computed by the server behind it. */
export const ours = (p: api.State): boolean => p.running && !p.by;

/** Whether the run can be gone on with: nobody computes it. */
export const idle = (p: api.State): boolean => !p.running && !p.complete;

/** What goes on: "Computing (nero demo): 130 of 1,000 samples, 2,310 evaluations/s, 40 s left". */
export function underway(p: api.State): string {
  const what = p.running ? (p.by ? `Computing (${p.by})` : 'Computing') : 'Unfinished';
  const parts = [`${what}: ${count(p.done)} of ${count(p.total)} samples`];
  if (p.running && p.rate !== null && p.rate > 0) parts.push(`${p.rate < 10 ? +p.rate.toPrecision(2) : count(Math.round(p.rate))} evaluations/s`);
  if (p.running && left(p.seconds)) parts.push(left(p.seconds));
  return parts.join(', ');
}

/** What people can type to go on with a run that nobody computes, on any machine that sees its folder. */
export function next(r: Pick<api.RunCard, 'folder' | 'state'>): string[] {
  const { state } = r;
  if (!idle(state) || !/^[\w./-]+$/.test(r.folder)) return []; // two side by side, or a name that a shell reads otherwise
  if (state.done >= state.total) return [`nero merge ${r.folder}`];
  return state.todo ? [`nero shard ${r.folder} --index ${state.todo}`, `nero merge ${r.folder}`] : [];
}

/** The audit that was planned when the names were read and is made now; the first of several. */
export function arrived(planned: readonly string[], list: Pick<api.Runs, 'planned' | 'audits'>): api.Audit | undefined {
  const waits = new Set(list.planned.map((p) => p.name));
  return list.audits.find((a) => planned.includes(a.name) && !waits.has(a.name));
}
