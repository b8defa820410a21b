// What the pages of sheets share: which one is shown, that it is loaded, and how a part of it is framed.

import { useEffect, useMemo } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type * as api from '../core/api';
import { copy } from '../core/export';
import { Slot } from '../core/slot';
import type { State } from '../core/state';
import type { SheetName } from '../core/url';
import { signOf } from '../core/verdict';
import { sheetAddress, sheetOf, titles } from './sheet';

/** The page of a sheet of a kind: draw is given what the command wrote. */
export function SheetPage({ s, kind, none, draw }: { s: State; kind: SheetName; none: string; draw: (a: api.OpenSheet) => ComponentChildren }) {
  const list = s.data.runs.state.value;
  const slot = useMemo(() => new Slot<api.OpenSheet>(), []);
  const found = sheetOf(list.value, kind, s.data.runID.value);
  const all = (list.value?.sheets ?? []).filter((a) => a.kind === kind);
  const id = s.place.sheet.value || found?.id || '';
  const said = all.find((a) => a.id === id)?.sentence; // another one is another file
  useEffect(() => {
    if (id) void slot.load((cut) => s.client.sheet(id, cut), true);
    else slot.clear();
  }, [id, said]);
  const { value, busy, error } = slot.state.value;
  const again = () => void slot.load((cut) => s.client.sheet(id, cut), false);
  return (
    <div class={`findings found ${kind}`}>
      {all.length > 1 && (
        <nav class="pick" aria-label={`All of ${titles[kind]}`}>
          <label>
            {titles[kind]}{' '}
            <select value={id} onChange={(e) => { s.place.detail.value = {}; s.place.sheet.value = e.currentTarget.value; }}>
              {all.map((a) => <option key={a.id} value={a.id}>{a.name}: {a.title}</option>)}
            </select>
          </label>
        </nav>
      )}
      {error ? (
        <div class="trouble" role="alert"><p>{error}</p><button onClick={again}>Try again</button></div>
      ) : value && value.sheet.id === id ? (
        draw(value)
      ) : (
        <p class="empty" role="status">{busy || list.busy ? 'Loading…' : none}</p>
      )}
    </div>
  );
}

/** A word that judges, with its sign. */
export function Verdict({ word }: { word: string }) {
  const [sign, kind] = signOf(word);
  return <span class={`verdict ${kind}`}><span aria-hidden="true">{sign}</span> {word.replace(/_/g, ' ')}</span>;
}

/** Changes what is chosen on the page; an empty text is no choice. */
export function choose(s: State, key: string, value: string): void {
  const next = { ...s.place.detail.peek(), [key]: value };
  if (!value) delete next[key];
  s.place.detail.value = next;
}

/** Buttons for the models of a sheet. */
export function Models({ s, names, now, badge }: { s: State; names: readonly string[]; now: string; badge?: (k: number) => ComponentChildren }) {
  if (names.length < 2) return null;
  return (
    <div class="models" role="group" aria-label="Model">
      {names.map((name, k) => (
        <button key={name} aria-pressed={name === now} onClick={() => { s.place.detail.value = { model: name }; }}>
          {name} {badge?.(k)}
        </button>
      ))}
    </div>
  );
}

/** A card with a heading. */
export function Card({ id, title, sub, children }: { id: string; title: string; sub?: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-labelledby={`${id}-title`} id={id}>
      <h2 id={`${id}-title`}>{title} {sub && <span class="sub">{sub}</span>}</h2>
      {children}
    </section>
  );
}

/** A table that scrolls by itself where it is wider than the page; a high one has a height of its own, too. */
export function Scroll({ label, high, children }: { label: string; high?: boolean; children: ComponentChildren }) {
  return <div class={`scroll${high ? '' : ' wide'}`} tabIndex={0} role="group" aria-label={label}>{children}</div>;
}

/** A command to type. */
export function Command({ text, s }: { text: string; s: State }) {
  return (
    <p class="command">
      <code>{text}</code>
      <button onClick={() => void copy(text).then((ok) => s.tasks.say(ok ? 'The command is on the clipboard.' : 'The browser does not permit copying; select the command instead.'))}>Copy</button>
    </p>
  );
}

/** Sheets in the list of what there is. */
export function Sheets({ sheets }: { sheets: readonly api.Sheet[] }) {
  if (sheets.length === 0) return null;
  return (
    <section aria-labelledby="sheets-title">
      <h2 id="sheets-title">What other commands found <small>{sheets.length}</small></h2>
      <ul class="sheets-list">
        {sheets.map((a) => (
          <li key={a.id} class="card">
            <h3><a href={sheetAddress(a)}>{a.title}</a> <small>{a.name}{a.models.length > 0 ? ` · ${a.models.join(', ')}` : ''}</small></h3>
            <p>{a.sentence}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
