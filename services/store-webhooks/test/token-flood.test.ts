import { makePathToken } from '@platform/auth/path-tokens';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

test('a network that tries unknown webhook tokens gets 429 before any look-up; others are served', async () => {
  const limit = 20;
  await using service = await startService({
    variables: { RATE_LIMIT: 'on', REDIS_URL: '', UNKNOWN_CREDENTIALS_PER_MINUTE: String(limit) },
    work: false,
  });
  const { webhookToken } = await service.store();
  const { recognise } = service.context.tokens;
  let lookups = 0;
  service.context.tokens.recognise = (token) => {
    lookups++;
    return recognise(token);
  };
  const send = (token: string, address: string) =>
    service.hook('order_updated', token, { id: 'o1' }, { 'x-forwarded-for': address });
  const statuses: number[] = [];
  for (let count = 0; count < 60; count++)
    statuses.push((await send(makePathToken().token, '203.0.113.9')).status);
  expect(statuses).toEqual([...Array<number>(limit).fill(404), ...Array<number>(60 - limit).fill(429)]);
  expect(lookups).toBe(limit);
  const refused = await send(webhookToken, '203.0.113.9');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await send(webhookToken, '203.0.113.10')).status).toBe(200);
  // Known by now: a provider that sends the webhooks of many stores is not cut off by one of them.
  expect((await send(webhookToken, '203.0.113.9')).status).toBe(200);
  expect((await send(makePathToken().token, '203.0.113.9')).status).toBe(429);
});
