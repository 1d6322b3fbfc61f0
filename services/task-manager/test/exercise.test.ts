import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { goodPassword, register, startService, tokenWith } from './harness.ts';

test('every operation answers as the document says', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const ann = await register(service.app);
  // A refresh token works once and a later use ends the session, so refreshing needs another user.
  const ben = await register(service.app);
  const faults = await exercise({
    url: server.url,
    credentials: { bearer: ann.token, cookie: ann.token, operator: await tokenWith('accounts:admin') },
    credentialsWithoutScope: { operator: await tokenWith('ops:read') },
    values: {
      // The names of the Secure cookies, which apply on every host but localhost.
      Cookie: [
        ben.cookies
          .replaceAll('tasks_access', '__Host-tasks_access')
          .replaceAll('tasks_refresh', '__Host-tasks_refresh'),
      ],
      password: [goodPassword],
      email: [
        ann.email,
        ben.email,
        'cleo@example.test',
        'dan@example.test',
        'eve@example.test',
        'finn@example.test',
      ],
    },
  });
  expect(faults).toEqual([]);
});
