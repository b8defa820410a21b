import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inkOf, letters, mostShown, nthOf } from './inks';

test('every model on show has an ink of its own, and none is that of a difference', () => {
  const all = Array.from({ length: mostShown }, (_, k) => inkOf(k));
  assert.equal(new Set(all).size, mostShown);
  assert.ok(!all.includes(2));
  assert.deepEqual(all.map(nthOf), all.map((_, k) => k));
  assert.equal(nthOf(2), -1);
  assert.equal(letters.length, mostShown);
});

/** Where the tests are started, the sources lie in src. */
const sheet = () => readFileSync('src/style.css', 'utf8');

const linear = (c: number) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const rgb = (hex: string) => [1, 3, 5].map((k) => linear(parseInt(hex.slice(k, k + 2), 16) / 255));
const luminance = (hex: string) => { const [r, g, b] = rgb(hex); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const contrast = (p: string, q: string) => { const [hi, lo] = [luminance(p), luminance(q)].sort((x, y) => y - x); return (hi + 0.05) / (lo + 0.05); };
const lab = (hex: string) => {
  const [r, g, b] = rgb(hex), f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047), f(0.2126 * r + 0.7152 * g + 0.0722 * b), f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};

test('eight models can be told apart and read in both themes', { skip: !existing() }, () => {
  const css = sheet();
  for (const [theme, card] of [['light', '#ffffff'], ['dark', '#202225']] as const) {
    // The tokens of a theme stand in one block: the first is light, the others are dark.
    const block = theme === 'light' ? css.slice(css.indexOf(':root'), css.indexOf('@media (prefers-color-scheme')) : css.slice(css.indexOf(':root[data-theme=dark]'));
    const token = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(block)?.[1] ?? assert.fail(`no ${name} in ${theme}`);
    const inks = ['at', 'bt', 'i3', 'i4', 'i5', 'i6', 'i7', 'i8'].map(token);
    for (const c of inks) assert.ok(contrast(c, card) >= 4.5, `${theme}: ${c} has a contrast of ${contrast(c, card).toFixed(2)}`);
    for (const [i, p] of inks.entries()) for (const q of inks.slice(0, i)) {
      const far = Math.hypot(...lab(p).map((v, k) => v - lab(q)[k]));
      assert.ok(far >= 20, `${theme}: ${p} and ${q} are ${far.toFixed(0)} apart`);
    }
  }
  // No meaning by colour alone: a dash of its own for each but the first.
  const dashes = [1, 2, 3, 4, 5, 6, 7, 8].map((k) => new RegExp(`\\.line(?:, [^{]*\\))?\\.m${k}[^{]*\\{[^}]*stroke-dasharray: ([^;}]+)`).exec(css)?.[1]?.trim());
  assert.ok(dashes.every(Boolean), String(dashes));
  assert.equal(new Set(dashes).size, dashes.length, String(dashes));
});

function existing(): boolean {
  try {
    return sheet().length > 0;
  } catch {
    return false;
  }
}
