/** Where something happened; nothing in it says who it was about or what was sent. */
export interface Where {
  storeId?: string;
  event?: string;
  eventId?: string;
  attempt?: number;
}

export interface TrackerClient {
  capture(error: Error, where: Where): void;
  close(): Promise<void>;
}

/**
 * A client of the Sentry protocol that sends errors and where they happened, and nothing it could
 * find in the process: no integrations, no breadcrumbs, no requests, no host.
 */
export const createClient = async (dsn: string): Promise<TrackerClient> => {
  // Loaded only where it is used: it is the largest library of the service.
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
  return {
    capture: (error, where) => {
      const scope = new Scope();
      for (const [name, value] of Object.entries(where)) scope.setTag(name, String(value));
      client.captureException(error, undefined, scope);
    },
    close: async () => {
      await client.close(2000);
    },
  };
};
