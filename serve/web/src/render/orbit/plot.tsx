// The drawing of an orbit by its layout: the one place where a new layout is added.

import type { Layout } from '../../core/api';
import type { OrbitProps } from './common';
import { HeatMap, Shifts } from './heatmap';
import { Line, Strip } from './line';
import { Polar } from './polar';
import { Tiles } from './tiles';

const layouts: Record<Layout, (p: OrbitProps) => preact.JSX.Element> = { polar: Polar, line: Line, heatmap: HeatMap, scatter: Shifts, strip: Strip, tiles: Tiles };

/** Whether values are colours, so that every model has a plot of its own. */
export const colored = (l: Layout): boolean => l === 'heatmap' || l === 'scatter' || l === 'tiles';

/** The orbit, drawn. */
export function OrbitPlot(p: OrbitProps) {
  const Draw = layouts[p.orbit.layout] ?? Strip;
  return <Draw {...p} />;
}
