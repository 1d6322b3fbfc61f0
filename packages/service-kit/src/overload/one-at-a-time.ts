import { TooBusy } from '../http/problem.ts';
import { waitUncounted } from './request-scope.ts';

/** What is done in turns, such as changes of a record, and who does it: callers do not wait for each other's turns. */
export interface Turn {
  /** The record or list in words. */
  name: string;
  /** Identifies it among those of the same name: its path parameters. */
  params: object;
  /** The subject of the caller. */
  caller: string;
}

/** What runs and waits with one key. */
interface Line {
  size: number;
  last: Promise<void>;
}

const maxWaiting = 100;
const linesOf = new WeakMap<object, Map<string, Line>>();

/**
 * Runs `work` after all earlier work of the same turn that uses the same `database`, in this process, so that a caller who
 * sends much of it holds one connection of the pool and not all: changes of one record would wait with a connection each for
 * the lock of its row. Throws TooBusy when a hundred wait.
 */
export const oneAtATime = async <T>(
  database: object,
  { name, params, caller }: Turn,
  work: () => Promise<T>,
): Promise<T> => {
  const key = JSON.stringify([name, params, caller]);
  const lines = linesOf.get(database) ?? new Map<string, Line>();
  linesOf.set(database, lines);
  const line = lines.get(key) ?? { size: 0, last: Promise.resolve() };
  if (line.size > maxWaiting)
    throw new TooBusy('Too many requests like this one are waiting; try again shortly.');
  lines.set(key, line);
  const { last } = line;
  const turn = Promise.withResolvers<void>();
  line.last = turn.promise;
  line.size += 1;
  try {
    if (line.size > 1) await waitUncounted(() => last);
    return await work();
  } finally {
    line.size -= 1;
    if (line.size === 0) lines.delete(key);
    turn.resolve();
  }
};
