// The layouts of orbits, as package present/view names them: what else the page does by them. How each is drawn stands in
// render/orbit/plot.tsx.

/** What a layout is like. */
export interface Traits {
  /** Values are colours, so that every model has a plot of its own. */
  colored?: true;
  /** The radius is the value. */
  round?: true;
  /** The widths of a peak are said of it. */
  peaked?: true;
  /** Every element has a place of its own, wide enough for a small picture. */
  tiles?: true;
  /** There is nothing between elements. */
  apart?: true;
}

export const layouts = {
  ranked: {},
  polar: { round: true },
  heatmap: { colored: true, peaked: true },
  line: {},
  discs: { colored: true },
  angle: {},
  axes: {},
  scatter: { colored: true },
  tiles: { colored: true, tiles: true },
  strip: { apart: true },
} as const satisfies Record<string, Traits>;

export type Layout = keyof typeof layouts;

/** What a layout is like; nothing is known of one of a newer program. */
export const traits = (l: Layout): Traits => layouts[l] ?? {};
