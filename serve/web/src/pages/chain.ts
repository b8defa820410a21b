// The layers of a model as a chain, with those that break the symmetry lit up.

import type { Exhibit } from '../core/audit';

/** A layer in the chain. */
export interface Link {
  readonly name: string;
  readonly op: string;
  /** Error that the layer makes of an exactly moved input; NaN where it is not known. */
  readonly injected: number;
  /** Signed share of the error at the output; NaN where it is not known. */
  readonly share: number;
  readonly breaks: boolean;
  readonly status: string;
}

/** chainOf reads the layers of an audit's table of layers; nothing if it is none. */
export function chainOf(e: Exhibit | undefined): Link[] {
  const t = e?.table;
  if (!t) return [];
  const at = (name: string) => t.columns.findIndex((c) => c.name === name);
  const [layer, op, injected, share, status] = ['layer', 'operator', 'injected', 'share', 'status'].map(at);
  if ([layer, op, injected, share, status].some((k) => k === undefined || k < 0)) return [];
  const num = (v: string | number | null | undefined): number => (typeof v === 'number' ? v : NaN);
  return t.rows.map((r) => {
    const said = String(r[status!] ?? '');
    return { name: String(r[layer!] ?? ''), op: String(r[op!] ?? ''), injected: num(r[injected!]), share: num(r[share!]), breaks: said.startsWith('breaks'), status: said };
  });
}

/** Layers up to which a chain is shown link by link. */
const all = 40;

/** A stretch of a chain that is shown as one: from a link to another, both included; a link by itself where they are the same. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** stretches are the parts of a chain to show: of a long one, links far from any that breaks are folded, so that what breaks is in sight. */
export function stretches(links: readonly Link[]): Stretch[] {
  const near = (k: number): boolean => links.length <= all || k === 0 || k === links.length - 1 || [k - 1, k, k + 1].some((j) => links[j]?.breaks || glow(links, j) > 0.05);
  const out: Stretch[] = [];
  for (let k = 0; k < links.length; ) {
    let to = k;
    while (!near(k) && to + 1 < links.length && !near(to + 1)) to++;
    if (to - k < 2) to = k; // two links take no more room than the word that there are two
    out.push({ from: k, to });
    k = to + 1;
  }
  return out;
}

/** firstBreak is the first layer that breaks, -1 if none does. */
export const firstBreak = (links: readonly Link[]): number => links.findIndex((l) => l.breaks);

/** glow is how brightly a layer is lit, 0 to 1: by its share of the error at the output, against the largest. */
export function glow(links: readonly Link[], k: number): number {
  const shares = links.map((l) => Math.abs(l.share)).filter((v) => v === v), most = Math.max(...shares, 0), v = Math.abs(links[k]?.share ?? NaN);
  return most > 0 && v === v ? v / most : 0;
}
