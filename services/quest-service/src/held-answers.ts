import { LRUCache } from 'lru-cache';

/** Keys whose answers are held at a time. */
const most = 10_000;

/**
 * Gives an answer again for `ms` milliseconds, counted from before it was asked for: what is given
 * was true at most that long ago. Undefined is not held.
 */
export const holdAnswers = (
  look: (key: string) => Promise<string | undefined>,
  ms: number,
): ((key: string) => string | Promise<string | undefined>) => {
  const held = new LRUCache<string, { answer: string; until: number }>({ max: most });
  const ask = async (key: string): Promise<string | undefined> => {
    const until = performance.now() + ms;
    const answer = await look(key);
    if (answer !== undefined) held.set(key, { answer, until });
    return answer;
  };
  return (key) => {
    const known = held.get(key);
    return known !== undefined && performance.now() < known.until ? known.answer : ask(key);
  };
};
