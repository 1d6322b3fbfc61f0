import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import request from 'supertest';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';
import { consignmentInput } from './inputs.ts';

test('the responses of all operations match the OpenAPI document', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const bearer = await service.tokens.token({ scope: 'consignments:write consignments:subscriptions' });
  await request(service.app)
    .post('/v1/consignments/import')
    .set({ Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/x-ndjson', 'Import-Id': 'known' })
    .send(JSON.stringify(consignmentInput()))
    .expect(200);
  const faults = await exercise({
    url: server.url,
    credentials: { bearer },
    paths: ['/v1/consignments/imports/known/results'],
    values: { FirstLine: [undefined] },
    credentialsWithoutScope: { bearer: await service.tokens.token({ scope: 'quests:read' }) },
  });
  expect(faults).toEqual([]);
});
