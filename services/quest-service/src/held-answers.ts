import { LRUCache } from 'lru-cache';

/** Keys whose answers are held at a time. */
const most = 10_000;

interface Held {
  answer: string;
  until: number;
  renewed: boolean;
}

/**
 * Gives an answer again for `ms` milliseconds, counted from before it was asked for: what is given
 * was true at most that long ago. Undefined is not held.
 *
 * An answer that is wanted in the second half of its time is asked for once more meanwhile, so that
 * what is always wanted is never waited for.
 */
export const holdAnswers = (
  look: (key: string) => Promise<string | undefined>,
  ms: number,
): ((key: string) => string | Promise<string | undefined>) => {
  const held = new LRUCache<string, Held>({ max: most });
  const ask = async (key: string): Promise<string | undefined> => {
    const until = performance.now() + ms;
    const answer = await look(key);
    if (answer !== undefined) held.set(key, { answer, until, renewed: false });
    return answer;
  };
  const renew = async (key: string): Promise<void> => {
    try {
      await ask(key);
    } catch {
      // Nobody waits for this one. Whoever asks when the time is over asks again, and is told.
    }
  };
  return (key) => {
    const known = held.get(key);
    const now = performance.now();
    if (known === undefined || now >= known.until) return ask(key);
    if (!known.renewed && now >= known.until - ms / 2) {
      known.renewed = true;
      void renew(key);
    }
    return known.answer;
  };
};
