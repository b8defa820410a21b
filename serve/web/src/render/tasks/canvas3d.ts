// Things in space on a plain canvas, from the farthest to the nearest: where there is no WebGL, and in reports.

import type { Vec3 } from '../../core/rotation';
import { basis, dot, type Camera, type Scene, type View3D } from './camera';

type Ctx = CanvasRenderingContext2D;

/** One thing to draw and how far it is. */
interface Item {
  z: number;
  draw(ctx: Ctx): void;
}

const css = (c: readonly number[], dim: number): string => `rgb(${c.slice(0, 3).map((v) => Math.round(v * dim)).join(' ')})`;

/** What a scene is drawn as, the farthest first. */
export function items(scene: Scene, camera: Camera, [w, h]: readonly [number, number]): Item[] {
  const [right, up, toward] = basis(camera);
  const k = (Math.min(w, h) / 2 / (scene.reach * 1.12)) * camera.zoom;
  const at = (p: Vec3): [number, number, number] => {
    const q: Vec3 = [p[0] - scene.middle[0], p[1] - scene.middle[1], p[2] - scene.middle[2]];
    return [w / 2 + k * dot(q, right), h / 2 - k * dot(q, up), dot(q, toward)];
  };
  // What is far is darker, by a third at most.
  const dim = (z: number) => 0.83 + 0.17 * Math.max(-1, Math.min(1, z / scene.reach));
  const out: Item[] = [];
  const { points: p, colors, radii } = scene;
  const point = (i: number): Vec3 => [p[3 * i], p[3 * i + 1], p[3 * i + 2]];
  const dots = Math.max(1.6, Math.min(4, (Math.min(w, h) / 260) * (p.length > 6000 ? 1.8 : 2.8)));
  for (let i = 0; 3 * i < p.length; i++) {
    const [x, y, z] = at(point(i));
    if (!Number.isFinite(x + y)) continue;
    const c = css(colors.subarray(3 * i, 3 * i + 3) as unknown as number[], dim(z));
    if (radii) {
      const r = Math.max(2, radii[i] * k);
      out.push({ z, draw: (g) => { g.beginPath(); g.arc(x, y, r, 0, 7); g.fillStyle = c; g.fill(); g.lineWidth = 1; g.strokeStyle = 'rgb(0 0 0 / 45%)'; g.stroke(); g.beginPath(); g.arc(x - r * 0.3, y - r * 0.3, r * 0.28, 0, 7); g.fillStyle = 'rgb(255 255 255 / 35%)'; g.fill(); } });
    } else out.push({ z, draw: (g) => { g.fillStyle = c; g.fillRect(x - dots / 2, y - dots / 2, dots, dots); } });
  }
  for (const [i, j] of scene.bonds ?? []) {
    if (3 * Math.max(i, j) + 2 >= p.length) continue;
    const [a, b] = [at(point(i)), at(point(j))];
    out.push({ z: (a[2] + b[2]) / 2 - 1e-3, draw: (g) => line(g, a, b, 'rgb(128 128 128)', Math.max(2, 0.09 * k)) });
  }
  for (const l of scene.lines) {
    const [a, b] = [at(l.from), at(l.to)];
    out.push({ z: Math.min(a[2], b[2]), draw: (g) => line(g, a, b, css(l.color, 1), 1) });
  }
  for (const a of scene.arrows) {
    const [from, to] = [at(a.from), at([a.from[0] + a.by[0], a.from[1] + a.by[1], a.from[2] + a.by[2]])];
    if (!Number.isFinite(to[0] + to[1])) continue;
    out.push({ z: Math.max(from[2], to[2]) + 1e-3, draw: (g) => { g.globalAlpha = a.wide ? 0.45 : 1; arrow(g, from, to, css(a.color, 1), a.wide ? 5 : 2); g.globalAlpha = 1; } });
  }
  return out.sort((a, b) => a.z - b.z);
}

function line(g: Ctx, a: readonly number[], b: readonly number[], color: string, width: number): void {
  g.beginPath();
  g.moveTo(a[0], a[1]);
  g.lineTo(b[0], b[1]);
  g.strokeStyle = color;
  g.lineWidth = width;
  g.stroke();
}

function arrow(g: Ctx, a: readonly number[], b: readonly number[], color: string, width: number): void {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const n = Math.hypot(dx, dy);
  line(g, a, b, color, width);
  if (n < 3) return;
  const s = Math.min(8, n / 2) / n;
  g.beginPath();
  g.moveTo(b[0] + dx * s * 0.3, b[1] + dy * s * 0.3);
  g.lineTo(b[0] - dx * s - dy * s * 0.5, b[1] - dy * s + dx * s * 0.5);
  g.lineTo(b[0] - dx * s + dy * s * 0.5, b[1] - dy * s - dx * s * 0.5);
  g.closePath();
  g.fillStyle = color;
  g.fill();
}

/** Draws on a canvas without WebGL. */
export function onCanvas(canvas: HTMLCanvasElement): View3D {
  return {
    draw(scene, camera, [w, h]) {
      const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
      canvas.width = Math.max(1, Math.round(w * ratio));
      canvas.height = Math.max(1, Math.round(h * ratio));
      const g = canvas.getContext('2d');
      if (!g) return;
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      for (const it of items(scene, camera, [w, h])) it.draw(g);
    },
    end: () => undefined,
  };
}
