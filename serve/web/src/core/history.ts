// The state of the page in its address, both ways. A new sample, slice, page or view below the table is a step that Back takes back; everything else replaces
// the address once things have settled.

import { effect } from '@preact/signals';
import type * as api from './api';
import { everything, type Column } from './choice';
import type { State } from './state';
import { sibling } from './reference';
import * as url from './url';

/** What the browser offers, so that tests need none. */
export interface Browser {
  hash(): string;
  push(hash: string): void;
  replace(hash: string): void;
  /** Calls f whenever the address is changed from outside. */
  onChange(f: () => void): () => void;
}

/** The window's own history. */
const browser: Browser = {
  hash: () => location.hash,
  push: (h) => history.pushState(null, '', h),
  replace: (h) => history.replaceState(null, '', h),
  onChange: (f) => {
    addEventListener('popstate', f);
    addEventListener('hashchange', f);
    return () => {
      removeEventListener('popstate', f);
      removeEventListener('hashchange', f);
    };
  },
};

/** Whether the page has an address to hand on. One whose text is an attribute of a frame has none. */
export function addressed(): boolean {
  return location.protocol !== 'about:';
}

/** The history of a document: the window's, or one in memory where the document has no address that it may change. */
export function historyOf(doc: Document): Browser {
  try {
    history.replaceState(history.state, '', location.hash || '#'); // an empty address is none, and always permitted
    return browser;
  } catch {
    return new Memory(doc);
  }
}

/**
 * A history for documents without an address of their own, such as a report whose text is an attribute of the frame that shows it, as notebooks have them.
 * Links within the page are followed here, because the browser would load what is around the frame into the frame. Alt and an arrow go back and forth.
 */
export class Memory implements Browser {
  private readonly list = [''];
  private at = 0;
  private readonly heard = new Set<() => void>();
  constructor(doc: Pick<Document, 'addEventListener'>) {
    doc.addEventListener('click', (e) => {
      const a = e.target instanceof Element ? e.target.closest('a[href^="#"]') : null;
      if (!a || e.defaultPrevented) return;
      e.preventDefault();
      this.follow(a.getAttribute('href') ?? '');
    });
    doc.addEventListener('keydown', (e) => {
      const by = e.altKey ? { ArrowLeft: -1, ArrowRight: 1 }[e.key] : undefined;
      if (!by) return;
      e.preventDefault();
      this.go(by);
    });
  }
  hash(): string {
    return this.list[this.at] ?? '';
  }
  push(hash: string): void {
    this.list.splice(++this.at, Infinity, hash);
  }
  replace(hash: string): void {
    this.list[this.at] = hash;
  }
  onChange(f: () => void): () => void {
    this.heard.add(f);
    return () => void this.heard.delete(f);
  }
  /** Goes to an address, as a click on a link does. */
  follow(hash: string): void {
    this.push(hash);
    for (const f of this.heard) f();
  }
  /** Goes back or forth, as far as there is something. */
  go(by: number): void {
    const to = Math.min(Math.max(this.at + by, 0), this.list.length - 1);
    if (to === this.at) return;
    this.at = to;
    for (const f of this.heard) f();
  }
}

const columns = /^(index|label|id|diff|(mean|sd|min|max|identity|change|worst|similar|corr|ssim|predicted)[0-7])$/;

/** Most characters of the set that a layout is fitted to in an address; a lasso drawn in a layout fitted to a longer one is left out with it. */
const longestFit = 1500;

/** What makes a text a rule rather than the name of a slice, unless the address says otherwise. */
const likeRule = /[<>=~!]|\b(in|and|or|not)\b/;

