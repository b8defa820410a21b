// Floors from an audit of the run's models: what rounding and resampling alone would do to the relative error, element by element.

import { useEffect, useMemo } from 'preact/hooks';
import type * as api from '../core/api';
import { read, type Document } from '../core/audit';
import { nearest } from '../core/orbit';
import { Slot } from '../core/slot';
import type { State } from '../core/state';
import type { Series } from '../render/orbit/common';

/** The metric that floors are of: errors relative to the scale of the outputs. */
const metric = 'relative';

/** What the coordinates of a group's elements mean: finite groups of turns share those of all turns. Equal numbers in other charts are other motions. */
const motion = (group: string): string => (/^(C\d+|SO\(2\))$/.test(group) ? 'SO(2)' : /^(D\d+|O\(2\))$/.test(group) ? 'O(2)' : group === 'T(2,Z)' ? 'T(2)' : group);

/**
 * The floor of a model at every element of an orbit: that of resampling where the input is resampled, that of rounding where the
 * element is exact. NaN at the identity and where the audit says nothing; null if it says nothing at all.
 */
export function floorOf(doc: Document, model: string, orbit: Pick<api.Group, 'name' | 'chart' | 'elements'>): Float64Array | null {
  const m = doc.models.find((x) => x.model === model && !x.error);
  if (!m || motion(m.claim.group) !== motion(orbit.name)) return null;
  const out = new Float64Array(orbit.elements.length).fill(NaN);
  let any = false;
  for (const c of m.checks) {
    for (const s of c.sets) {
      for (const p of s.profile) {
        if (p.coordinates.length !== orbit.chart.length || p.coordinates.some((x) => x === null)) continue;
        const at = nearest(orbit, p.coordinates as number[]);
        const v = p.exact ? s.rounding_floor : p.resampling_floor;
        if (!at.same || v === null || !Number.isNaN(out[at.index])) continue;
        out[at.index] = v;
        any = true;
      }
    }
  }
  return any ? out : null;
}

const loaded = new WeakMap<State, { run: string; slot: Slot<Document[]> }>();

/** Thin lines for the floors of the models on show; none unless the metric is the relative error and an audit of the models is here. */
export function useFloors(s: State): Series[] {
  const run = s.data.run.value;
  const wanted = s.place.metricDoc.value?.name === metric && !!run?.audits.length;
  const entry = useMemo(() => {
    const old = loaded.get(s);
    if (old && old.run === run?.id) return old;
    const e = { run: run?.id ?? '', slot: new Slot<Document[]>() };
    loaded.set(s, e);
    return e;
  }, [s, run?.id]);
  useEffect(() => {
    const { value, busy, error } = entry.slot.state.peek();
    if (!wanted || !run || value || busy || error) return;
    void entry.slot.load(async (cut) => {
      const docs = await Promise.all(run.audits.map(async (id) => read((await s.client.audit(id, cut)).document)));
      return docs.filter((d) => typeof d !== 'string');
    });
  }, [entry, wanted]);
  const docs = entry.slot.value;
  const orbit = s.data.group.value;
  const models = s.place.models.value;
  return useMemo(() => {
    if (!wanted || !docs || !orbit || !run) return [];
    const out: Series[] = [];
    models.forEach((m, k) => {
      const name = run.model_list[m]?.name ?? '';
      const values = docs.map((d) => floorOf(d, name, orbit)).find((f) => f !== null);
      if (values) out.push({ ink: k as 0 | 1, name: `floor of ${name}: rounding, resampling`, values, pinned: true });
    });
    return out;
  }, [wanted, docs, orbit, models, run]);
}
