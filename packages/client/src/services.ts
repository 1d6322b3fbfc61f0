import createClient, { type Client } from 'openapi-fetch';
import type { Credential } from './credentials.ts';
import type { paths as Consignments } from './generated/consignments.ts';
import type { paths as Quests } from './generated/quest-service.ts';
import type { paths as Stores } from './generated/store-webhooks.ts';
import type { paths as Tasks } from './generated/task-manager.ts';
import type { paths as Projects } from './generated/verify-projects.ts';
import type { paths as Wallet } from './generated/wallet-operator.ts';

/** The client of one service: `GET`, `POST`, … accept the paths of its OpenAPI document. */
export type ServiceClient<Paths extends object> = Client<Paths>;

type CreateClient<Paths extends object> = (url: string, ...credentials: Credential[]) => ServiceClient<Paths>;

/**
 * `url` is the address of the gateway, or of the service itself: both have the same paths. Redirects are not followed,
 * because a credential must not be sent to another host.
 */
const clientOf =
  <Paths extends object>(basePath: string): CreateClient<Paths> =>
  (url, ...credentials) => {
    const client = createClient<Paths>({ baseUrl: new URL(basePath, url).href, redirect: 'manual' });
    client.use(...credentials);
    return client;
  };

/** Users, sessions and tasks. */
export const taskManager: CreateClient<Tasks> = clientOf('/api/v1');
/** Quests and their questions. */
export const questService: CreateClient<Quests> = clientOf('/v1');
/** Stores, the events their webhooks brought, and the webhooks themselves. */
export const storeWebhooks: CreateClient<Stores> = clientOf('/');
/** The wallet of a game operator: players, rounds, games and the callbacks of the game server. */
export const walletOperator: CreateClient<Wallet> = clientOf('/');
/** Verification projects, languages and API keys. */
export const verifyProjects: CreateClient<Projects> = clientOf('/v1');
/** Consignments, partners, inventory and warehouses. */
export const consignments: CreateClient<Consignments> = clientOf('/v1');
