import { useEffect, useRef } from 'preact/hooks';
import { keep, kept } from '../storage.ts';
import { moveRow } from './rows.ts';

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
