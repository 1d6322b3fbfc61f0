import { element } from '../element.ts';
import { complaint } from './text.ts';

type Cell = Node | string;

/** A table that becomes a list of cards on a phone: each cell carries the name of its column. */
export const table = (caption: string, columns: readonly string[], rows: readonly (readonly Cell[])[]) =>
  element(
    'table',
    {},
    element('caption', { class: 'unseen' }, caption),
    element('thead', {}, element('tr', {}, ...columns.map((name) => element('th', { scope: 'col' }, name)))),
    element(
      'tbody',
      {},
      ...rows.map((cells) =>
        element(
          'tr',
          {},
          ...cells.map((cell, at) => {
            const data = element('td', { 'data-label': columns[at] ?? '' }, cell);
            data.classList.toggle('none', data.textContent === '–');
            return data;
          }),
        ),
      ),
    ),
  );

/** Names and values. */
export const facts = (pairs: readonly (readonly [string, Cell])[]) =>
  element(
    'dl',
    { class: 'facts' },
    ...pairs.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );

export const state = (look: 'good' | 'warn' | 'bad' | 'plain', text: string) =>
  element('span', { class: 'state', 'data-state': look }, text);

/** A labelled control. */
export const field = (label: string, control: HTMLInputElement | HTMLSelectElement) => {
  control.id ||= `field-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;
  return element('div', { class: 'field' }, element('label', { for: control.id }, label), control);
};

/** A choice; the first option is the preset one. */
export const choice = (options: readonly (readonly [value: string, text: string])[]) =>
  element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));

/** What each place was asked to show last. */
const latest = new WeakMap<HTMLElement, object>();

/** Shows what a promise brings: waiting, the result, or what went wrong. */
export const show = async (target: HTMLElement, load: () => Promise<Node | string>): Promise<void> => {
  const turn = {};
  latest.set(target, turn);
  target.setAttribute('aria-busy', 'true');
  const put = (content: Node | string): void => {
    // Who was asked first may answer last.
    if (latest.get(target) !== turn) return;
    target.replaceChildren(content);
    target.removeAttribute('aria-busy');
  };
  try {
    put(await load());
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    put(element('p', { class: 'error note', role: 'alert' }, complaint(error)));
  }
};

/** A window over the page. It takes the focus, gives it back, and goes with Escape, as the browser has it. */
export const openDialog = (title: string, ...content: Node[]): HTMLDialogElement => {
  const close = element('button', { type: 'button', class: 'quiet', 'aria-label': 'Close' }, 'Close');
  const heading = element('h2', { id: 'dialog-heading' }, title);
  const head = element('div', { class: 'dialog-head' }, heading, close);
  const dialog = element('dialog', { 'aria-labelledby': 'dialog-heading' }, head, ...content);
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
};
