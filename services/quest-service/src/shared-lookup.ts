import { awaitSharedLookup } from '@platform/service-kit/queue-turns';
import { runOutsideRequest } from '@platform/service-kit/request-scope';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Lets calls share one lookup, but only calls that were made before it was sent. A later call gets a
 * later lookup, so that no result is older than its call. Each key has one lookup running at a time;
 * calls that arrive meanwhile share the next one. If that is refused, each client looks up in its own turn.
 */
export const shareLookup = <T>(lookUp: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const waiting = new Map<string, Promise<T>>();
  const running = new Map<string, Promise<unknown>>();

  const send = async (key: string): Promise<T> => {
    // Collects the calls of this turn of the event loop, or those that arrive while a lookup is running.
    await (running.get(key) ?? nextTurn());
    waiting.delete(key);
    const result = runOutsideRequest(() => lookUp(key));
    const ended = Promise.allSettled([result]);
    running.set(key, ended);
    void ended.then(() => running.get(key) === ended && running.delete(key));
    return result;
  };

  return (key) => {
    const shared = waiting.get(key);
    if (shared !== undefined) return awaitSharedLookup(shared, () => runOutsideRequest(() => lookUp(key)));
    const sent = send(key);
    waiting.set(key, sent);
    return sent;
  };
};
