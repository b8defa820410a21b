import { test } from 'node:test';
import assert from 'node:assert/strict';
import { rgb } from 'd3-color';
import { interpolateCividis, interpolatePuOr, interpolateViridis } from 'd3-scale-chromatic';
import { around, classColor, codes, colorize, contrast, css, gains, goodness, gradient, inkOn, level, luminance, luts, maxClasses, maxModels, modelStyle, none, pack, turn, type LUT } from './color';
import { Random } from './random';

const parts = (p: number) => [p & 255, (p >>> 8) & 255, (p >>> 16) & 255];
const apart = (lut: LUT, f: (t: number) => string) => {
  let most = 0;
  lut.forEach((p, k) => {
    const c = rgb(f(k / 255));
    [c.r, c.g, c.b].forEach((v, j) => (most = Math.max(most, Math.abs(v - parts(p)[j]!))));
  });
  return most;
};

test('the tables are those of d3-scale-chromatic', () => {
  assert.equal(apart(luts.viridis, interpolateViridis), 0);
  assert.ok(apart(luts.puor, (t) => interpolatePuOr(t)) <= 1);
  assert.ok(apart(luts.cividis, interpolateCividis) <= 20, 'd3 fits a polynomial');
});

test('the tables go up, are symmetric, or close', () => {
  for (const name of ['viridis', 'cividis'] as const) {
    const l = [...luts[name]].map((p) => labOf(rgbOf(css(p)))[0]!);
    for (let k = 1; k < 256; k++) assert.ok(l[k]! > l[k - 1]! - 0.5, `${name} ${k}`);
    assert.ok(l[255]! - l[0]! > 60);
  }
  const tw = [...luts.twilight].map((p) => labOf(rgbOf(css(p))));
  for (let k = 0; k < 256; k++) assert.ok(deltaE(tw[k]!, tw[(k + 1) % 256]!) < 3, `twilight ${k}`);
  const middle = labOf(rgbOf(css(luts.puor[128]!)));
  assert.ok(middle[0]! > 90 && Math.hypot(middle[1]!, middle[2]!) < 5, 'nearly white where there is no difference');
  for (const lut of Object.values(luts)) for (const p of lut) assert.equal(p >>> 24, 255);
});

test('levels', () => {
  const r = { lo: 0, hi: 1 };
  for (const [v, want] of [[0, 0], [0.5, 128], [1, 255], [-1, 0], [2, 255], [NaN, -1], [Infinity, 255], [-Infinity, 0], [0.999999, 255], [1 / 256, 1]] as const) {
    assert.equal(level(v, r), want, String(v));
    assert.equal(colorize([v], r, luts.viridis, 7)[0], want < 0 ? 7 : luts.viridis[want], String(v));
  }
  assert.equal(level(3, { lo: 3, hi: 3 }), 128);
  assert.equal(level(3, { lo: NaN, hi: NaN }), 128);
  const log = { lo: 0.01, hi: 100, log: true };
  assert.deepEqual([0.01, 1, 100, 0, -1, NaN, 1000].map((v) => level(v, log)), [0, 128, 255, 0, 0, -1, 255]);
  assert.equal(level(0, around(-0.3)), 128);
  assert.deepEqual(around(NaN), { lo: -1, hi: 1 });
  assert.deepEqual([0, 90, 180, 359.9, 360, -90, 720, NaN].map(turn), [0, 64, 128, 255, 0, 192, 0, -1]);
  assert.equal(turn(-1e-14), 0, 'a turn less nearly nothing');
});

test('codes are the colors of the values that they stand for', () => {
  const r = new Random(3);
  for (let round = 0; round < 50; round++) {
    const [lo, hi] = [r.normal(), 0];
    const scale = { lo: r.normal(), hi: r.normal() };
    const t = codes(lo, hi, scale, luts.cividis, 9);
    const k = r.int(255);
    assert.equal(t[k], luts.cividis[level(lo + ((hi - lo) * k) / 254, scale)]);
    assert.equal(t[255], 9);
  }
});

