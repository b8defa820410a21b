// The panel of help: what the page shows, every key and gesture, and the switch for single letters.

import { useEffect, useRef } from 'preact/hooks';
import type { State } from '../core/state';
import './shell-extra.css';

/** A group of keys and gestures. Single letters are marked: they can be switched off. */
interface Group {
  title: string;
  about: string;
  rows: readonly { act: string; pointer: string; keys: string; letter?: boolean }[];
}

/** All keys and gestures, by view. Keys are separated by two spaces. */
export const groups: readonly Group[] = [
  {
    title: 'Everywhere', about: '',
    rows: [
      { act: 'this help', pointer: '? at the top', keys: '?', letter: true },
      { act: 'next card, card before: to its plot or table', pointer: '', keys: 'n  Shift+N', letter: true },
      { act: 'go on within a row of controls', pointer: '', keys: '← →' },
      { act: 'undo the last choice', pointer: '', keys: 'Ctrl+Z' },
      { act: 'all samples again', pointer: 'All samples', keys: 'Esc' },
      { act: 'filter by a rule', pointer: 'the field above the table', keys: '/', letter: true },
      { act: 'previous, next sample in order', pointer: '◄ ► below the scatter', keys: '[  ]', letter: true },
      { act: 'pin a sample to compare with', pointer: 'pin', keys: 'p', letter: true },
      { act: 'save or copy plots and tables', pointer: 'Export', keys: 'e', letter: true },
    ],
  },
  {
    title: 'Aggregate and individual: along the orbit', about: 'The metric over all elements of the orbit: over the slice at the left, of one sample in the middle. The needle, or the cross, says at which element input and detail are shown.',
    rows: [
      { act: 'go to an element', pointer: 'drag the needle, click the plot, type a value', keys: '← → ↑ ↓' },
      { act: 'ten steps', pointer: '', keys: 'Shift+arrows' },
      { act: 'fifteen steps', pointer: '', keys: 'PgUp  PgDn' },
      { act: 'identity', pointer: 'the first button', keys: 'Home' },
      { act: 'opposite', pointer: '', keys: 'End' },
      { act: 'go round the orbit, stop', pointer: '▶', keys: 'Space' },
    ],
  },
  {
    title: 'Slices', about: 'Sets of samples with a name, kept with the run. What is chosen now, by class, rule, lasso or rows, gets one with Keep.',
    rows: [
      { act: 'go to a slice', pointer: 'click its name', keys: 'Tab to it, Enter' },
      { act: 'join with the slice beside it', pointer: 'or: in either; and: in both', keys: 'Tab to it, Enter' },
      { act: 'all the others', pointer: 'Invert', keys: 'Tab to it, Enter' },
    ],
  },
  {
    title: 'Samples by orbit shape: the scatter', about: 'One point per sample. Points that lie together have orbits of the same shape.',
    rows: [
      { act: 'preview a sample', pointer: 'hover', keys: '← → ↑ ↓' },
      { act: 'choose it', pointer: 'click', keys: 'Enter' },
      { act: 'choose many', pointer: 'drag round them (lasso)', keys: 'L, arrows, Enter, arrows, Enter', letter: true },
      { act: 'choose the nearest ones', pointer: 'Nearest', keys: 'Tab to Nearest' },
      { act: 'zoom', pointer: 'wheel, pinch, the buttons in the corner', keys: '+  -  0', letter: true },
      { act: 'move the picture', pointer: 'drag with Shift, two fingers, or Pan', keys: 'Shift+arrows' },
      { act: 'lasso or pan', pointer: 'Lasso, Pan', keys: 'm', letter: true },
      { act: 'clear the lasso', pointer: 'Clear, click beside the points', keys: 'Esc' },
    ],
  },
  {
    title: 'Table of samples', about: 'The same samples as numbers. Sorting it is ranking: [ and ] go down and up. A ✗ is a wrong answer to the unmoved input.',
    rows: [
      { act: 'go to a row', pointer: 'hover', keys: '↑ ↓  PgUp  PgDn  Home  End' },
      { act: 'choose the sample', pointer: 'click', keys: 'Enter' },
      { act: 'choose rows together', pointer: 'Ctrl+click, Shift+click', keys: 'Space  Shift+↑ ↓  Ctrl+A' },
      { act: 'sort', pointer: 'click a heading', keys: 'Tab to the headings, ← →, Enter' },
    ],
  },
  {
    title: 'Input and detail', about: 'What the models were fed at the element, and what they answered. Values are marked recorded, from the run, or live, computed just now.',
    rows: [
      { act: 'move the input', pointer: 'drag it', keys: 'as along the orbit' },
      { act: 'move the crop window; what it shows goes the other way', pointer: 'drag it', keys: '← → ↑ ↓  Home' },
      { act: 'pick a pixel of an error map', pointer: 'click, drag', keys: '← → ↑ ↓  Home' },
    ],
  },
];

