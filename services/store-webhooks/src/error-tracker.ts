import type { Log } from '@platform/service-kit/log';
import { createRefusalSampler } from '@platform/service-kit/refusal-sampler';
import { safeError } from '@platform/service-kit/safe-error';

/** Where an error happened. Contains no personal data and nothing from the payload. */
interface ErrorLocation {
  storeId?: string;
  event?: string;
  eventId?: string;
  attempt?: number;
}

/** Timeout of a report, so that a tracker that does not answer keeps no reports in memory. */
const SEND_TIMEOUT_MS = 10_000;

export interface ErrorTracker extends AsyncDisposable {
  capture(error: unknown, location: ErrorLocation): void;
}

/**
 * Creates a client for the Sentry protocol. It sends only errors and their location: no integrations, no
 * breadcrumbs, no requests, no host name.
 */
const createClient = async (dsn: string) => {
  // Loaded only when it is used.
  const { Scope, createStackParser, createTransport } = await import('@sentry/core');
  const { ServerRuntimeClient, nodeStackLineParser } = await import('@sentry/core/server');
  const client = new ServerRuntimeClient({
    dsn,
    platform: 'node',
    runtime: { name: 'node', version: process.version },
    integrations: [],
    transport: (options) =>
      createTransport(options, async ({ body }) => {
        const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
        const headers = options.headers ?? {};
        const response = await fetch(options.url, { method: 'POST', headers, body, signal });
        await response.body?.cancel();
        const retryAfter = response.headers.get('retry-after');
        const limits = response.headers.get('x-sentry-rate-limits');
        return {
          statusCode: response.status,
          headers: { 'retry-after': retryAfter, 'x-sentry-rate-limits': limits },
        };
      }),
    stackParser: createStackParser(nodeStackLineParser()),
    sendClientReports: false,
    maxBreadcrumbs: 0,
  });
  client.init();
  const capture = (error: Error, location: ErrorLocation): void => {
    const scope = new Scope();
    for (const [name, value] of Object.entries(location)) scope.setTag(name, String(value));
    client.captureException(error, undefined, scope);
  };
  return { capture, close: () => client.close(2000) };
};

const errorClassOf = (error: unknown): string =>
  error instanceof Error ? error.constructor.name : typeof error;

/**
 * Reports failures to the structured log, and to a Sentry-compatible tracker if `dsn` is set. Reports the first ten per minute of
 * each cause and store and only counts the others, because anybody with a token can send any number of events.
 */
export const createTracker = async (dsn: string | undefined, log: Log): Promise<ErrorTracker> => {
  const client = dsn === undefined ? undefined : await createClient(dsn);
  const sampler = createRefusalSampler(log, { sourceField: 'storeId', message: 'repeated failures' });
  return {
    capture: (error, location) => {
      const err = safeError(error);
      // Grouped by error class, because the message may name a position in the payload.
      if (!sampler.sample(`${location.event}: ${errorClassOf(error)}`, location.storeId ?? '')) return;
      log.error({ err, ...location }, 'processing failed');
      client?.capture(err, location);
    },
    [Symbol.asyncDispose]: async () => {
      sampler[Symbol.dispose]();
      await client?.close();
    },
  };
};
