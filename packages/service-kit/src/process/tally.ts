/** Sums by key; a key whose sum is 0 takes no memory. */
export interface Tally {
  of(key: string): number;
  /** A negative number takes away. */
  add(key: string, by: number): void;
}

export const createTally = (): Tally => {
  const sums = new Map<string, number>();
  const of = (key: string): number => sums.get(key) ?? 0;
  return {
    of,
    add: (key, by) => {
      const sum = of(key) + by;
      if (sum === 0) sums.delete(key);
      else sums.set(key, sum);
    },
  };
};
