// A picture with drawings over it: a canvas and an SVG of the same size, in pixels of the picture.

import type { ComponentChildren } from 'preact';
import type { Picture } from '../../core/source';
import { pixels } from '../picture';
import { Raster } from './input';

/** A picture of w by h pixels and what is drawn over it; it may be there with fewer, as `size` says. Without draw there is an even ground. */
export function Stage({ w, h, size, label, draw, children, class: c, svg }: { w: number; h: number; size?: readonly [number, number] | undefined; label: string; draw?: ((px: Uint32Array) => void) | undefined; children?: ComponentChildren; class?: string; svg?: Record<string, unknown> }) {
  return (
    <div class={`stage ${c ?? ''}`} style={{ '--ar': String(w / Math.max(1, h)) }}>
      {draw ? <Raster label={label} of={() => ({ w: size?.[0] ?? w, h: size?.[1] ?? h, draw })} /> : <div class="blank" role="img" aria-label={label} />}
      <svg viewBox={`0 0 ${w} ${h}`} preserveAspectRatio="none" {...svg}>
        {children}
      </svg>
    </div>
  );
}

/** Draws a picture. */
export const painter = (p: Picture) => (px: Uint32Array): void => pixels(p, px);
