import type { LoadRequest } from './load.ts';
import { startService, type BenchService } from './service.ts';
import { fillConsignments } from './subjects/consignments.ts';
import { fillQuest } from './subjects/quest-service.ts';
import { openShop, orderRequest, startWebhooks } from './subjects/store-webhooks.ts';
import { startTasks } from './subjects/task-manager.ts';
import { fillProjects, storeKey } from './subjects/verify-projects.ts';
import { debits, startWallet } from './subjects/wallet-operator.ts';

/** A service, filled, and its most frequent request. */
export interface Target {
  service: BenchService;
  /** Makes `count` requests, or one that is sent again and again. */
  makeRequests: (count: number) => LoadRequest[];
}

const rows = 100_000;

const target = (start: () => Promise<Target>) => start;

export const targets = {
  'task-manager': target(async () => {
    const { service, list } = await startTasks();
    return { service, makeRequests: () => [list(1)] };
  }),
  'quest-service': target(async () => {
    // Without the cache of pages each request needs the database.
    const service = await startService('quest-service', { QUESTS_CACHE_BYTES: '0' });
    const path = await fillQuest(service, 25);
    return { service, makeRequests: () => [{ path }] };
  }),
  'store-webhooks': target(async () => {
    const service = await startWebhooks({ WORKERS: 'off' });
    const shop = await openShop(service);
    return { service, makeRequests: () => [orderRequest(shop)] };
  }),
  'wallet-operator': target(async () => ({ service: await startWallet(), makeRequests: debits })),
  'verify-projects': target(async () => {
    const service = await startService('verify-projects');
    await fillProjects(service.sql, rows);
    const headers = { 'X-API-Key': await storeKey(service.sql) };
    return { service, makeRequests: () => [{ path: '/v1/projects', headers }] };
  }),
  consignments: target(async () => {
    const service = await startService('consignments');
    await fillConsignments(service.sql, rows);
    const token = await service.keys.token({ scope: 'consignments:read', ttl: 7200 });
    const request = {
      path: '/v1/consignments?PageSize=25',
      headers: { Authorization: `Bearer ${token}` },
    };
    return { service, makeRequests: () => [request] };
  }),
};
