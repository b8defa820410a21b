// Which sheets there are, and which of them a page shows: what commands found that make neither runs nor audits.

import type { Runs, Sheet } from '../core/api';
import { empty, format, isSheet, sheets, type SheetName } from '../core/url';

/** What the pages are called. */
export const titles: Readonly<Record<SheetName, string>> = { repair: 'Repair', discovery: 'Discovery', data: 'Data', identify: 'Identify', watch: 'Watch', weights: 'Weights', embed: 'Features', repeat: 'Repeat' };

/** The address of a sheet. */
export const sheetAddress = (a: Pick<Sheet, 'kind' | 'id'>): string => format(empty(isSheet(a.kind) ? a.kind : 'runs', a.id));

/** The sheet of a kind that is meant where none is named: of the run that is open, else the first. */
export function sheetOf(list: Pick<Runs, 'sheets'> | null, kind: SheetName, run: string): Sheet | null {
  const all = (list?.sheets ?? []).filter((a) => a.kind === kind);
  return all.find((a) => a.runs.includes(run)) ?? all[0] ?? null;
}

/** The kinds of which there is a sheet, in the order of their pages. */
export const kindsOf = (list: Pick<Runs, 'sheets'> | null): SheetName[] => sheets.filter((k) => list?.sheets.some((a) => a.kind === k));

/** Rows of labels that keep a distance: places from the top, each as near to its own as that permits, in the order of these. */
export function apart(at: readonly number[], gap: number, lo: number, hi: number): number[] {
  const order = at.map((_, k) => k).sort((a, b) => at[a]! - at[b]! || a - b);
  const out = [...at];
  // Downward none comes too near to the one above, then upward none leaves the end.
  order.forEach((k, j) => { out[k] = Math.max(out[k]!, j > 0 ? out[order[j - 1]!]! + gap : lo); });
  [...order].reverse().forEach((k, j, all) => { out[k] = Math.min(out[k]!, j > 0 ? out[all[j - 1]!]! - gap : hi); });
  return out;
}