/** The panel. It is a dialog: the keyboard stays in it, Escape closes it, and the focus goes back to where it was. */
export function Help({ s, open, close, tour }: { s: State; open: boolean; close: () => void; tour?: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const d = box.current;
    if (!d) return undefined;
    if (!open) { if (d.open) d.close(); return undefined; }
    const back = document.activeElement;
    d.showModal();
    d.querySelector<HTMLElement>('h2')?.focus();
    return () => {
      if (d.open) d.close();
      if ((back instanceof HTMLElement || back instanceof SVGElement) && back.isConnected) back.focus();
    };
  }, [open]);
  const on = s.place.shortcuts.value, m = s.place.metricDoc.value, o = s.data.group.value;
  return (
    <dialog class="help" ref={box} aria-labelledby="help-title" onClose={close} onCancel={close} onClick={(e) => { if (e.target === box.current) close(); }}
      onKeyDown={(e) => { if (e.key === '?' && s.place.shortcuts.peek()) { e.preventDefault(); e.stopPropagation(); close(); } }}>
      {open && (
        <div class="help-body">
          <div class="help-head">
            <h2 id="help-title" tabIndex={-1}>Help</h2>
            {tour && s.place.page.value === 'run' && s.data.run.value && <button type="button" onClick={() => { close(); tour(); }}>Show me around</button>}
            <button type="button" onClick={close}>Close</button>
          </div>
          <p>
            NERO shows how a model answers when its input moves along an orbit{o ? `, here ${o.title}` : ''}. A model that treats all positions alike has a round, or level, curve; dents are elements at which
            it does worse.{m ? ` The curves show ${m.title}${m.unit ? ` in ${m.unit}` : ''}: ${m.doc.replace(/[.\s]+$/, '')}; ${m.better} is better.` : ''}
          </p>
          <label class="help-switch"><input type="checkbox" checked={on} onChange={(e) => (s.place.shortcuts.value = e.currentTarget.checked)} /> Keys that are a single letter or sign work wherever nothing is being typed. Switch them off if you dictate, or use a program that needs them.</label>
          <div class="help-groups">
            {groups.map((g) => (
              <section key={g.title}>
                <h3>{g.title}</h3>
                {g.about && <p>{g.about}</p>}
                <table>
                  <thead><tr><th scope="col">to</th><th scope="col">pointer</th><th scope="col">keys</th></tr></thead>
                  <tbody>{g.rows.map((r) => (
                    <tr key={r.act} class={r.letter && !on ? 'off' : ''}>
                      <th scope="row">{r.act}</th><td>{r.pointer}</td>
                      <td>{r.letter && !on ? <s><Keys text={r.keys} /></s> : <Keys text={r.keys} />}</td>
                    </tr>
                  ))}</tbody>
                </table>
              </section>
            ))}
          </div>
        </div>
      )}
    </dialog>
  );
}

/** Keys as keys, what is between them as text. */
function Keys({ text }: { text: string }) {
  return <>{text.split('  ').map((k, j) => <>{j > 0 && ' '}{/ (to|along) /.test(` ${k} `) || k.includes(', ') ? <span key={j}>{k}</span> : <kbd key={j}>{k}</kbd>}</>)}</>;
}
