import type { Log } from '@platform/service-kit/log';
import { createRefusalSampler } from '@platform/service-kit/refusal-sampler';
import { safeError } from '@platform/service-kit/safe-error';

/** Where an error happened; contains no personal data and nothing from the payload. */
interface Where {
  storeId?: string;
  event?: string;
  eventId?: string;
  attempt?: number;
}

/** A tracker that does not answer must not keep reports in memory. */
const SEND_LIMIT_MS = 10_000;

export interface ErrorTracker extends AsyncDisposable {
  capture(error: unknown, where: Where): void;
}

/**
 * A client for the Sentry protocol. It sends only errors and where they happened: no integrations, no
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
        const signal = AbortSignal.timeout(SEND_LIMIT_MS);
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
  const capture = (error: Error, where: Where): void => {
    const scope = new Scope();
    for (const [name, value] of Object.entries(where)) scope.setTag(name, String(value));
    client.captureException(error, undefined, scope);
  };
  return { capture, close: () => client.close(2000) };
};

const causeOf = (error: unknown): string => (error instanceof Error ? error.constructor.name : typeof error);

/**
 * Reports failures: always to the structured log, and to a Sentry-compatible tracker if `dsn` is set. Of each cause and
 * store the first ten a minute; the others are counted, because anybody who has a token can send any number of events.
 */
export const createTracker = async (dsn: string | undefined, log: Log): Promise<ErrorTracker> => {
  const client = dsn === undefined ? undefined : await createClient(dsn);
  const sampler = createRefusalSampler(log, { sourceField: 'storeId', message: 'repeated failures' });
  return {
    capture: (error, where) => {
      const err = safeError(error);
      // Not by the message, which may name a place in the payload.
      if (!sampler.sample(`${where.event}: ${causeOf(error)}`, where.storeId ?? '')) return;
      log.error({ err, ...where }, 'processing failed');
      client?.capture(err, where);
    },
    [Symbol.asyncDispose]: async () => {
      sampler[Symbol.dispose]();
      await client?.close();
    },
  };
};
