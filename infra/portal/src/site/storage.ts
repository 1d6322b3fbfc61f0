/** Uses the storage of this site or this tab; undefined if the browser blocks it (access then throws). */
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

/** Reads a stored preference, if there is one. */
export const readPreference = (name: string): string | null | undefined =>
  withStorage('localStorage', (storage) => storage.getItem(name));

/** Stores a preference for later visits. */
export const storePreference = (name: string, value: string): void =>
  withStorage('localStorage', (storage) => storage.setItem(name, value));
