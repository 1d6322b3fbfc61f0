import type { RefObject } from 'preact';
import { useEffect, useRef, useLayoutEffect } from 'preact/hooks';
import { readPreference, storePreference } from '../storage.ts';

/** Selects the control that a click on a row activates: in the first cell, or in the cell after the checkbox. */
const rowControl = 'td:first-child :is(a, button), td:has(> input) + td :is(a, button)';

// A click anywhere in a row opens its record, except on another control or while selecting text.
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element) || target.closest('a, button, input, label, summary, pre')) return;
  if (getSelection()?.isCollapsed !== false)
    target.closest('tbody tr')?.querySelector<HTMLElement>(rowControl)?.click();
});

// A text that does not fit in its cell is shown as tooltip.
document.addEventListener('pointerover', ({ target }) => {
  const cell = target instanceof Element ? target.closest('td') : null;
  if (cell === null) return;
  const parts = [cell, ...cell.querySelectorAll('a, span')];
  const isCut = parts.some(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
    clientWidth > 0 ? scrollWidth > clientWidth || scrollHeight > clientHeight + 1 : false,
  );
  cell.title = isCut ? cell.innerText : '';
});

/** Moves the focus by a number of rows in the view, from outside the lists to the first row; false if there are no rows. */
export const moveRow = (offset: number): boolean => {
  const rows = [...document.querySelectorAll<HTMLElement>('.view tbody tr')];
  const index = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[index < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, index + offset))];
  if (next === undefined) return false;
  // A row without controls gets the focus itself.
  next.tabIndex = -1;
  (next.querySelector<HTMLElement>(`${rowControl}, a, button, summary`) ?? next).focus();
  return true;
};

const setting = 'letter-keys';

/** Whether single letters are shortcuts. Users of speech input can turn them off (WCAG 2.1.4). */
export const areLetterKeysOn = (): boolean => readPreference(setting) !== 'off';

/** Turns the letter shortcuts on or off; the browser stores the setting. */
export const toggleLetterKeys = (): void => storePreference(setting, areLetterKeysOn() ? 'off' : 'on');

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

/** Ctrl-K opens the command dialog, `/` focuses Find, and j and k move to the next and previous row. */
export const useKeys = (openCommands: () => void): void => {
  const latestOpen = useRef(openCommands);
  latestOpen.current = openCommands;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      if (key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey) {
        event.preventDefault();
        latestOpen.current();
        return;
      }
      const action = Object.hasOwn(letters, key) ? letters[key] : undefined;
      if (action === undefined || ctrlKey || metaKey || altKey || isTyping(target)) return;
      if (!areLetterKeysOn() || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
};

const controlsOf = (group: Element): HTMLElement[] => [...group.querySelectorAll<HTMLElement>('a, button')];

/** Makes one control of a group reachable with Tab: `preferred`, otherwise the focused one, the current link, or the first. */
const setTabStop = (group: Element, preferred?: HTMLElement): void => {
  const controls = controlsOf(group);
  const focused = controls.find((control) => control === document.activeElement);
  const current = controls.find((control) => control.ariaCurrent !== null);
  const stop = preferred ?? focused ?? current ?? controls[0];
  for (const control of controls) control.tabIndex = control === stop ? 0 : -1;
};

/** The next index for a key, from an index in a group of this size. */
const nextIndexes: Readonly<Record<string, (index: number, size: number) => number>> = {
  ArrowRight: (index, size) => (index + 1) % size,
  ArrowLeft: (index, size) => (index + size - 1) % size,
  Home: () => 0,
  End: (_index, size) => size - 1,
};

const moveFocus = (group: Element, event: KeyboardEvent): void => {
  const controls = controlsOf(group);
  const index = controls.findIndex((control) => control === document.activeElement);
  const nextIndex = Object.hasOwn(nextIndexes, event.key) ? nextIndexes[event.key] : undefined;
  if (nextIndex === undefined || index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const control = controls[nextIndex(index, controls.length)];
  if (control === undefined) return;
  event.preventDefault();
  setTabStop(group, control);
  control.focus();
};

/** Makes the controls of an element a single Tab stop; arrow keys, Home and End move between them (roving tabindex). */
export const makeRovingTabStop = (group: HTMLElement): void => {
  setTabStop(group);
  group.addEventListener('keydown', (event) => moveFocus(group, event));
};

/** As `makeRovingTabStop`, for an element of a component. Use the result as its `ref`. */
export const useRovingTabStop = <Type extends HTMLElement>(): RefObject<Type | null> => {
  const group = useRef<Type>(null);
  useLayoutEffect(() => {
    if (group.current) makeRovingTabStop(group.current);
  }, []);
  // Again after each update, because the controls may have changed.
  useLayoutEffect(() => {
    if (group.current) setTabStop(group.current);
  });
  return group;
};
