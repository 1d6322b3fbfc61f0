import { exercise } from '@platform/exercise';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { post, startService, tokenWith } from './harness.ts';

test('every operation answers as the document says', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const { headers } = await post(service, '/items', { name: 'One' }).expect(201);
  const faults = await exercise({
    url: server.url,
    right: { bearer: await tokenWith('placeholder-service:read placeholder-service:write') },
    lacking: { bearer: await tokenWith('ops:read') },
    known: [String(headers['location'])],
  });
  expect(faults).toEqual([]);
}, 120_000);
