// What is shown of an input is decided by what it is: pictures here, points, sets, graphs and signals by what is loaded later.

import type { State } from '../../core/state';
import { Later } from '../../later';
import { FramesInput } from './frames';
import { inputOf, PictureInput } from './input';

/** The moved input, whatever it is. */
export function Anything({ s }: { s: State }) {
  const p = inputOf(s)?.picture;
  const space = /^(rows|record|signal)$/.test(s.data.run.value?.input ?? '');
  if (p?.datum || (!p && space)) return <Later of={(m) => <m.ValueInput s={s} />} />;
  return p?.frames ? <FramesInput s={s} /> : <PictureInput s={s} />;
}

/** Answers that are neither classes nor pictures. */
export const ValuesLater = ({ s }: { s: State }) => <Later of={(m) => <m.ValuesDetail s={s} />} />;
