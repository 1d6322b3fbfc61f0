import { setTimeout as sleep } from 'node:timers/promises';
import { isOverload, Problem, TooBusy } from '../http/problem.ts';
import { currentRequest, runOutsideRequest } from './request-scope.ts';

/** By a look-up that was refused, and the client that asks again. */
const again = new WeakMap<Promise<unknown>, Map<string, Promise<unknown>>>();

/**
 * Waits for a look-up that another request has begun, and which waits for a connection in the turn of that request. When it
 * is refused there, each client that shares it looks up once more, in its own turn.
 */
export const inOwnTurn = async <T>(shared: Promise<T>, lookUp: () => Promise<T>): Promise<T> => {
  try {
    return await shared;
  } catch (error) {
    if (!(error instanceof Problem && isOverload(error.code))) throw error;
    const client = JSON.stringify(currentRequest()?.client());
    const byClient = again.get(shared) ?? new Map<string, Promise<T>>();
    again.set(shared, byClient);
    const own = (byClient.get(client) as Promise<T> | undefined) ?? lookUp();
    byClient.set(client, own);
    return own;
  }
};

/** How often work asks for a connection again that overload has refused to it, after a pause. */
const [maxRefusals, pauseMs] = [60, 1000];

/**
 * Runs a part of a request that may take minutes or hours in the turn of a new request: otherwise all its statements would come
 * before every new one.
 */
export const inTurn = async <T>(work: () => Promise<T>, refusals = 0): Promise<T> =>
  runOutsideRequest(work).catch(async (error: unknown) => {
    const isRefused = error instanceof TooBusy && refusals < maxRefusals;
    if (!isRefused || currentRequest()?.cancelled) throw error;
    await sleep(pauseMs);
    return inTurn(work, refusals + 1);
  });
