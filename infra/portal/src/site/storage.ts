/** Uses what the browser keeps for this site or for this tab; undefined where it refuses storage, which then throws. */
export const withStorage = <T>(
  name: 'localStorage' | 'sessionStorage',
  work: (storage: Storage) => T,
): T | undefined => {
  try {
    return work(globalThis[name]);
  } catch {
    return undefined;
  }
};

/** A choice that the browser keeps, if it keeps any. */
export const kept = (name: string): string | null | undefined =>
  withStorage('localStorage', (storage) => storage.getItem(name));

/** Keeps a choice, which else is lost with the page. */
export const keep = (name: string, value: string): void =>
  withStorage('localStorage', (storage) => storage.setItem(name, value));
