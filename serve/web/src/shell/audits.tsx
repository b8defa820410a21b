// What audits say of the models of the run on show, beside its curves.

import { useEffect } from 'preact/hooks';
import type { State } from '../core/state';
import { kindOf } from '../pages/pairs';

const signs = { pass: '✓', fail: '✗', open: '?' } as const;

/** The verdicts of the audits of the run that is open, each a way to its findings. */
export function RunAudits({ s }: { s: State }) {
  const ids = s.data.run.value?.audits ?? [], list = s.data.runs.state.value.value;
  useEffect(() => { if (ids.length > 0 && s.client.live && !s.data.runs.state.peek().value && !s.data.runs.state.peek().busy) void s.data.list(); }, [ids.join()]);
  const audits = list?.audits.filter((a) => ids.includes(a.id)) ?? [];
  if (audits.length === 0) return null;
  return (
    <nav class="run-audits" aria-label="Audits of these models">
      {audits.map((a) => {
        const k = kindOf(a.verdict);
        return <a key={a.id} class={`verdict ${k}`} href={`#/findings/${encodeURIComponent(a.id)}`}><span aria-hidden="true">{signs[k]}</span> audit of {a.models.join(', ')}: <b>{a.verdict}</b></a>;
      })}
    </nav>
  );
}
