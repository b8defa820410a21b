// What the drawings of an orbit share: their data, the needle's keys, the pointer and what is told beside it.

import type { ReadonlySignal, Signal } from '@preact/signals';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Element, Group } from '../../core/api';
import type { Ink } from '../../core/inks';
import type { Scale } from '../scale';

export type { Ink };

/** Values of one model along the orbit, one per element of the plan. */
export interface Series {
  ink: Ink;
  name: string;
  values: ArrayLike<number>;
  /** Spread over samples. */
  lo?: ArrayLike<number>;
  hi?: ArrayLike<number>;
  /** Interval of the mean. */
  from?: ArrayLike<number>;
  to?: ArrayLike<number>;
  /** Elements where the predicted class is wrong. */
  wrong?: (k: number) => boolean;
  /** Of another sample, for comparison: thin. */
  pinned?: boolean;
  /** The values come from the steps of a drawing: they are about right. */
  about?: boolean;
}

/** A value at the needle. */
export interface Dot {
  ink: Ink;
  name: string;
  value: number;
  g: Element;
  live: boolean;
}

/** What moves the needle. */
export interface Nav {
  moveTo(g: Element): void;
  /** The pointer is there, and moveTo follows with the next frame. */
  soon?(g: Element): void;
  step(by: number, axis?: number): void;
  home(): void;
  opposite(): void;
  play(): void;
  /** Whether elements between those of the plan can be shown now. */
  between?(): boolean;
}

export interface OrbitProps {
  orbit: Group;
  series: readonly Series[];
  scale: Scale;
  /** Circles or lines at values that mean something, such as a floor. */
  marks?: readonly { value: number; label: string }[];
  /** The picture in a sentence. */
  alt: string;
  /** Where the needle is. */
  at: ReadonlySignal<Element>;
  /** The values beside it. */
  dots?: ReadonlySignal<readonly Dot[]>;
  /** The needle and its values in words, for screen readers. */
  spoken?: ReadonlySignal<string>;
  /** The needle takes the focus and keys; without it, it is only shown, and can be clicked. */
  nav: Nav;
  focusable?: boolean;
  /** Exact elements stand apart from the curve. */
  comb?: boolean;
  /** Which end of the scale is good. */
  better?: 'higher' | 'lower' | undefined;
  /** Lines of the tooltip at an element. */
  tip: (k: number) => readonly string[];
  /** Colours of a map, by fraction. */
  color?: (u: number) => string;
  /** 256 colours as ABGR, for rasters. */
  table?: Uint32Array;
  small?: boolean;
  /** Which plane of axes is shown, where there are several. */
  plane?: Signal<string>;
  /** Pictures in the tiles of elements in place of one colour each; null where one is still on its way. */
  picture?: (s: Series, k: number) => TilePicture | null;
}

/** What a tile shows. */
export interface TilePicture {
  w: number;
  h: number;
  draw(px: Uint32Array): void;
  /** The number below it. */
  value: string;
  /** In words, for who does not see it. */
  words: string;
}

/** The element next to g among those of the plan, for tooltips. */
export type Finder = (g: Element) => number;

/** Moves by keys: arrows, page keys, Home, End and space. Returns whether the key was one of them. */
export function navKey(e: KeyboardEvent, o: Group, nav: Nav, flat: boolean): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  const far = e.shiftKey ? 10 : 1;
  const second = flat && o.chart.length > 1 ? 1 : 0;
  switch (e.key) {
    case 'ArrowRight':
      nav.step(far, 0);
      break;
    case 'ArrowLeft':
      nav.step(-far, 0);
      break;
    case 'ArrowUp':
      nav.step(second ? -far : far, second);
      break;
    case 'ArrowDown':
      nav.step(second ? far : -far, second);
      break;
    case 'PageUp':
      nav.step(15, 0);
      break;
    case 'PageDown':
      nav.step(-15, 0);
      break;
    case 'Home':
      nav.home();
      break;
    case 'End':
      nav.opposite();
      break;
    case ' ':
      nav.play();
      break;
    default:
      return false;
  }
  e.preventDefault();
  e.stopPropagation();
  return true;
}

/** How a place in the window becomes one in the coordinates of an SVG's viewBox; null if it is not shown. */
const inward = (svg: SVGSVGElement): DOMMatrix | null => svg.getScreenCTM()?.inverse() ?? null;

/** A place in the coordinates of an SVG's viewBox. */
export function place(svg: SVGSVGElement, e: { clientX: number; clientY: number }, m = inward(svg)): [number, number] {
  if (!m) return [0, 0];
  const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(m);
  return [p.x, p.y];
}

/** Milliseconds for which a drawing that is being dragged is taken to stand where it stood, unless something scrolls. */
const still = 250;

interface Hover {
  k: number;
  x: number;
  y: number;
}

