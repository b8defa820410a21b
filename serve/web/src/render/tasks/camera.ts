// The camera of things in space: from where they are seen, and where a point comes to lie. Both renderers and the labels use it. Pure functions.

import { fromQuat, mul, toQuat, turned, type Quat, type Vec3 } from '../../core/rotation';

/** z is up; yaw and pitch in degrees say from where one looks, zoom is a factor. */
export interface Camera {
  yaw: number;
  pitch: number;
  zoom: number;
}

export const front: Camera = { yaw: -60, pitch: 20, zoom: 1 };

const rad = Math.PI / 180;

/** The directions of the picture in space: to the right, up, and towards the one who looks. */
export function basis(c: Camera): [right: Vec3, up: Vec3, toward: Vec3] {
  const [sy, cy, sp, cp] = [Math.sin(c.yaw * rad), Math.cos(c.yaw * rad), Math.sin(c.pitch * rad), Math.cos(c.pitch * rad)];
  return [[-sy, cy, 0], [-cy * sp, -sy * sp, cp], [cy * cp, sy * cp, sp]];
}

export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** The camera after a drag by some pixels: half a turn is about 300 of them. */
export function dragged(c: Camera, dx: number, dy: number): Camera {
  return { ...c, yaw: (((c.yaw - dx * 0.6 + 180) % 360) + 360) % 360 - 180, pitch: Math.max(-90, Math.min(90, c.pitch + dy * 0.6)) };
}

/** The rotation vector in space of a drag over what is looked at, in degrees: to the right turns it about the picture's upward direction. */
export function grabbed(c: Camera, dx: number, dy: number): Vec3 {
  const [right, up] = basis(c);
  return [0, 1, 2].map((k) => 0.6 * (dx * up[k] + dy * right[k])) as unknown as Vec3;
}

/** A rotation vector after another. */
export const then = (first: Vec3, second: Vec3): Vec3 => fromQuat(mul(toQuat(second), toQuat(first)));

/** Rotates many points. */
export function rotated(q: Quat, p: Float32Array): Float32Array {
  const out = new Float32Array(p.length);
  for (let i = 0; i + 2 < p.length; i += 3) out.set(turned(q, [p[i], p[i + 1], p[i + 2]]), i);
  return out;
}

/** Things in space as both renderers draw them. Colours are bytes red, green, blue of each point. */
export interface Scene {
  points: Float32Array;
  colors: Uint8Array;
  /** Radius of each point in the unit of the data; without, dots of a few pixels. */
  radii?: Float32Array;
  /** Pairs of points that are joined. */
  bonds?: readonly (readonly [number, number])[];
  arrows: readonly { from: Vec3; by: Vec3; color: readonly [number, number, number]; wide?: boolean }[];
  /** Edges of boxes, cells and axes. */
  lines: readonly { from: Vec3; to: Vec3; color: readonly [number, number, number] }[];
  /** The middle of the picture, and how far it reaches from there. */
  middle: Vec3;
  reach: number;
}

/** What draws scenes. */
export interface View3D {
  draw(scene: Scene, camera: Camera, size: readonly [number, number]): void;
  end(): void;
}

/** The middle of points and the distance of the farthest one from there, at least a little. */
export function extent(p: Float32Array): { middle: Vec3; reach: number } {
  let reach = 0;
  for (let i = 0; i + 2 < p.length; i += 3) {
    const d = Math.hypot(p[i], p[i + 1], p[i + 2]);
    if (d > reach && Number.isFinite(d)) reach = d;
  }
  return { middle: [0, 0, 0], reach: reach || 1 };
}
