/**
 * The state of a page in its URL, after the '#': #/runs, #/run/ID?v=1&i=26&g=152&a=cnn&b=augmented&cmp=over. Whatever somebody
 * types there, a page comes up: what cannot be understood is left out with a notice, and keys that this version does not know
 * are kept, so that a link survives a detour through an older page.
 */

/** The pages. */
export const pages = ['runs', 'run', 'findings', 'report', 'repair', 'discovery', 'data', 'identify', 'watch', 'weights', 'embed', 'repeat'] as const;
/** Those of what commands found that make neither runs nor audits; their keys are what is chosen there. */
export const sheets = ['repair', 'discovery', 'data', 'identify', 'watch', 'weights', 'embed', 'repeat'] as const;
export type SheetName = (typeof sheets)[number];
/** Whether a page is one of those. */
export const isSheet = (page: string): page is SheetName => (sheets as readonly string[]).includes(page);
/** Ways to lay out the samples in two dimensions. */
export const layouts = ['pca', 'ica', 'isomap', 'tsne', 'umap'] as const;
/** Sequential colour maps. */
export const colorMaps = ['viridis', 'cividis'] as const;
/** What a prediction is compared with. */
export const references = ['target', 'self', 'consensus'] as const;
/** How two models are shown: curves over each other, plots side by side, the difference. */
export const comparisons = ['over', 'side', 'diff'] as const;

export type PageName = (typeof pages)[number];
export type LayoutName = (typeof layouts)[number];
export type ColorMapName = (typeof colorMaps)[number];
export type ReferenceName = (typeof references)[number];
export type Comparison = (typeof comparisons)[number];

/** What a URL says. A field that is null is not in the URL: whoever shows it chooses. */
export interface State {
  page: PageName;
  /** The run or audit; empty on a page that needs none. */
  id: string;
  /** Index of the sample. */
  i: number | null;
  /** The element, one number per axis of its group's chart: degrees, pixels, factors, an index. */
  g: number[] | null;
  /** Names of the first and the second model. */
  a: string | null;
  b: string | null;
  /** The slice: its name, or a rule. */
  s: string | null;
  /** The lasso: x, y, x, y ... in the coordinates of the layout, 3 to 60 vertices. See tidy. */
  poly: number[] | null;
  /** The layout of the samples. */
  dr: LayoutName | null;
  /** What colours the samples: mean1, sd0, diff, class ... */
  by: string | null;
  map: ColorMapName | null;
  /** Name of the metric. */
  m: string | null;
  ref: ReferenceName | null;
  cmp: Comparison | null;
  /** Whether models are asked while dragging. */
  live: boolean | null;
  /** Keys of single pages, and keys that this version does not know, in the order of the URL; no key twice. */
  extra: [key: string, value: string][];
}

/** A part of a URL that was left out, and why. */
export interface Notice {
  key: string;
  text: string;
}

/** Version of the keys. */
export const version = 1;
/** Most vertices of a lasso in a URL. */
export const maxVertices = 60;
/** Most characters of a name or rule in a URL. */
export const maxText = 2000;
/** Most characters of a URL that are looked at. */
export const maxURL = 20_000;
/** Most coordinates of an element. */
export const maxCoordinates = 16;

/** A page with nothing chosen. */
export function empty(page: PageName = 'runs', id = ''): State {
  return { page, id, i: null, g: null, a: null, b: null, s: null, poly: null, dr: null, by: null, map: null, m: null, ref: null, cmp: null, live: null, extra: [] };
}

/** A decimal number as people write it: no hexadecimal, no infinity. */
const decimal = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/;

/** NaN unless the text is a finite decimal number; never -0. */
function number(text: string): number {
  const x = decimal.test(text) ? Number(text) : NaN;
  return Number.isFinite(x) ? x + 0 : NaN;
}

function numbers(text: string): number[] {
  return text.split(',').map(number);
}

/** What each key means: a value, or null and what was expected. */
type Reader = (text: string, s: State) => string | null;

const oneOf = <K extends 'dr' | 'map' | 'ref' | 'cmp'>(key: K, names: readonly NonNullable<State[K]>[]): Reader => (text, s) => {
  const found = names.find((n) => n === text);
  if (found === undefined) return `one of ${names.join(', ')}`;
  s[key] = found as State[K];
  return null;
};

const text = (key: 'a' | 'b' | 's' | 'by' | 'm'): Reader => (value, s) => {
  if (value === '' || value.length > maxText) return `a text of at most ${maxText} characters`;
  s[key] = value;
  return null;
};

