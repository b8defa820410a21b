// What the page of releases reads off its report.

import type { Curve } from '../core/audit';
import type { Table } from '../core/export';
import type { Point, Report, Series } from '../core/watch';

/** What a series is called. */
export const nameOf = (s: Series): string => `${s.model ? `${s.model}: ` : ''}${s.metric} on the ${s.set} under ${s.group}, ${s.evidence}`;

/** The series that is shown where none is chosen: the first in alarm, else the first. */
export const chosen = (r: Report, key: string): Series | undefined => r.series.find((s) => s.key === key) ?? r.series.find((s) => s.state === 'alarm') ?? r.series[0];

/** Whether the series adds up what fails of new inputs. */
export const adds = (s: Series): boolean => s.evidence === 'new inputs';

const label = (s: Series) => (p: Point): string => `${p.release}, ${judged(s, p) ? p.state : (p.why ?? '')}`;

/** Whether a release is judged; of what is not, as of the reference, only the reason is of use. */
export const judged = (s: Series, p: Point): boolean => adds(s) || p.state !== 'open' || !p.why || !!p.change;

/** Values release after release, with their intervals; those in alarm have a sign of their own. */
export function valueCurve(r: Report, s: Series): Curve {
  const of = (name: string, marks: boolean, keep: (p: Point) => boolean) => ({
    name, marks, x: s.points.map((_, k) => k + 1), y: s.points.map((p) => (keep(p) ? p.value : null)),
    lo: s.points.map((p) => (keep(p) ? p.low : null)), hi: s.points.map((p) => (keep(p) ? p.high : null)), labels: s.points.map(label(s)),
  });
  const y = adds(s) ? { name: 'share that failed so far' } : { name: `mean of ${s.metric}`, ...(s.unit ? { unit: s.unit } : {}) };
  const series = [of(adds(s) ? 'share' : 'mean', false, () => true)];
  if (s.points.some((p) => p.state === 'alarm')) series.push(of('in alarm', true, (p) => p.state === 'alarm'));
  return { x: { name: 'release' }, y, limit: adds(s) ? r.rate : (s.course?.limit ?? null), series };
}

/** The evidence after each release beside that of an alarm, as powers of ten; null for the same inputs. */
export function evidenceCurve(s: Series): Curve | null {
  const e = s.log_e_values ?? [];
  if (!adds(s) || e.length !== s.points.length || typeof s.level !== 'number' || !(s.level > 0)) return null;
  const ten = (x: number | null): number | null => (x === null ? null : x / Math.LN10);
  return {
    x: { name: 'release' }, y: { name: 'evidence, power of ten' }, limit: -Math.log10(s.level),
    series: [{ name: 'evidence', x: s.points.map((_, k) => k + 1), y: e.map(ten), labels: s.points.map(label(s)) }],
  };
}

/** The releases of a series as a table. */
export function pointTable(s: Series): Table {
  const more = adds(s) ? ['repeated', 'failed'] as const : ['missing'] as const;
  return {
    title: nameOf(s), notes: [],
    columns: [
      { name: 'release', kind: 'text' }, { name: 'file', kind: 'text' }, { name: 'objects', kind: 'float64' }, ...more.map((name) => ({ name, kind: 'float64' }) as const),
      ...(['value', 'low', 'high', 'change', 'change_low', 'change_high'] as const).map((name) => ({ name, kind: 'float64' }) as const), { name: 'state', kind: 'text' }, { name: 'why', kind: 'text' },
    ],
    rows: s.points.map((p) => [p.release, p.file, p.n, ...more.map((m) => p[m] ?? 0), p.value, p.low, p.high, p.change?.value ?? null, p.change?.low ?? null, p.change?.high ?? null, p.state, p.why ?? '']),
  };
}
