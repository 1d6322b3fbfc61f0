import { createTally } from '@platform/service-kit/tally';

/**
 * Bounds work to `most` at a time. A group, such as the requests to one host, begins no more than what the others leave free:
 * slow groups always leave room for another one.
 */
export const createFairPlaces = (most: number) => {
  const running = createTally();
  const waiting: { group: string; begin(): void }[] = [];
  let free = most;
  const isOpenTo = (group: string): boolean => running.of(group) < free;
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
      next.begin();
    }
  };
  /** Runs `work` when there is a place for its group. */
  return async <T>(group: string, work: () => Promise<T> | T): Promise<T> => {
    if (isOpenTo(group)) take(group);
    else await new Promise<void>((begin) => waiting.push({ group, begin }));
    try {
      return await work();
    } finally {
      leave(group);
    }
  };
};
