import { element } from '../element.ts';
import { errorText } from './text.ts';

type Cell = Node | string;

/** A table, shown as a list of cards on a phone: each cell has the name of its column. */
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

/** A select element; the first option is the default. */
export const choice = (options: readonly (readonly [value: string, text: string])[]) =>
  element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));

/** The latest request of each element. */
const latest = new WeakMap<HTMLElement, object>();

/** Shows the result of a promise, or its error. */
export const show = async (target: HTMLElement, load: () => Promise<Node | string>): Promise<void> => {
  const turn = {};
  latest.set(target, turn);
  target.setAttribute('aria-busy', 'true');
  const put = (content: Node | string): void => {
    // An earlier request may be answered later.
    if (latest.get(target) !== turn) return;
    target.replaceChildren(content);
    target.removeAttribute('aria-busy');
  };
  try {
    put(await load());
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    put(element('p', { class: 'error note', role: 'alert' }, errorText(error)));
  }
};

/** A modal dialog. The browser manages the focus and closes it on Escape. */
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
