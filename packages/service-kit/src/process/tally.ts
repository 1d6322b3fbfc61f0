/** Sums by key; a key whose sum is 0 takes no memory. */
export const createTally = () => {
  const sums = new Map<string, number>();
  const of = (key: string): number => sums.get(key) ?? 0;
  return {
    of,
    /** A negative number takes away. */
    add: (key: string, by: number): void => {
      const sum = of(key) + by;
      if (sum === 0) sums.delete(key);
      else sums.set(key, sum);
    },
    /** Keys whose sum is not 0. */
    get size(): number {
      return sums.size;
    },
  };
};
