// Tiles of fields as the maps of their errors, on one scale for all elements and models on show: low error is bright, and the mean stands below.

import { useMemo } from 'preact/hooks';
import { gains, goodness } from '../core/color';
import { Maps } from '../core/maps';
import { tiled } from '../core/place';
import type { ErrorMap } from '../core/source';
import type { State } from '../core/state';
import type { Series, TilePicture } from '../render/orbit/common';
import { mapped } from '../render/picture';
import { makeScale, type Scale } from '../render/scale';
import { num, signed } from '../render/text';

/** The maps of the sample that are there, with their scale; null where tiles have one colour each. */
export interface Shown {
  picture: (s: Series, k: number) => TilePicture | null;
  scale: Scale;
  table: Uint32Array;
  /** How many of how many maps are there. */
  there: number;
  all: number;
}

/** The maps of the errors of A and B, or of their difference. */
export function useMaps(s: State, diff: boolean): Shown | null {
  const run = s.data.run.value;
  const on = tiled(run) && s.place.mapped.value;
  const found = s.place.maps.found.value;
  const sample = s.place.sample.value;
  const models = s.place.models.value;
  const ref = s.client.live ? s.place.reference.value : null;
  const map = s.place.cmap.value;
  return useMemo(() => {
    if (!on || !run) return null;
    const at = (m: number | undefined, k: number): ErrorMap | null => (m === undefined ? null : (found.get(Maps.key({ run: run.id, sample, ref }, m, k)) ?? null));
    const elements = run.orbit.elements.map((_, k) => k);
    const own = models.map((m) => elements.map((k) => at(m, k)));
    const less = diff ? elements.map((k) => minus(at(models[0], k), at(models[1], k))) : [];
    const of = (x: Series, k: number) => (x.ink === 2 ? less[k] : own[x.ink]?.[k]) ?? null;
    const list = (diff ? [less] : own).flat().filter((x): x is ErrorMap => x !== null);
    let most = 0;
    for (const x of list) for (const v of x.data) if (Math.abs(v) > most && Math.abs(v) < Infinity) most = Math.abs(v);
    const what = `end-point error in px, ${diff ? 'B − A' : `all elements${models.length > 1 ? ' and models' : ''}`}`;
    const scale = diff ? makeScale({ lo: -(most || 1), hi: most || 1, log: false }, what) : makeScale({ lo: 0, hi: most || 1, log: false }, what);
    const table = diff ? gains('lower') : goodness(map, 'lower');
    const picture = (x: Series, k: number): TilePicture | null => {
      const e = of(x, k);
      if (!e) return null;
      const mean = diff ? signed(e.mean) : num(e.mean);
      return { w: e.w, h: e.h, draw: (px) => mapped(e.data, [scale.lo, scale.hi], table, px), value: mean, words: `mean ${diff ? 'difference of the end-point errors' : 'end-point error'} ${mean} px` };
    };
    return { picture, scale, table, there: list.length, all: elements.length * (diff ? 1 : models.length) };
  }, [on, run, found, sample, models, ref, map, diff]);
}

function minus(a: ErrorMap | null, b: ErrorMap | null): ErrorMap | null {
  return a && b && a.h === b.h && a.w === b.w ? { ...a, data: a.data.map((v, i) => (b.data[i] as number) - v), mean: b.mean - a.mean } : null;
}

/** The switch between maps and one colour each, and what the maps wait for. */
export function MapSwitch({ s, shown }: { s: State; shown: Shown | null }) {
  if (!tiled(s.data.run.value)) return null;
  const on = s.place.mapped.value;
  const able = s.data.ability.value;
  const why = s.place.maps.error.value || (!s.client.live ? '' : !able.models ? (/being opened/.test(able.reason ?? '') ? 'Opening the models …' : `Maps of errors are not stored: they are shown while models can be asked${able.reason ? `: ${able.reason}` : ''}.`) : !s.place.liveOn.value ? 'Maps of errors are not stored: switch on live to see them.' : '');
  return (
    <div class="bar tilebar">
      <span class="segments" role="group" aria-label="What a tile shows">
        <button aria-pressed={on} onClick={() => (s.place.mapped.value = true)} title="Where the answer is wrong, pixel by pixel, at every element">error maps</button>
        <button aria-pressed={!on} onClick={() => (s.place.mapped.value = false)} title="One colour for each element: the value of the metric">values</button>
      </span>
      {on && shown && shown.there < shown.all && <span class="note" role="status">{why || `${shown.there} of ${shown.all} maps are there`}</span>}
    </div>
  );
}
