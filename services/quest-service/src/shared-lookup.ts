const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Lets calls share one look-up, but only calls that were made before it was sent; a later call gets a
 * later look-up, so that no answer is older than its call. Each key has one look-up running at a
 * time; calls that arrive meanwhile share the next one.
 */
export const shareLookup = <T>(look: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const waiting = new Map<string, Promise<T>>();
  const underway = new Map<string, Promise<unknown>>();

  const send = async (key: string): Promise<T> => {
    // The others of this turn of the event loop, or all that come while one is under way.
    await (underway.get(key) ?? nextTurn());
    waiting.delete(key);
    const answer = look(key);
    const ended = Promise.allSettled([answer]);
    underway.set(key, ended);
    void ended.then(() => underway.get(key) === ended && underway.delete(key));
    return answer;
  };

  return (key) => {
    const shared = waiting.get(key);
    if (shared !== undefined) return shared;
    const asked = send(key);
    waiting.set(key, asked);
    return asked;
  };
};
