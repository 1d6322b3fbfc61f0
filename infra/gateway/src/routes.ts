/** What lies behind the gateway: the one list that the nginx configuration is made from. */
export interface Route {
  /**
   * A path and everything below it, by whole segments: `/v1/quests` takes `/v1/quests/1` but not `/v1/questsX`.
   * With `exact`, this path alone; a `*` is then any one segment.
   */
  path: string;
  service: string;
  exact?: true;
  /** Largest body as nginx writes sizes; `100k` unless said otherwise. What exceeds it is refused with 413. */
  maxBody?: string;
  /** Below this path lies a credential: the log shows no more of it than the segment that follows. */
  secret?: true;
  /** Bodies of any length go through as they come, in both directions, and may take minutes. */
  stream?: true;
  /** Machines call here in bursts of their own making; the limit per address does not count them. */
  unlimited?: true;
}

export const routes: readonly Route[] = [
  { path: '/api/v1/auth', service: 'task-manager' },
  { path: '/api/v1/tasks', service: 'task-manager' },
  { path: '/v1/quests', service: 'quest-service' },
  // A whole quest at once: 10,000 questions at up to 3 kB.
  { path: '/v1/quests/*/questions', service: 'quest-service', exact: true, maxBody: '32m' },
  { path: '/api/v1/hooks', service: 'store-webhooks', maxBody: '1m', secret: true, unlimited: true },
  { path: '/v1/stores', service: 'store-webhooks' },
  // The service itself answers oversized callbacks, with 200 and a status the game server understands.
  { path: '/callback', service: 'wallet-operator', maxBody: '8m', unlimited: true },
  { path: '/v1/players', service: 'wallet-operator' },
  { path: '/v1/games', service: 'wallet-operator' },
  { path: '/v1/rounds', service: 'wallet-operator' },
  { path: '/v1/launches', service: 'wallet-operator' },
  { path: '/v1/audit', service: 'wallet-operator' },
  { path: '/v1/currencies', service: 'wallet-operator' },
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
