import { exercise } from '@platform/exercise';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { goodPassword, register, startService } from './harness.ts';

test('every operation answers as the document says', async () => {
  await using service = await startService();
  await using server = await serve(service.app);
  const ann = await register(service.app);
  // Whoever refreshes ends the tokens of before, and a token that is used twice ends the session.
  const ben = await register(service.app);
  const faults = await exercise({
    url: server.url,
    right: { bearer: ann.token, cookie: ann.token },
    words: {
      // As they are called where they are Secure, which is everywhere but on this machine.
      Cookie: [
        ben.cookies
          .replaceAll('tasks_access', '__Host-tasks_access')
          .replaceAll('tasks_refresh', '__Secure-tasks_refresh'),
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
}, 120_000);
