/**
 * Draws points and cells into the bytes of an ImageData, without WebGL: the same pixels on every machine. Colors are packed as
 * in color.ts; a buffer of pixels is `new Uint32Array(imageData.data.buffer)`, row by row from the top. Nothing is blended.
 */
import type { Mark } from './color';

/** Where data lie on the canvas: pixel = data · s + o in device pixels, y downward, so sy is negative for an axis that goes up. */
export interface Placement {
  sx: number;
  ox: number;
  sy: number;
  oy: number;
}

/**
 * The placement that shows all finite points of xy (x, y, x, y ...) on width × height pixels with a margin around them, both
 * axes on the same scale, y upward. Points that are all the same lie in the middle.
 */
export function fit(xy: ArrayLike<number>, width: number, height: number, margin = 0): Placement {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + 1 < xy.length; k += 2) {
    const x = xy[k] as number;
    const y = xy[k + 1] as number;
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    if (x < x0) x0 = x;
    if (x > x1) x1 = x;
    if (y < y0) y0 = y;
    if (y > y1) y1 = y;
  }
  if (!(x1 >= x0)) return { sx: 1, ox: width / 2, sy: -1, oy: height / 2 };
  let s = Math.min(Math.max(width - 2 * margin, 1) / (x1 - x0), Math.max(height - 2 * margin, 1) / (y1 - y0));
  if (!Number.isFinite(s) || s === 0) s = 1;
  return { sx: s, ox: width / 2 - s * (x0 + (x1 - x0) / 2), sy: -s, oy: height / 2 + s * (y0 + (y1 - y0) / 2) };
}

/** The radius in device pixels of the marks of n points: smaller the more there are, never less than one pixel. */
export function radius(n: number, devicePixelRatio: number): number {
  const css = n <= 500 ? 4 : n <= 2000 ? 3 : n <= 10_000 ? 2 : n <= 40_000 ? 1.25 : n <= 150_000 ? 0.75 : 0.4;
  return Math.max(0, Math.round(css * devicePixelRatio));
}

/** A mark as rows of pixels: dy, first dx, last dx, dy, first dx ... around its middle. */
type Stamp = Int32Array;

/** The pixels of a mark of this radius; radius 0 is one pixel whatever the mark. */
export function stamp(mark: Mark, r: number): Stamp {
  const out: number[] = [];
  for (let y = -r; y <= r; y++) {
    for (let x = -r, from = NaN; x <= r + 1; x++) {
      const on = x <= r && covers(mark, x, y, r);
      if (on && Number.isNaN(from)) from = x;
      if (!on && !Number.isNaN(from)) {
        out.push(y, from, x - 1);
        from = NaN;
      }
    }
  }
  return Int32Array.from(out);
}

/** The pixels of a mark and those beside them, so that what is drawn over it has an outline of one step. */
function grown(mark: Mark, r: number, step: number): Stamp {
  const out: number[] = [], on = (x: number, y: number) => Math.max(Math.abs(x), Math.abs(y)) <= r && covers(mark, x, y, r);
  for (let y = -r - step; y <= r + step; y++) {
    for (let x = -r - step, from = NaN; x <= r + step + 1; x++) {
      let near = false;
      for (let v = -step; v <= step && !near; v++) for (let u = Math.abs(v) - step; u <= step - Math.abs(v) && !near; u++) near = on(x + u, y + v);
      if (near && Number.isNaN(from)) from = x;
      if (!near && !Number.isNaN(from)) {
        out.push(y, from, x - 1);
        from = NaN;
      }
    }
  }
  return Int32Array.from(out);
}

