import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGame, callerOf } from './factories.ts';
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

const newPlayer = async (more: object = {}): Promise<string> => {
  const playerId = randomUUID();
  const made = await ann.post('/v1/players', { playerId, currency: 'EUR', ...more });
  expect(made.status).toBe(201);
  return playerId;
};

describe('players', () => {
  test('are added, read and listed', async () => {
    const playerId = `ä/${randomUUID()}`;
    const made = await ann.post('/v1/players', { playerId, currency: 'RMB', name: 'Ann', countryCode: 'DE' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        playerId,
        currency: 'CNY',
        balance: '0.00',
        status: 'active',
        excluded: false,
        name: 'Ann',
        address: null,
      },
    });
    const read = await ann.get(made.location ?? '');
    expect(read).toMatchObject({ status: 200, body: made.body });
    const list = await ann.get('/v1/players?limit=200');
    expect(list.body).toMatchObject({ page: { number: 1, limit: 200 } });
    expect(list.body['players']).toContainEqual(made.body);
  });

  test('exist once', async () => {
    const playerId = await newPlayer();
    expect(await ann.post('/v1/players', { playerId, currency: 'EUR' })).toMatchObject({
      status: 409,
      type: 'application/problem+json',
      body: { code: 'player_exists' },
    });
    expect((await ann.get('/v1/players/nobody')).status).toBe(404);
  });

  test.each(['a b/c?d#e', '%2F', '🎲', '...', "it's (ok)!*"])(
    'Location answers GET for the id %j',
    async (id) => {
      const player = await ann.post('/v1/players', { playerId: id, currency: 'EUR' });
      const deposit = await ann.post(`${player.location ?? ''}/deposits`, { transactionId: id, amount: '1' });
      const game = await ann.post('/v1/games', { gameCode: id, name: 'Game' });
      for (const { location, status } of [player, deposit, game]) {
        expect(status).toBe(201);
        expect((await ann.get(location ?? '')).status).toBe(200);
      }
    },
  );

  test.each([
    [{ playerId: '..', currency: 'EUR' }, 'playerId'],
    [{ playerId: 'a/../b', currency: 'EUR' }, 'playerId'],
    [{ playerId: '.', currency: 'EUR' }, 'playerId'],
    [{ playerId: 'p', currency: 'eur' }, 'currency'],
    [{ playerId: '', currency: 'EUR' }, 'playerId'],
    [{ playerId: 'a\u0007', currency: 'EUR' }, 'playerId'],
    [{ playerId: 'p', currency: 'EUR', balance: '5' }, 'balance'],
    [{ playerId: 'p', currency: 'EUR', birthDate: '2001-02-30' }, 'birthDate'],
    [{ playerId: 'p', currency: 'EUR', name: 'a\0' }, 'name'],
  ])('%j is refused for its %s', async (body, field) => {
    const answer = await ann.post('/v1/players', body);
    expect(answer).toMatchObject({ status: 400, body: { errors: { [field]: [expect.any(String)] } } });
  });

  test('are locked, excluded and let in again, and the trail says by whom', async () => {
    const playerId = await newPlayer();
    await ann.post(`/v1/players/${playerId}/deposits`, { transactionId: randomUUID(), amount: '50' });
    const caller = callerOf(service, playerId);
    await ann.patch(`/v1/players/${playerId}`, { status: 'disabled' });
    expect((await caller.debit()).status).toBe('ERROR_PLAYER_DISABLED');
    await ann.patch(`/v1/players/${playerId}`, { status: 'active', excludedUntil: '2999-01-01' });
    expect(await caller.authenticate()).toMatchObject({ excluded: true, excludedUntil: '2999-01-01' });
    const ended = await ann.patch(`/v1/players/${playerId}`, { excluded: false, name: 'Bo Bergström' });
    // An exclusion ends after 24 hours.
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect(ended.body).toMatchObject({
      excluded: true,
      excludedUntil: tomorrow,
      name: 'Bo Bergström',
      balance: '50.00',
    });
    expect((await ann.get('/v1/audit/events?playerId=%00')).status).toBe(400);
    const events = await ann.get(`/v1/audit/events?playerId=${playerId}`);
    expect(events.body['events']).toMatchObject([
      {
        kind: 'player_changed',
        currency: 'EUR',
        details: { by: 'ann', fields: expect.arrayContaining(['name']) },
      },
      { kind: 'callback', details: { operation: 'authenticate', reason: 'player_excluded' } },
      { kind: 'player_changed' },
      { kind: 'player_changed', details: { status: 'disabled' } },
      { kind: 'transfer_requested', details: { by: 'ann', amount: '50' } },
      { kind: 'player_created' },
    ]);
    expect(JSON.stringify(events.body)).not.toContain('Bergström');
    expect((await ann.patch('/v1/players/nobody', {})).status).toBe(404);
    expect((await ann.patch(`/v1/players/${playerId}`, {})).status).toBe(200);
  });
});

