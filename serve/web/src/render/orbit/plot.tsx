// The drawing of an orbit by its layout.

import type { Layout } from '../../core/layouts';
import { Later, type More } from '../../later';
import type { OrbitProps } from './common';
import { Line, Strip } from './line';
import { Polar } from './polar';

/** A layout that is loaded when it is first drawn. */
const rare = (name: 'Discs' | 'Angle' | 'Ranked' | 'Axes' | 'HeatMap' | 'Shifts' | 'Tiles') => (p: OrbitProps) => (
  <Later of={(m: More) => { const Draw = m[name]; return <Draw {...p} />; }} />
);

const drawings: Record<Layout, (p: OrbitProps) => preact.JSX.Element> = { polar: Polar, line: Line, heatmap: rare('HeatMap'), scatter: rare('Shifts'), strip: Strip, tiles: rare('Tiles'), discs: rare('Discs'), angle: rare('Angle'), ranked: rare('Ranked'), axes: rare('Axes') };

/** The orbit, drawn. */
export function OrbitPlot(p: OrbitProps) {
  const Draw = drawings[p.orbit.layout] ?? Strip;
  return <Draw {...p} />;
}
