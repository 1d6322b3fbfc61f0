import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { call, startService } from './harness.ts';
import { person } from './people.ts';

test('callbacks are not counted against any limit, what people ask is', async () => {
  await using service = await startService({ variables: { RATE_LIMIT: 'on', RATE_LIMIT_PER_MINUTE: '2' } });
  const { sql } = service.context.database;
  await addGame(sql);
  const caller = callerOf(service, await addPlayer(sql));
  for (let count = 0; count < 20; count++) expect((await caller.debit()).status).toBe('OK');
  const ann = await person(service, 'wallet:admin', randomUUID());
  const statuses = [];
  for (let count = 0; count < 4; count++) statuses.push((await ann.get('/v1/games')).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  expect((await caller.balance()).status).toBe('OK');
});

test('a request id is taken when it is well formed, else made', async () => {
  await using service = await startService();
  const ask = async (id: string) => {
    const sent = { method: 'POST', headers: { 'X-Request-Id': id }, body: '{}' };
    const { headers, status } = await fetch(`${service.url}/callback/balance`, sent);
    expect(status).toBe(401);
    return headers.get('x-request-id');
  };
  expect(await ask('A.b_c-1')).toBe('A.b_c-1');
  expect(await ask('a b')).toMatch(/^[\da-f-]{36}$/);
  expect(await ask('x'.repeat(129))).toMatch(/^[\da-f-]{36}$/);
  expect(service.lines.join('')).toContain('"requestId":"A.b_c-1"');
});

test('no answer to a callback may be kept by a cache', async () => {
  await using service = await startService();
  for (const target of ['/callback/balance', '/callback/debit']) {
    const { headers } = await fetch(service.url + target, { method: 'POST', body: '{}' });
    expect(headers.get('cache-control')).toContain('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
  expect((await call(service.url, 'balance', '{}')).http).toBe(200);
});

test('wrong signatures never keep the callbacks of the same network from being answered', async () => {
  await using service = await startService({
    variables: { RATE_LIMIT: 'on', UNKNOWN_CREDENTIALS_PER_MINUTE: '1' },
  });
  const { sql } = service.context.database;
  const caller = callerOf(service, await addPlayer(sql));
  const headers = { 'X-Timestamp': '1', 'X-HMAC-SHA256': 'f'.repeat(64) };
  for (let count = 0; count < 5; count++) {
    const { status } = await fetch(`${service.url}/callback/balance`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect(status).toBe(401);
    await fetch(`${service.url}/v1/games`, { headers: { Authorization: 'Bearer unknown' } });
  }
  expect((await caller.balance()).status).toBe('OK');
});

test('a refused callback writes one log line, an accepted one none; both are counted', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const caller = callerOf(service, await addPlayer(sql));
  expect((await caller.balance()).status).toBe('OK');
  await fetch(`${service.url}/callback/balance`, { method: 'POST', body: '{}' });
  const answered = () => service.lines.filter((line) => line.includes('"msg":"answered"'));
  await expect.poll(answered).toMatchObject([expect.stringContaining('"status":401')]);
  const text = await service.context.metrics.registry.metrics();
  for (const status of [200, 401])
    expect(text).toMatch(
      new RegExp(`_count\\{method="POST",route="/callback/balance",status="${status}"\\} 1`),
    );
});
