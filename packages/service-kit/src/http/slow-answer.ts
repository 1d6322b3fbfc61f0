import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { Unavailable } from './problem.ts';
import { countUnsent } from '../overload/connections.ts';
import { currentRequest, waitUncounted } from '../overload/request-scope.ts';
import { createTally } from '../process/tally.ts';

/**
 * Sends text as fast as the client reads, also `into` a stream that ends in the response. Rejects when the client has gone
 * away or has read nothing for `idleMs`.
 */
export const createSender = (
  res: ServerResponse,
  idleMs: number,
  into: Writable = res,
): ((text: string | Uint8Array) => Promise<void>) => {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return async (text) => {
    if (text.length === 0 || into.write(text)) return;
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(idleMs)]);
    const release = countUnsent(res.req, res, text.length);
    try {
      await waitUncounted(() => once(into, 'drain', { signal }));
    } finally {
      release?.();
    }
  };
};

export interface Bounds {
  /** How much of this work runs at a time, of all callers together and of one. */
  most: number;
  mostOfCaller: number;
  /** Of those that share a network, where many accounts may be one person; `most` unless given. */
  mostOfNetwork?: number;
  /** Whether none of them gets more than all others leave free: however many have much, there is room for one more. */
  leavesRoom?: boolean;
  /** The problem (503) of further callers. */
  code: string;
  detail: string;
}

/** Bounds work that may take as long as the client likes. */
export const createPlaces = (bounds: Bounds) => {
  const { most, mostOfCaller, mostOfNetwork = most, leavesRoom = false, code, detail } = bounds;
  const [byNetwork, byCaller] = [createTally(), createTally()];
  let all = 0;
  /** Does the work of a caller. Throws Unavailable when there is too much. */
  return async <T>(caller: string, work: () => Promise<T>): Promise<T> => {
    const network = currentRequest()?.network ?? '';
    const left = leavesRoom ? most - all : most;
    const isFull =
      byNetwork.of(network) >= Math.min(mostOfNetwork, left) ||
      byCaller.of(caller) >= Math.min(mostOfCaller, left);
    if (all >= most || isFull) throw new Unavailable(code, detail);
    const add = (by: 1 | -1): void => {
      all += by;
      byNetwork.add(network, by);
      byCaller.add(caller, by);
    };
    add(1);
    try {
      return await work();
    } finally {
      add(-1);
    }
  };
};
