import { exercise } from '@platform/openapi-tests';
import { expect, test } from 'vitest';
import { post, startService, tokenWith } from './harness.ts';

test('every operation answers as its OpenAPI document describes', async () => {
  await using service = await startService();
  const { headers } = await post(service, '/spare-parts', { name: 'One' }).expect(201);
  const faults = await exercise({
    url: service.url,
    credentials: { bearer: await tokenWith('placeholder-service:read placeholder-service:write') },
    credentialsWithoutScope: { bearer: await tokenWith('ops:read') },
    paths: [String(headers['location'])],
  });
  expect(faults).toEqual([]);
});
