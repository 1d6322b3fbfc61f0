import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths as Consignments } from './generated/consignments.ts';
import type { paths as Quests } from './generated/quest-service.ts';
import type { paths as Stores } from './generated/store-webhooks.ts';
import type { paths as Tasks } from './generated/task-manager.ts';
import type { paths as Projects } from './generated/verify-projects.ts';
import type { paths as Wallet } from './generated/wallet-operator.ts';

/** The client of one service: `GET`, `POST`, … take the paths of its OpenAPI document. */
export type ServiceClient<Paths extends object> = Client<Paths>;

/** Shows who calls; see credentials.ts. */
export type Credential = Middleware;

/**
 * Opens the client of one service. `url` is the gateway, or the service itself: both have the same paths. Redirects are
 * not followed (a credential must not travel), and repeated calls share connections.
 */
const open =
  <Paths extends object>(basePath: string) =>
  (url: string, ...credentials: Credential[]): ServiceClient<Paths> => {
    const client = createClient<Paths>({ baseUrl: new URL(basePath, url).href, redirect: 'manual' });
    client.use(...credentials);
    return client;
  };

export const taskManager = open<Tasks>('/api/v1');
export const questService = open<Quests>('/v1');
export const storeWebhooks = open<Stores>('/');
export const walletOperator = open<Wallet>('/');
export const verifyProjects = open<Projects>('/v1');
export const consignments = open<Consignments>('/v1');
