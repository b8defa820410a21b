// A store over a fake source, for tests.

import { FakeSource } from './fake';
import { Client } from './source';
import { State } from './state';

export const wait = (ms = 0) => new Promise<void>((f) => setTimeout(f, ms));

export async function until(f: () => boolean, what: string): Promise<void> {
  for (let k = 0; k < 400; k++) {
    if (f()) return;
    await wait(2);
  }
  throw new Error(`it never came to: ${what}`);
}

/** A store on which the run of the source is open. */
export async function opened(t: { after(f: () => void): void }, source = new FakeSource()): Promise<State> {
  const s = new State(new Client(source));
  t.after(s.start());
  s.show(source.run.id);
  await until(() => s.data.run.value !== null && s.data.curves[0].value !== null && s.data.one.value !== null && s.data.samples.value !== null && s.choice.layout.value !== null, 'a run on show');
  return s;
}
