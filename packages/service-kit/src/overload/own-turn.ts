import { isOverload, Problem } from '../http/problem.ts';
import { currentRequest } from './request-scope.ts';

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
