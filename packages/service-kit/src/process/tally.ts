/** Keeps a sum for each key; a key whose sum is 0 takes no memory. */
export const createTally = () => {
  const sums = new Map<string, number>();
  const get = (key: string): number => sums.get(key) ?? 0;
  return {
    get,
    /** Adds `amount`, which may be negative. */
    add: (key: string, amount: number): void => {
      const sum = get(key) + amount;
      if (sum === 0) sums.delete(key);
      else sums.set(key, sum);
    },
    /** Number of keys whose sum is not 0. */
    get size(): number {
      return sums.size;
    },
  };
};
