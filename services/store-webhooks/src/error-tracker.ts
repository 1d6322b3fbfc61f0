import type { Log } from '@platform/service-kit/log';
import { safeError } from '@platform/service-kit/safe-error';

/** Where an error happened; contains no personal data and nothing from the payload. */
interface Where {
  storeId?: string;
  event?: string;
  eventId?: string;
  attempt?: number;
}

export interface ErrorTracker extends AsyncDisposable {
  capture(error: unknown, where: Where): void;
}

/**
 * A client for the Sentry protocol. It sends only errors and where they happened: no integrations, no
 * breadcrumbs, no requests, no host name.
 */
const createClient = async (dsn: string) => {
  // Loaded only when it is used, because it is the largest library of the service.
  const { NodeClient, Scope, defaultStackParser, makeNodeTransport } = await import('@sentry/node');
  const client = new NodeClient({
    dsn,
    integrations: [],
    transport: makeNodeTransport,
    stackParser: defaultStackParser,
    includeServerName: false,
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

/** Reports failures: always to the structured log, and to a Sentry-compatible tracker if `dsn` is set. */
export const createTracker = async (dsn: string | undefined, log: Log): Promise<ErrorTracker> => {
  const client = dsn === undefined ? undefined : await createClient(dsn);
  return {
    capture: (error, where) => {
      const err = safeError(error);
      log.error({ err, ...where }, 'processing failed');
      client?.capture(err, where);
    },
    [Symbol.asyncDispose]: async () => {
      await client?.close();
    },
  };
};
