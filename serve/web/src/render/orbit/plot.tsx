// The drawing of an orbit by its layout.

import type { Layout } from '../../core/layouts';
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

const drawings: Record<Layout, (p: OrbitProps) => preact.JSX.Element> = { polar: Polar, line: Line, heatmap: HeatMap, scatter: Shifts, strip: Strip, tiles: Tiles, discs: rare('Discs'), angle: rare('Angle'), ranked: rare('Ranked'), axes: rare('Axes') };

/** The orbit, drawn. */
export function OrbitPlot(p: OrbitProps) {
  const Draw = drawings[p.orbit.layout] ?? Strip;
  return <Draw {...p} />;
}
