// The shapes of the kinds of elements in a plot by rank: every kind has one of its own. Pure functions.

/** A shape of a mark, filled or not. */
export type Shape = 'disc' | 'ring' | 'square' | 'box' | 'diamond' | 'rhomb' | 'cross' | 'plus' | 'up' | 'down';

const all: readonly Shape[] = ['disc', 'square', 'diamond', 'cross', 'ring', 'box', 'rhomb', 'plus', 'up', 'down'];

/** What belongs together looks alike: open shapes where a motion comes along. */
const usual: Readonly<Record<string, Shape>> = {
  identity: 'up', motion: 'disc', transposition: 'square', cycle: 'diamond', permutation: 'cross', improper: 'ring', proper: 'disc',
  'motion and transposition': 'box', 'motion and cycle': 'rhomb', 'motion and permutation': 'plus',
};

/** A shape for each kind, no two alike as long as there are enough; what has no usual one takes the next that is free. */
export function shapesOf(kinds: readonly string[]): Map<string, Shape> {
  const out = new Map<string, Shape>();
  const taken = new Set<Shape>();
  const list = [...new Set(kinds)];
  for (const k of list) {
    const s = usual[k];
    if (s && !taken.has(s)) {
      out.set(k, s);
      taken.add(s);
    }
  }
  for (const k of list) {
    if (out.has(k)) continue;
    const s = all.find((x) => !taken.has(x)) ?? 'disc';
    out.set(k, s);
    taken.add(s);
  }
  return out;
}

/** Whether a shape is only an outline. */
export const open = (s: Shape): boolean => s === 'ring' || s === 'box' || s === 'rhomb' || s === 'cross' || s === 'plus';

/** A shape as a path of radius r about the origin. */
export function pathOf(s: Shape, r: number): string {
  switch (s) {
    case 'disc':
    case 'ring': return `M${r},0A${r},${r} 0 1 0 ${-r},0A${r},${r} 0 1 0 ${r},0Z`;
    case 'square':
    case 'box': return `M${-0.9 * r},${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}Z`;
    case 'diamond':
    case 'rhomb': return `M0,${-1.25 * r}L${1.25 * r},0L0,${1.25 * r}L${-1.25 * r},0Z`;
    case 'cross': return `M${-r},${-r}L${r},${r}M${-r},${r}L${r},${-r}`;
    case 'plus': return `M${-1.2 * r},0H${1.2 * r}M0,${-1.2 * r}V${1.2 * r}`;
    case 'up': return `M0,${-1.3 * r}L${1.2 * r},${r}H${-1.2 * r}Z`;
    default: return `M0,${1.3 * r}L${1.2 * r},${-r}H${-1.2 * r}Z`;
  }
}
