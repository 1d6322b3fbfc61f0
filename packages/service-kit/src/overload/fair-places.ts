import { createTally } from '../process/tally.ts';

/**
 * Limits concurrent work to `max`. A group, such as the requests to one host, may not run more work than there are free places:
 * slow groups always leave room for another group.
 */
export const createFairPlaces = (max: number) => {
  const running = createTally();
  const waiting: { group: string; start(): void }[] = [];
  let free = max;
  const isOpenTo = (group: string): boolean => running.get(group) < free;
  const firstOpen = () => waiting.find(({ group }) => isOpenTo(group));
  const take = (group: string): void => {
    free--;
    running.add(group, 1);
  };
  const leave = (group: string): void => {
    free++;
    running.add(group, -1);
    for (let next = firstOpen(); next !== undefined; next = firstOpen()) {
      waiting.splice(waiting.indexOf(next), 1);
      take(next.group);
      next.start();
    }
  };
  /** Runs `work` when its group has a free place. */
  return async <T>(group: string, work: () => Promise<T> | T): Promise<T> => {
    if (isOpenTo(group)) take(group);
    else await new Promise<void>((start) => waiting.push({ group, start }));
    try {
      return await work();
    } finally {
      leave(group);
    }
  };
};
