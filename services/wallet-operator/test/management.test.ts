import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

let service: Running;
let ann: Awaited<ReturnType<typeof person>>;
beforeAll(async () => {
  service = await startService();
  ann = await person(service);
  await addGame(service.context.database.sql);
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

describe('games', () => {
  test('are added, disabled and listed', async () => {
    const gameCode = `game-${randomUUID()}`;
    const made = await ann.post('/v1/games', { gameCode, name: 'Game', enabled: true });
    expect(made).toMatchObject({ status: 201, body: { gameCode, enabled: true } });
    expect(await ann.get(made.location ?? '')).toMatchObject({ status: 200, body: made.body });
    expect((await ann.get('/v1/games/none')).status).toBe(404);
    expect((await ann.post('/v1/games', { gameCode, name: 'Game', enabled: true })).status).toBe(409);
    expect((await ann.patch(`/v1/games/${gameCode}`, { enabled: false })).body).toMatchObject({
      enabled: false,
    });
    const caller = callerOf(service, await addPlayer(service.context.database.sql));
    expect((await caller.debit({ gameCode })).status).toBe('ERROR_INVALID_GAME');
    const list = await ann.get('/v1/games?limit=200');
    expect(list.body['games']).toContainEqual({ ...made.body, enabled: false });
    expect((await ann.patch('/v1/games/none', {})).status).toBe(404);
  });
});

describe('entries and rounds', () => {
  test('tell what happened, in order and in pages', async () => {
    const playerId = await addPlayer(service.context.database.sql);
    const caller = callerOf(service, playerId);
    const roundId = 'round/1';
    const [debit, credit] = [randomUUID(), randomUUID()];
    await caller.debit({ roundId, transactionId: debit });
    await caller.credit({ roundId, transactionId: credit, roundClosed: false });
    await caller.debit();
    const pages = await Promise.all(
      [1, 2, 3].map((page) => ann.get(`/v1/players/${playerId}/entries?limit=2&page=${page}`)),
    );
    expect(pages.map(({ body }) => body['page'])).toEqual([
      { number: 1, has_more: true, limit: 2 },
      { number: 2, has_more: false, limit: 2 },
      { number: 3, has_more: false, limit: 2 },
    ]);
    expect(pages.flatMap(({ body }) => body['entries'])).toMatchObject([
      { seq: 1, operation: 'deposit', amount: '1000.00', currency: 'EUR', balanceAfter: '1000.00' },
      { seq: 2, operation: 'debit', amount: '-10.00', balanceAfter: '990.00', transactionId: debit, roundId },
      { seq: 3, operation: 'credit', amount: '5.00', balanceAfter: '995.00', transactionId: credit },
      { seq: 4, operation: 'debit', amount: '-10.00', balanceAfter: '985.00' },
    ]);
    const newestFirst = await Promise.all(
      [1, 2].map((page) => ann.get(`/v1/players/${playerId}/entries?sort=-seq&limit=3&page=${page}`)),
    );
    expect(newestFirst.flatMap(({ body }) => body['entries'])).toMatchObject(
      [4, 3, 2, 1].map((seq) => ({ seq })),
    );
    expect(newestFirst.map(({ body }) => body['page'])).toMatchObject([
      { has_more: true },
      { has_more: false },
    ]);
    const round = await ann.get(`/v1/players/${playerId}/rounds/${encodeURIComponent(roundId)}`);
    expect(round.body).toMatchObject({ playerId, roundId, status: 'open', closedAt: null });
    expect(round.body).toMatchObject({ currency: 'EUR', stake: '10.00', result: '-5.00' });
    expect(round.body['entries']).toHaveLength(2);
    await caller.credit({ roundId });
    const over = await ann.get(`/v1/players/${playerId}/rounds/${encodeURIComponent(roundId)}`);
    expect(over.body).toMatchObject({ status: 'closed', closedAt: expect.any(String) });
    expect((await ann.get(`/v1/players/${playerId}/rounds/none`)).status).toBe(404);
    expect((await ann.get('/v1/players/nobody/entries')).status).toBe(404);
  });

  test('stuck rounds are found by their age', async () => {
    const playerId = await addPlayer(service.context.database.sql);
    const roundId = randomUUID();
    await callerOf(service, playerId).debit({ roundId });
    const found = async (query: string) =>
      ((await ann.get(`/v1/rounds?limit=200&${query}`)).body['rounds'] as { roundId: string }[]).some(
        (round) => round.roundId === roundId,
      );
    expect(await found('status=open')).toBe(true);
    expect(await found('olderThan=0')).toBe(true);
    expect(await found('olderThan=3600')).toBe(false);
    expect(await found('olderThan=2999-01-01T00:00:00Z')).toBe(true);
    expect(await found('olderThan=2020-01-01T00:00:00Z')).toBe(false);
    expect((await ann.get('/v1/rounds?olderThan=yesterday')).body).toMatchObject({
      errors: { olderThan: [expect.any(String)] },
    });
    expect((await ann.get('/v1/rounds?status=closed')).status).toBe(400);
  });
});

describe('scopes', () => {
  const admin = ['/v1/players', '/v1/games', '/v1/audit/events', '/v1/audit/proof', '/v1/currencies'];
  const read = ['/v1/rounds', '/v1/players/p/entries', '/v1/players/p/rounds/r'];
  test.each([...admin.map((path) => [path, 'wallet:admin']), ...read.map((path) => [path, 'wallet:read'])])(
    '%s needs %s',
    async (path = '', scope = '') => {
      const other = await person(service, scope === 'wallet:admin' ? 'wallet:read' : 'quests:read');
      expect(await other.get(path)).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining(scope) },
      });
      const nobody = await fetch(service.url + path);
      expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('Bearer'),
      ]);
    },
  );
});

test('metrics count outcomes, batches, stuck rounds and the age of the proof', async () => {
  await callerOf(service, 'nobody').balance();
  await ann.get('/v1/audit/proof');
  const text = await (await fetch(`${service.url}/metrics`)).text();
  expect(text).toMatch(/wallet_callbacks_total\{operation="balance",status="ERROR_UNKNOWN"\} \d/);
  expect(text).toMatch(/wallet_batch_size_count [1-9]/);
  expect(text).toMatch(/wallet_stuck_rounds \d/);
  expect(text).toMatch(/wallet_proof_ok 1/);
  expect(text).toMatch(/wallet_proof_age_seconds \d/);
  expect(text).toMatch(
    /http_request_duration_seconds_count\{method="POST",route="\/callback\/balance",status="200"\}/,
  );
});
