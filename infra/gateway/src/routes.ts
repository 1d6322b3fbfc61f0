/** A public address and its service. */
export interface Route {
  /**
   * A path and everything below it, by whole segments: `/v1/quests` matches `/v1/quests/1` but not `/v1/questsX`.
   * With `exact`, this path alone; `*` then matches one segment.
   */
  path: string;
  service: string;
  exact?: true;
  /** Largest body in nginx's notation; `100k` by default. A larger one gets 413. */
  maxBody?: string;
  /** The path contains a credential: the log shows only one more segment. */
  secret?: true;
  /** The service sets cookies of its own and gets those of the request; no other service sees a user's cookies. */
  cookies?: true;
  /** The response is streamed as well, and both may take minutes. */
  stream?: true;
  /** Called by machines, in bursts: no request rate, and four times as many running requests of one client. */
  unlimited?: true;
}

/** The one list of public addresses. */
export const routes: readonly Route[] = [
  { path: '/api/v1/auth', service: 'task-manager', cookies: true },
  { path: '/api/v1/tasks', service: 'task-manager', cookies: true },
  { path: '/v1/quests', service: 'quest-service' },
  // A whole quest at once: 10,000 questions of up to 3 kB.
  { path: '/v1/quests/*/questions', service: 'quest-service', exact: true, maxBody: '32m' },
  { path: '/api/v1/hooks', service: 'store-webhooks', maxBody: '1m', secret: true, unlimited: true },
  { path: '/v1/stores', service: 'store-webhooks' },
  // The service itself answers callbacks that are too large, with 200 and a status that the game server understands.
  { path: '/callback', service: 'wallet-operator', maxBody: '8m', unlimited: true },
  { path: '/v1/players', service: 'wallet-operator' },
  { path: '/v1/games', service: 'wallet-operator' },
  { path: '/v1/rounds', service: 'wallet-operator' },
  { path: '/v1/launches', service: 'wallet-operator' },
  { path: '/v1/audit', service: 'wallet-operator' },
  { path: '/v1/currencies', service: 'wallet-operator' },
  // Statements in, files with differences out.
  { path: '/v1/reconciliations', service: 'wallet-operator', maxBody: '1g', stream: true },
  { path: '/v1/projects', service: 'verify-projects' },
  { path: '/v1/languages', service: 'verify-projects' },
  { path: '/v1/api-keys', service: 'verify-projects' },
  { path: '/v1/consignments', service: 'consignments' },
  { path: '/v1/consignments/import', service: 'consignments', exact: true, maxBody: '1g', stream: true },
  { path: '/v1/partners', service: 'consignments' },
  { path: '/v1/inventory', service: 'consignments' },
  { path: '/v1/warehouses', service: 'consignments' },
];

/** The services that have a public address, each once, in the order of the list. */
export const services: readonly string[] = [...new Set(routes.map(({ service }) => service))];
