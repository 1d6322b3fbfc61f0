/**
 * Lets calls share one look-up, but only those that were made before it was sent: whoever comes
 * later gets a later one, so that no answer is older than its question.
 */
export const shareLookup = <T>(look: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const waiting = new Map<string, Promise<T>>();
  return (key) => {
    const shared = waiting.get(key);
    if (shared !== undefined) return shared;
    const asked = new Promise<T>((resolve) => {
      setImmediate(() => {
        waiting.delete(key);
        resolve(look(key));
      });
    });
    waiting.set(key, asked);
    return asked;
  };
};
