import { recordPlans } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { get, getDraft, makeQuest, createTestDatabase, startService } from './harness.ts';

test('every list is read in the order of an index, without a sequential scan', async () => {
  await using own = await createTestDatabase();
  await using plans = recordPlans(own.url);
  await using service = await startService({ databaseUrl: own.url, overrides: { database: plans.database } });
  const questId = await makeQuest(service, ['One', 'Two']);
  for (const path of ['/quests', '/quests?Skip=1', `/quests/${questId}/questions?Skip=1&Take=1`])
    for (const read of [get, getDraft])
      expect([path, await plans.faultsOf(() => read(service, path).expect(200))]).toEqual([path, []]);
});
