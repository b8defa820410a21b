// The page of a run: five linked views, overview at the left and detail at the right, and the table of samples below.

import { inkOf } from '../core/inks';
import type { State } from '../core/state';
import { Later } from '../later';
import { Aggregate } from '../views/aggregate';
import { Detail } from '../views/detail';
import { Individual } from '../views/individual';
import { Input } from '../views/input';
import { Trouble } from '../views/parts';
import { RunAudits } from './audits';
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
    <>
      <Warnings s={s} />
      <Says s={s} />
      <RunAudits s={s} />
      <div class={`run${run ? '' : ' loading'}`} aria-busy={!run}>
      <Aggregate s={s} />
      <Scatter s={s} />
      <Individual s={s} />
      <div class="column">
        <Input s={s} />
        <Detail s={s} />
      </div>
      {run?.output === 'mask' && <Later of={(m) => <m.Masks s={s} />} />}
      <SampleTable s={s} />
      <Slices s={s} />
        <Later of={(m) => <m.Explore s={s} />} />
      </div>
    </>
  );
}

/** What has to be known before any number is read. */
function Warnings({ s }: { s: State }) {
  const list = s.data.run.value?.warnings ?? [];
  return list.length === 0 ? null : <div class="banners" role="note" aria-label="Warnings">{list.map((t) => <div key={t} class="banner warn"><span>{t}</span></div>)}</div>;
}

/** What the run shows, and what it says of each model that is on show, in the words of the terminal and the reports. */
function Says({ s }: { s: State }) {
  const about = s.data.run.value?.about;
  const { doc, fresh } = s.choice.aggregate.value;
  const says = doc?.says ?? [];
  if (!about && !says.some(Boolean)) return null;
  const line = (t: string, k: number) => t && <li key={k} class={`ink m${inkOf(k)}`}><span>{t}</span></li>;
  return (
    <section class="in-words" aria-label="In words">
      {about && <p>{about}</p>}
      <div class={fresh ? '' : 'stale'}>
        <ul>{says.slice(0, 3).map(line)}</ul>
        {says.length > 3 && <details><summary>and of {says.length - 3} more models</summary><ul>{says.slice(3).map((t, k) => line(t, k + 3))}</ul></details>}
      </div>
    </section>
  );
}
