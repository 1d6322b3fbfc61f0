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