function covers(mark: Mark, x: number, y: number, r: number): boolean {
  const d = x * x + y * y;
  switch (mark) {
    case 'disc':
      return d <= (r + 0.3) * (r + 0.3);
    case 'square':
      return Math.max(Math.abs(x), Math.abs(y)) <= Math.max(r - (r > 2 ? 1 : 0), 0);
    case 'triangle':
      return 2 * Math.abs(x) <= y + r + 0.5;
    case 'diamond':
      return Math.abs(x) + Math.abs(y) <= r;
    case 'cross':
      return Math.abs(Math.abs(x) - Math.abs(y)) <= (r > 3 ? 1 : 0);
    case 'ring':
      return d <= (r + 0.3) * (r + 0.3) && d >= Math.max(r - 0.7 - r / 6, 0) ** 2;
  }
}

/** What scatter draws. */
export interface Scatter {
  width: number;
  height: number;
  /** x, y, x, y ...; points that are not finite are not drawn. */
  xy: ArrayLike<number>;
  at: Placement;
  /** One packed color per point. */
  colors: Uint32Array;
  /** 0 for points that are dimmed; null if none is. */
  mask: Uint8Array | null;
  /** The packed color of dimmed points, which are drawn first and smaller. */
  dim: number;
  /** Of a mark, in device pixels. */
  radius: number;
  /** The packed color of an outline of chosen points and its width in device pixels, below all of them: every color of a map is told from the ground. */
  rim?: { color: number; step: number };
  /** The shapes that `marks` counts; a disc if there are none. */
  shapes?: readonly Mark[];
  /** The shape of each point as an index into shapes; null if all have the first. */
  marks?: Uint8Array | null;
}

/**
 * Draws points into width · height pixels, which it clears, later points over earlier ones and chosen ones over dimmed ones.
 * Returns how many lie on the canvas, at least in part: for "n of N drawn".
 */
export function scatter(px: Uint32Array, s: Scatter): { drawn: number; chosen: number } {
  const { width: w, height: h, xy, colors, mask, marks } = s;
  const { sx, ox, sy, oy } = s.at;
  px.fill(0);
  const n = Math.min(xy.length >> 1, colors.length);
  const r = s.radius;
  const shapes = s.shapes && s.shapes.length > 0 ? s.shapes : (['disc'] as const);
  const large = shapes.map((m) => stamp(m, r));
  const small = stamp('disc', Math.floor(r * 0.6));
  let [drawn, chosen] = [0, 0];
  // Dimmed ones, outlines, chosen ones.
  const outlined = s.rim && s.rim.step > 0 && r > 0 ? shapes.map((m) => grown(m, r, s.rim!.step)) : null;
  for (let pass = mask ? 0 : outlined ? 1 : 2; pass < 3; pass++) {
    if (pass === 1 && !outlined) continue;
    const reach = pass === 0 ? Math.floor(r * 0.6) : pass === 1 ? r + s.rim!.step : r;
    for (let i = 0; i < n; i++) {
      if (mask && (mask[i] !== 0) !== (pass > 0)) continue;
      const fx = (xy[2 * i] as number) * sx + ox;
      const fy = (xy[2 * i + 1] as number) * sy + oy;
      // Before the conversion to integers, which wraps; NaN is not inside either.
      if (!(fx >= -reach && fx < w + reach && fy >= -reach && fy < h + reach)) continue;
      const x = Math.floor(fx);
      const y = Math.floor(fy);
      if (pass !== 1) drawn++;
      if (pass === 2) chosen++;
      const c = pass === 0 ? s.dim : pass === 1 ? s.rim!.color : (colors[i] as number);
      const t = pass === 0 ? small : ((pass === 1 ? outlined! : large)[marks ? Math.min(marks[i] as number, large.length - 1) : 0] as Stamp);
      if (reach === 0) {
        px[y * w + x] = c;
        continue;
      }
      const inside = x >= reach && x < w - reach && y >= reach && y < h - reach;
      for (let k = 0; k < t.length; k += 3) {
        const row = y + (t[k] as number);
        let from = x + (t[k + 1] as number);
        let to = x + (t[k + 2] as number);
        if (!inside) {
          if (row < 0 || row >= h) continue;
          if (from < 0) from = 0;
          if (to >= w) to = w - 1;
        }
        for (let p = row * w + from, end = row * w + to; p <= end; p++) px[p] = c;
      }
    }
  }
  return { drawn, chosen };
}

