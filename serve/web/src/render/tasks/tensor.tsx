// Answers that are numbers without a picture: their metrics.

import type { State } from '../../core/state';
import { MetricsHere } from './metrics';

/** The metrics of an output that has no picture of its own. */
export function TensorDetail({ s }: { s: State }) {
  return (
    <div class="detail-view">
      <p class="note">The output is a list of numbers; its metrics say how it changes.</p>
      <MetricsHere s={s} />
    </div>
  );
}
