import { TooBusy } from '../http/problem.ts';
import { waitUncounted } from './request-scope.ts';

/** Identifies work that runs one after the other, such as the changes of a record. Each caller has a separate sequence. */
export interface SequenceKey {
  /** The record or list in words. */
  name: string;
  /** The path parameters that identify it. */
  params: object;
  /** The subject of the caller. */
  caller: string;
}

/** Running and waiting work with one key. */
interface Sequence {
  size: number;
  last: Promise<void>;
}

const maxWaiting = 100;
const sequencesOf = new WeakMap<object, Map<string, Sequence>>();

/**
 * Runs `work` after all earlier work with the same key and `database` in this process. So a caller who sends many changes of
 * one record uses one connection of the pool; otherwise each change would hold a connection while it waits for the row lock.
 * Throws TooBusy if a hundred are waiting.
 */
export const oneAtATime = async <T>(
  database: object,
  { name, params, caller }: SequenceKey,
  work: () => Promise<T>,
): Promise<T> => {
  const key = JSON.stringify([name, params, caller]);
  const sequences = sequencesOf.get(database) ?? new Map<string, Sequence>();
  sequencesOf.set(database, sequences);
  const sequence = sequences.get(key) ?? { size: 0, last: Promise.resolve() };
  if (sequence.size > maxWaiting)
    throw new TooBusy('Too many requests like this one are waiting; try again shortly.');
  sequences.set(key, sequence);
  const { last: previous } = sequence;
  const current = Promise.withResolvers<void>();
  sequence.last = current.promise;
  sequence.size += 1;
  try {
    if (sequence.size > 1) await waitUncounted(() => previous);
    return await work();
  } finally {
    sequence.size -= 1;
    if (sequence.size === 0) sequences.delete(key);
    current.resolve();
  }
};
