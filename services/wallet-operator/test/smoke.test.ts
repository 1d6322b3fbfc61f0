import { expect, test } from 'vitest';
import { call, startService } from './harness.ts';
test('x', async () => {
  await using s = await startService();
  const a = await call(s.url, 'balance', { requestId: 'r', playerId: 'p' });
  expect(a).toEqual({ http: 200, requestId: 'r', status: 'ERROR_UNKNOWN' });
});
