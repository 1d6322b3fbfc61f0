import { BrokenCircuitError, circuitBreaker, ConsecutiveBreaker, handleType } from 'cockatiel';
import { ProviderUnavailable } from '../errors.ts';

/** Consecutive failures of one store, or consecutive stores without an answer, that start a pause. */
const maxFailures = 5;
/** Duration of a pause. */
export const pauseMs = 10_000;

/** The end of the last pause, in milliseconds since 1970, and the failure that started it. */
interface Pause {
  until: number;
  lastFailure: string;
}

/** Circuit breaker of a store. Counts only ProviderUnavailable: after a rejected request, the next one may succeed. */
export const createCircuit = () => {
  const policy = circuitBreaker(handleType(ProviderUnavailable), {
    halfOpenAfter: pauseMs,
    breaker: new ConsecutiveBreaker(maxFailures),
  });
  const pause: Pause = { until: 0, lastFailure: '' };
  policy.onBreak((reason) => {
    pause.until = Date.now() + pauseMs;
    if ('error' in reason && reason.error instanceof ProviderUnavailable)
      pause.lastFailure = reason.error.failure;
  });
  return { policy, pause };
};

export const describePause = (...pauses: [Pause, Pause]): string => {
  const [{ lastFailure, until }] = pauses.toSorted((left, right) => right.until - left.until) as [
    Pause,
    Pause,
  ];
  return `failed repeatedly (last: ${lastFailure}) and is not asked again before ${new Date(until).toISOString().slice(0, 19)}Z`;
};

/**
 * Circuit breaker of an origin: requests of all stores pause after five different stores in a row got no answer; fewer stores
 * may have caused it themselves. Then one trial request at a time passes: at once for a store that has not failed, after the
 * pause for the others.
 */
export const createOriginPause = () => {
  const failedClients = new Set<object>();
  const pause: Pause = { until: 0, lastFailure: '' };
  let isTrialRunning = false;
  return {
    pause,
    execute: async <T>(client: object, request: () => Promise<T>): Promise<T> => {
      const isPaused = failedClients.size >= maxFailures;
      if (isPaused && (isTrialRunning || (failedClients.has(client) && Date.now() < pause.until)))
        throw new BrokenCircuitError();
      isTrialRunning ||= isPaused;
      try {
        const answer = await request();
        failedClients.clear();
        return answer;
      } catch (error) {
        if (error instanceof ProviderUnavailable && error.status === undefined) {
          failedClients.add(client);
          Object.assign(pause, { until: Date.now() + pauseMs, lastFailure: error.failure });
        } else if (!(error instanceof BrokenCircuitError)) failedClients.clear();
        throw error;
      } finally {
        if (isPaused) isTrialRunning = false;
      }
    },
  };
};
