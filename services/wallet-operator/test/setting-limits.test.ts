import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGame } from './factories.ts';
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

const newPlayer = () => limitedPlayer(service, ann);

describe('limits', () => {
  test('are lowered at once; raising and removing wait for 24 hours and can be cancelled', async () => {
    const player = await newPlayer();
    await player.set({ loss: { '24h': '50.00' }, sessionMinutes: 60 });
    const { body } = await player.set({ loss: { '24h': '80.00' } });
    expect(body).toMatchObject({
      timeZone: 'UTC',
      player: { loss: { '24h': '50.00' }, sessionMinutes: 60 },
      operator: {},
      pending: [
        { kind: 'loss', period: '24h', setBy: 'player', limit: '80.00' },
        { kind: 'session', period: 'session', setBy: 'player', limit: null },
      ],
    });
    const effectiveAt = (body['pending'] as { effectiveAt: string }[]).map((one) => one.effectiveAt);
    expect(Date.parse(effectiveAt[0] ?? '') - Date.now()).toBeGreaterThan(23 * 3_600_000);
    // Asking again does not start the 24 hours anew.
    expect((await player.set({ loss: { '24h': '80.00' } })).body['pending']).toEqual(body['pending']);
    // The limits in force cancel what is pending; a lower one is in force at once.
    expect((await player.set({ loss: { '24h': '50.00' }, sessionMinutes: 60 })).body['pending']).toEqual([]);
    expect((await player.set({ loss: { '24h': '20.00' }, sessionMinutes: 60 })).body['player']).toEqual({
      loss: { '24h': '20.00' },
      sessionMinutes: 60,
    });
    const { changes } = (await ann.get(`${player.path}/limits/history`)).body as { changes: object[] };
    expect(changes).toMatchObject([
      { kind: 'loss', limit: '20.00', cancelledAt: null, changedBy: 'ann' },
      { kind: 'session', limit: null, cancelledAt: expect.any(String) },
      { kind: 'loss', limit: '80.00', cancelledAt: expect.any(String) },
      { kind: 'session', limit: '60' },
      { kind: 'loss', limit: '50.00' },
    ]);
    expect((await player.events()).map(({ kind }) => kind)).toEqual(Array(4).fill('limits_changed'));
  });

  test('the first one of a player with very many entries adds them up on a connection that may take two minutes, others do not', async () => {
    await using other = await startService();
    const { sql } = other.context.database;
    await addGame(sql);
    await sql`create table seen (statement_timeout text)`;
    await sql`create function see() returns trigger language plpgsql as
      'begin insert into seen values (current_setting(''statement_timeout'')); return new; end'`;
    await sql`create trigger see after insert or update on limit_windows execute function see()`;
    const ann = await person(other);
    const timeoutsOf = async (player: Awaited<ReturnType<typeof limitedPlayer>>) => {
      await sql`truncate seen`;
      await player.set({ loss: { '24h': '50.00' } });
      return (await sql<{ timeout: string }[]>`select distinct statement_timeout as timeout from seen`).map(
        ({ timeout }) => timeout,
      );
    };
    expect(await timeoutsOf(await limitedPlayer(other, ann))).toEqual(['5s']);
    const heavy = await limitedPlayer(other, ann);
    await sql`update players set seq = 100001 where player_id = ${heavy.playerId}`;
    expect(await timeoutsOf(heavy)).toEqual(['2min']);
  });

  test('of player and operator: the lower one counts', async () => {
    const player = await newPlayer();
    await player.set({ wager: { '24h': '20.00', '7d': '25.00' } });
    await player.set({ wager: { '24h': '10.00', '7d': '90.00' } }, 'operator');
    expect((await player.limits())['lowest']).toMatchObject([
      { period: '24h', limit: '10.00' },
      { period: '7d', limit: '25.00' },
    ]);
    expect((await player.debit({ amount: '10.01' })).status).toBe('ERROR_NOT_ENOUGH_MONEY');
    expect((await player.debit({ amount: '10.00' })).status).toBe('OK');
  });

  test('that ended cost nothing any more', async () => {
    const player = await newPlayer();
    await player.set({ wager: { '24h': '10.00' } });
    await player.set({});
    await service.context.database.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`update limit_changes set effective_at = now() where player_id = ${player.playerId} and value is null`;
    });
    await service.context.database
      .sql`update players set limits_until = 'epoch' where player_id = ${player.playerId}`;
    expect((await player.debit({ amount: '10.01' })).status).toBe('OK');
    const [row] = await service.context.database
      .sql`select wagered, limits_until from players where player_id = ${player.playerId}`;
    expect(row).toEqual({ wagered: null, limits_until: null });
    await expectSoundLedger(service);
  });

  test('of an unknown player are 404, and amounts, periods and setters are checked', async () => {
    const player = await newPlayer();
    for (const path of ['limits', 'limits/history', 'session'])
      expect((await ann.get(`/v1/players/nobody/${path}`)).status).toBe(404);
    expect((await ann.put('/v1/players/nobody/limits', { setBy: 'player' })).status).toBe(404);
    for (const limits of [
      { wager: { '24h': '-1' } },
      { wager: { year: '1' } },
      { sessionMinutes: 0 },
      { bets: {} },
    ])
      expect((await player.set(limits)).status).toBe(400);
    expect((await player.set({}, 'somebody')).status).toBe(400);
  });

  test('need the scope of an administrator to be set', async () => {
    const player = await newPlayer();
    const reader = await person(service, 'wallet:read');
    expect((await reader.get(`${player.path}/limits`)).status).toBe(200);
    expect((await reader.put(`${player.path}/limits`, { setBy: 'player' })).status).toBe(403);
  });
});

test('the time zone of a player must be one that PostgreSQL has', async () => {
  const player = await newPlayer();
  for (const timeZone of ['Mars/Olympus', '+02:00', 'CEST-2'])
    expect(await ann.patch(player.path, { timeZone })).toMatchObject({
      status: 400,
      body: { errors: { timeZone: [expect.any(String)] } },
    });
  expect((await ann.patch(player.path, { timeZone: 'Europe/Berlin' })).body['timeZone']).toBe(
    'Europe/Berlin',
  );
  expect((await player.limits())['timeZone']).toBe('Europe/Berlin');
  // The month of the limits stays that of the zone before.
  const { sql } = service.context.database;
  expect(
    await sql`select month_since = date_trunc('month', now(), 'UTC') as kept from players`,
  ).toContainEqual({
    kept: true,
  });
});
