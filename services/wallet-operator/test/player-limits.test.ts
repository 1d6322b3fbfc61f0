import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { limitedPlayer } from './limited-player.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

let service: Running;
let ann: Awaited<ReturnType<typeof person>>;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
  ann = await person(service);
});
afterAll(() => service[Symbol.asyncDispose]());

const newPlayer = (languageCode?: string | null) => limitedPlayer(service, ann, languageCode);

describe('a limit on bets', () => {
  test.each([
    ['en', 'This bet would exceed your betting limit for 24 hours.'],
    ['de', 'Dieser Einsatz würde Ihr Einsatzlimit für 24 Stunden überschreiten.'],
    ['sv', 'Insatsen skulle överskrida din insatsgräns för 24 timmar.'],
    ['xx', 'This bet would exceed your betting limit for 24 hours.'],
    [null, 'This bet would exceed your betting limit for 24 hours.'],
  ])(
    'refuses a debit beyond it in the language of the player (%s), and the list of refusals says so',
    async (language, text) => {
      const player = await newPlayer(language);
      expect((await player.set({ wager: { '24h': '25.00', '7d': '1000.00' } })).status).toBe(200);
      for (const balance of ['990.00', '980.00'])
        expect(await player.debit()).toMatchObject({ status: 'OK', balance });
      expect(await player.debit()).toMatchObject({
        http: 200,
        status: 'ERROR_NOT_ENOUGH_MONEY',
        balance: '980.00',
        customUserError: text,
      });
      expect(await player.debit({ amount: '5.00' })).toMatchObject({ status: 'OK', balance: '975.00' });
      expect(await player.refusals()).toMatchObject([
        {
          cause: 'limit_reached',
          limit: { kind: 'wager', period: '24h', limit: '25.00', remaining: '5.00' },
        },
      ]);
      await expectSoundLedger(service);
    },
  );

  test('leaves credits and rollbacks alone, and both give back what they should', async () => {
    const player = await newPlayer();
    await player.set({ loss: { month: '10.00' }, wager: { month: '30.00' } });
    const transactionId = randomUUID();
    const roundId = randomUUID();
    expect((await player.debit({ transactionId, roundId })).status).toBe('OK');
    expect((await player.debit({ amount: '0.01' })).customUserError).toContain('loss limit');
    // A win gives back room for losses, not for bets.
    expect((await player.credit({ amount: '10.00' })).status).toBe('OK');
    expect((await player.debit()).status).toBe('OK');
    // A rollback gives back both.
    const reversal = { roundId, reverseTransactionId: transactionId };
    expect((await player.rollback(reversal)).status).toBe('OK');
    expect((await player.debit()).status).toBe('OK');
    expect((await player.limits())['lowest']).toEqual([
      expect.objectContaining({ kind: 'loss', limit: '10.00', used: '10.00', remaining: '0.00' }),
      expect.objectContaining({ kind: 'wager', limit: '30.00', used: '20.00', remaining: '10.00' }),
    ]);
    // A retry gets the answer of the first time, however little room there is.
    expect((await player.debit({ transactionId, roundId })).status).toBe('OK');
    await expectSoundLedger(service);
  });

  test('counts what was bet before it was set, and a debit of 0 is always allowed', async () => {
    const player = await newPlayer();
    await player.debit();
    await player.set({ wager: { '7d': '5.00' } });
    expect((await player.limits())['lowest']).toMatchObject([{ used: '10.00', remaining: '0.00' }]);
    expect((await player.debit({ amount: '0.01' })).status).toBe('ERROR_NOT_ENOUGH_MONEY');
    expect((await player.debit({ amount: '0' })).status).toBe('OK');
  });

  test('is answered with LIMIT_STATUS', async () => {
    await using other = await startService({ variables: { LIMIT_STATUS: 'ERROR_PLAYER_DISABLED' } });
    await addGame(other.context.database.sql);
    const playerId = await addPlayer(other.context.database.sql);
    const admin = await person(other);
    await admin.put(`/v1/players/${playerId}/limits`, { setBy: 'operator', wager: { '24h': '0' } });
    expect(await callerOf(other, playerId).debit()).toMatchObject({
      status: 'ERROR_PLAYER_DISABLED',
      balance: '1000.00',
    });
  });
});

