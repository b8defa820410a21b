// The colour scale of a map: title, colours, ticks.

import { useMemo } from 'preact/hooks';
import { gradient } from '../../core/color';
import type { Scale } from '../scale';

/** The colour scale of a map. */
export function Ramp({ table, scale }: { table: Uint32Array; scale: Scale }) {
  const stops = useMemo(() => gradient(table), [table]);
  const ticks = scale.ticks.filter((t) => scale.pos(t.at) >= -0.001 && scale.pos(t.at) <= 1.001);
  return (
    <div class="colorbar">
      <span class="name">{scale.label}</span>
      <div class="ramp" style={{ backgroundImage: stops }} aria-hidden="true" />
      <div class="ends">
        {ticks.map((t) => (
          <span key={t.at} style={{ left: `${scale.pos(t.at) * 100}%` }}>
            {t.label}
          </span>
        ))}
      </div>
    </div>
  );
}
