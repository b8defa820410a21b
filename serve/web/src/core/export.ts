// What can be taken away from the page: plots as SVG and PNG, tables as CSV, JSON Lines, Markdown and LaTeX, and the link. Nothing is
// asked of a server, so a report opened from disk does it too.

/** A cell of a table. null and NaN are missing. */
export type Cell = string | number | boolean | null;

export interface Column {
  /** Letters, digits and underscores, with the unit at the end, such as angle_deg; unique within the table. */
  name: string;
  /** What the cells are; without it, that of the first cell that is there. */
  kind?: Kind;
}

/** Text stands at the left; integers are written in full; float32 has no more digits than it holds. */
export type Kind = 'text' | 'integer' | 'float32' | 'float64';

export interface Table {
  title: string;
  /** What the numbers are of: run, slice, digests, version. In Markdown and LaTeX, which people read. */
  notes?: readonly string[];
  columns: readonly Column[];
  rows: Iterable<readonly Cell[]>;
}

export type TableFormat = 'csv' | 'jsonl' | 'md' | 'tex';

/** The media type of every form. */
export const media: Record<TableFormat | 'svg' | 'png', string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl',
  md: 'text/markdown; charset=utf-8; variant=GFM',
  tex: 'application/x-latex',
  svg: 'image/svg+xml;charset=utf-8',
  png: 'image/png',
};

/**
 * tableText is a table in one of the forms: byte for byte what the command line and the server write (the Go package present/table),
 * and the notes behind it in the two forms that people read.
 */
export function tableText(t: Table, f: TableFormat): string {
  let rows = t.rows;
  if (t.columns.some((c) => !c.kind)) rows = [...rows];
  const columns = t.columns.map((c, k) => {
    if (c.kind) return { name: c.name, kind: c.kind };
    let kind: Kind = 'float64';
    for (const r of rows) {
      if (gone(r[k])) continue;
      kind = typeof r[k] === 'number' ? 'float64' : 'text';
      break;
    }
    return { name: c.name, kind };
  });
  return { csv, jsonl, md: markdown, tex: latex }[f]({ ...t, columns, rows });
}

/** A table of which all columns say what they hold. */
interface Known extends Table {
  columns: readonly { name: string; kind: Kind }[];
}