test('a limit on session time asks for a break', async () => {
  const player = await newPlayer('de');
  await player.set({ sessionMinutes: 60 });
  expect((await player.debit()).status).toBe('OK');
  // The bets of this session were an hour ago, one every 20 minutes.
  await service.context.database.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`update entries set at = now() - interval '61 minutes' where player_id = ${player.playerId} and seq = 2`;
    await tx`update limit_windows set since = now() - interval '61 minutes'
      where player_id = ${player.playerId} and period = 'session'`;
    await tx`insert into entries select player_id, seq + minutes / 20, operation, transaction_id || minutes, round_id,
        game_code, 0, balance_after, reverses, round_closed, at + make_interval(mins => minutes), id_space
      from entries, unnest(array[20, 40]) as minutes where player_id = ${player.playerId} and seq = 2`;
    await tx`update players set seq = 4, limits_until = 'epoch' where player_id = ${player.playerId}`;
  });
  expect(await player.debit()).toMatchObject({
    status: 'ERROR_NOT_ENOUGH_MONEY',
    customUserError: 'Sie haben Ihr Zeitlimit erreicht. Bitte machen Sie eine Pause.',
  });
  const { body } = await ann.get(`${player.path}/session`);
  expect(body['session']).toMatchObject({
    minutes: 61,
    isOver: false,
    wagered: '10.00',
    won: '0.00',
    result: '-10.00',
  });
});

test('a player who never played has no session', async () => {
  const player = await newPlayer();
  expect((await ann.get(`${player.path}/session`)).body).toEqual({
    playerId: player.playerId,
    currency: 'EUR',
    session: null,
  });
});

describe('a limit on deposits', () => {
  test('refuses a deposit beyond it with what may still be deposited; bets are not concerned', async () => {
    const player = await newPlayer();
    await player.set({ deposit: { month: '1100.00' } });
    // 1000.00 were deposited before.
    const transactionId = randomUUID();
    expect((await player.deposit('60.00', transactionId)).status).toBe(201);
    expect(await player.deposit('40.01')).toMatchObject({
      status: 422,
      body: { code: 'deposit_limit_reached', remaining: '40.00', limit: '1100.00', period: 'month' },
    });
    expect((await player.deposit('60.00', transactionId)).status).toBe(201);
    expect((await player.deposit('40.00')).status).toBe(201);
    expect((await player.debit({ amount: '900.00' })).status).toBe('OK');
    // A higher limit on deposits waits for 24 hours; bets are not counted meanwhile either.
    await player.set({ deposit: { month: '1200.00' } });
    const [row] = await service.context.database
      .sql`select limits_until from players where player_id = ${player.playerId}`;
    expect(row).toEqual({ limits_until: null });
  });
});

test.each([
  ['limit_counter_differs', 'update players set wagered = wagered - 1'],
  ['limit_counter_differs', 'update players set lost = lost + 1'],
  ['limit_counter_differs', 'update limit_windows set wagered = 1'],
  ['limit_window_differs', 'update limit_windows set after_seq = 2, wagered = 1000, lost = 1000'],
])('the proof names a counter that somebody changed (%s: %s)', async (kind, change) => {
  await using other = await startService();
  const { sql } = other.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const admin = await person(other);
  await admin.put(`/v1/players/${playerId}/limits`, { setBy: 'player', wager: { month: '100.00' } });
  await callerOf(other, playerId).debit();
  await expectSoundLedger(other);
  await sql.unsafe(change);
  const { body } = await admin.get('/v1/audit/proof');
  expect(body['ok']).toBe(false);
  expect(body['violations']).toContainEqual(expect.objectContaining({ kind, playerId }));
});