/** What the store shows, as an address says it. */
export function toURL(s: State): url.State {
  const u = url.empty(s.place.page.value);
  u.extra = s.place.unknown.value.map(([k, v]) => [k, v]);
  if (u.page === 'findings') {
    u.id = s.place.audit.value;
    return u;
  }
  if (url.isSheet(u.page)) {
    u.id = s.place.sheet.value;
    u.extra = Object.entries(s.place.detail.value);
    return u;
  }
  if (u.page === 'runs') return u;
  u.id = s.data.runID.value;
  const r = s.data.run.value;
  if (!r) return u;
  const c = s.choice.parts.value;
  u.i = s.place.sample.value;
  u.g = [...s.place.g.value];
  u.a = r.model_list[s.place.a.value]?.name ?? null;
  u.b = s.place.b.value >= 0 ? (r.model_list[s.place.b.value]?.name ?? null) : r.model_list.length > 1 ? 'none' : null;
  u.s = c.slice || c.rule || null;
  if (c.slice && c.rule) u.extra.push(['q', c.rule]);
  if (c.slice && likeRule.test(c.slice) && !r.slices.some((x) => x.name === c.slice)) u.extra.push(['is', 'slice']);
  if (c.lasso && c.lasso.layout === s.choice.layoutKey.value && !(s.choice.embedding.value.fit && s.choice.embedding.value.fit.length > longestFit)) u.poly = url.tidy(c.lasso.poly);
  if (c.picked && c.picked.length <= 60) u.extra.push(['rows', c.picked.join(',')]);
  const e = s.choice.embedding.value;
  u.dr = url.layouts.find((x) => x === e.method) ?? null;
  if (e.of !== 'ab') u.extra.push(['of', e.of]);
  if (e.fit && e.fit.length <= longestFit) u.extra.push(['fit', e.fit]);
  const rank = s.choice.rank.value;
  if (rank.by !== 'mean0' || rank.descending !== (s.place.metricDoc.value?.better === 'lower')) u.extra.push(['ord', (rank.descending ? '-' : '') + rank.by]);
  if (s.place.pinned.value >= 0) u.extra.push(['p', String(s.place.pinned.value)]);
  u.by = s.choice.colorBy.value;
  u.map = s.place.cmap.value;
  u.m = r.metric_list[s.place.metric.value]?.name ?? null;
  u.cmp = s.place.compare.value;
  if (s.place.references.value.size > 1) u.ref = s.place.reference.value;
  if (s.place.pixel.value) u.extra.push(['px', s.place.pixel.value.join(',')]);
  if (s.place.frame.value > 0) u.extra.push(['fr', String(s.place.frame.value)]);
  if (s.place.every.value) u.extra.push(['all', '1']);
  if (s.place.others.value.length) u.extra.push(['more', s.place.others.value.join(',')]);
  if (s.place.look.value) u.extra.push(['look', s.place.look.value]);
  if (s.place.byClass.value) u.extra.push(['cls', '1']);
  if (s.place.band.value !== 'spread') u.extra.push(['band', s.place.band.value]);
  if (s.place.plane.value) u.extra.push(['plane', s.place.plane.value]);
  if (!s.place.mapped.value) u.extra.push(['tiles', 'values']);
  const z = s.place.zoom.value;
  if (z && z.layout === s.choice.layoutKey.value) u.extra.push(['z', [z.k, z.x, z.y].map((v) => String(+v.toPrecision(4))).join(',')]);
  if (s.client.live && !s.place.liveOn.value) u.live = s.place.liveOn.value;
  return u;
}

/** Keys of this program that the parser leaves in extra. */
const own = new Set(['q', 'is', 'rows', 'of', 'p', 'fit', 'ord', 'px', 'fr', 'all', 'more', 'look', 'cls', 'band', 'plane', 'tiles', 'z']);

/** Whether a text is a set of samples as JSON, for the server to look at. */
function isSet(text: string): boolean {
  if (!text || text.length > longestFit) return false;
  try {
    const v: unknown = JSON.parse(text);
    return typeof v === 'object' && v !== null && !Array.isArray(v);
  } catch {
    return false;
  }
}

