// The page of a run: five linked views, overview at the left and detail at the right, and the table of samples below.

import type { State } from '../core/state';
import { Aggregate } from '../views/aggregate';
import { Detail } from '../views/detail';
import { Individual } from '../views/individual';
import { Input } from '../views/input';
import { Trouble } from '../views/parts';
import { Scatter } from '../views/scatter';
import { Slices } from '../views/slices';
import { SampleTable } from '../views/table';

/** The page of a run. */
export function RunPage({ s }: { s: State }) {
  const { value: run, error } = s.data.opened.state.value;
  if (!run && error) {
    return (
      <div class="center">
        <Trouble text={`The run “${s.data.runID.value}” cannot be shown. ${error}`} retry={() => s.reload()} />
        {s.client.live && (
          <p>
            <a href="#/runs">All runs</a>
          </p>
        )}
      </div>
    );
  }
  if (!run && !s.data.runID.value)
    return (
      <div class="center">
        <p>No run is chosen.</p>
        <p>
          <a href="#/runs">All runs</a>
        </p>
      </div>
    );
  return (
    <div class={`run${run ? '' : ' loading'}`} aria-busy={!run}>
      <Aggregate s={s} />
      <Scatter s={s} />
      <Individual s={s} />
      <div class="column">
        <Input s={s} />
        <Detail s={s} />
      </div>
      <SampleTable s={s} />
      <Slices s={s} />
    </div>
  );
}
