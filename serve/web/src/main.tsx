// The interface: one store over a source, and the pages that draw it.

import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import './style.css';
import './render/tasks.css';
import './pages/findings.css';
import './pages/runs.css';
import './pages/sheets.css';
import './views/explore.css';
import './views/masks.css';
import { historyOf, sync, type Browser } from './core/history';
import { inside } from './core/report';
import type { Counts } from './core/live';
import { Client, ServerSource, type Source } from './core/source';
import type { Color, Theme } from './core/place';
import { State } from './core/state';
import { isSheet } from './core/url';
import { Banners } from './shell/banner';
import { Header } from './shell/header';
import { keys } from './shell/keys';
import { Help } from './shell/help';
import { RunPage } from './shell/run';
import { rove } from './shell/roving';
import { startTour, Tour } from './shell/tour';
import { Later } from './later';
import { titles } from './pages/sheet';
import { focusRule } from './views/slices';

declare global {
  interface Window {
    /** What tests look at: how a drag went. */
    __nero?: Counts & { state: State };
  }
}

const helpOpen = signal(false);

function Page({ s }: { s: State }) {
  const page = s.place.page.value;
  return (
    <>
      <Header s={s} help={() => (helpOpen.value = true)} />
      <Banners s={s} />
      <main id="main" tabIndex={-1}>
        {page === 'runs' ? <Later of={(m) => <m.Runs s={s} />} /> : page === 'findings' ? <Later of={(m) => <m.FindingsPage s={s} />} /> : isSheet(page) ? <Later of={(m) => { const Of = m.sheetPages[page]; return <Of s={s} />; }} /> : <RunPage s={s} />}
      </main>
      <Help s={s} open={helpOpen.value} close={() => (helpOpen.value = false)} tour={() => { helpOpen.value = false; startTour(); }} />
      <Tour s={s} />
      <div class="hidden" role="status" aria-live="polite">
        {s.tasks.spoken}
      </div>
    </>
  );
}

/** What a reader chose stays chosen, if the browser permits it. */
function remember(s: State): void {
  const get = (k: string): string | null => {
    try {
      return localStorage.getItem(`nero.${k}`);
    } catch {
      return null; // not permitted, as for a page from disk
    }
  };
  const set = (k: string, v: string) => {
    try {
      localStorage.setItem(`nero.${k}`, v);
    } catch {
      // not permitted
    }
  };
  const theme = get('theme');
  if (theme === 'light' || theme === 'dark') s.place.theme.value = theme satisfies Theme;
  const map = get('map');
  if (map === 'cividis') s.place.cmap.value = map satisfies Color;
  s.place.shortcuts.value = get('shortcuts') !== 'off';
  effect(() => set('theme', s.place.theme.value));
  effect(() => set('map', s.place.cmap.value));
  effect(() => set('shortcuts', s.place.shortcuts.value ? 'on' : 'off'));
}

/** Starts the interface over a source in an element, with the history that its address is kept in. */
export function start(source: Source, root: HTMLElement, b: Browser): State {
  const s = new State(new Client(source));
  remember(s);
  effect(() => {
    const t = s.place.theme.value;
    if (t === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = t;
  });
  effect(() => {
    const run = s.data.run.value;
    const page = s.place.page.value;
    document.title = page === 'run' && run ? `${run.name} · NERO` : isSheet(page) ? `${titles[page]} · NERO` : 'NERO';
  });
  s.start();
  sync(s, b);
  // An address that says nothing shows the run at once where there is but one.
  const bare = !b.hash();
  if (source.live)
    void s.data.list().then(() => {
      const runs = s.data.runs.value?.runs ?? [];
      const only = runs.length === 1 ? runs[0] : undefined;
      const sheets = s.data.runs.value?.sheets ?? [], sheet = runs.length === 0 && sheets.length === 1 && s.data.runs.value?.audits.length === 0 ? sheets[0] : undefined;
      if (bare && sheet && isSheet(sheet.kind) && s.place.page.peek() === 'runs') {
        s.place.sheet.value = sheet.id;
        s.place.page.value = sheet.kind;
      }
      if (bare && only && s.place.page.peek() === 'runs' && !s.data.runID.peek()) {
        s.place.page.value = 'run';
        s.show(only.id);
      }
    });
  keys(s, {
    help: () => (helpOpen.value = true),
    rule: () => void focusRule(),
    export: () => document.querySelector<HTMLElement>('#export')?.click(),
  });
  window.__nero = Object.assign(Object.create(s.place.live.counts) as Counts, { state: s });
  root.replaceChildren();
  render(<Page s={s} />, root);
  rove(root);
  return s;
}

const root = document.getElementById('app');
const report = inside(document);
if (root && report) {
  const b = historyOf(document);
  if (!/^#\/\w+\/./.test(b.hash())) b.replace(report.home);
  const s = start(report, root, b);
  report.tell = (t) => s.tasks.notify('info', t);
  if (report.notice) s.tasks.notify('info', report.notice);
  if (!s.data.runID.value) s.show(report.directory.run);
  if (report.sheets) void s.data.list(); // the head leads to them
} else if (root) start(new ServerSource(location.href), root, historyOf(document));
