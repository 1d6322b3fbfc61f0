import { withStorage } from '../storage.ts';

/** A choice that the browser keeps, if it keeps any. */
export const kept = (name: string): string | null | undefined =>
  withStorage('localStorage', (storage) => storage.getItem(name));

/** Keeps a choice, which else is lost with the page. */
export const keep = (name: string, value: string): void =>
  withStorage('localStorage', (storage) => storage.setItem(name, value));
