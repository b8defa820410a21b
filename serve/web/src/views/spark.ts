// The orbit of a sample as a small drawing without axes, for previews.

import type { Group } from '../core/api';
import { isCircle } from '../core/axis';
import { traits } from '../core/layouts';

/** spark is the path of a curve over the elements of a plan in a box of side x side, values from lo at the middle or bottom to hi. */
export function spark(values: ArrayLike<number>, o: Group, lo: number, hi: number, side: number): string {
  const d = hi > lo ? hi - lo : 1, at = (v: number) => Math.max(0, Math.min(1, (v - lo) / d));
  const round = traits(o.layout).round === true && o.chart.length > 0 && isCircle(o.chart[0]);
  // Curves are drawn along the first axis; of the others, what the identity has (such as not mirrored).
  const e = o.identity >= 0 ? o.elements[o.identity] : o.elements[0] ?? [];
  const line = o.elements.map((_, k) => k).filter((k) => o.elements[k].slice(1).every((v, j) => v === e[j + 1]));
  const order = (line.length > 1 ? line : o.elements.map((_, k) => k)).filter((k) => k < values.length);
  order.sort((p, q) => o.elements[p][0] - o.elements[q][0] || p - q);
  let path = '', pen = false;
  order.forEach((k, j) => {
    const v = values[k];
    if (v !== v) { pen = false; return; }
    let x: number, y: number;
    if (round) {
      const a = o.elements[k][0] * Math.PI / 180, r = at(v) * (side / 2 - 1);
      x = side / 2 + r * Math.cos(a);
      y = side / 2 - r * Math.sin(a);
    } else {
      x = 1 + (side - 2) * (order.length > 1 ? j / (order.length - 1) : 0.5);
      y = side - 1 - at(v) * (side - 2);
    }
    path += `${pen ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = true;
  });
  const whole = round && order.length > 2 && order.every((k) => values[k] === values[k]);
  return whole ? path + 'Z' : path;
}
