// The input view: what the models were fed.

import type { State } from '../core/state';
import { rendererOf } from '../render/task';
import { Card, Skeleton } from './parts';

/** The input view; what it draws is the task's. */
export function Input({ s }: { s: State }) {
  const run = s.data.run.value;
  if (!run) return <Card id="input" title="Input"><Skeleton label="Loading the input" square /></Card>;
  const Draw = rendererOf(run).input;
  return (
    <Card id="input" title="Input" sub="as the models were fed it">
      {s.data.n.value === 0 ? <p class="note">No sample.</p> : s.place.failed.value ? <p class="note">This sample could not be read.</p> : <Draw s={s} />}
    </Card>
  );
}