const readers: Record<string, Reader> = {
  v: (value) => (value === String(version) ? null : `version ${version}: the link was made by another version, and may show something else`),
  i: (value, s) => {
    const x = /^\d{1,10}$/.test(value) ? Number(value) : NaN;
    if (!(x < 2 ** 31)) return 'the number of a sample, such as 26';
    s.i = x;
    return null;
  },
  g: (value, s) => {
    const g = numbers(value);
    if (g.length > maxCoordinates || g.some(Number.isNaN)) return 'numbers separated by commas, such as 152 or 3,-1';
    s.g = g;
    return null;
  },
  a: text('a'),
  b: text('b'),
  s: text('s'),
  poly: (value, s) => {
    const p = numbers(value);
    if (p.some(Number.isNaN) || p.length % 2 !== 0 || p.length < 6 || p.length > 2 * maxVertices) return `3 to ${maxVertices} vertices x,y,x,y…`;
    s.poly = p;
    return null;
  },
  dr: oneOf('dr', layouts),
  by: text('by'),
  map: oneOf('map', colorMaps),
  m: text('m'),
  ref: oneOf('ref', references),
  cmp: oneOf('cmp', comparisons),
  live: (value, s) => {
    if (value !== '0' && value !== '1') return '0 or 1';
    s.live = value === '1';
    return null;
  },
};

const known = (key: string) => Object.prototype.hasOwnProperty.call(readers, key);

/** Percent-decoded, with + for a space, as forms write it; null if it cannot be. */
function unescape(t: string): string | null {
  try {
    return decodeURIComponent(t.replace(/\+/g, ' '));
  } catch {
    return null;
  }
}

/** The part of a text that fits in a notice. */
const brief = (t: string) => (t.length > 40 ? t.slice(0, 40) + '…' : t);

/** What a hash says, with or without its '#', and what was left out of it. Never throws. */
export function parse(hash: string): { state: State; notices: Notice[] } {
  const notices: Notice[] = [];
  if (hash.length > maxURL) {
    notices.push({ key: '', text: `The address is ${hash.length} characters long; what comes after ${maxURL} was left out.` });
    hash = hash.slice(0, maxURL);
  }
  hash = wellFormed(hash).replace(/^#/, '');
  const cut = hash.indexOf('?');
  const path = (cut < 0 ? hash : hash.slice(0, cut)).split('/').filter((p) => p !== '');
  const query = cut < 0 ? '' : hash.slice(cut + 1);

  const state = empty();
  const name = path[0] ?? 'runs';
  const page = pages.find((p) => p === name);
  if (page === undefined) notices.push({ key: '', text: `There is no page “${brief(name)}”; these are the runs.` });
  else if (page !== 'runs' && path.length > 1) {
    const id = unescape((path[1] ?? '').replace(/\+/g, '%2B')); // "A+B" is the id of two runs
    if (id === null || id === '' || id.length > maxText) notices.push({ key: '', text: `“${brief(path[1] ?? '')}” is no name of a run; these are the runs.` });
    else [state.page, state.id] = [page, id];
  } else if (page === 'run') notices.push({ key: '', text: 'The address names no run; these are the runs.' });
  else state.page = page;
  if (path.length > 2) notices.push({ key: '', text: `“${brief(path.slice(2).join('/'))}” in the address means nothing here and was left out.` });

  const seen = new Set<string>();
  for (const part of query.split('&')) {
    if (part === '') continue;
    const eq = part.indexOf('=');
    const key = unescape(eq < 0 ? part : part.slice(0, eq));
    const value = unescape(eq < 0 ? '' : part.slice(eq + 1));
    if (key === null || value === null || key === '') {
      notices.push({ key: '', text: `“${brief(part)}” in the address cannot be read and was left out.` });
      continue;
    }
    if (seen.has(key)) {
      notices.push({ key, text: `${brief(key)} stands twice in the address; the first counts.` });
      continue;
    }
    seen.add(key);
    if (!known(key)) {
      state.extra.push([key, value]);
      continue;
    }
    const expected = (readers[key] as Reader)(value, state);
    if (expected !== null) notices.push({ key, text: `${key}=${brief(value)} in the address was left out: expected ${expected}.` });
  }
  return { state, notices };
}

/** A text in which unpaired surrogates became U+FFFD. */
const wellFormed = (t: string) => t.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (c) => (c.length === 2 ? c : '\ufffd'));

/** Percent-encoded as little as a hash allows, so that people can read it. */
function escape(t: string): string {
  return encodeURIComponent(wellFormed(t)).replace(/%(2C|3A|2F|3B|40|24)/g, (c) => decodeURIComponent(c));
}

