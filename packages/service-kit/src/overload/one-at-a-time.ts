import { TooBusy } from '../http/problem.ts';
import { waitUncounted } from './request-scope.ts';

/** The record that is changed, and who changes it: callers do not wait for each other's turns. */
export interface Turn {
  /** The record in words. */
  name: string;
  /** Identifies the record among those of the same name: its path parameters. */
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
 * Runs `work` after all earlier work of the same turn that uses the same `database`, in this process. Otherwise each change
 * of a record waits for the lock of its row with a connection of the pool, and a caller who sends many changes of one
 * record holds the connections of all others. Throws TooBusy when a hundred changes wait.
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
  if (line.size > maxWaiting) throw new TooBusy('Too many changes of this record are waiting.');
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
