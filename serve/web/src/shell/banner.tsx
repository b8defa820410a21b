// What has to be said above the page: the server is gone, a run is still computing, an address held something unknown.

import { words } from '../core/source';
import type { State } from '../core/state';
import { idle, ours, underway } from '../core/underway';

/** All that has to be said, the gravest first. */
export function Banners({ s }: { s: State }) {
  return (
    <div class="banners">
      {!s.tasks.connected.value && (
        <div class="banner error" role="alert">
          <span>The server does not answer. What was loaded stays on show; live answers and new samples are missing until it is back.</span>
          <button onClick={() => s.reload()}>Try again</button>
        </div>
      )}
      <Progress s={s} />
      {s.tasks.notices.value.map((n) => (
        <div key={n.id} class={`banner ${n.kind}`} role={n.kind === 'error' ? 'alert' : 'status'}>
          <span>{n.text}</span>
          {n.action && <button onClick={n.action.run}>{n.action.label}</button>}
          <button class="close" aria-label="Dismiss" onClick={() => s.tasks.dismiss(n.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

/** How far a run is that is not complete. */
function Progress({ s }: { s: State }) {
  const run = s.data.run.value;
  const p = s.tasks.progress.value ?? run?.state;
  if (s.place.page.value !== 'run' || !run || !p || p.complete) return null;
  const act = (f: Promise<void>) => void f.catch((e) => s.tasks.notify('error', words(e)));
  return (
    <div class="banner info" role="status">
      <span>
        {underway(p)}. Numbers are of those that are there.
      </span>
      <progress max={Math.max(1, p.total)} value={p.done} aria-label="Samples computed" />
      {s.client.live && ours(p) && <button onClick={() => act(s.client.stopJob(run.id))}>Stop</button>}
      {s.client.live && idle(p) && <button onClick={() => act(s.client.startJob(run.id))}>Go on</button>}
    </div>
  );
}
