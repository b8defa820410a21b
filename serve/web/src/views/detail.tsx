// The detail view: what the models answer where the needle is.

import type { State } from '../core/state';
import { rendererOf } from '../render/task';
import { Card, Skeleton } from './parts';

/** The detail view; what it draws is the task's. */
export function Detail({ s }: { s: State }) {
  const run = s.data.run.value;
  if (!run) return <Card id="detail" title="Detail"><Skeleton label="Loading" /></Card>;
  const { detail: Draw, title } = rendererOf(run);
  return (
    <Card id="detail" title={title}>
      {s.data.n.value === 0 ? <p class="note">No sample.</p> : s.place.failed.value ? <p class="note">Models answer nothing about a sample that could not be read.</p> : <Draw s={s} />}
    </Card>
  );
}