test('packing', () => {
  assert.equal(pack('#112233'), 0xff332211);
  assert.equal(pack('#112233', 0), 0x00332211);
  assert.throws(() => pack('red'), /red is no color/);
  const r = new Random(4);
  for (let k = 0; k < 100; k++) {
    const p = (r.next() | 0xff000000) >>> 0;
    assert.equal(pack(css(p)), p);
  }
  assert.deepEqual([...new Uint8Array(Uint32Array.of(pack('#0102fe')).buffer)], [1, 2, 254, 255]);
  assert.match(gradient(luts.viridis, 'to top', 3), /^linear-gradient\(to top, #440154, #[0-9a-f]{6}, #fde725\)$/);
});

// Linear light, 0 to 1.
const rgbOf = (hex: string) => parts(pack(hex)).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));

// CIELAB under D65 of linear light.
function labOf([r, g, b]: number[]): number[] {
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
  const x = f((0.4124564 * r! + 0.3575761 * g! + 0.1804375 * b!) / 0.95047);
  const y = f(0.2126729 * r! + 0.7151522 * g! + 0.072175 * b!);
  const z = f((0.0193339 * r! + 0.119192 * g! + 0.9503041 * b!) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// Sharma, Wu and Dalal, The CIEDE2000 color-difference formula (Color Research and Application 30, 2005).
function deltaE([l1, a1, b1]: number[], [l2, a2, b2]: number[]): number {
  const rad = Math.PI / 180;
  const c7 = ((Math.hypot(a1!, b1!) + Math.hypot(a2!, b2!)) / 2) ** 7;
  const g = 0.5 * (1 - Math.sqrt(c7 / (c7 + 25 ** 7)));
  const [p1, p2] = [(1 + g) * a1!, (1 + g) * a2!];
  const [c1, c2] = [Math.hypot(p1, b1!), Math.hypot(p2, b2!)];
  const hue = (a: number, b: number) => (a === 0 && b === 0 ? 0 : ((Math.atan2(b, a) / rad) + 360) % 360);
  const [h1, h2] = [hue(p1, b1!), hue(p2, b2!)];
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  let h = h1 + h2;
  if (c1 * c2 !== 0) h = Math.abs(h1 - h2) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2;
  const [l, c] = [(l1! + l2!) / 2, (c1 + c2) / 2];
  const t = 1 - 0.17 * Math.cos((h - 30) * rad) + 0.24 * Math.cos(2 * h * rad) + 0.32 * Math.cos((3 * h + 6) * rad) - 0.2 * Math.cos((4 * h - 63) * rad);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(60 * rad * Math.exp(-(((h - 275) / 25) ** 2)));
  const [x, y, z] = [(l2! - l1!) / sl, (c2 - c1) / sc, (2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * rad)) / sh];
  return Math.sqrt(x * x + y * y + z * z + rt * y * z);
}

test('the distance of colors agrees with its authors', () => {
  // Table 1 of the paper, pairs 1, 7, 17 and 25.
  assert.ok(Math.abs(deltaE([50, 2.6772, -79.7751], [50, 0, -82.7485]) - 2.0425) < 1e-4);
  assert.ok(Math.abs(deltaE([50, 0, 0], [50, -1, 2]) - 2.3669) < 1e-4);
  assert.ok(Math.abs(deltaE([50, 2.5, 0], [73, 25, -18]) - 27.1492) < 1e-4);
  assert.ok(Math.abs(deltaE([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387]) - 1.2644) < 1e-4);
});

// Machado, Oliveira and Fernandes, A physiologically-based model for simulation of color vision deficiency (2009), severity 1.
const vision: Record<string, number[][]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const seen = (hex: string, m: number[][]) => labOf(m.map((row) => Math.min(1, Math.max(0, row[0]! * rgbOf(hex)[0]! + row[1]! * rgbOf(hex)[1]! + row[2]! * rgbOf(hex)[2]!))));
const distance = (a: string, b: string, kind: string) => deltaE(seen(a, vision[kind]!), seen(b, vision[kind]!));

test('models stand out from the background and from each other', () => {
  for (const [onDark, card] of [[false, '#ffffff'], [true, '#202225']] as const) {
    const styles = Array.from({ length: maxModels }, (_, k) => modelStyle(k, onDark));
    for (const s of styles) {
      assert.ok(contrast(s.color, card) >= 3, `${s.color} on ${card}: ${contrast(s.color, card)}`);
      assert.ok(contrast(s.text, card) >= 4.5, `text ${s.text} on ${card}: ${contrast(s.text, card)}`);
    }
    assert.equal(new Set(styles.map((s) => s.dash)).size, maxModels);
    assert.equal(new Set(styles.map((s) => s.mark)).size, maxModels);
    assert.deepEqual(modelStyle(maxModels, onDark), styles[0]);
    for (const kind of Object.keys(vision)) {
      assert.ok(distance(styles[0]!.color, styles[1]!.color, kind) > 45, `A and B, ${kind}`);
      let least = Infinity;
      for (let a = 0; a < maxModels; a++) for (let b = 0; b < a; b++) least = Math.min(least, distance(styles[a]!.color, styles[b]!.color, kind));
      assert.ok(least > 5, `the closest two are ${least} apart, ${kind}`);
    }
  }
  // Figures of the design: Okabe and Ito's pair, and the pair for dark backgrounds.
  for (const [a, b, want] of [['#0072b2', '#d55e00', [50, 50, 57, 66]], ['#56b4e9', '#f0883e', [49, 48, 51, 59]]] as const) {
    Object.keys(vision).forEach((k, j) => assert.ok(Math.abs(distance(a, b, k) - want[j]!) < 1.6, `${a} ${b} ${k}: ${distance(a, b, k)}`));
  }
});

test('classes', () => {
  for (const [onDark, card] of [[false, '#ffffff'], [true, '#202225']] as const) {
    const list = Array.from({ length: maxClasses }, (_, k) => css(classColor(k, onDark)));
    for (const c of list) assert.ok(contrast(c, card) >= 3, `${c} on ${card}: ${contrast(c, card)}`);
    let least = Infinity;
    for (let a = 0; a < maxClasses; a++) for (let b = 0; b < a; b++) least = Math.min(least, distance(list[a]!, list[b]!, 'normal'));
    assert.ok(least > 10, `the closest two are ${least} apart`);
    assert.equal(classColor(maxClasses + 3, onDark), classColor(3, onDark));
    assert.equal(classColor(-1, onDark), onDark ? none.dark : none.light);
  }
});

test('ink', () => {
  assert.equal(inkOn('#ffffff'), '#000000');
  assert.equal(inkOn('#440154'), '#ffffff');
  for (const lut of Object.values(luts)) for (const p of lut) assert.ok(contrast(css(p), inkOn(css(p))) >= 4.5);
});

test('bright is good, whichever way a metric runs', () => {
  const bright = (p: number) => luminance(css(p));
  for (const map of ['viridis', 'cividis'] as const) {
    for (const better of ['higher', 'lower', undefined] as const) {
      const t = goodness(map, better);
      const [low, high] = [bright(t[0]!), bright(t[255]!)];
      assert.ok(better === 'lower' ? low > high : high > low, `${map}, ${better}`);
      assert.equal(goodness(map, better), t, 'the same array every time');
    }
  }
  const orange = (p: number) => parts(p)[0]! > parts(p)[2]!;
  assert.ok(orange(gains('higher')[255]!) && !orange(gains('higher')[0]!), 'more is a gain');
  assert.ok(orange(gains('lower')[0]!) && !orange(gains('lower')[255]!), 'less is a gain');
});
