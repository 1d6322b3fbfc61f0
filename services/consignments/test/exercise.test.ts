import { exercise } from '@platform/exercise';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

test('every operation answers as the document says', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const faults = await exercise({
    url: server.url,
    credentials: { bearer: await service.tokens.token({ scope: 'consignments:read consignments:write' }) },
    credentialsWithoutScope: { bearer: await service.tokens.token({ scope: 'quests:read' }) },
  });
  expect(faults).toEqual([]);
});
