import { BrokenCircuitError, circuitBreaker, ConsecutiveBreaker, handleType } from 'cockatiel';
import { ProviderUnavailable } from '../errors.ts';

/** Failures of one store in a row, or stores without an answer in a row, after which there is a pause. */
const failures = 5;
/** The length of a pause. */
export const pauseMs = 10_000;

/** The end of the last pause, in milliseconds since 1970, and the failure that began it. */
interface Pause {
  until: number;
  last: string;
}

/** Only failures that may end by themselves count: after a rejected request, the next one may succeed. */
export const createCircuit = () => {
  const policy = circuitBreaker(handleType(ProviderUnavailable), {
    halfOpenAfter: pauseMs,
    breaker: new ConsecutiveBreaker(failures),
  });
  const pause: Pause = { until: 0, last: '' };
  policy.onBreak((reason) => {
    pause.until = Date.now() + pauseMs;
    if ('error' in reason && reason.error instanceof ProviderUnavailable) pause.last = reason.error.what;
  });
  return { policy, pause };
};

export const describePause = (...pauses: [Pause, Pause]): string => {
  const [{ last, until }] = pauses.toSorted((one, other) => other.until - one.until) as [Pause, Pause];
  return `failed repeatedly (last: ${last}) and is not asked again before ${new Date(until).toISOString().slice(0, 19)}Z`;
};

/**
 * After five stores in a row got no answer, requests of all stores pause; fewer may be at fault themselves. Then one request
 * at a time passes: at once for a store that has not failed, after the pause for the others.
 */
export const createOriginPause = () => {
  const failed = new Set<object>();
  const pause: Pause = { until: 0, last: '' };
  let isTried = false;
  return {
    pause,
    execute: async <T>(client: object, request: () => Promise<T>): Promise<T> => {
      const isPaused = failed.size >= failures;
      if (isPaused && (isTried || (failed.has(client) && Date.now() < pause.until)))
        throw new BrokenCircuitError();
      isTried ||= isPaused;
      try {
        const answer = await request();
        failed.clear();
        return answer;
      } catch (error) {
        if (error instanceof ProviderUnavailable && error.status === undefined) {
          failed.add(client);
          Object.assign(pause, { until: Date.now() + pauseMs, last: error.what });
        } else if (!(error instanceof BrokenCircuitError)) failed.clear();
        throw error;
      } finally {
        if (isPaused) isTried = false;
      }
    },
  };
};
