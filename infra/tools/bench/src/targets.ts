import type { LoadRequest } from './load.ts';
import { startService, type BenchService } from './service.ts';
import { fillConsignments } from './subjects/consignments.ts';
import { fillQuest } from './subjects/quest-service.ts';
import { createStore, orderRequest, startWebhooks } from './subjects/store-webhooks.ts';
import { startTasks } from './subjects/task-manager.ts';
import { fillProjects, createApiKey } from './subjects/verify-projects.ts';
import { debits, startWallet } from './subjects/wallet-operator.ts';

/** A service with data, and its most frequent request. */
export interface Target {
  service: BenchService;
  /** Returns `count` requests, or one to repeat. */
  makeRequests: (count: number) => LoadRequest[];
}

const rows = 100_000;

/** How each service is started. */
export const targets: Record<string, () => Promise<Target>> = {
  'task-manager': async () => {
    const { service, list } = await startTasks();
    return { service, makeRequests: () => [list(1)] };
  },
  'quest-service': async () => {
    // With the cache of pages off, every request reaches the database.
    const service = await startService('quest-service', { QUESTS_CACHE_BYTES: '0' });
    const path = await fillQuest(service, 25);
    return { service, makeRequests: () => [{ path }] };
  },
  'store-webhooks': async () => {
    const service = await startWebhooks({ WORKERS: 'off' });
    const store = await createStore(service);
    return { service, makeRequests: () => [orderRequest(store)] };
  },
  'wallet-operator': async () => ({ service: await startWallet(), makeRequests: debits }),
  'verify-projects': async () => {
    const service = await startService('verify-projects');
    await fillProjects(service.sql, rows);
    const headers = { 'X-API-Key': await createApiKey(service.sql) };
    return { service, makeRequests: () => [{ path: '/v1/projects', headers }] };
  },
  consignments: async () => {
    const service = await startService('consignments');
    await fillConsignments(service.sql, rows);
    const token = await service.keys.token({ scope: 'consignments:read', ttl: 7200 });
    const request = {
      path: '/v1/consignments?PageSize=25',
      headers: { Authorization: `Bearer ${token}` },
    };
    return { service, makeRequests: () => [request] };
  },
};