/** goFloat is a number as Go's strconv writes it with format 'g': digits significant ones, or as few as give the number back. */
export function goFloat(v: number, digits: number | 'shortest', single = false): string {
  if (v === 0) return '0';
  let e: string;
  if (digits !== 'shortest') e = halfEven(v, digits);
  else if (!single) e = v.toExponential();
  else {
    let p = 1;
    while (p < 9 && Math.fround(Number(v.toPrecision(p))) !== v) p++;
    e = v.toExponential(p - 1);
  }
  const m = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(e)!;
  const sign = m[1], d = (m[2] + (m[3] ?? '')).replace(/0+$/, ''), exp = Number(m[4]), n = d.length, point = exp + 1;
  const most = digits === 'shortest' ? 6 : digits > n && n >= point ? n : digits;
  if (exp < -4 || exp >= most) {
    return `${sign}${d[0]}${n > 1 ? '.' + d.slice(1) : ''}e${exp < 0 ? '-' : '+'}${String(Math.abs(exp)).padStart(2, '0')}`;
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${d}`;
  return n <= point ? sign + d.padEnd(point, '0') : `${sign}${d.slice(0, point)}.${d.slice(point)}`;
}

/** halfEven is v.toExponential(digits - 1), exact ties to even, as Go rounds. */
function halfEven(v: number, digits: number): string {
  const up = v.toExponential(digits - 1), m = /^-?(\d)\.(\d+)e/.exec(v.toExponential(60))!, d = m[1] + m[2];
  if (!/^50*$/.test(d.slice(digits)) || Number(d[digits - 1]) % 2 === 1) return up;
  return v.toExponential(60).replace(/^(-?\d)\.(\d+)e/, (_, a: string, b: string) => `${a}${digits > 1 ? '.' + b.slice(0, digits - 1) : ''}e`);
}

const gone = (c: Cell | undefined): c is null | undefined => c === null || c === undefined || (typeof c === 'number' && !Number.isFinite(c));

/** exact is a cell that is no text, with all its digits; empty for what is missing. */
export function exact(c: Cell | undefined, kind: Kind = 'float64'): string {
  if (gone(c)) return '';
  if (typeof c !== 'number') return String(c);
  return kind === 'integer' ? String(c + 0) : goFloat(c, 'shortest', kind === 'float32');
}

/** rounded is a cell for people: four significant digits, integers in full; empty for what is missing. */
export function rounded(c: Cell | undefined, kind: Kind = 'float64'): string {
  if (gone(c) || typeof c !== 'number' || kind === 'integer') return exact(c, kind);
  const a = Math.abs(c);
  if (a >= 1e4 && a < 1e7) { // 12345, not 1.234e+04
    const f = Math.floor(c), tie = c - f === 0.5;
    return String(tie ? (f % 2 === 0 ? f : f + 1) : Math.round(c));
  }
  return goFloat(c, 4);
}

/** formula says whether a spreadsheet would take a text for one. */
const formula = (s: string): boolean => /^[=+\-@\t\r\n＝＋－＠]/.test(s);

/**
 * csv is RFC 4180 with line feeds: the names of the columns, then the rows. A text that a spreadsheet would take for a formula gets an
 * apostrophe before it, the spreadsheets' own sign for text.
 */
function csv(t: Known): string {
  const text = (s: string) => csvField(formula(s) ? "'" + s : s);
  const line = (cells: readonly string[]) => (cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')) + '\n';
  let out = line(t.columns.map((c) => text(c.name)));
  for (const r of t.rows) out += line(t.columns.map((c, k) => (typeof r[k] === 'string' ? text(r[k]) : exact(r[k], c.kind))));
  return out;
}

/** csvField quotes a field where it has to be. */
export function csvField(s: string): string {
  return /[",\r\n]|^[\s\u0085]/.test(s) || s === '\\.' ? '"' + s.replaceAll('"', '""') + '"' : s;
}

/** jsonl is one object per row, its keys in the order of the columns; null for what is missing. */
function jsonl(t: Known): string {
  const text = (s: string) => JSON.stringify(s).replace(/[\u2028\u2029]/g, (c) => '\\u' + c.charCodeAt(0).toString(16));
  const keys = t.columns.map((c) => text(c.name) + ':');
  let out = '';
  for (const r of t.rows) {
    out += '{' + t.columns.map((c, k) => keys[k] + (typeof r[k] === 'string' ? text(r[k]) : exact(r[k], c.kind) || 'null')).join(',') + '}\n';
  }
  return out;
}

/** plain is a text on one line: control characters and line ends become spaces. */
const plain = (s: string): string => s.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (c) => (c.length === 2 ? c : '\ufffd'));

const entities: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '@': '@&#8203;', '#': '#&#8203;' };

/**
 * mdText is a text on one line of Markdown, also in a table: nothing in it is taken for Markdown or HTML, for somebody to notify or for a
 * link. It is what present/words writes, and testdata/markdown.json, which that package writes, holds it to that.
 */
export function mdText(s: string): string {
  const line = s
    .split(/[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/).filter((w) => w !== '').join(' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (c) => (c.length === 2 ? c : '\ufffd'));
  return line
    .replace(/[\\`*_{}[\]|~$^]|[<>&@#]|:(?=\/\/)|\./g, (c, at: number) => {
      if (c === ':') return '&#58;';
      if (c === '.') return line.slice(Math.max(0, at - 3), at).toLowerCase() === 'www' ? '&#46;' : '.';
      return entities[c] ?? '\\' + c;
    })
    .replace(/^(\d{0,9})([-+=.)])( |[-=]*$)/, '$1\\$2$3');
}

