import { setTimeout as sleep } from 'node:timers/promises';

/** Only what hangs takes longer: on a busy machine one command of Docker takes half a minute. */
export const LIMIT_MS = 900_000;
const PAUSE_MS = 100;

/**
 * Waits until a condition is true.
 * @throws after a quarter of an hour, naming `what` was waited for, and when the signal is aborted
 */
export const waitFor = async (
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> => {
  for (const giveUp = Date.now() + LIMIT_MS; !(await isSo());) {
    if (Date.now() > giveUp) throw new Error(`timed out: ${typeof what === 'string' ? what : what()}`);
    await sleep(PAUSE_MS, undefined, { ...(signal && { signal }) });
  }
};

/** Whether an address answers with 2xx, and does not say that the service lacks its database or Redis. */
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
