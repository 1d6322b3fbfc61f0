/** Where an error happened; contains no personal data and nothing from the payload. */
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
 * A client for the Sentry protocol. It sends only errors and where they happened: no integrations, no
 * breadcrumbs, no requests, no host name.
 */
export const createClient = async (dsn: string): Promise<TrackerClient> => {
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
