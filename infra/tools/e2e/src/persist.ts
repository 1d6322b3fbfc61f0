import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type Credential } from '@platform/client';
import { LIMIT_MS } from './wait.ts';

const PAUSE_MS = 150;

/** Time limit of a call, because it may wait on a connection whose other end was killed. */
export const inTime: Credential = {
  onRequest: ({ request }) => new Request(request, { signal: AbortSignal.timeout(10_000) }),
};

/** A callback whose outcome is unknown: 500 by contract. */
const isUndecided = ({ status, body }: ApiError): boolean =>
  status === 500 && (body as { status?: unknown }).status === 'ERROR_UNKNOWN';

/** Whether a crash explains the error, so that the same call may succeed later. */
export const isTransient = (error: unknown): boolean => {
  if (error instanceof ApiError) return [429, 502, 503, 504].includes(error.status) || isUndecided(error);
  // `fetch` without a response, an interrupted response, and a timeout.
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException;
};

/**
 * Repeats a call until it succeeds. Only for calls that may be repeated.
 * @throws an error that no crash explains
 */
export const persist = async <T>(call: () => Promise<T>): Promise<T> => {
  for (const giveUp = Date.now() + LIMIT_MS; ;) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || Date.now() > giveUp) throw error;
      await sleep(PAUSE_MS);
    }
  }
};

/** As `persist`, for a call with an idempotency id: 409 means that an earlier attempt succeeded. */
export const persistOnce = async (call: () => Promise<unknown>): Promise<void> => {
  await persist(call).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  });
};
