import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { projectInput, startService } from './harness.ts';
import { setUp } from './subject.ts';

test('the responses of all operations match the OpenAPI document', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const { admin, storeKey, tokens } = service;
  const known = ['/v1/languages/en', '/v1/languages/de', '/v1/languages/fr'];
  for (const id of [1, 2, 3]) {
    const project = await admin.post('/projects', projectInput({ name: `Project ${id}` }));
    const path = `/projects/${project.body.id}/deliverables`;
    const deliverable = await admin.post(path, { language: 'de', type: 'report' });
    known.push(`/v1${path}/${deliverable.body.id}`, `/v1/api-keys/${(await storeKey()).id}`);
  }
  const token = await tokens.token({ scope: 'verify:admin verify-projects:subscriptions' });
  const { values, ...subject } = await setUp({ url: server.url, token });
  const faults = await exercise({
    url: server.url,
    ...subject,
    credentialsWithoutScope: {
      apiKey: (await storeKey({ scopes: [] })).key,
      bearer: await tokens.token({ scope: 'ops:read' }),
    },
    paths: known,
    // Of languages that nothing uses some are deleted.
    values: { ...values, code: ['en', 'de', 'fr', 'fi', 'gsw'] },
  });
  expect(faults).toEqual([]);
});
