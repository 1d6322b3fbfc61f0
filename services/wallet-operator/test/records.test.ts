import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keys, startService, type Running } from './harness.ts';

let service: Running;
let token: string;
beforeAll(async () => {
  service = await startService();
  token = await keys.token({ scope: 'wallet:admin', sub: 'ann' });
});
afterAll(() => service[Symbol.asyncDispose]());

const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
  const answer = await fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    etag: answer.headers.get('etag') ?? '',
    place: answer.headers.get('location') ?? '',
    body: (text === '' ? undefined : JSON.parse(text)) as Record<string, unknown> | undefined,
  };
};

describe.each([
  {
    name: 'a player',
    list: '/v1/players',
    input: () => ({ playerId: `p/${randomUUID()}`, currency: 'EUR', name: 'Ada' }),
    change: { name: 'Bo' },
  },
  {
    name: 'a game',
    list: '/v1/games',
    input: () => ({ gameCode: `g ${randomUUID()}`, name: 'A game', enabled: true }),
    change: { enabled: false },
  },
])('$name', ({ list, input, change }) => {
  const create = () => send('POST', list, input());

  test('is read with its ETag, which answers 304', async () => {
    const { place, etag, body } = await create();
    expect(await send('GET', place)).toMatchObject({ status: 200, etag, body });
    expect(await send('GET', place, undefined, { 'If-None-Match': etag })).toMatchObject({
      status: 304,
      etag,
    });
  });

  test('is changed with its current ETag only', async () => {
    const { place, etag } = await create();
    const changed = await send('PATCH', place, change, { 'If-Match': etag });
    expect(changed).toMatchObject({ status: 200, body: change });
    expect(changed.etag).not.toBe(etag);
    expect(await send('PATCH', place, {}, { 'If-Match': etag })).toMatchObject({
      status: 412,
      body: { code: 'stale' },
    });
  });

  test('is neither changed nor audited by a patch that changes nothing', async () => {
    const { place, etag, body } = await create();
    const { name } = input();
    const types = { 'Content-Type': 'application/merge-patch+json' };
    for (const patch of [{}, { name }])
      expect(await send('PATCH', place, patch, types)).toMatchObject({ status: 200, etag, body });
    const id = body?.['playerId'] ?? body?.['gameCode'];
    const events = await service.context.database.sql`
      select kind from audit_events where player_id = ${String(id)} or details->>'gameCode' = ${String(id)}`;
    expect(events).toHaveLength(1);
  });

  test('is created once for each Idempotency-Key', async () => {
    const [body, key] = [input(), { 'Idempotency-Key': randomUUID() }];
    const first = await send('POST', list, body, key);
    expect(first.status).toBe(201);
    expect(await send('POST', list, body, key)).toEqual(first);
    expect(await send('POST', list, input(), key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });
});

test('If-Match does not compare the balance of a player, and its ETag changes with it', async () => {
  const { place, etag } = await send('POST', '/v1/players', { playerId: 'rich', currency: 'EUR' });
  await send('POST', `${place}/deposits`, { transactionId: 'd', amount: '5.00' });
  expect((await send('GET', place, undefined, { 'If-None-Match': etag })).status).toBe(200);
  const changed = await send('PATCH', place, { name: 'Ada' }, { 'If-Match': etag });
  expect(changed).toMatchObject({ status: 200, body: { balance: '5.00', name: 'Ada' } });
});
