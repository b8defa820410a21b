// All models of a run beside each other: the aggregate of each, small, on one scale, and of maps of shifts how wide they are.

import { useMemo } from 'preact/hooks';
import { widths, type Width } from '../core/fwhm';
import { traits } from '../core/layouts';
import type { State } from '../core/state';
import type { Ink, Series } from '../render/orbit/common';
import { OrbitPlot } from '../render/orbit/plot';
import type { Scale } from '../render/scale';
import { count, num } from '../render/text';
import { ColorBar, colors, lowest, orbitMean, quantity, sentence, Skeleton, tipLines, Trouble, useNav, worstOf } from './parts';

const wide = (w: Width): string => (Number.isNaN(w.value) ? '–' : `${w.open ? '≥ ' : ''}${+w.value.toFixed(1)}`);

/** The aggregates of all models of the run. */
export function Family({ s, scale }: { s: State; scale: Scale }) {
  const run = s.data.run.value!;
  const o = run.orbit;
  const nav = useNav(s);
  const { value, busy, error } = s.choice.family.state.value;
  const doc = value?.doc ?? null;
  const list = useMemo(
    () =>
      run.model_list.map((m, k) => {
        const c = doc?.curves.find((x) => x.model === k);
        const values = Float64Array.from(c?.mean ?? [], (v) => v ?? NaN);
        const series: Series = { ink: 2 as Ink, name: m.name, values };
        return { k, name: m.name, series, curve: c, width: traits(o.layout).peaked && values.length ? widths(o.elements, values) : null };
      }),
    [doc, run],
  );
  if (!doc) return error ? <Trouble text={error} retry={() => s.reload()} /> : <Skeleton label="Loading the curves" square />;
  const map = traits(o.layout).colored === true;
  const higher = s.place.metricDoc.value?.better !== 'lower';
  const better = s.place.metricDoc.value?.better;
  const measured = higher && list.some((x) => x.width);
  return (
    <div class={busy ? 'stale' : ''}>
      <div class="family">
        {list.map(({ k, name, series }) => (
          <div key={k} class={`member${s.place.a.value === k ? ' a' : ''}${s.place.b.value === k ? ' b' : ''}`}>
            <OrbitPlot orbit={o} series={[series]} scale={scale} alt={`${name}. ${sentence(s, series)}`} at={s.place.g} better={s.place.metricDoc.value?.better} nav={nav} small tip={(e) => tipLines(s, [series], e)} {...(map ? { table: colors(s) } : {})} />
            <button class="link" aria-pressed={s.place.a.value === k} title={`Show ${name} as A`} onClick={() => (s.place.a.value = k)}>
              {name}
            </button>
          </div>
        ))}
      </div>
      {map && <ColorBar table={colors(s)} scale={scale} />}
      <table class="numbers familytable">
        <caption class="hidden">{quantity(s)} of every model, mean over {count(doc.n)} samples</caption>
        <thead>
          <tr>
            <th scope="col">model</th>
            <th scope="col">mean</th>
            <th scope="col">{lowest(s)}</th>
            {measured && <th scope="col" title="Full width at half maximum along dx through the largest mean; the baseline is 0. ≥: it has not fallen to half where the map ends">FWHM dx, px</th>}
            {measured && <th scope="col" title="The same along dy">dy, px</th>}
          </tr>
        </thead>
        <tbody>
          {list.map(({ k, name, series, curve, width }) => (
            <tr key={k}>
              <th scope="row">{name}</th>
              <td>{curve ? num(curve.orbit.mean ?? orbitMean(series.values, o.weights)) : '–'}</td>
              <td>{num(series.values[worstOf(series.values, better)])}</td>
              {measured && <td data-fwhm={width ? width.dx.value : ''}>{width ? wide(width.dx) : '–'}</td>}
              {measured && <td>{width ? wide(width.dy) : '–'}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="axisnote">all models on one scale, n = {count(doc.n)}{measured ? '; FWHM: full width at half of the largest mean, baseline 0' : ''}</p>
    </div>
  );
}