/** markdown is a table of GitHub Flavored Markdown below its title. */
function markdown(t: Known): string {
  const line = (cells: readonly string[]) => cells.map((c) => `| ${c} `).join('') + '|\n';
  let out = t.title ? mdText(t.title) + '\n\n' : '';
  out += line(t.columns.map((c) => mdText(c.name))) + line(t.columns.map((c) => (c.kind === 'text' ? ':---' : '---:')));
  for (const r of t.rows) out += line(t.columns.map((c, k) => (typeof r[k] === 'string' ? mdText(r[k]) : rounded(r[k], c.kind))));
  for (const n of t.notes ?? []) out += `\n${mdText(n)}\n`;
  return out;
}

const texMarks: Record<string, string> = {
  '\\': '\\textbackslash{}', '{': '\\{', '}': '\\}', $: '\\$', '&': '\\&', '#': '\\#', '%': '\\%', _: '\\_',
  '^': '\\textasciicircum{}', '~': '\\textasciitilde{}', '<': '\\textless{}', '>': '\\textgreater{}', '|': '\\textbar{}',
  '`': '\\textasciigrave{}', '[': '{[}', ']': '{]}', '*': '{*}', '-': '-{}', '"': '\\textquotedbl{}', "'": "'{}",
  '\u00a0': '\\nobreakspace{}', '°': '\\textdegree{}', '×': '\\texttimes{}', '±': '\\textpm{}', µ: '\\textmu{}',
};

/** texText is a text in which nothing is taken for a command, for a ligature or for an argument. */
export function texText(s: string): string {
  return plain(s).replace(/[\\{}$&#%_^~<>|`[\]*"'\u00a0°×±µ-]/g, (c) => texMarks[c]);
}

/** texNumber is a number of rounded with a real minus and power of ten. */
function texNumber(s: string): string {
  if (s === '' || s === 'true' || s === 'false') return s;
  const [m, e] = s.split('e');
  return e === undefined ? `$${s}$` : `$${m}\\times 10^{${Number(e)}}$`;
}

/** latex is a tabular that needs no package, below a comment with its title. */
function latex(t: Known): string {
  const line = (cells: readonly string[]) => cells.join(' & ') + ' \\\\\n';
  let out = t.title ? `% ${plain(t.title)}\n` : '';
  for (const n of t.notes ?? []) out += `% ${plain(n)}\n`;
  out += `\\begin{tabular}{${t.columns.map((c) => (c.kind === 'text' ? 'l' : 'r')).join('')}}\n\\hline\n`;
  out += line(t.columns.map((c) => texText(c.name))) + '\\hline\n';
  for (const r of t.rows) out += line(t.columns.map((c, k) => (typeof r[k] === 'string' ? texText(r[k]) : texNumber(rounded(r[k], c.kind)))));
  return out + '\\hline\n\\end{tabular}\n';
}

/** fileName is words joined to a name that every file system takes: letters, digits, '-', '_' and '.'. */
export function fileName(parts: readonly (string | number)[], extension: string): string {
  const s = parts.map(String).join('-').normalize('NFKD').replace(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[-.]+|[-.]+$/g, '').replace(/-{2,}/g, '-');
  return `${[...s].slice(0, 100).join('') || 'nero'}.${extension}`;
}

// ---- plots ----------------------------------------------------------------------------------------------------------------------

/** What is written around a plot. */
export interface FigureText {
  title: string;
  /** Lines below: what the plot is of, configuration, digests, version. */
  caption: readonly string[];
  background: 'white' | 'dark' | 'none';
}

/** A picture as text, with its size in CSS pixels. */
export interface Figure {
  svg: string;
  width: number;
  height: number;
}

/** Properties that decide how a shape of SVG looks. */
const looks = [
  'fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'stroke-linecap', 'fill-opacity', 'stroke-opacity', 'opacity', 'fill-rule',
  'font-size', 'font-weight', 'font-style', 'text-anchor', 'dominant-baseline', 'text-decoration-line', 'paint-order', 'visibility', 'vector-effect',
] as const;

const starts: Partial<Record<(typeof looks)[number], string>> = {
  stroke: 'none', 'stroke-width': '1px', 'stroke-dasharray': 'none', 'stroke-linejoin': 'miter', 'stroke-linecap': 'butt', 'fill-opacity': '1', 'stroke-opacity': '1',
  opacity: '1', 'fill-rule': 'nonzero', 'font-weight': '400', 'font-style': 'normal', 'text-anchor': 'start', 'dominant-baseline': 'auto',
  'text-decoration-line': 'none', 'paint-order': 'normal', visibility: 'visible', 'vector-effect': 'none',
};

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** xml is a text as the content of an element or of an attribute; characters that XML does not have are left out. */
export function xml(s: string): string {
  return s.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').replace(/[&<>"']/g, (c) => escapes[c]);
}

