// The drawing of an orbit by its layout: the one place where a new layout is added.

import type { Layout } from '../../core/api';
import { Later, type More } from '../../later';
import type { OrbitProps } from './common';
import { HeatMap, Shifts } from './heatmap';
import { Line, Strip } from './line';
import { Polar } from './polar';
import { Tiles } from './tiles';

/** A layout that is loaded when it is first drawn. */
const rare = (name: 'Discs' | 'Angle' | 'Ranked' | 'Axes') => (p: OrbitProps) => (
  <Later of={(m: More) => { const Draw = m[name]; return <Draw {...p} />; }} />
);

const layouts: Record<Layout, (p: OrbitProps) => preact.JSX.Element> = { polar: Polar, line: Line, heatmap: HeatMap, scatter: Shifts, strip: Strip, tiles: Tiles, discs: rare('Discs'), angle: rare('Angle'), ranked: rare('Ranked'), axes: rare('Axes') };

/** Whether values are colours, so that every model has a plot of its own. */
export const colored = (l: Layout): boolean => l === 'heatmap' || l === 'scatter' || l === 'tiles' || l === 'discs';

/** The orbit, drawn. */
export function OrbitPlot(p: OrbitProps) {
  const Draw = layouts[p.orbit.layout] ?? Strip;
  return <Draw {...p} />;
}