/** Applies an address to the choices within a run. */
function applyRun(s: State, u: url.State, r: api.Run): string[] {
  const notices: string[] = [];
  const extra = new Map(u.extra);
  if (u.i !== null) {
    if (u.i < r.samples) s.place.sample.value = u.i;
    else notices.push(`There is no sample ${u.i}: the run has ${r.samples}.`);
  }
  if (u.g !== null) {
    if (u.g.length === r.orbit.chart.length) s.place.g.value = u.g;
    else notices.push(`g=${u.g.join(',')} was left out: an element of ${r.orbit.title || r.orbit.name} has ${r.orbit.chart.length} coordinate(s).`);
  }
  const model = (name: string): number => {
    const k = r.model_list.findIndex((m) => m.name === name);
    if (k < 0) notices.push(`There is no model “${name}” in this run.`);
    return k;
  };
  if (u.a !== null) s.place.a.value = Math.max(0, model(u.a));
  if (u.b !== null) {
    const has = r.model_list.some((m) => m.name === u.b);
    s.place.b.value = u.b === 'none' && !has ? -1 : model(u.b);
  } else if (s.place.b.value === s.place.a.value && r.model_list.length > 1) s.place.b.value = s.place.a.value === 0 ? 1 : 0;
  if (u.m !== null) {
    const k = r.metric_list.findIndex((m) => m.name === u.m);
    if (k >= 0) s.place.metric.value = k;
    else notices.push(`There is no metric “${u.m}” in this run.`);
  }
  if (u.ref !== null && r.metric_list[s.place.metric.value]?.ref !== u.ref && !refer(s, r, u.ref)) notices.push(`There is no ${u.ref} reference for ${r.metric_list[s.place.metric.value]?.title ?? 'this metric'} in this run.`);
  if (u.cmp !== null) s.place.compare.value = u.cmp;
  const px = extra.get('px');
  if (px !== undefined) {
    const at = px.split(',');
    if (at.length === 2 && at.every((t) => /^\d{1,5}$/.test(t))) s.place.pixel.value = [Number(at[0]), Number(at[1])];
    else notices.push('px was left out: expected a row and a column, such as 12,40.');
  } else s.place.pixel.value = null;
  const fr = extra.get('fr') ?? '0';
  if (/^\d{1,4}$/.test(fr)) s.place.frame.value = Number(fr);
  else notices.push('fr was left out: expected the number of a picture, from 0.');
  s.place.every.value = extra.get('all') === '1' && r.model_list.length > 1;
  const more = extra.get('more');
  if (more !== undefined && !/^\d{1,5}(,\d{1,5}){0,40}$/.test(more)) notices.push('more was left out: expected the numbers of models, such as 2,3.');
  s.place.others.value = more !== undefined && /^\d{1,5}(,\d{1,5}){0,40}$/.test(more) ? [...new Set(more.split(',').map(Number))].filter((m) => m < r.model_list.length).sort((x, y) => x - y) : [];
  const look = extra.get('look') ?? '';
  if (/^[a-z]{0,12}$/.test(look)) s.place.look.value = look;
  else notices.push('look was left out: expected the name of a view below the table, such as models.');
  s.place.byClass.value = extra.get('cls') === '1';
  const band = extra.get('band') ?? 'spread';
  if (band === 'spread' || band === 'interval' || band === 'none') s.place.band.value = band;
  else notices.push('band was left out: expected spread, interval or none.');
  const plane = extra.get('plane') ?? '';
  if (/^[a-z]{0,2}$/.test(plane)) s.place.plane.value = plane;
  else notices.push('plane was left out: expected a plane of axes, such as xy.');
  s.place.mapped.value = extra.get('tiles') !== 'values';
  if (u.map !== null) s.place.cmap.value = u.map;
  if (u.live !== null) s.place.liveOn.value = u.live;
  if (u.by !== null) {
    if (columns.test(u.by)) s.choice.colorBy.value = u.by as Column;
    else notices.push(`There is no colour by “${u.by}”.`);
  }
  const of = extra.get('of');
  const fit = extra.get('fit') ?? '';
  if (u.dr !== null || of || fit) {
    s.choice.embedding.value = { method: u.dr !== null && r.methods.some((m) => m.name === u.dr) ? u.dr : s.choice.embedding.value.method, of: of === 'a' || of === 'b' || of === 'ab' ? of : s.choice.embedding.value.of, ...(isSet(fit) ? { fit } : {}) };
    if (fit && !isSet(fit)) notices.push('fit was left out: it names no set of samples.');
  }
  const ord = extra.get('ord');
  if (ord !== undefined) {
    const by = ord.replace(/^-/, '');
    if (columns.test(by) && !by.startsWith('worst')) s.choice.rankAs(r, by as Column, ord.startsWith('-'));
    else notices.push(`There is no order by “${by}”.`);
  }
  const z = (extra.get('z') ?? '').split(',').map(Number);
  s.place.zoom.value = z.length === 3 && z.every(Number.isFinite) && z[0]! > 0 ? { layout: s.choice.layoutKey.value, k: z[0]!, x: z[1]!, y: z[2]! } : null;
  if (extra.has('z') && !s.place.zoom.value) notices.push('z was left out: expected a factor and a shift, such as 2,0.1,-0.3.');
  const pin = Number(extra.get('p') ?? -1);
  s.place.pinned.value = Number.isInteger(pin) && pin >= 0 && pin < r.samples ? pin : -1;
  const q = extra.get('q') ?? '';
  const named = u.s !== null && (extra.get('is') === 'slice' || r.slices.some((x) => x.name === u.s) || !likeRule.test(u.s));
  const rows = (extra.get('rows') ?? '').split(',').filter((t) => /^\d+$/.test(t)).map(Number).filter((i) => i < r.samples);
  s.choice.parts.value = {
    ...everything,
    slice: named ? (u.s as string) : '',
    rule: u.s !== null && !named ? u.s : q,
    picked: rows.length ? [...new Set(rows)].sort((x, y) => x - y) : null,
    lasso: u.poly ? { poly: u.poly, layout: s.choice.layoutKey.value, mask: null } : null,
  };
  s.choice.fill();
  s.choice.dropUnknown();
  return notices;
}

