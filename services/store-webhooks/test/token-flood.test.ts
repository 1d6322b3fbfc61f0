import { makePathToken } from '@platform/auth/path-tokens';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

const limit = 20;
const office = '203.0.113.9';
/** Look-ups per second that a network above the limit still gets. */
const spare = 10;

const start = async () => {
  const service = await startService({
    variables: { RATE_LIMIT: 'on', REDIS_URL: '', UNKNOWN_CREDENTIALS_PER_MINUTE: String(limit) },
    work: false,
  });
  const send = (token: string, address = office) =>
    service.hook('order_updated', token, { id: 'o1' }, { 'x-forwarded-for': address });
  /** Sends unknown tokens one after the other. */
  const flood = async (count: number) => {
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent++) statuses.push((await send(makePathToken().token)).status);
    return statuses;
  };
  /** Sends unknown tokens until one is refused, many at once, because look-ups are allowed again as time passes. */
  const floodUntilRefused = async (): Promise<Response> => {
    for (;;) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(makePathToken().token)));
      const refused = answers.find(({ status }) => status === 429);
      if (refused !== undefined) return refused;
    }
  };
  return {
    service,
    send,
    flood,
    floodUntilRefused,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
};

test('unknown webhook tokens of a network cost a bounded number of look-ups; others are served', async () => {
  await using fixture = await start();
  const { service, send, flood } = fixture;
  const { webhookToken } = await service.store();
  const since = performance.now();
  const statuses = await flood(100);
  const lookups = statuses.filter((status) => status === 404).length;
  expect(statuses.slice(0, limit)).toEqual(Array<number>(limit).fill(404));
  expect(lookups).toBeLessThanOrEqual(limit + spare * Math.ceil((performance.now() - since) / 1000));
  expect(lookups + statuses.filter((status) => status === 429).length).toBe(100);
  expect((await send(webhookToken, '203.0.113.10')).status).toBe(200);
  // The token is known now: a provider that serves many stores is not blocked because of one of them.
  expect((await send(webhookToken)).status).toBe(200);
});

test('a shop that rarely sends is served although others behind its address send unknown tokens', async () => {
  await using fixture = await start();
  const { service, send, flood } = fixture;
  const { webhookToken } = await service.store();
  await flood(limit);
  expect((await send(webhookToken)).status).toBe(200);
});

test('a refused sender gets Retry-After, and one unknown token is looked up once a minute', async () => {
  await using fixture = await start();
  const { send, floodUntilRefused } = fixture;
  const unknownToken = makePathToken().token;
  for (let sent = 0; sent < 2 * limit; sent++) expect((await send(unknownToken)).status).toBe(404);
  const refused = await floodUntilRefused();
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  // A cached refusal needs no look-up.
  expect((await send(unknownToken)).status).toBe(404);
});

test('unknown webhook tokens do not lock their network out of the stores', async () => {
  await using fixture = await start();
  await fixture.floodUntilRefused();
  const answer = await fetch(`${fixture.service.url}/v1/stores`, {
    headers: {
      Authorization: `Bearer ${await fixture.service.tokenWith('stores:admin')}`,
      'X-Forwarded-For': office,
    },
  });
  expect(answer.status).toBe(200);
});