describe('deposits and withdrawals', () => {
  test.each([
    [{ status: 'disabled' }, 'player_disabled'],
    [{ excludedUntil: '2999-01-01' }, 'player_self_excluded'],
  ])('with %j: a deposit is refused, a withdrawal is not', async (change, code) => {
    const path = `/v1/players/${await newPlayer()}`;
    await ann.post(`${path}/deposits`, { transactionId: randomUUID(), amount: '50' });
    await ann.patch(path, change);
    const refused = await ann.post(`${path}/deposits`, { transactionId: randomUUID(), amount: '1' });
    expect(refused).toMatchObject({ status: 422, body: { code } });
    const withdrawn = await ann.post(`${path}/withdrawals`, { transactionId: randomUUID(), amount: '20' });
    expect(withdrawn).toMatchObject({ status: 201, body: { balance: '30.00' } });
  });

  test('move money once, whatever is repeated', async () => {
    const playerId = await newPlayer();
    const deposit = { transactionId: randomUUID(), amount: '100' };
    const path = `/v1/players/${playerId}`;
    const first = await ann.post(`${path}/deposits`, deposit);
    expect(first).toMatchObject({
      status: 201,
      body: { ...deposit, amount: '100.00', playerId, balance: '100.00' },
    });
    expect(await ann.get(first.location ?? '')).toMatchObject({ status: 200, body: first.body });
    const out = { transactionId: randomUUID(), amount: '30.5' };
    const taken = await ann.post(`${path}/withdrawals`, out);
    expect(taken.body).toMatchObject({ amount: '30.50', balance: '69.50' });
    expect(await ann.get(taken.location ?? '')).toMatchObject({ status: 200, body: taken.body });
    // It is no deposit, nor another player's.
    expect((await ann.get(`${path}/deposits/${out.transactionId}`)).status).toBe(404);
    expect((await ann.get(`/v1/players/nobody/withdrawals/${out.transactionId}`)).status).toBe(404);
    expect(await ann.post(`${path}/deposits`, deposit)).toEqual(first);
    expect((await ann.get(path)).body['balance']).toBe('69.50');
  });

  test('are refused as problems', async () => {
    const playerId = await newPlayer();
    const path = `/v1/players/${playerId}`;
    const deposit = { transactionId: randomUUID(), amount: '1' };
    await ann.post(`${path}/deposits`, deposit);
    const problem = (status: number, code: string) => ({
      status,
      type: 'application/problem+json',
      body: { code },
    });
    expect(await ann.post(`${path}/deposits`, { ...deposit, amount: '2' })).toMatchObject(
      problem(409, 'duplicate_transaction'),
    );
    expect(await ann.post(`${path}/withdrawals`, deposit)).toMatchObject(
      problem(409, 'duplicate_transaction'),
    );
    expect(
      await ann.post(`${path}/withdrawals`, { transactionId: randomUUID(), amount: '1.01' }),
    ).toMatchObject(problem(422, 'not_enough_money'));
    expect(
      await ann.post('/v1/players/nobody/deposits', { ...deposit, transactionId: randomUUID() }),
    ).toMatchObject(problem(404, 'not_found'));
    for (const amount of ['0', '0.00', '-1', '1e3', '.5', '1.005', 5])
      expect((await ann.post(`${path}/deposits`, { ...deposit, amount })).status).toBe(400);
  });
});
