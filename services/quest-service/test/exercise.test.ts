import { exercise } from '@platform/exercise';
import { expect, test } from 'vitest';
import { listed, makeQuest, startService, tokenWith } from './harness.ts';

test('every operation answers as the OpenAPI document says', async () => {
  await using service = await startService({ variables: { QUESTS_REQUIRE_TOKEN: 'false' } });
  const known: string[] = [];
  for (const title of ['One', 'Two', 'Three']) {
    const questId = await makeQuest(service, [title, 'Again']);
    const [first] = await listed(service, questId);
    known.push(`/v1/quests/${questId}/questions/${first?.questionId}`);
  }
  const faults = await exercise({
    url: service.url,
    right: { bearer: await tokenWith('quests:write') },
    lacking: { bearer: await tokenWith('quests:read') },
    known,
    words: { orderNumber: [undefined], questionId: [undefined], alternativeId: [undefined] },
  });
  expect(faults).toEqual([]);
}, 120_000);
