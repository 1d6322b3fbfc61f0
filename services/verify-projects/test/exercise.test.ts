import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { projectInput, startService } from './harness.ts';

test('every operation answers as the document says', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const { admin, storeKey, tokens } = service;
  const known = ['/v1/languages/en', '/v1/languages/de', '/v1/languages/pt-BR'];
  for (const id of [1, 2, 3]) {
    const project = await admin.post('/projects', projectInput({ name: `Project ${id}` }));
    const path = `/projects/${project.body.id}/deliverables`;
    const deliverable = await admin.post(path, { language: 'de', type: 'report' });
    known.push(`/v1${path}/${deliverable.body.id}`, `/v1/api-keys/${(await storeKey()).id}`);
  }
  const faults = await exercise({
    url: server.url,
    credentials: {
      apiKey: service.key,
      bearer: await tokens.token({ scope: 'verify:admin verify-projects:subscriptions' }),
    },
    credentialsWithoutScope: {
      apiKey: (await storeKey({ scopes: [] })).key,
      bearer: await tokens.token({ scope: 'ops:read' }),
    },
    paths: known,
    values: {
      code: ['en', 'de', 'pt-BR', 'fi', 'gsw'],
      language: ['de', 'fr'],
      source_language: ['en'],
      due_at: [null],
    },
  });
  expect(faults).toEqual([]);
});
