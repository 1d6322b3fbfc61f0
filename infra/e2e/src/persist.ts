import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type Credential } from '@platform/client';

const PATIENCE_MS = 60_000;
const PAUSE_MS = 150;

/** A call may hang on a connection whose other end was killed. */
export const inTime: Credential = {
  onRequest: ({ request }) => new Request(request, { signal: AbortSignal.timeout(10_000) }),
};

/** What a callback of the wallet says when nobody knows its outcome, by contract with 500. */
const isUndecided = ({ status, body }: ApiError): boolean =>
  status === 500 && (body as { status?: unknown }).status === 'ERROR_UNKNOWN';

/** Whether the same call may well succeed a moment later; anything else is a fault. */
export const isPassing = (error: unknown): boolean => {
  if (error instanceof ApiError) return [429, 502, 503, 504].includes(error.status) || isUndecided(error);
  // `fetch` without an answer, an answer that broke off, and time that ran out.
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException;
};

/**
 * Calls until there is an answer. Only for what may be done twice.
 * @throws what is no passing trouble
 */
export const persist = async <T>(call: () => Promise<T>): Promise<T> => {
  for (const giveUp = Date.now() + PATIENCE_MS; ;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || Date.now() > giveUp) throw error;
      await sleep(PAUSE_MS);
    }
  }
};

/** As `persist`, for what carries its own id: refused as known already, an earlier call has done it. */
export const persistOnce = async (call: () => Promise<unknown>): Promise<void> => {
  await persist(call).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  });
};
