// Which runs the list shows, in which order, and when they were made.

import type { Audit, RunCard } from '../core/api';

/** In which order runs stand. */
export type Order = 'newest' | 'oldest' | 'name' | 'verdict' | 'samples';

/** The orders and what they are called. */
export const orders: readonly (readonly [Order, string])[] = [['newest', 'newest first'], ['oldest', 'oldest first'], ['name', 'by name'], ['verdict', 'worst verdict first'], ['samples', 'most samples first']];

/** found are the runs in whose name, folder, task, group, models, metrics or verdicts every word stands. */
export function found(runs: readonly RunCard[], audits: readonly Audit[], search: string): RunCard[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...runs];
  return runs.filter((r) => {
    const verdicts = audits.filter((a) => a.runs.includes(r.id)).map((a) => a.verdict);
    const text = [r.name, r.folder, r.task, r.group, ...r.models, ...r.metrics, ...verdicts, r.state.complete ? 'complete' : 'unfinished'].join('\n').toLowerCase();
    return words.every((w) => text.includes(w));
  });
}

/** How grave the gravest verdict of a run is: failed, not decided, passed, none. */
const grave = (r: RunCard, audits: readonly Audit[]): number => Math.min(3, ...audits.filter((a) => a.runs.includes(r.id)).map((a) => (/^fail/i.test(a.verdict) ? 0 : /^pass/i.test(a.verdict) ? 2 : 1)));

/** ordered are runs in an order; those that it does not tell apart stand by name. */
export function ordered(runs: readonly RunCard[], audits: readonly Audit[], by: Order): RunCard[] {
  const key: Record<Order, (r: RunCard) => number> = { newest: (r) => -r.changed, oldest: (r) => r.changed, name: () => 0, verdict: (r) => grave(r, audits), samples: (r) => -r.samples };
  return [...runs].sort((p, q) => key[by](p) - key[by](q) || p.name.localeCompare(q.name) || p.folder.localeCompare(q.folder));
}

/** when is a time in milliseconds for people, in a time zone and relative to now: "today 14:05", "3 May 2026, 14:05"; empty for none. */
export function when(ms: number, now: number, zone?: string): string {
  if (!(ms > 0)) return '';
  const in_ = zone === undefined ? {} : { timeZone: zone };
  const day = (t: number) => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', ...in_ }).format(t);
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...in_ }).format(ms);
  return day(ms) === day(now) ? `today ${time}` : `${day(ms)}, ${time}`;
}
