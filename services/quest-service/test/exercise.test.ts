import { exercise } from '@platform/openapi-tests';
import { expect, test } from 'vitest';
import { startService, tokenWith } from './harness.ts';
import { setUp } from './subject.ts';

test('the responses of all operations match the OpenAPI document', async () => {
  await using service = await startService({ variables: { QUESTS_REQUIRE_TOKEN: 'false' } });
  const token = await tokenWith('quests:write quest-service:subscriptions');
  const faults = await exercise({
    url: service.url,
    ...(await setUp({ url: service.url, token })),
    credentialsWithoutScope: { bearer: await tokenWith('wallet:read') },
  });
  expect(faults).toEqual([]);
});
