import { expect, test } from 'vitest';
import { hooksPath } from '../src/webhooks.ts';
import { differencesWhenDone } from './simulate/compare.ts';
import { deliver } from './simulate/deliver.ts';
import { createRandom } from './simulate/random.ts';
import { makeTraffic } from './simulate/traffic.ts';
import { startService } from './harness.ts';

test('all shuffled, repeated and broken events are accounted for', async () => {
  await using service = await startService();
  const { id: storeId, webhookToken } = await service.store({ customerImportsEnabled: true });
  const { sendings, expected, broken } = makeTraffic('t1', 400, true, createRandom(7));
  expect(
    await deliver(service.url + hooksPath, webhookToken, sendings, { connections: 16, patienceSeconds: 120 }),
  ).toMatchObject({
    acknowledged: sendings.length,
  });
  const target = { url: service.url, adminToken: service.token, storeId };
  expect(await differencesWhenDone(target, 't1', expected, broken)).toEqual([]);
  expected.orders.set('t1-never', 'SENT');
  expect(await differencesWhenDone(target, 't1', expected, broken, 0)).toEqual([
    'orders t1-never: undefined instead of SENT',
  ]);
});
