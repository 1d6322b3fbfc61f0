import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

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
