import { exercise } from '@platform/openapi-tests';
import { expect, test } from 'vitest';
import { hookEventNames, pascalOf } from '../src/webhooks.ts';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';
import { arrange } from './subject.ts';

const hooks = hookEventNames.map(pascalOf);

test('every operation answers as its OpenAPI document describes', async () => {
  await using standIn = await startStandIn();
  await using service = await startService({ variables: { SMTP_URL: 'smtp://127.0.0.1:9' } });
  const { url, settled } = service;
  const token = await service.tokenWith('stores:admin store-webhooks:subscriptions');
  const {
    storeId,
    paths = [],
    ...subject
  } = await arrange(
    { url, token, hmacSecret: '', waitFor: settled },
    { baseUrl: standIn.url, credentials: { apiKey: 'a' } },
    { notifications: { staff: { email: 'owner@example.test' }, customers: { enabled: true } } },
  );
  const { body: list } = await service.admin('GET', `/v1/stores/${storeId}/notifications`);
  const [notification] = list['notifications'] as unknown as { id: string }[];
  const faults = await exercise({
    url,
    ...subject,
    unreachable: hooks.flatMap((id) => [`receive${id} 403`, `receive${id} 400`, `check${id} 400`]),
    credentialsWithoutScope: { bearer: await service.tokenWith('quests:read') },
    paths: [...paths, `/v1/stores/${storeId}/notifications/${notification?.id}/resend`],
  });
  expect(faults).toEqual([]);
});
