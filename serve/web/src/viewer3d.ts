// Things in space by WebGL: an entry of its own, loaded when the first of them is shown.

import {
  AmbientLight, BufferAttribute, BufferGeometry, CanvasTexture, ConeGeometry, CylinderGeometry, DirectionalLight, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, MeshLambertMaterial, Object3D,
  OrthographicCamera, Points, PointsMaterial, Quaternion, Scene as World, SphereGeometry, SRGBColorSpace, Color, Vector3, WebGLRenderer,
} from 'three';
import { basis, type Camera, type Scene, type View3D } from './render/tasks/camera';

/** Draws on a canvas; null where there is no WebGL. lost is called when the machine takes it away. */
export function onWebGL(canvas: HTMLCanvasElement, lost: () => void): View3D | null {
  const context = canvas.getContext('webgl2', { antialias: true, alpha: true, preserveDrawingBuffer: true });
  if (!context) return null;
  const renderer = new WebGLRenderer({ canvas, context, antialias: true, alpha: true });
  const away = (e: Event) => {
    e.preventDefault();
    lost();
  };
  canvas.addEventListener('webglcontextlost', away);
  const eye = new OrthographicCamera();
  const spot = round();
  let world = new World();
  let of: Scene | null = null;
  const clear = () => world.traverse((o) => {
    const m = o as Partial<Points>;
    m.geometry?.dispose();
    for (const x of Array.isArray(m.material) ? m.material : m.material ? [m.material] : []) x.dispose();
  });
  return {
    draw(scene, camera, [w, h]) {
      if (scene !== of) {
        clear();
        world = build(scene, spot);
        of = scene;
      }
      renderer.setPixelRatio(Math.min(2, globalThis.devicePixelRatio || 1));
      renderer.setSize(w, h, false);
      place(eye, scene, camera, w, h);
      renderer.render(world, eye);
    },
    end() {
      canvas.removeEventListener('webglcontextlost', away);
      clear();
      spot.dispose();
      renderer.dispose();
    },
  };
}

function place(eye: OrthographicCamera, scene: Scene, c: Camera, w: number, h: number): void {
  const [, up, toward] = basis(c);
  const half = (scene.reach * 1.12) / c.zoom;
  const [x, y] = w < h ? [half, (half * h) / w] : [(half * w) / h, half];
  [eye.left, eye.right, eye.top, eye.bottom, eye.near, eye.far] = [-x, x, y, -y, 0.1 * scene.reach, 9 * scene.reach];
  const m = new Vector3(...scene.middle);
  eye.up.set(...up);
  eye.position.copy(m).addScaledVector(new Vector3(...toward), 5 * scene.reach);
  eye.lookAt(m);
  eye.updateProjectionMatrix();
}

/** A round spot, for points. */
function round(): CanvasTexture {
  const c = document.createElement('canvas');
  c.width = c.height = 32;
  const g = c.getContext('2d');
  if (g) {
    g.fillStyle = '#fff';
    g.beginPath();
    g.arc(16, 16, 15, 0, 7);
    g.fill();
  }
  return new CanvasTexture(c);
}

const color = (c: ArrayLike<number>): Color => new Color().setRGB(c[0] / 255, c[1] / 255, c[2] / 255, SRGBColorSpace);

