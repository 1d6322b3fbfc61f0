import type { RefObject } from 'preact';
import { useEffect, useRef, useLayoutEffect } from 'preact/hooks';
import { keep, kept } from '../storage.ts';

/** What a click on a row opens: the button or link of its first cell, or of the one beside its checkbox. */
const opener = 'td:first-child :is(a, button), td:has(> input) + td :is(a, button)';

// The whole row opens its record, unless the click was for something else, such as to select text.
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element) || target.closest('a, button, input, label, summary, pre')) return;
  if (getSelection()?.isCollapsed !== false)
    target.closest('tbody tr')?.querySelector<HTMLElement>(opener)?.click();
});

// A text that does not fit in its cell is its tooltip.
document.addEventListener('pointerover', ({ target }) => {
  const cell = target instanceof Element ? target.closest('td') : null;
  if (cell === null) return;
  const parts = [cell, ...cell.querySelectorAll('a, span')];
  const isCut = parts.some(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
    clientWidth > 0 ? scrollWidth > clientWidth || scrollHeight > clientHeight + 1 : false,
  );
  cell.title = isCut ? cell.innerText : '';
});

/** Moves the focus by some rows of the lists of the view, from outside to the first one; false when there is none. */
export const moveRow = (by: number): boolean => {
  const rows = [...document.querySelectorAll<HTMLElement>('.view tbody tr')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
  if (next === undefined) return false;
  // A row of figures has no control.
  next.tabIndex = -1;
  (next.querySelector<HTMLElement>(`${opener}, a, button, summary`) ?? next).focus();
  return true;
};

const setting = 'letter-keys';

/** Whether single letters are shortcuts: somebody who speaks to the browser may turn them off (WCAG 2.1.4). */
export const areLettersOn = (): boolean => kept(setting) !== 'off';

/** Turns the letters on or off; the browser keeps the choice. */
export const switchLetters = (): void => keep(setting, areLettersOn() ? 'off' : 'on');

const focusFind = (): void => {
  const find = document.getElementById('find');
  if (!(find instanceof HTMLInputElement)) return;
  find.focus();
  find.select();
};

const letters: Readonly<Record<string, () => unknown>> = {
  '/': focusFind,
  j: () => moveRow(1),
  k: () => moveRow(-1),
};

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('input:not([type=checkbox]), select, textarea');

/** Ctrl-K opens the commands; `/` goes to Find, and j and k to the next and previous row. */
export const useKeys = (openCommands: () => void): void => {
  const newest = useRef(openCommands);
  newest.current = openCommands;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      if (key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey) {
        event.preventDefault();
        newest.current();
        return;
      }
      const action = Object.hasOwn(letters, key) ? letters[key] : undefined;
      if (action === undefined || ctrlKey || metaKey || altKey || isTyping(target)) return;
      if (!areLettersOn() || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
};

const controlsOf = (group: Element): HTMLElement[] => [...group.querySelectorAll<HTMLElement>('a, button')];

/** Leaves one control of a group to the Tab key: the chosen one, else where the focus is, the current link, or the first. */
const leaveOneStop = (group: Element, chosen?: HTMLElement): void => {
  const controls = controlsOf(group);
  const focused = controls.find((control) => control === document.activeElement);
  const current = controls.find((control) => control.ariaCurrent !== null);
  const stop = chosen ?? focused ?? current ?? controls[0];
  for (const control of controls) control.tabIndex = control === stop ? 0 : -1;
};

/** How far a key leads in a group of this size, from a position. */
const targets: Readonly<Record<string, (at: number, size: number) => number>> = {
  ArrowRight: (at, size) => (at + 1) % size,
  ArrowLeft: (at, size) => (at + size - 1) % size,
  Home: () => 0,
  End: (_at, size) => size - 1,
};

const move = (group: Element, event: KeyboardEvent): void => {
  const controls = controlsOf(group);
  const at = controls.findIndex((control) => control === document.activeElement);
  const target = Object.hasOwn(targets, event.key) ? targets[event.key] : undefined;
  if (target === undefined || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const control = controls[target(at, controls.length)];
  if (control === undefined) return;
  event.preventDefault();
  leaveOneStop(group, control);
  control.focus();
};

/** Makes the links and buttons of an element one stop of the Tab key, from which arrow keys, Home and End lead to the others. */
export const makeOneStop = (group: HTMLElement): void => {
  leaveOneStop(group);
  group.addEventListener('keydown', (event) => move(group, event));
};

/** The same for an element of a component, as its `ref`. */
export const useOneStop = <Kind extends HTMLElement>(): RefObject<Kind | null> => {
  const group = useRef<Kind>(null);
  useLayoutEffect(() => {
    if (group.current) makeOneStop(group.current);
  }, []);
  // Its controls may have changed.
  useLayoutEffect(() => {
    if (group.current) leaveOneStop(group.current);
  });
  return group;
};
