// A finite group as tiles, one plot per model: the colour is the value, and the letter F lies as the element lays it. The square's symmetries with
// time reversal stand in the order in which their pictures would unfold.

import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { css } from '../../core/color';
import { num } from '../text';
import { stepTile, tiles, type Tile } from '../tileorder';
import { Frame, Tip, type OrbitProps, type Series, type TilePicture } from './common';
import { shade } from './heatmap';
import { useState } from 'preact/hooks';

const S = 40; // side of a tile
const gap = 3;
// Above and below a picture: the name and the letter, the number.
const head = 10;
const foot = 9;

/** The letter F in a square of one unit about its middle, y downward. */
const letter = 'M-.32,-.46H.36V-.26H-.1V-.08H.24V.12H-.1V.46H-.32Z';

/** The picture of a tile. */
function TileMap({ p }: { p: TilePicture }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const ctx = canvas.current?.getContext('2d');
    if (!ctx) return;
    const image = ctx.createImageData(p.w, p.h);
    p.draw(new Uint32Array(image.data.buffer));
    ctx.putImageData(image, 0, 0);
  }, [p.draw]);
  return <canvas ref={canvas} class="tilemap pix" width={p.w} height={p.h} aria-hidden="true" />;
}

/** The tiles of every model on one scale. */
export function Tiles(p: OrbitProps) {
  const own = p.series.filter((s) => !s.pinned);
  return (
    <div class={`maps n${Math.min(2, own.length)}${p.small ? ' small' : ''}`}>
      {own.map((s, k) => (
        <figure key={s.name + k} class="map">
          {own.length > 1 && <figcaption class={`ink m${s.ink}`}>{s.name}</figcaption>}
          <OneGrid p={p} s={s} first={k === 0} />
        </figure>
      ))}
    </div>
  );
}

/** Whether ink on a colour has to be light, by its relative luminance. */
function lightInk(c: number): boolean {
  const [r, g, b] = [c & 255, (c >> 8) & 255, (c >> 16) & 255].map((v) => ((v / 255) ** 2.2));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.18;
}

function OneGrid({ p, s, first }: { p: OrbitProps; s: Series; first: boolean }) {
  const o = p.orbit;
  const grid = useMemo(() => tiles(o.chart, o.elements), [o]);
  const [hover, setHover] = useState<{ k: number; x: number; y: number } | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const list = grid.tiles.filter((t): t is Tile => t !== null);
  const rows = Math.ceil(list.length / grid.columns);
  const tall = p.picture ? S + head + foot : S;
  const [W, H] = [grid.columns * (S + gap) - gap, rows * (tall + gap) - gap];
  const g = p.at.value;
  const here = list.findIndex((t) => o.elements[t.k].every((v, j) => Math.abs(v - g[j]) < 1e-6));
  const focus = p.focusable === true && first;
  const go = (t: Tile) => p.nav.moveTo(o.elements[t.k]);
  const keys = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    let to = -1;
    if (/^Arrow/.test(e.key)) to = stepTile(list.length, grid.columns, Math.max(0, here), e.key);
    else if (e.key === 'Home') p.nav.home();
    else if (e.key === 'End') p.nav.opposite();
    else if (e.key === ' ') p.nav.play();
    else return;
    e.preventDefault();
    e.stopPropagation();
    if (to >= 0) go(list[to]);
    requestAnimationFrame(() => root.current?.querySelector<HTMLElement>('[role=radio][tabindex="0"]')?.focus({ preventScroll: true }));
  };
  const see = (e: PointerEvent, k: number) => {
    const box = root.current?.getBoundingClientRect();
    if (box && e.pointerType !== 'touch') setHover({ k, x: e.clientX - box.left, y: e.clientY - box.top });
  };
  const colour = (k: number) => {
    const c = shade(p.scale, s.values[k]);
    return c < 0 || !p.table ? -1 : p.table[c];
  };
  return (
    <Frame layout="tiles" small={p.small}>
      <div ref={root} class="tilegrid" style={{ gridTemplateColumns: `repeat(${grid.columns}, minmax(0, 1fr))`, '--ar': String(W / H) }} onPointerLeave={() => setHover(null)}
        {...(focus ? { role: 'radiogroup', 'aria-label': `Element. ${p.alt} Arrow keys go to the neighboring tile.`, onKeyDown: keys } : { role: 'img', 'aria-label': `${s.name}. ${p.alt}` })}>
        {list.map((t, i) => {
          const c = colour(t.k);
          const value = num(s.values[t.k]);
          const on = i === here;
          const picture = p.picture?.(s, t.k);
          const clock = (x: number) => <path class="clock" d={`M${x - 6},5.5H${x}M${x - 3.8},3.3L${x - 6},5.5L${x - 3.8},7.7`} />;
          const body = p.picture ? (
            <>
              <svg viewBox={`0 0 ${S} ${head}`} aria-hidden="true">
                <g class="onNone">
                  <text x={1.5} y={7.6} class="tilename">{t.name}</text>
                  <path class="glyph" d={letter} transform={`translate(${S / 2} ${head / 2}) scale(8.5) rotate(${-t.angle})${t.mirrored ? ' scale(-1 1)' : ''}`} />
                  {t.reversed && clock(S - 2)}
                </g>
              </svg>
              {picture ? <TileMap p={picture} /> : <span class="tilemap none" />}
              <svg viewBox={`0 0 ${S} ${foot}`} aria-hidden="true">
                <text x={S / 2} y={foot - 2.2} class="tilevalue onNone" text-anchor="middle">{picture?.value ?? '…'}</text>
              </svg>
            </>
          ) : (
            <svg viewBox={`0 0 ${S} ${S}`} aria-hidden="true">
              <rect width={S} height={S} rx="3" fill={c < 0 ? 'var(--none)' : css(c)} />
              <g class={c >= 0 && lightInk(c) ? 'onDark' : c < 0 ? 'onNone' : 'onLight'}>
                <path class="glyph" d={letter} transform={`translate(${S / 2} ${p.small ? S / 2 : S / 2 - 2.5}) scale(${p.small ? 24 : 19}) rotate(${-t.angle})${t.mirrored ? ' scale(-1 1)' : ''}`} />
                {!p.small && (
                  <>
                    <text x={3} y={8.5} class="tilename">{t.name}</text>
                    <text x={S / 2} y={S - 2.6} class="tilevalue" text-anchor="middle">{value}</text>
                  </>
                )}
                {t.reversed && clock(S - 4)}
              </g>
            </svg>
          );
          const more = { 'data-k': String(t.k), onPointerMove: (e: PointerEvent) => see(e, t.k), onClick: () => go(t) };
          return focus ? (
            <button key={t.k} role="radio" data-export class={`tile${on ? ' on' : ''}`} aria-checked={on} aria-label={`${o.labels[t.k]}${t.name && t.name !== o.labels[t.k] ? `, ${t.name}` : ''}: ${value}${picture ? `; ${picture.words}` : ''}`} tabindex={i === Math.max(0, here) ? 0 : -1} {...more}>
              {body}
            </button>
          ) : (
            <span key={t.k} class={`tile${on ? ' on' : ''}`} aria-hidden="true" {...more}>
              {body}
            </span>
          );
        })}
      </div>
      <Tip hover={hover} lines={hover ? [...p.tip(hover.k), ...(p.picture ? [p.picture(s, hover.k)?.words ?? 'its map is on its way'] : [])] : []} />
    </Frame>
  );
}