/** Takes the metric of the same kind against another reference, if the run has it. */
function refer(s: State, r: api.Run, ref: url.ReferenceName): boolean {
  const k = sibling(r.metric_list, s.place.metric.value, ref);
  if (k >= 0) s.place.metric.value = k;
  return k >= 0;
}

/** Reads the address into the store. */
export function read(s: State, hash: string): void {
  const { state: u, notices } = url.parse(hash);
  for (const n of notices) s.tasks.notify('warn', n.text);
  const sheet = url.isSheet(u.page);
  s.place.unknown.value = sheet ? [] : u.extra.filter(([k]) => !own.has(k));
  s.place.page.value = u.page;
  if (sheet) {
    s.place.sheet.value = u.id;
    s.place.detail.value = Object.fromEntries(u.extra);
    return;
  }
  if (u.page === 'findings') {
    s.place.audit.value = u.id;
    return;
  }
  if (u.page === 'runs' || !u.id) return;
  s.show(u.id, (r) => {
    for (const text of applyRun(s, u, r)) s.tasks.notify('warn', text);
  });
}

/** Milliseconds after which the address is replaced; browsers limit how often that may be done. */
const settle = 250;

/** Keeps the store and the address together. Returns what ends it. */
export function sync(s: State, b: Browser): () => void {
  let written = '';
  let step = '';
  let timer: ReturnType<typeof setTimeout> | null = null;
  const take = () => {
    const h = b.hash();
    if (h === written) return;
    written = h;
    read(s, h);
    step = stepOf(s);
  };
  const stop = b.onChange(take);
  take();
  const end = effect(() => {
    const u = toURL(s);
    const hash = url.format(u);
    const now = stepOf(s);
    // The address of a run is written once the run is there: until then it holds what is wanted of it.
    if ((u.page === 'run' || u.page === 'report') && u.id && !s.data.run.value) return;
    if (timer) clearTimeout(timer);
    timer = setTimeout(
      () => {
        if (hash === written) return;
        const pushed = now !== step && written !== '';
        step = now;
        written = hash;
        if (pushed) b.push(hash);
        else b.replace(hash);
      },
      now !== step ? 30 : settle,
    );
  });
  return () => {
    if (timer) clearTimeout(timer);
    stop();
    end();
  };
}

/** What makes a step that Back takes back. */
function stepOf(s: State): string {
  const c = s.choice.parts.value;
  return JSON.stringify([s.place.page.value, s.place.page.value === 'findings' ? s.place.audit.value : url.isSheet(s.place.page.value) ? s.place.sheet.value : s.data.runID.value, s.place.sample.value, c.slice, c.rule, c.picked?.length ?? -1, c.lasso?.poly ?? null, s.place.look.value]);
}
