// One stop of the Tab key for each row of controls: within it the arrow keys go on, as in any toolbar. And the way from card to card.

/** Rows of controls. */
const rows = '#main .bar, #main .head .tools, #main .plane-zoom, #main .grid-table thead tr, header .group';

const controls = 'button:not(:disabled), select:not(:disabled), input:not(:disabled), summary, a[href]';

/** The controls of a row that can be worked, without those of panels that open over it. */
const of = (row: Element): HTMLElement[] =>
  [...row.querySelectorAll<HTMLElement>(controls)].filter((e) => e.closest(rows) === row && !e.closest('.sheet') && (!e.closest('details') || e.matches('summary')) && e.getClientRects().length > 0);

/** Where an arrow key leads from one of n controls, round the ends; -1 if the key leads nowhere. */
export function stepTo(key: string, at: number, n: number): number {
  if (n < 2 || at < 0) return -1;
  switch (key) {
    case 'ArrowRight': return (at + 1) % n;
    case 'ArrowLeft': return (at + n - 1) % n;
    case 'Home': return 0;
    case 'End': return n - 1;
    default: return -1;
  }
}

/** Whether a key moves something in the control itself: the caret within a text, the number of a field, the handle of a slider, the choice of a menu. */
function own(e: HTMLElement, key: string): boolean {
  if (e instanceof HTMLSelectElement) return key === 'Home' || key === 'End';
  if (!(e instanceof HTMLInputElement) || e.type === 'checkbox' || e.type === 'radio') return false;
  if (e.selectionStart === null || key === 'Home' || key === 'End') return true;
  const at = key === 'ArrowLeft' ? 0 : e.value.length;
  return e.selectionStart !== at || e.selectionEnd !== at;
}

function tidy(row: Element, focused?: Element | null): void {
  const list = of(row);
  const now = list.find((e) => e === focused) ?? list.find((e) => e.tabIndex === 0) ?? list[0];
  for (const e of list) e.tabIndex = e === now ? 0 : -1;
  if (list.length > 1 && !row.hasAttribute('role') && !row.matches('tr')) row.setAttribute('role', 'toolbar');
  if (list.length > 1 && row.getAttribute('role') === 'toolbar' && !row.hasAttribute('aria-label')) {
    const title = row.closest('.card')?.querySelector('h2')?.textContent;
    row.setAttribute('aria-label', row.matches('.tools') ? `${title ?? ''}: save` : row.matches('header .group') ? (row.matches('.tail') ? 'Look and help' : row.matches('.models') ? 'Models' : 'Metric') : `${title ?? ''}: controls`);
  }
}

/** Starts it for the whole page. Returns what ends it. */
export function rove(root: HTMLElement): () => void {
  const all = () => root.querySelectorAll(rows).forEach((r) => tidy(r, document.activeElement));
  let due = 0;
  const soon = () => { if (!due) due = requestAnimationFrame(() => { due = 0; all(); }); };
  const seen = new MutationObserver(soon);
  seen.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
  const focus = (e: FocusEvent) => {
    const row = (e.target as Element).closest?.(rows);
    if (row) tidy(row, e.target as Element);
  };
  const key = (e: KeyboardEvent) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    const at = e.target as HTMLElement;
    const row = at.closest?.(rows);
    if (!row || own(at, e.key)) return;
    const list = of(row);
    const to = stepTo(e.key, list.indexOf(at), list.length);
    if (to < 0) return;
    list[to]?.focus();
    e.preventDefault();
    e.stopPropagation();
  };
  root.addEventListener('focusin', focus);
  root.addEventListener('keydown', key, true);
  soon();
  return () => {
    seen.disconnect();
    root.removeEventListener('focusin', focus);
    root.removeEventListener('keydown', key, true);
  };
}

/** Goes to the next card, or back to the one before: to its plot or table, or else to its first control. Returns its title. */
export function nextCard(by: 1 | -1): string {
  const cards = [...document.querySelectorAll<HTMLElement>('#main .card')].filter((c) => c.getClientRects().length > 0);
  if (!cards.length) return '';
  const at = cards.findIndex((c) => c.contains(document.activeElement));
  const card = cards[at < 0 ? (by > 0 ? 0 : cards.length - 1) : (at + by + cards.length) % cards.length] as HTMLElement;
  const to = card.querySelector<HTMLElement>('[role=slider][tabindex="0"], [role=application][tabindex="0"], [role=radio][tabindex="0"], [role=grid][tabindex="0"]') ?? card.querySelector<HTMLElement>(`:is(${controls}):not([tabindex="-1"])`);
  to?.focus();
  card.scrollIntoView({ block: 'nearest' });
  return card.querySelector('h2')?.textContent ?? '';
}
