import { awaitSharedLookup } from '@platform/service-kit/queue-turns';
import { runOutsideRequest } from '@platform/service-kit/request-scope';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Lets calls share one lookup, but only calls that were made before it was sent. A later call gets a
 * later lookup, so that no answer is older than its call. Each key has one lookup running at a time;
 * calls that arrive meanwhile share the next one. When that is refused, each client asks in its own turn.
 */
export const shareLookup = <T>(lookUp: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const waiting = new Map<string, Promise<T>>();
  const running = new Map<string, Promise<unknown>>();

  const send = async (key: string): Promise<T> => {
    // Collects the calls of this turn of the event loop, or those that arrive while a lookup is running.
    await (running.get(key) ?? nextTurn());
    waiting.delete(key);
    const answer = runOutsideRequest(() => lookUp(key));
    const ended = Promise.allSettled([answer]);
    running.set(key, ended);
    void ended.then(() => running.get(key) === ended && running.delete(key));
    return answer;
  };

  return (key) => {
    const shared = waiting.get(key);
    if (shared !== undefined) return awaitSharedLookup(shared, () => runOutsideRequest(() => lookUp(key)));
    const sent = send(key);
    waiting.set(key, sent);
    return sent;
  };
};