/**
 * Sets mask[i] to 1 where point i of xy lies in the polygon (x, y, x, y ..., closed by itself) by the even-odd rule and, if
 * `within` is given, within[i] is not 0; to 0 elsewhere. Returns how many it set. Points that are not finite lie outside.
 */
export function lasso(xy: ArrayLike<number>, poly: readonly number[], mask: Uint8Array, within: Uint8Array | null = null): number {
  const n = Math.min(xy.length >> 1, mask.length);
  const m = poly.length >> 1;
  mask.fill(0);
  if (m < 3) return 0;
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k < m; k++) {
    const [x, y] = [poly[2 * k] as number, poly[2 * k + 1] as number];
    [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
  }
  if (!(y1 > y0) || !(x1 > x0)) return 0;

  // Edges by the horizontal bands that they touch, so that a point meets few of them.
  const bands = 64;
  const band = (y: number) => Math.min(bands - 1, Math.max(0, Math.floor(((y - y0) / (y1 - y0)) * bands)));
  const lists: number[][] = Array.from({ length: bands }, () => []);
  for (let k = 0, j = m - 1; k < m; j = k++) {
    const [ax, ay, bx, by] = [poly[2 * j] as number, poly[2 * j + 1] as number, poly[2 * k] as number, poly[2 * k + 1] as number];
    if (ay === by) continue;
    for (let b = band(Math.min(ay, by)); b <= band(Math.max(ay, by)); b++) (lists[b] as number[]).push(ax, ay, bx, by);
  }
  const edges = lists.map((l) => Float64Array.from(l));
  let count = 0;
  for (let i = 0; i < n; i++) {
    const x = xy[2 * i] as number;
    const y = xy[2 * i + 1] as number;
    if (!(x >= x0 && x <= x1 && y >= y0 && y <= y1)) continue;
    if (within && within[i] === 0) continue;
    const e = edges[band(y)] as Float64Array;
    let odd = 0;
    for (let k = 0; k < e.length; k += 4) {
      const ay = e[k + 1] as number;
      const by = e[k + 3] as number;
      if (ay > y !== by > y && x < (((e[k + 2] as number) - (e[k] as number)) * (y - ay)) / (by - ay) + (e[k] as number)) odd ^= 1;
    }
    mask[i] = odd;
    count += odd;
  }
  return count;
}

/**
 * Draws a map of cols × rows cells, row by row from the top, onto width × height pixels. colors has one packed color per cell; 0
 * leaves a cell transparent. Every pixel shows the cell in which its middle lies.
 */
export function cells(px: Uint32Array, width: number, height: number, colors: Uint32Array, cols: number, rows: number): void {
  if (cols * rows > colors.length) throw new RangeError(`${cols} × ${rows} cells, and ${colors.length} colors`);
  const col = Int32Array.from({ length: width }, (_, x) => Math.floor(((x + 0.5) * cols) / width));
  for (let y = 0, last = -1; y < height; y++) {
    const row = Math.floor(((y + 0.5) * rows) / height);
    if (row === last) {
      px.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    last = row;
    for (let x = 0; x < width; x++) px[y * width + x] = colors[row * cols + (col[x] as number)] as number;
  }
}

/** One packed color per code of an array of bytes, by the table of color.codes. */
export function paint(bytes: Uint8Array, table: Uint32Array, out: Uint32Array = new Uint32Array(bytes.length)): Uint32Array {
  for (let i = 0; i < bytes.length; i++) out[i] = table[bytes[i] as number] as number;
  return out;
}

/** A number that changes if any pixel does: FNV-1a over the bytes, for tests of what was drawn. */
export function hash(px: Uint32Array): string {
  let h = 0x811c9dc5;
  for (const b of new Uint8Array(px.buffer, px.byteOffset, px.byteLength)) h = Math.imul(h ^ b, 0x01000193);
  return (h >>> 0).toString(16).padStart(8, '0');
}
