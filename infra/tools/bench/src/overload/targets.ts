import { generateKeyPairSync } from 'node:crypto';
import type { Sql } from 'postgres';
import { fillConsignments } from '../consignments/fill.ts';
import type { LoadRequest } from '../load.ts';
import { analyse, fillQuest } from '../quest-service/quests.ts';
import type { BenchService } from '../service.ts';
import { openShop, settings } from '../store-webhooks/shop.ts';
import { orderRequest } from '../store-webhooks/orders.ts';
import { fill, register } from '../task-manager/people.ts';
import { fillProjects, storeKey } from '../verify-projects/fill.ts';
import { debits, secret } from '../wallet-operator/debits.ts';
import { addPlayers } from '../wallet-operator/filling.ts';

/** Makes `count` requests, or one that is sent again and again. */
export type MakeRequests = (count: number) => LoadRequest[];

/** What is sent to a service under overload: its most frequent request. */
export interface Target {
  settings: Record<string, string>;
  /** Fills the database; returns what makes requests that use it. */
  prepare: (service: BenchService, sql: Sql) => Promise<MakeRequests>;
}

const rows = 100_000;
const players = 200;

const signingKey = (): string =>
  JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));

export const targets = {
  'task-manager': {
    settings: { AUTH_SIGNING_KEY: signingKey() },
    prepare: async (service) => {
      const owner = await register(service);
      await fill(service, owner, 10_000, 500);
      const headers = { Authorization: `Bearer ${owner.token}` };
      return () => [{ path: '/api/v1/tasks?limit=20&page=1', headers }];
    },
  },
  'quest-service': {
    // Without the cache of pages each request needs the database.
    settings: { QUESTS_CACHE_BYTES: '0' },
    prepare: async (service) => {
      const path = await fillQuest(service, 25);
      await analyse(service);
      return () => [{ path }];
    },
  },
  'store-webhooks': {
    settings: { ...settings, WORKERS: 'off' },
    prepare: async (service) => {
      const { address } = await openShop(service);
      return () => [orderRequest(address, 'overload')];
    },
  },
  'wallet-operator': {
    settings: { HMAC_SECRET: secret, SIGNATURE_TOLERANCE_S: '3600' },
    prepare: async (_service, sql) => {
      await addPlayers(sql);
      return (count) => debits(count, players);
    },
  },
  'verify-projects': {
    settings: {},
    prepare: async (_service, sql) => {
      await fillProjects(sql, rows);
      const headers = { 'X-API-Key': await storeKey(sql) };
      return () => [{ path: '/v1/projects', headers }];
    },
  },
  consignments: {
    settings: {},
    prepare: async ({ keys }, sql) => {
      await fillConsignments(sql, rows);
      const token = await keys.token({ scope: 'consignments:read', ttl: 7200 });
      return () => [{ path: '/v1/consignments?PageSize=25', headers: { Authorization: `Bearer ${token}` } }];
    },
  },
} satisfies Record<string, Target>;
