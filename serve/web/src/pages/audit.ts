// What the findings page reads off the document of an audit.

import type * as api from '../core/api';
import type { Curve, Finding, Model, Point, Series, Severity, Verdict, Where } from '../core/audit';
import { empty, format } from '../core/url';

type Num = api.Num;

const severities: readonly Severity[] = ['high', 'medium', 'low', 'note'];

/** Every finding with its check, the severest first, otherwise in the order of the checks. */
export function findings(m: Model): { check: string; finding: Finding }[] {
  const all = m.checks.flatMap((c) => c.findings.map((finding) => ({ check: c.check, finding })));
  const rank = (f: Finding) => (severities.indexOf(f.severity) + severities.length + 1) % (severities.length + 1);
  return all.sort((a, b) => rank(a.finding) - rank(b.finding));
}

/** A verdict with a sign that needs no colour. */
export function verdictWords(v: Verdict): { sign: string; text: string; kind: string } {
  switch (v) {
    case 'PASS':
      return { sign: '✓', text: 'PASS', kind: 'pass' };
    case 'FAIL':
      return { sign: '✗', text: 'FAIL', kind: 'fail' };
    case 'NEEDS_ATTENTION':
      return { sign: '!', text: 'NEEDS ATTENTION', kind: 'attention' };
    default:
      return { sign: '–', text: 'COULD NOT RUN', kind: 'none' };
  }
}

const same = (a: readonly Num[] | undefined, b: api.Element): boolean => (a ?? []).length === b.length && b.every((x, k) => x === a?.[k]);

/** Where the five views show a sample and element that the audit names; null if no run of this server has it. */
export function placeOf(places: readonly api.Place[], model: string, w: Where | undefined): api.Place | null {
  if (!w) return null;
  const here = places.filter((p) => p.sample === w.sample && p.model === model);
  return here.find((p) => same(w.coordinates, p.element)) ?? (w.coordinates?.length ? null : (here[0] ?? null));
}

/** The address of a place in the five views. */
export function linkTo(p: api.Place, metric = ''): string {
  return format({ ...empty('run', p.run), i: p.index, g: p.element.length ? [...p.element] : null, a: p.model, m: metric || null });
}

/** What an element leaves as it is, which the other pages do not write, and what it does, as they write it. */
const still: readonly string[] = ['mirror 0', 'reverse 0', 'inversion 0'], done: Readonly<Record<string, string>> = { 'mirror 1': 'mirrored', 'reverse 1': 'time reversed', 'inversion 1': 'inverted' };

/** An element as the other pages write it: "(angle 270°, mirror 1)" is "270° mirrored"; audits of earlier versions have " deg". */
export function brief(element: string): string {
  const bare = element.replace(/^\((.*)\)$/, '$1');
  const parts = bare.split(', ').filter((p) => !still.includes(p)).map((p) => (done[p] ?? p.replace(/^angle /, '').replace(/(\d) deg$/, '$1°')));
  return parts.join(', ').replace('°, mirrored', '° mirrored') || bare;
}

/** The error along the orbit over all sets: what is exact stands as marks beside the curve of what is resampled, with both floors. */
export function orbitProfile(m: Model): { curve: Curve; points: Point[]; note: string } | null {
  const points: Point[] = [];
  let rounding: Num = null;
  for (const c of m.checks) {
    for (const s of c.sets) {
      for (const p of s.profile) if (!points.some((q) => q.coordinates.length === p.coordinates.length && same(q.coordinates, p.coordinates as api.Element))) points.push(p);
      if (s.rounding_floor !== null && (rounding === null || s.rounding_floor > rounding)) rounding = s.rounding_floor;
    }
  }
  if (points.length === 0) return null;
  const axes = points[0].coordinates.length;
  if (axes === 1) points.sort((a, b) => (a.coordinates[0] ?? 0) - (b.coordinates[0] ?? 0));
  const x = (p: Point, k: number): Num => (axes === 1 ? p.coordinates[0] : k);
  const of = (name: string, keep: (p: Point) => boolean, y: (p: Point) => Num, marks = false): Series => {
    const s: Series = { name, marks, x: [], y: [], labels: [] };
    points.forEach((p, k) => {
      if (!keep(p)) return;
      s.x.push(x(p, k));
      s.y.push(y(p));
      s.labels?.push(brief(p.element));
    });
    return s;
  };
  const series = [
    of('resampled elements, mean', (p) => !p.exact, (p) => p.mean, axes !== 1),
    of('resampled elements, largest', (p) => !p.exact, (p) => p.max, axes !== 1),
    of('exact elements, mean', (p) => p.exact, (p) => p.mean, true),
    of('exact elements, largest', (p) => p.exact, (p) => p.max, true),
    of('resampling floor, mean', (p) => !p.exact && p.resampling_floor !== null, (p) => p.resampling_floor, axes !== 1),
  ].filter((s) => s.x.length > 0);
  if (rounding !== null && rounding > 0) {
    const all = points.map((p, k) => x(p, k) ?? 0);
    series.push({ name: 'rounding floor', x: [Math.min(...all), Math.max(...all)], y: [rounding, rounding] });
  }
  const unit = /deg|°/.test(points[0].element) ? 'deg' : /px/.test(points[0].element) ? 'px' : '';
  const curve: Curve = {
    x: axes === 1 ? { name: unit === 'deg' ? 'angle' : 'element', unit } : { name: 'element, in the order of the plan' },
    y: { name: 'error, relative to the scale of the outputs', log: true },
    series,
  };
  if (m.policy.threshold !== null) curve.limit = m.policy.threshold;
  return { curve, points, note: 'The comb: exact elements act without resampling, so an error on them cannot come from it. An error that is high only between them, and near the floor, is that of the grid.' };
}