/** generic is a family that every machine has, for the family that the page uses. */
export function generic(family: string): string {
  return /mono|courier|consol/i.test(family) ? 'monospace' : /(^|[\s,])(serif|times|georgia)/i.test(family.replace(/sans-serif/gi, '')) ? 'serif' : 'sans-serif';
}

/** A colour for SVG 1.1, which has no alpha: the colour and its opacity. */
export interface Paint {
  color: string;
  opacity: number;
}

/** paint splits a computed colour. resolve turns forms other than rgb() into four bytes, red first. */
export function paint(css: string, resolve: (css: string) => readonly [number, number, number, number]): Paint {
  const m = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)(?:[\s,/]+([\d.]+)(%?))?\s*\)$/.exec(css);
  if (m) return { color: hex(+m[1], +m[2], +m[3]), opacity: m[4] === undefined ? 1 : +m[4] / (m[5] ? 100 : 1) };
  if (css === 'none' || css === 'transparent') return { color: 'none', opacity: 1 };
  if (/^url\(/.test(css)) return { color: css.replace(/^url\((["']?)[^#]*#(.*?)\1\).*$/s, 'url(#$2)'), opacity: 1 };
  if (/^#[\da-f]{6}$/i.test(css)) return { color: css.toLowerCase(), opacity: 1 };
  const [r, g, b, a] = resolve(css);
  return { color: hex(r, g, b), opacity: a / 255 };
}

const hex = (...c: number[]): string => '#' + c.map((v) => Math.round(Math.min(255, Math.max(0, v))).toString(16).padStart(2, '0')).join('');

/** wrap breaks a text into lines of at most width characters, at spaces if it can. */
export function wrap(s: string, width: number): string[] {
  const out: string[] = [];
  let line = '';
  for (let w of s.split(/\s+/).filter(Boolean)) {
    if (line && line.length + 1 + w.length > width) { out.push(line); line = ''; }
    for (; w.length > width; w = w.slice(width)) out.push(w.slice(0, width));
    line = line ? `${line} ${w}` : w;
  }
  if (line) out.push(line);
  return out;
}

/** frame puts a drawing of w x h between its title and its caption. inner is elements of SVG. */
export function frame(inner: string, w: number, h: number, t: FigureText): Figure {
  const pad = 12, dark = t.background === 'dark', ink = dark ? '#eceef0' : '#1d1f21', soft = dark ? '#aeb2b6' : '#56595c';
  const width = Math.max(320, Math.ceil(w) + 2 * pad);
  const head = wrap(t.title, Math.max(20, Math.floor((width - 2 * pad) / 8.4)));
  const foot = t.caption.flatMap((c) => wrap(c, Math.max(30, Math.floor((width - 2 * pad) / 6.4))));
  const top = pad + head.length * 18 + 4, height = top + Math.ceil(h) + (foot.length ? 8 + foot.length * 14 : 0) + pad;
  const text = (s: string, x: number, y: number, size: number, weight: number, fill: string) =>
    `<text x="${x}" y="${y}" font-family="sans-serif" font-size="${size}" font-weight="${weight}" fill="${fill}">${xml(s)}</text>`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${xml(t.title)}</title>`,
    `<desc>${xml(t.caption.join('\n'))}</desc>`,
    t.background === 'none' ? '' : `<rect width="${width}" height="${height}" fill="${dark ? '#202225' : '#ffffff'}"/>`,
    ...head.map((l, k) => text(l, pad, pad + 13 + 18 * k, 14, 700, ink)),
    `<g transform="translate(${(width - Math.ceil(w)) / 2} ${top})">${inner}</g>`,
    ...foot.map((l, k) => text(l, pad, top + Math.ceil(h) + 18 + 14 * k, 11, 400, soft)),
    '</svg>',
  ];
  return { svg: svg.filter(Boolean).join('\n') + '\n', width, height };
}

/**
 * figure draws what an element of the page shows: its SVG with the looks that style sheets give it, its canvases as pictures, and the
 * words and colour patches of a legend. Controls, hidden parts and everything with data-noexport stay away. A white figure has the
 * light theme's colours and a dark one the dark theme's, whatever the page shows.
 */
export function figure(root: Element, t: FigureText): Figure {
  const html = document.documentElement, theme = html.getAttribute('data-theme');
  if (t.background !== 'none') html.setAttribute('data-theme', t.background === 'dark' ? 'dark' : 'light');
  try {
    const r = root.getBoundingClientRect();
    const used: Extent = { w: 0, h: 0 }, inner = draw(root, r.left, r.top, used);
    return frame(inner, Math.min(used.w, r.width + 40) || r.width, Math.min(used.h, r.height + 40) || r.height, t);
  } finally {
    if (theme === null) html.removeAttribute('data-theme');
    else html.setAttribute('data-theme', theme);
  }
}

const controls = 'button,select,input,textarea,dialog,[data-noexport],[hidden],[aria-live],[role=status],[role=tooltip],.hidden';

/** How far to the right and down something was drawn. */
interface Extent {
  w: number;
  h: number;
}

/** A canvas that can draw itself with more pixels, for pictures that are larger than the screen shows. */
export interface Redrawn extends HTMLCanvasElement {
  redraw?: (scale: number) => HTMLCanvasElement;
}

/** draw is what an element and what is in it show, as elements of SVG relative to (left, top). Buttons that are links in a text are text. */
function draw(e: Element, left: number, top: number, used: Extent): string {
  if (e.matches(controls) && !e.matches('[data-export],.link')) return '';
  const style = getComputedStyle(e), r = e.getBoundingClientRect();
  if (style.display === 'none' || style.visibility === 'hidden' || Number(style.opacity) === 0) return '';
  const x = r.left - left, y = r.top - top;
  if (e instanceof HTMLCanvasElement || e instanceof HTMLImageElement || e instanceof SVGSVGElement || e.hasAttribute('data-swatch')) {
    used.w = Math.max(used.w, x + r.width);
    used.h = Math.max(used.h, y + r.height);
  }
  if (e instanceof HTMLCanvasElement) return picture(e, x, y, r.width, r.height, style.imageRendering);
  if (e instanceof HTMLImageElement) return image(e, x, y, r.width, r.height, style.imageRendering);
  if (e instanceof SVGSVGElement) return nested(e, x, y, r.width, r.height);
  let out = '';
  if (e.hasAttribute('data-swatch')) {
    const p = paint(style.backgroundColor, resolve);
    out += `<rect x="${n2(x)}" y="${n2(y)}" width="${n2(r.width)}" height="${n2(r.height)}" fill="${p.color}"${p.opacity < 1 ? ` fill-opacity="${p.opacity}"` : ''}/>`;
  }
  for (const c of e.childNodes) {
    if (c instanceof Element) out += draw(c, left, top, used);
    else if (c.nodeType === Node.TEXT_NODE && c.textContent?.trim()) out += words(c, style, left, top, used);
  }
  return out;
}

/** words is a text of HTML, line by line as the page broke it. */
function words(node: Node, style: CSSStyleDeclaration, left: number, top: number, used: Extent): string {
  const range = document.createRange(), s = node.textContent ?? '', lines: { y: number; x: number; h: number; s: string }[] = [];
  for (let k = 0; k < s.length; k++) {
    range.setStart(node, k);
    range.setEnd(node, k + 1);
    const r = range.getClientRects()[0];
    if (!r || (!r.width && !s[k].trim())) continue;
    used.w = Math.max(used.w, r.right - left);
    used.h = Math.max(used.h, r.bottom - top);
    const l = lines[lines.length - 1];
    if (l && Math.abs(l.y - r.top) < 2) l.s += s[k];
    else lines.push({ y: r.top, x: r.left, h: r.height, s: s[k] });
  }
  const p = paint(style.color, resolve), size = parseFloat(style.fontSize);
  return lines.filter((l) => l.s.trim()).map((l) =>
    `<text x="${n2(l.x - left)}" y="${n2(l.y - top + l.h * 0.5 + size * 0.35)}" font-family="${generic(style.fontFamily)}" font-size="${n2(size)}" font-weight="${style.fontWeight}" fill="${p.color}" xml:space="preserve">${xml(l.s)}</text>`).join('');
}

const n2 = (v: number): string => String(Math.round(v * 100) / 100);

/** picture is a canvas as a PNG inside the SVG. */
function picture(c: HTMLCanvasElement, x: number, y: number, w: number, h: number, rendering: string): string {
  if (!c.width || !c.height || !w || !h) return '';
  const larger = (c as Redrawn).redraw?.(2) ?? c;
  return embedded(larger.toDataURL('image/png'), x, y, w, h, rendering);
}

function embedded(url: string, x: number, y: number, w: number, h: number, rendering: string): string {
  const pix = rendering === 'pixelated' ? ' image-rendering="pixelated"' : '';
  return `<image x="${n2(x)}" y="${n2(y)}" width="${n2(w)}" height="${n2(h)}" preserveAspectRatio="none" href="${url}" xlink:href="${url}"${pix}/>`;
}

/** image is an img as a PNG inside the SVG, which must not point at a server. */
function image(e: HTMLImageElement, x: number, y: number, w: number, h: number, rendering: string): string {
  if (!e.complete || !e.naturalWidth || !w) return '';
  const c = document.createElement('canvas');
  c.width = e.naturalWidth;
  c.height = e.naturalHeight;
  c.getContext('2d')?.drawImage(e, 0, 0);
  return embedded(c.toDataURL('image/png'), x, y, w, h, rendering);
}

/** nested is a copy of an SVG of the page with its looks written into it. */
function nested(e: SVGSVGElement, x: number, y: number, w: number, h: number): string {
  const copy = e.cloneNode(true) as SVGSVGElement;
  inline(e, copy, null);
  for (const a of ['width', 'height', 'x', 'y', 'style']) copy.removeAttribute(a);
  copy.setAttribute('x', n2(x));
  copy.setAttribute('y', n2(y));
  copy.setAttribute('width', n2(w));
  copy.setAttribute('height', n2(h));
  if (!copy.hasAttribute('viewBox')) copy.setAttribute('viewBox', `0 0 ${n2(w)} ${n2(h)}`);
  return new XMLSerializer().serializeToString(copy);
}

const kept = /^(x|y|x1|y1|x2|y2|cx|cy|r|rx|ry|d|points|width|height|viewBox|transform|preserveAspectRatio|offset|stop-color|stop-opacity|gradientUnits|gradientTransform|patternUnits|patternTransform|clipPathUnits|clip-path|mask|marker-(start|mid|end)|id|dx|dy|textLength|lengthAdjust|refX|refY|orient|markerWidth|markerHeight|markerUnits|pathLength|font-family|xmlns)$/;

/** Properties that are not inherited. */
const alone = new Set<string>(['opacity', 'dominant-baseline', 'vector-effect', 'text-decoration-line']);

function inline(from: Element, to: Element, parent: CSSStyleDeclaration | null): void {
  const style = getComputedStyle(from);
  const href = to.getAttribute('href') ?? to.getAttribute('xlink:href');
  for (const a of [...to.attributes]) if (!kept.test(a.name)) to.removeAttribute(a.name);
  if (href && /^(#|data:)/.test(href)) to.setAttribute('href', href);
  for (const p of looks) {
    const v = style.getPropertyValue(p);
    if (!v || (parent && !alone.has(p) ? parent.getPropertyValue(p) === v : starts[p] === v)) continue;
    if (p === 'fill' || p === 'stroke') {
      const q = paint(v, resolve);
      to.setAttribute(p, q.color);
      if (q.opacity < 1) to.setAttribute(`${p}-opacity`, n2(q.opacity * Number(style.getPropertyValue(`${p}-opacity`) || 1)));
    } else if (!(to.hasAttribute(p) && (p === 'fill-opacity' || p === 'stroke-opacity'))) {
      to.setAttribute(p, v.replace(/(\d)px/g, '$1'));
    }
  }
  if (/^(stop)$/.test(from.localName)) {
    const q = paint(style.getPropertyValue('stop-color'), resolve);
    to.setAttribute('stop-color', q.color);
    if (q.opacity < 1) to.setAttribute('stop-opacity', n2(q.opacity));
  }
  if (from.localName === 'text' || from.localName === 'svg') to.setAttribute('font-family', generic(style.fontFamily));
  const a = [...from.children], b = [...to.children];
  for (let k = 0; k < a.length; k++) {
    const s = getComputedStyle(a[k]);
    const hidden = (s.display === 'none' && !/^(defs|linearGradient|radialGradient|stop|clipPath|marker|pattern|mask|symbol|title|desc)$/.test(a[k].localName)) || a[k].matches('[data-noexport],foreignObject,script');
    if (hidden) b[k].remove();
    else inline(a[k], b[k], style);
  }
}

/** resolve lets the browser say what a colour is, whatever its notation. */
function resolve(css: string): readonly [number, number, number, number] {
  const c = document.createElement('canvas');
  c.width = c.height = 1;
  const ctx = c.getContext('2d');
  if (!ctx) return [0, 0, 0, 255];
  ctx.fillStyle = css;
  ctx.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = ctx.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a];
}

/** png is a figure as pixels, scale of them to a CSS pixel, fewer where the picture would be larger than browsers can. */
export async function png(f: Figure, scale = 2): Promise<Blob> {
  const most = Math.sqrt(64e6 / (f.width * f.height)), s = Math.min(scale, most);
  const url = URL.createObjectURL(new Blob([f.svg], { type: media.svg }));
  try {
    const img = new Image();
    img.src = url;
    await img.decode();
    const c = document.createElement('canvas');
    c.width = Math.round(f.width * s);
    c.height = Math.round(f.height * s);
    const ctx = c.getContext('2d');
    if (!ctx) throw new Error('The browser gives no canvas to draw on.');
    ctx.drawImage(img, 0, 0, c.width, c.height);
    return await new Promise((done, fail) => c.toBlob((b) => (b ? done(b) : fail(new Error('The browser made no PNG of the picture. Save it as SVG.'))), 'image/png'));
  } finally {
    URL.revokeObjectURL(url);
  }
}

// ---- to the disk and the clipboard ----------------------------------------------------------------------------------------------

/** save hands a file to the reader. */
export function save(content: Blob | string, name: string, type = 'application/octet-stream'): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content), a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // some browsers read it later
}

/** saveTable hands a table to the reader as a file. */
export function saveTable(t: Table, f: TableFormat, name: readonly (string | number)[]): void {
  save(tableText(t, f), fileName(name, f), media[f]);
}

/** saveFigure hands a plot to the reader as a file. */
export async function saveFigure(root: Element, t: FigureText, f: 'svg' | 'png', name: readonly (string | number)[]): Promise<void> {
  const g = figure(root, t);
  save(f === 'svg' ? new Blob([g.svg], { type: media.svg }) : await png(g), fileName(name, f));
}

/** copy puts a text on the clipboard; false if the browser permits neither way, and the reader has to do it. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No permission, no focus, or not a secure place, such as plain HTTP to another machine: the older way.
  }
  const back = document.activeElement, t = document.createElement('textarea');
  t.value = text;
  t.setAttribute('readonly', '');
  t.className = 'offscreen';
  (document.querySelector('dialog[open]') ?? document.body).append(t); // nothing outside of an open dialog can be selected
  t.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    t.remove();
    if (back instanceof HTMLElement || back instanceof SVGElement) back.focus();
  }
}
