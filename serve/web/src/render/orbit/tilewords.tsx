// What the labels of tiles mean, in words.

import type { Group } from '../../core/api';
import { tiles } from '../tileorder';

/** The key of the tiles of a group: the letter, and where tiles are numbered each number with the name of its element. */
export function TileWords({ o }: { o: Group }) {
  const list = tiles(o.chart, o.elements).tiles.flatMap((t) => (t ? [t] : []));
  if (list.length < 2) return null;
  const numbered = list.every((t) => t.name);
  const reversed = list.some((t) => t.reversed);
  return (
    <details class="tilewords">
      <summary>
        F lies as the element lays the input{numbered ? '; even numbers turn, odd ones mirror' : ''}{reversed ? `; ${numbered ? '′ and ' : ''}←: time runs backwards` : ''}
      </summary>
      {numbered && (
        <dl>
          {list.filter((t) => !t.reversed).sort((a, b) => Number(a.name) - Number(b.name)).map((t) => (
            <div key={t.k}>
              <dt>{t.name}</dt>
              <dd>{o.labels[t.k]}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>{numbered ? 'Turns are counter-clockwise, by 45° times the number. A horizontal mirror exchanges left and right, a vertical one top and bottom; \\ and / are the diagonals. ' : ''}{reversed ? 'Where time runs backwards the pictures come in the opposite order, and the vectors point the other way.' : ''}</p>
    </details>
  );
}