/** The hash of a state, with its '#'. parse reads it back as it was, if the numbers are finite and the lasso is tidy. */
export function format(s: State): string {
  const q: string[] = [];
  const put = (key: string, value: string | null) => {
    if (value !== null) q.push(`${escape(key)}=${escape(value)}`);
  };
  const finite = (list: readonly number[] | null) => (list !== null && list.length > 0 && list.every(Number.isFinite) ? list.map((x) => String(x + 0)).join(',') : null);
  put('i', s.i === null ? null : String(s.i));
  put('g', finite(s.g));
  put('a', s.a);
  put('b', s.b);
  put('s', s.s);
  put('poly', finite(s.poly !== null && s.poly.length > 2 * maxVertices ? tidy(s.poly) : s.poly));
  put('dr', s.dr);
  put('by', s.by);
  put('map', s.map);
  put('m', s.m);
  put('ref', s.ref);
  put('cmp', s.cmp);
  put('live', s.live === null ? null : s.live ? '1' : '0');
  const seen = new Set<string>();
  for (const [key, value] of s.extra) {
    if (key === '' || known(key) || seen.has(key)) continue;
    seen.add(key);
    put(key, value);
  }
  if (q.length > 0) q.unshift(`v=${version}`);
  const path = s.page === 'runs' || s.id === '' ? `#/${s.page}` : `#/${s.page}/${escape(s.id).replace(/\//g, '%2F')}`;
  return q.length > 0 ? `${path}?${q.join('&')}` : path;
}

/**
 * A lasso as it fits in a URL: at most 60 vertices, chosen so that little area changes (Visvalingam and Whyatt 1993), with as
 * many digits as make a step at most a thousandth of its extent, and at least a ten-thousandth. Null if less than a triangle is left.
 */
export function tidy(poly: readonly number[]): number[] | null {
  let p: number[] = [];
  for (let k = 0; k + 1 < poly.length; k += 2) {
    const [x, y] = [poly[k] as number, poly[k + 1] as number];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    if (p.length === 0 || x !== p[p.length - 2] || y !== p[p.length - 1]) p.push(x, y);
  }
  p = thin(p, maxVertices);
  // Rounding can change the extent, and so the digits: until nothing changes.
  for (let k = 0; k < 5; k++) {
    const q = rounded(p);
    if (q.every((x, j) => x === p[j])) break;
    p = q;
  }
  const out: number[] = [];
  for (let k = 0; k < p.length; k += 2) {
    if (out.length === 0 || p[k] !== out[out.length - 2] || p[k + 1] !== out[out.length - 1]) out.push(p[k] as number, p[k + 1] as number);
  }
  return out.length < 6 ? null : out;
}

function rounded(p: readonly number[]): number[] {
  let extent = 0;
  for (const axis of [0, 1]) {
    let [lo, hi] = [Infinity, -Infinity];
    for (let k = axis; k < p.length; k += 2) {
      lo = Math.min(lo, p[k] as number);
      hi = Math.max(hi, p[k] as number);
    }
    extent = Math.max(extent, hi - lo);
  }
  if (!(extent > 0)) return [...p];
  const digits = 3 - Math.floor(Math.log10(extent));
  if (digits >= 0) return p.map((x) => Number(x.toFixed(Math.min(digits, 100))) + 0);
  const step = 10 ** -digits;
  return p.map((x) => Math.round(x / step) * step + 0);
}

/** A closed polygon without the vertices that matter least, until at most `most` are left. */
function thin(p: number[], most: number): number[] {
  // A trail of that many points has more than one per pixel of any screen; beyond it the squared time would be felt.
  const start = 2048;
  let n = p.length / 2;
  if (n > start) {
    const q: number[] = [];
    for (let k = 0; k < start; k++) {
      const at = 2 * Math.floor((k * n) / start);
      q.push(p[at] as number, p[at + 1] as number);
    }
    [p, n] = [q, start];
  }
  if (n <= most) return p;
  const next = Int32Array.from({ length: n }, (_, k) => (k + 1) % n);
  const prev = Int32Array.from({ length: n }, (_, k) => (k + n - 1) % n);
  const x = (k: number) => p[2 * k] as number;
  const y = (k: number) => p[2 * k + 1] as number;
  const area = (k: number) => {
    const [a, b] = [prev[k] as number, next[k] as number];
    return Math.abs((x(k) - x(a)) * (y(b) - y(a)) - (x(b) - x(a)) * (y(k) - y(a)));
  };
  const areas = Float64Array.from({ length: n }, (_, k) => area(k));
  for (let left = n; left > most; left--) {
    let least = -1;
    for (let k = 0; k < n; k++) if (least < 0 || (areas[k] as number) < (areas[least] as number)) least = k;
    const [a, b] = [prev[least] as number, next[least] as number];
    next[a] = b;
    prev[b] = a;
    areas[a] = area(a);
    areas[b] = area(b);
    areas[least] = Infinity;
  }
  return p.filter((_, j) => areas[j >> 1] !== Infinity);
}
