import { setTimeout as sleep } from 'node:timers/promises';
import { isOverload, Problem, TooBusy } from '../http/problem.ts';
import { currentRequest, runOutsideRequest } from './request-scope.ts';

/** For each refused look-up, the repeated look-up of each client. */
const repeatedLookups = new WeakMap<Promise<unknown>, Map<string, Promise<unknown>>>();

/**
 * Waits for a look-up that another request started, and which waits for a connection in that request's queue turn. If the
 * queue refuses it, each client that shares it repeats the look-up once in its own turn.
 */
export const awaitSharedLookup = async <T>(shared: Promise<T>, lookUp: () => Promise<T>): Promise<T> => {
  try {
    return await shared;
  } catch (error) {
    if (!(error instanceof Problem && isOverload(error.code))) throw error;
    const client = JSON.stringify(currentRequest()?.client());
    const byClient = repeatedLookups.get(shared) ?? new Map<string, Promise<T>>();
    repeatedLookups.set(shared, byClient);
    const repeated = (byClient.get(client) as Promise<T> | undefined) ?? lookUp();
    byClient.set(client, repeated);
    return repeated;
  }
};

/** How often refused work is retried, and the pause before each retry. */
const [maxRefusals, pauseMs] = [60, 1000];

/**
 * Runs one step of a request that takes minutes or hours, such as an export. The step waits for a connection like a new
 * request; otherwise all statements of the long request would come before those of new requests. Retries when overload
 * refuses it.
 */
export const runAsNewRequest = async <T>(work: () => Promise<T>, refusals = 0): Promise<T> =>
  runOutsideRequest(work).catch(async (error: unknown) => {
    const isRefused = error instanceof TooBusy && refusals < maxRefusals;
    if (!isRefused || currentRequest()?.cancelled) throw error;
    await sleep(pauseMs);
    return runAsNewRequest(work, refusals + 1);
  });
