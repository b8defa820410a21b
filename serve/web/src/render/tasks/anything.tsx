// What is shown of an input is decided by what it is: pictures here, everything else by what is loaded later.

import type { State } from '../../core/state';
import { Later, type More } from '../../later';
import { inputOf, PictureInput } from './input';

/** The views of tasks that are loaded when they are first shown. */
type Rare = 'ValueInput' | 'ValuesDetail' | 'FramesInput' | 'WindowInput' | 'BoxDetail' | 'FieldDetail' | 'FlowDetail' | 'TensorDetail';

/** A view that is loaded when it is first shown. */
export const rare = (name: Rare) => ({ s }: { s: State }) => (
  <Later of={(m: More) => { const View = m[name]; return <View s={s} />; }} />
);

const [Values, Frames] = [rare('ValueInput'), rare('FramesInput')];

/** The moved input, whatever it is. */
export function Anything({ s }: { s: State }) {
  const p = inputOf(s)?.picture;
  const space = /^(rows|record|signal)$/.test(s.data.run.value?.input ?? '');
  if (p?.datum || (!p && space)) return <Values s={s} />;
  return p?.frames ? <Frames s={s} /> : <PictureInput s={s} />;
}
