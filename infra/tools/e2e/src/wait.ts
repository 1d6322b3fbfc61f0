import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type Credential } from '@platform/client';

/** Only a hang exceeds this limit: on a busy machine one Docker command takes half a minute. */
export const LIMIT_MS = 900_000;
const PAUSE_MS = 100;

/**
 * Waits until a condition is true.
 * @throws after 15 minutes, with the description of the condition, and when the signal is aborted
 */
export const waitFor = async (
  goal: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> => {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`timed out: ${typeof goal === 'string' ? goal : goal()}`);
    await sleep(PAUSE_MS, undefined, { ...(signal && { signal }) });
  }
};

/** Whether an address answers with 2xx and reports neither `ready: false` nor `degraded: true`. */
export const isReady = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const { ready = true, degraded = false } = (await response.json()) as Record<string, unknown>;
    return response.ok && ready === true && degraded === false;
  } catch {
    return false;
  }
};

/** Waits until the gateway and every service, with its database and Redis, are ready. */
export const waitUntilReady = (
  gateway: string,
  services: readonly string[],
  signal?: AbortSignal,
): Promise<void> => {
  const urls = [`${gateway}/healthz`, ...services.map((name) => `${gateway}/docs/status/${name}`)];
  const areReady = async () => (await Promise.all(urls.map(isReady))).every(Boolean);
  return waitFor('the gateway and every service are ready', areReady, signal);
};

const REPEAT_PAUSE_MS = 150;

/** Limits a call to 10 seconds, because the server of its connection may have been killed. */
export const callTimeout: Credential = {
  onRequest: ({ request }) => new Request(request, { signal: AbortSignal.timeout(10_000) }),
};

/** Whether the outcome of a callback is unknown; the contract requires 500 then. */
const isUnknownOutcome = ({ status, body }: ApiError): boolean =>
  status === 500 && (body as { status?: unknown }).status === 'ERROR_UNKNOWN';

/** Whether a crash explains the error, so that the same call may succeed later. */
export const isTransient = (error: unknown): boolean => {
  if (error instanceof ApiError)
    return [429, 502, 503, 504].includes(error.status) || isUnknownOutcome(error);
  // In this order: `fetch` got no response, the response was interrupted, a timeout.
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException;
};

/**
 * Repeats an idempotent call until it succeeds.
 * @throws an error that no crash explains
 */
export const persist = async <T>(call: () => Promise<T>): Promise<T> => {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || Date.now() > deadline) throw error;
      await sleep(REPEAT_PAUSE_MS);
    }
  }
};

/** As `persist`, for a call with an idempotency id: 409 means that an earlier attempt succeeded. */
export const persistOnce = async (call: () => Promise<unknown>): Promise<void> => {
  await persist(call).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  });
};
