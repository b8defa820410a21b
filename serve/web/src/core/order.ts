// Sorting samples: stable, with ties in the order of the run, and what is missing last in both directions.

export type Direction = 'ascending' | 'descending';

/**
 * order sorts indexes by a key. Numbers by value, texts as people sort them (item 2 before item 10); what is missing (NaN, null, '')
 * comes last in both directions, and equals stand by index in both.
 */
export function order(indexes: ArrayLike<number>, key: (i: number) => number | string | null, direction: Direction): Int32Array {
  const n = indexes.length;
  for (let k = 0; k < n; k++) {
    const v = key(indexes[k]);
    if (v !== null && v !== '' && v === v) return typeof v === 'string' ? texts(indexes, key, direction) : numbers(indexes, key, direction);
  }
  return Int32Array.from(indexes).sort();
}

const collator = new Intl.Collator('en', { numeric: true });

/** The order of people among the characters of ASCII: blanks and marks, then digits, then letters, large or small. The other way round, a code by character. */
const codes = new Uint16Array(128);
[...'\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$'].forEach((c, k) => (codes[c.charCodeAt(0)] = k + 1));
for (let k = 0; k < 26; k++) codes[65 + k] = codes[97 + k] = 0x100 + k;

/**
 * natural is a text that compares, code by code, as people sort names of ASCII: a run of digits becomes how many digits it has without
 * zeros in front, and these. Null for texts with other characters, or digits without end: only a collator sorts them.
 */
function natural(s: string): string | null {
  let out = '';
  for (let k = 0; k < s.length; k++) {
    const c = s.charCodeAt(k);
    if (c < 48 || c > 57) {
      const code = c < 128 ? codes[c] : 0;
      if (code === 0) return null;
      out += String.fromCharCode(code);
      continue;
    }
    while (k < s.length - 1 && s.charCodeAt(k) === 48 && s.charCodeAt(k + 1) >= 48 && s.charCodeAt(k + 1) <= 57) k++;
    let end = k + 1;
    while (end < s.length && s.charCodeAt(end) >= 48 && s.charCodeAt(end) <= 57) end++;
    if (end - k > 99) return null;
    out += String.fromCharCode(0x80 + end - k) + s.slice(k, end);
    k = end - 1;
  }
  return out;
}

/** Names of ASCII, sorted by what natural makes of them; null if there are others. */
function plain(out: Int32Array, text: Map<number, string>, sign: number): Int32Array | null {
  let size = 0;
  for (const i of out) size = Math.max(size, i + 1);
  const keys = new Array<string>(size);
  for (const i of out) {
    const k = natural(text.get(i) as string);
    if (k === null) return null;
    keys[i] = k;
  }
  return out.sort((a, b) => {
    const x = keys[a] as string, y = keys[b] as string;
    if (x === y) return a - b;
    if (x === '' || y === '') return x === '' ? 1 : -1;
    return x < y ? -sign : sign;
  });
}

function texts(indexes: ArrayLike<number>, key: (i: number) => number | string | null, direction: Direction): Int32Array {
  const out = Int32Array.from(indexes), sign = direction === 'ascending' ? 1 : -1, text = new Map<number, string>();
  for (const i of out) text.set(i, String(key(i) ?? ''));
  const count = counted(text.values());
  if (count) return numbers(indexes, (i) => count(text.get(i) as string), direction);
  const sorted = plain(out, text, sign);
  if (sorted) return sorted;
  return out.sort((a, b) => {
    const x = text.get(a) as string, y = text.get(b) as string;
    if (x === y) return a - b;
    if (x === '' || y === '') return x === '' ? 1 : -1;
    return sign * collator.compare(x, y) || a - b;
  });
}

/** counted is the number behind the letters that all names begin with, if that is all there is to them, as in img-1, img-2. */
function counted(names: Iterable<string>): ((name: string) => number) | null {
  let prefix: string | null = null;
  for (const name of names) {
    if (prefix === null) prefix = name.replace(/\d+$/, '');
    if (!name.startsWith(prefix) || !/^\d{1,15}$/.test(name.slice(prefix.length))) return null;
  }
  const p = prefix;
  return p === null ? null : (name) => Number(name.slice(p.length));
}

/**
 * Numbers that are float32 are sorted without a function that compares: each becomes 64 bits of which the upper half is its place among
 * the float32 numbers and the lower half its index.
 */
function numbers(indexes: ArrayLike<number>, key: (i: number) => number | string | null, direction: Direction): Int32Array {
  const n = indexes.length, words = new Uint32Array(2 * n), one = new Float32Array(1), bits = new Uint32Array(one.buffer), down = direction === 'descending';
  for (let k = 0; k < n; k++) {
    const i = indexes[k], w = key(i), v = typeof w === 'number' ? w : NaN;
    one[0] = v + 0; // no -0
    if (one[0] !== v && v === v) return compared(indexes, key, direction);
    const b = bits[0], up = (b & 0x80000000 ? ~b : b | 0x80000000) >>> 0;
    words[2 * k] = i;
    words[2 * k + 1] = v === v ? (down ? ~up >>> 0 : up) : 0xffffffff;
  }
  new BigUint64Array(words.buffer).sort();
  const out = new Int32Array(n);
  for (let k = 0; k < n; k++) out[k] = words[2 * k];
  return out;
}

function compared(indexes: ArrayLike<number>, key: (i: number) => number | string | null, direction: Direction): Int32Array {
  const out = Int32Array.from(indexes), sign = direction === 'ascending' ? 1 : -1, value = new Map<number, number>();
  for (const i of out) { const v = key(i); value.set(i, typeof v === 'number' ? v : NaN); }
  return out.sort((a, b) => {
    const x = value.get(a) as number, y = value.get(b) as number;
    if (x !== x || y !== y) return x !== x && y !== y ? a - b : x !== x ? 1 : -1;
    return sign * (x - y) || a - b;
  });
}
