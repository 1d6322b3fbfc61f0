import { exercise } from '@platform/openapi-tests';
import { expect, test } from 'vitest';
import { listed, makeQuest, startService, tokenWith, write } from './harness.ts';

test('every operation answers as the OpenAPI document says', async () => {
  await using service = await startService({ variables: { QUESTS_REQUIRE_TOKEN: 'false' } });
  const known: string[] = [];
  for (const title of ['One', 'Two', 'Three']) {
    const questId = await makeQuest(service, [title, 'Again']);
    const [first] = await listed(service, questId);
    known.push(`/v1/quests/${questId}/questions/${first?.questionId}`);
    await write(service, 'put', `/quests/${questId}/questions?draft=true`, []).expect(200);
  }
  const faults = await exercise({
    url: service.url,
    credentials: { bearer: await tokenWith('quests:write quest-service:subscriptions') },
    credentialsWithoutScope: { bearer: await tokenWith('wallet:read') },
    paths: known,
    values: { orderNumber: [undefined], questionId: [undefined], alternativeId: [undefined] },
  });
  expect(faults).toEqual([]);
});
