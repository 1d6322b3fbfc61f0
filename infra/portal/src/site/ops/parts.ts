import { button, element } from '../element.ts';
import { errorText, isTemporary, mistakesOf } from './text.ts';
import { when } from './time.ts';

type Cell = Node | string;

const isMoney = (cell: Cell | undefined): boolean =>
  cell instanceof Element && cell.classList.contains('money');

/** Plain text, links, times and amounts need the name of their column where the head of the table is not shown. */
const needsLabel = (cell: Cell): boolean =>
  typeof cell === 'string' ||
  isMoney(cell) ||
  cell instanceof HTMLTimeElement ||
  cell instanceof HTMLAnchorElement;

const tableCell = (column: string, cell: Cell) => {
  const made = element('td', { role: 'cell', ...(needsLabel(cell) && { 'data-label': column }) }, cell);
  made.classList.toggle('none', made.textContent === '–');
  return made;
};

/** A table, shown as a list on a phone. It has roles, because browsers ignore tables that styles draw differently. */
export const table = (caption: string, columns: readonly string[], rows: readonly (readonly Cell[])[]) => {
  const heads = columns.map((name, at) => {
    const look = isMoney(rows[0]?.[at]) ? { class: 'amount' } : {};
    return element('th', { scope: 'col', role: 'columnheader', ...look }, name);
  });
  const lines = rows.map((cells) =>
    element('tr', { role: 'row' }, ...cells.map((cell, at) => tableCell(columns[at] ?? '', cell))),
  );
  return element(
    'table',
    { role: 'table' },
    element('caption', { class: 'unseen' }, caption),
    element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)),
    element('tbody', { role: 'rowgroup' }, ...lines),
  );
};

/** Names and values. */
export const facts = (pairs: readonly (readonly [string, Cell])[]) =>
  element(
    'dl',
    { class: 'facts' },
    ...pairs.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );

export const state = (look: 'good' | 'warn' | 'bad' | 'plain', text: string) =>
  element('span', { class: 'state', 'data-state': look }, text);

/** An amount with its currency, unless that is in another column. */
export const money = (amount: string, currency = '') =>
  element('span', { class: 'money' }, `${amount} ${currency}`.trim());

/** A time that does not break into two lines; a dash for null. */
export const time = (iso: string | null): HTMLElement =>
  iso === null ? element('span', {}, when(iso)) : element('time', { datetime: iso }, when(iso));

/** A labelled control. */
export const field = (label: string, control: HTMLInputElement | HTMLSelectElement) => {
  control.id ||= `field-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;
  return element('div', { class: 'field' }, element('label', { for: control.id }, label), control);
};

/** A select element; the first option is the default. */
export const choice = (options: readonly (readonly [value: string, text: string])[]) =>
  element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));

/** The latest request of each element. */
const latest = new WeakMap<HTMLElement, object>();

/** What is shown for an error, with a button when the same request may succeed later. */
const failure = (error: unknown, retry: () => void): HTMLElement =>
  element(
    'div',
    { class: 'note failure' },
    element(
      'div',
      { class: 'error', role: 'alert' },
      element('p', {}, errorText(error)),
      ...mistakesOf(error).map((mistake) => element('p', {}, mistake)),
    ),
    isTemporary(error) ? button('Try again', 'quiet', retry) : null,
  );

/** Text for a list without entries. */
export const nothing = (text: string) => element('p', { class: 'note soft' }, text);

/** The control with a `data-key`, which names it from one drawing of a list to the next. */
const withKey = (within: ParentNode, key: string | undefined): HTMLElement | undefined =>
  [...within.querySelectorAll<HTMLElement>('[data-key]:not(:disabled)')].find(
    (control) => control.dataset['key'] === key,
  );

/**
 * Replaces the content of an element. A focus in it stays on the control with the same `data-key`, or moves to the
 * element itself, so that the next Tab continues there.
 */
export const replaceContent = (target: HTMLElement, ...content: (Node | string)[]): void => {
  const { activeElement } = document;
  const hadFocus = activeElement instanceof HTMLElement && target.contains(activeElement);
  target.replaceChildren(...content);
  if (!hadFocus) return;
  const same = withKey(target, activeElement.dataset['key']);
  if (same === undefined) target.tabIndex = -1;
  (same ?? target).focus({ preventScroll: true });
};

/** Shows the result of a promise, or its error with a button that repeats it. Until then it says that it is loading. */
export const show = async (target: HTMLElement, load: () => Promise<Node | string>): Promise<void> => {
  const request = {};
  latest.set(target, request);
  target.setAttribute('aria-busy', 'true');
  if (target.childNodes.length === 0 || target.querySelector('.failure'))
    replaceContent(target, element('p', { class: 'loading soft', role: 'status' }, 'Loading …'));
  const render = (content: Node | string): void => {
    // An earlier request may be answered later.
    if (latest.get(target) !== request) return;
    replaceContent(target, content);
    target.removeAttribute('aria-busy');
  };
  try {
    render(await load());
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    render(failure(error, () => void show(target, load)));
  }
};

/**
 * A modal dialog: a heading, content that scrolls, and actions that stay visible. The browser manages the focus and
 * closes it on Escape.
 */
export const openDialog = (
  title: Node | string,
  content: readonly Node[],
  actions: readonly Node[] = [],
): HTMLDialogElement => {
  const close = element('button', { type: 'button', class: 'quiet' }, 'Close');
  const heading = element('h2', { id: 'dialog-heading' }, title);
  const dialog = element(
    'dialog',
    { 'aria-labelledby': 'dialog-heading' },
    element('div', { class: 'dialog-head' }, heading, close),
    element('div', { class: 'dialog-content', tabindex: '0' }, ...content),
    actions.length === 0 ? null : element('div', { class: 'actions' }, ...actions),
  );
  const opener = document.activeElement;
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    // The browser returns the focus to what opened the dialog, unless the list was drawn again meanwhile.
    if (opener instanceof HTMLElement && !opener.isConnected)
      withKey(document, opener.dataset['key'])?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
};

/** Removes the dialogs of a view that is left; they do not get the event `close`. */
export const removeDialogs = (): void => {
  for (const dialog of document.querySelectorAll('dialog')) dialog.remove();
};
