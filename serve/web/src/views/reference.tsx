// What the metric compares with: the menu, and what has to be said of a consensus.

import { caution, references } from '../core/reference';
import type { Reference } from '../core/source';
import type { State } from '../core/state';
import { num } from '../render/text';
import { modelName } from './parts';

/** The menu of references, where the run has the metric against more than one. */
export function ReferenceMenu({ s }: { s: State }) {
  const has = s.place.references.value;
  if (has.size < 2) return null;
  return (
    <label class="field reference">
      <span class="hidden">Reference</span>
      <select aria-label="Reference" value={s.place.reference.value} title={`Compared with ${references.find((r) => r.ref === s.place.reference.value)?.doc ?? ''}`} onChange={(e) => s.place.refer(e.currentTarget.value as Reference)}>
        {references.filter((r) => has.has(r.ref)).map((r) => (
          <option key={r.ref} value={r.ref}>
            against {r.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What a consensus is worth: said wherever it is the reference. For one sample, what it rests on. */
export function Caution({ s, sample }: { s: State; sample?: boolean }) {
  if (s.place.reference.value !== 'consensus') return null;
  const one = s.data.one.state.value.value;
  const here = sample && one?.index === s.place.sample.value ? one : null;
  const weak = s.data.run.value?.weak ?? 0.5;
  return (
    <p class="caution">
      <span>{caution}</span>
      {here?.support &&
        s.place.models.value.map((m, k) => {
          const v = here.support?.[m];
          const agreement = here.agreement?.[m];
          if (v === null || v === undefined) return null;
          return (
            <span key={k} class={`ink m${k}`}>
              {modelName(s, k)}: rests on {+(100 * v).toFixed(1)} % of the elements
              {v < weak && <span class="weak"> — weak, supports no verdict</span>}
              {agreement !== null && agreement !== undefined && <>, agreement with the label {num(agreement)}</>}
            </span>
          );
        })}
    </p>
  );
}