function build(s: Scene, spot: CanvasTexture): World {
  const world = new World();
  const n = s.points.length / 3;
  if (s.radii) {
    world.add(new AmbientLight(0xffffff, 1.9));
    const sun = new DirectionalLight(0xffffff, 1.9);
    sun.position.set(0.4, -0.7, 1);
    world.add(sun);
    const balls = new InstancedMesh(new SphereGeometry(1, 24, 16), new MeshLambertMaterial(), n);
    const m = new Matrix4();
    for (let i = 0; i < n; i++) {
      const r = s.radii[i];
      balls.setMatrixAt(i, m.makeScale(r, r, r).setPosition(s.points[3 * i], s.points[3 * i + 1], s.points[3 * i + 2]));
      balls.setColorAt(i, color(s.colors.subarray(3 * i, 3 * i + 3)));
    }
    world.add(balls);
  } else {
    const g = new BufferGeometry();
    g.setAttribute('position', new BufferAttribute(s.points, 3));
    const linear = new Float32Array(3 * n);
    for (let i = 0; i < n; i++) color(s.colors.subarray(3 * i, 3 * i + 3)).toArray(linear, 3 * i);
    g.setAttribute('color', new BufferAttribute(linear, 3));
    world.add(new Points(g, new PointsMaterial({ size: n > 2000 ? 4 : 6, sizeAttenuation: false, vertexColors: true, map: spot, alphaTest: 0.5 })));
  }
  const at = (i: number) => new Vector3(s.points[3 * i], s.points[3 * i + 1], s.points[3 * i + 2]);
  const bonds = (s.bonds ?? []).filter(([i, j]) => i < n && j < n);
  if (bonds.length) {
    if (!s.radii) world.add(strokes(bonds.map(([i, j]) => ({ from: at(i).toArray(), to: at(j).toArray(), color: [128, 128, 128] }))));
    else world.add(rods(bonds.map(([i, j]) => ({ a: at(i), b: at(j), r: 0.05 * s.reach, c: new Color(0x888888) })), new CylinderGeometry(0.5, 0.5, 1, 10)));
  }
  if (s.lines.length) world.add(strokes(s.lines));
  if (s.arrows.length) {
    if (!s.radii) world.add(new AmbientLight(0xffffff, 3));
    const all = s.arrows.filter((x) => x.by.every(Number.isFinite));
    const ends = all.map((x) => ({ a: new Vector3(...x.from), b: new Vector3(...x.from).add(new Vector3(...x.by)), r: (x.wide ? 0.05 : 0.022) * s.reach, c: color(x.color) }));
    for (const wide of [false, true]) {
      // What models are compared with is seen through, so that it hides nothing.
      const own = ends.filter((_, i) => (all[i].wide ?? false) === wide);
      const tips = own.map((e) => {
        const d = e.b.clone().sub(e.a);
        const k = Math.min((wide ? 0.16 : 0.12) * s.reach, 0.5 * d.length());
        return { a: e.b.clone(), b: e.b.clone().addScaledVector(d.normalize(), k), r: 2.6 * e.r, c: e.c };
      });
      world.add(rods(own, new CylinderGeometry(0.5, 0.5, 1, 10), wide), rods(tips, new ConeGeometry(0.5, 1, 14), wide));
    }
  }
  return world;
}

function strokes(lines: readonly { from: readonly number[]; to: readonly number[]; color: readonly number[] }[]): LineSegments {
  const g = new BufferGeometry();
  g.setAttribute('position', new BufferAttribute(Float32Array.from(lines.flatMap((l) => [...l.from, ...l.to])), 3));
  g.setAttribute('color', new BufferAttribute(Float32Array.from(lines.flatMap((l) => [...color(l.color).toArray(), ...color(l.color).toArray()])), 3));
  return new LineSegments(g, new LineBasicMaterial({ vertexColors: true }));
}

/** One body for each stretch between two places, along it. */
function rods(list: readonly { a: Vector3; b: Vector3; r: number; c: Color }[], body: BufferGeometry, through = false): Object3D {
  const mesh = new InstancedMesh(body, new MeshLambertMaterial(through ? { transparent: true, opacity: 0.4, depthWrite: false } : {}), list.length);
  const y = new Vector3(0, 1, 0);
  list.forEach(({ a, b, r, c }, i) => {
    const d = b.clone().sub(a);
    const n = d.length();
    mesh.setMatrixAt(i, new Matrix4().compose(a.clone().add(b).multiplyScalar(0.5), n > 0 ? new Quaternion().setFromUnitVectors(y, d.divideScalar(n)) : new Quaternion(), new Vector3(r, Math.max(n, 1e-9), r)));
    mesh.setColorAt(i, c);
  });
  return mesh;
}
