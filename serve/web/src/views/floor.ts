// What audits of the run's models say beside the curve of the relative error: floors, which rounding and resampling alone would make, element
// by element, and the limit that the error is held against.

import { useEffect, useMemo } from 'preact/hooks';
import type * as api from '../core/api';
import { read, type Document } from '../core/audit';
import { nearest } from '../core/orbit';
import { Slot } from '../core/slot';
import type { State } from '../core/state';
import type { Series } from '../render/orbit/common';
import type { Scale } from '../render/scale';
import { num } from '../render/text';

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

/** The limit that an audit holds the relative errors of a model against, null if it says nothing of these motions. */
export function limitOf(doc: Document, model: string, orbit: Pick<api.Group, 'name'>): number | null {
  const m = doc.models.find((x) => x.model === model && !x.error);
  return m && motion(m.claim.group) === motion(orbit.name) ? m.policy.threshold : null;
}

/** A limit as a plot draws it. */
export interface Limit {
  value: number;
  label: string;
}

/** The limits of the models on show, each number once, with the models that it is for where not all have the same. */
export function limitsOf(docs: readonly Document[], models: readonly string[], orbit: Pick<api.Group, 'name'>): Limit[] {
  const whose = new Map<number, string[]>();
  for (const name of models) {
    const v = docs.map((d) => limitOf(d, name, orbit)).find((x) => x !== null) ?? null;
    if (v !== null) whose.set(v, [...(whose.get(v) ?? []), name]);
  }
  return [...whose].map(([value, of]) => ({ value, label: `limit of the audit${of.length < models.length ? ` of ${of.join(', ')}` : ''}: ${num(value)}` }));
}

const loaded = new WeakMap<State, { run: string; slot: Slot<Document[]> }>();

/** The audits of the run on show, once they are wanted and here. */
function useAudits(s: State, wanted: boolean): Document[] | null {
  const run = s.data.run.value;
  const entry = useMemo(() => {
    const old = loaded.get(s);
    if (old && old.run === run?.id) return old;
    const e = { run: run?.id ?? '', slot: new Slot<Document[]>() };
    loaded.set(s, e);
    return e;
  }, [s, run?.id]);
  useEffect(() => {
    const { value, busy, error } = entry.slot.state.peek();
    if (!wanted || !run?.audits.length || value || busy || error) return;
    void entry.slot.load(async (cut) => {
      const docs = await Promise.all(run.audits.map(async (id) => read((await s.client.audit(id, cut)).document)));
      return docs.filter((d) => typeof d !== 'string');
    });
  }, [entry, wanted]);
  return wanted ? entry.slot.value : null;
}

/** Thin lines for the floors of the models on show; none unless the metric is the relative error and an audit of the models is here. */
export function useFloors(s: State): Series[] {
  const run = s.data.run.value;
  const docs = useAudits(s, s.place.metricDoc.value?.name === metric);
  const orbit = s.data.group.value;
  const models = s.place.models.value;
  return useMemo(() => {
    if (!docs || !orbit || !run) return [];
    const out: Series[] = [];
    models.forEach((m, k) => {
      const name = run.model_list[m]?.name ?? '';
      const values = docs.map((d) => floorOf(d, name, orbit)).find((f) => f !== null);
      if (values) out.push({ ink: k as 0 | 1, name: `floor of ${name}: rounding, resampling`, values, pinned: true });
    });
    return out;
  }, [docs, orbit, models, run]);
}

/** The limits beside the curves of the models on show; of records, those of the errors of each field too. */
export function useLimits(s: State): Limit[] {
  const run = s.data.run.value;
  const name = s.place.metricDoc.value?.name ?? '';
  const docs = useAudits(s, name === metric || name.endsWith(`.${metric}`));
  const orbit = s.data.group.value;
  const models = s.place.models.value;
  return useMemo(() => (docs && orbit && run ? limitsOf(docs, [...new Set(models)].map((m) => run.model_list[m]?.name ?? ''), orbit) : []), [docs, orbit, models, run]);
}

/** Limits in words, for below a plot: whether a line shows them, and what they are held against. */
export function limitWords(limits: readonly Limit[], scale: Pick<Scale, 'pos'> | null): string {
  const where = (at: number): string => (at > 1 ? ', above all that is drawn' : at < 0.01 ? ', which cannot be told from 0 at this scale' : ' (dashed)');
  return `${limits.map(({ value, label }) => label + (scale ? where(scale.pos(value)) : '')).join('; ')}; each input's largest error is held against it`;
}
