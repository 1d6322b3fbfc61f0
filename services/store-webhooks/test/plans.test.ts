import { recordPlans } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

// The lists of a store are explained in lists.test.ts, with rows.
test('the stores and their events are read in the order of an index, without a sequential scan', async () => {
  await using first = await startService({ work: false });
  await using plans = recordPlans(first.databaseUrl);
  const overrides = { database: plans.database };
  await using service = await startService({ work: false, databaseUrl: first.databaseUrl, overrides });
  const { id } = await service.store();
  for (const path of [
    '/v1/stores',
    `/v1/stores/${id}/events`,
    `/v1/stores/${id}/orders`,
    `/v1/stores/${id}/payments`,
  ])
    expect([path, await plans.faultsOf(() => service.admin('GET', path))]).toEqual([path, []]);
});