/** The frame of a drawing: pointer, wheel and tooltip. to says which element lies at a place of the viewBox. */
export function usePointer(p: OrbitProps, to: (x: number, y: number) => Element | null, find: Finder) {
  const svg = useRef<SVGSVGElement>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const dragging = useRef(false);
  // Where the drawing is while it is dragged: to ask at every move would have the whole page laid out for what the last move changed.
  const where = useRef<{ m: DOMMatrix | null; until: number } | null>(null);
  const now = useRef(p);
  now.current = p;
  useEffect(() => {
    const el = svg.current;
    if (!el) return undefined;
    // Only a drawing that has the focus turns with the wheel: elsewhere the wheel scrolls the page.
    const wheel = (e: WheelEvent) => {
      if (!el.parentElement?.contains(document.activeElement) || e.ctrlKey) return;
      e.preventDefault();
      now.current.nav.step((e.deltaY > 0 ? -1 : 1) * (e.shiftKey ? 10 : 1), 0);
    };
    const scrolled = () => (where.current = null);
    el.addEventListener('wheel', wheel, { passive: false });
    addEventListener('scroll', scrolled, { capture: true, passive: true });
    return () => {
      el.removeEventListener('wheel', wheel);
      removeEventListener('scroll', scrolled, { capture: true });
    };
  }, []);
  const see = (e: PointerEvent) => {
    const el = svg.current;
    if (!el) return;
    const g = to(...place(el, e));
    const k = g ? find(g) : -1;
    const box = (el.parentElement as HTMLElement).getBoundingClientRect();
    setHover(k < 0 ? null : { k, x: e.clientX - box.left, y: e.clientY - box.top });
  };
  const under = (e: PointerEvent): Element | null => {
    const el = svg.current;
    if (!el) return null;
    if (!where.current || performance.now() > where.current.until) where.current = { m: inward(el), until: performance.now() + still };
    return to(...place(el, e, where.current.m));
  };
  const go = (e: PointerEvent) => {
    const g = under(e);
    if (g) p.nav.moveTo(g);
  };
  const handlers = {
    onPointerDown: (e: PointerEvent) => {
      if (e.button !== 0) return;
      dragging.current = true;
      where.current = null;
      svg.current?.setPointerCapture(e.pointerId);
      (svg.current?.querySelector('[tabindex="0"]') as SVGElement | null)?.focus({ preventScroll: true });
      setHover(null);
      e.preventDefault();
      go(e);
    },
    // Comes at once where browsers have it; onPointerMove waits for the frame.
    onPointerRawUpdate: (e: PointerEvent) => {
      const g = dragging.current ? under(e) : null;
      if (g) p.nav.soon?.(g);
    },
    onPointerMove: (e: PointerEvent) => {
      if (dragging.current) go(e);
      else if (e.pointerType !== 'touch') see(e);
    },
    onPointerUp: () => (dragging.current = false),
    onPointerCancel: () => (dragging.current = false),
    onPointerLeave: () => setHover(null),
  };
  return { svg, hover, handlers };
}

/** The tooltip of a drawing: exact values at the element under the pointer. */
export function Tip({ hover, lines }: { hover: { x: number; y: number } | null; lines: readonly string[] }) {
  if (!hover || !lines.length) return null;
  const left = hover.x > 150;
  return (
    <div class={`tip${left ? ' left' : ''}`} style={{ left: `${hover.x}px`, top: `${hover.y}px` }} aria-hidden="true">
      {lines.map((l, k) => (
        <div key={k}>{l}</div>
      ))}
    </div>
  );
}

/** The frame around a drawing and its tooltip. */
export function Frame({ children, layout, small }: { children: ComponentChildren; layout: string; small?: boolean | undefined }) {
  return <div class={`plot ${layout}${small ? ' small' : ''}`}>{children}</div>;
}

/** A regular polygon, or a star where every second corner lies further in, about 0, 0. */
const polygon = (n: number, turn: number, inner = 1): string =>
  `M${Array.from({ length: n }, (_, k) => { const a = ((turn + (360 * k) / n) * Math.PI) / 180, q = k % 2 ? inner : 1; return `${(q * Math.sin(a)).toFixed(3)},${(-q * Math.cos(a)).toFixed(3)}`; }).join('L')}Z`;

/** Marks of inks that are neither circle nor square, for a radius of 1. */
const shapes: Readonly<Record<number, string>> = {
  2: polygon(4, 0), 3: polygon(3, 0), 4: polygon(3, 180), 5: polygon(5, 0), 6: polygon(10, 0, 0.42), 7: polygon(6, 30), 8: polygon(8, 0, 0.4),
};

/** The shape of a model's mark: a circle for A, a square for B, a diamond for what is no model, others for further models. */
export function Mark({ ink, x, y, r, hollow, cross }: { ink: Ink; x: number; y: number; r: number; hollow?: boolean | undefined; cross?: boolean | undefined }): JSX.Element {
  const c = `dot m${ink}${hollow ? ' hollow' : ''}`;
  if (cross) return <path class={`cross m${ink}`} d={`M${x - r},${y - r}L${x + r},${y + r}M${x - r},${y + r}L${x + r},${y - r}`} />;
  if (ink === 1) return <rect class={c} x={x - r * 0.9} y={y - r * 0.9} width={r * 1.8} height={r * 1.8} />;
  if (shapes[ink]) return <path class={c} transform={`translate(${x} ${y}) scale(${r * 1.2})`} vector-effect="non-scaling-stroke" d={shapes[ink]} />;
  return <circle class={c} cx={x} cy={y} r={r} />;
}

export type SVGRef = RefObject<SVGSVGElement>;
