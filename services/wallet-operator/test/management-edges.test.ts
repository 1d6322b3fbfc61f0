import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addPlayer } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { person } from './people.ts';

let service: Running;
let ann: Awaited<ReturnType<typeof person>>;
beforeAll(async () => {
  service = await startService();
  ann = await person(service);
});
afterAll(() => service[Symbol.asyncDispose]());

const sql = () => service.context.database.sql;
const problem = (status: number, code: string) => ({
  status,
  type: 'application/problem+json',
  body: { code },
});

describe('days and instants that PostgreSQL can not hold are refused by name', () => {
  test('of birth', async () => {
    const born = (birthDate: string) =>
      ann.post('/v1/players', { playerId: randomUUID(), currency: 'EUR', birthDate });
    expect(await born('0000-12-31')).toMatchObject({
      status: 400,
      body: { errors: { birthDate: [expect.any(String)] } },
    });
    for (const day of ['0001-01-01', '9999-12-31']) expect((await born(day)).body['birthDate']).toBe(day);
  });

  test('of the end of an exclusion', async () => {
    const path = `/v1/players/${await addPlayer(sql())}`;
    expect(await ann.patch(path, { excludedUntil: '0000-01-01' })).toMatchObject({
      status: 400,
      body: { errors: { excludedUntil: [expect.any(String)] } },
    });
    expect((await ann.patch(path, { excludedUntil: '9999-12-31' })).body['excluded']).toBe(true);
  });

  test.each([
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00%2B23:59',
    '9999-12-31T23:59:59-23:59',
    '2026-01-01T00:00:00',
    '-1',
    '01',
    '%2B1',
    '1.0',
    '1e3',
    '9999999999',
    '',
    'NaN',
  ])('of the age of a round: %s', async (olderThan) => {
    expect(await ann.get(`/v1/rounds?olderThan=${olderThan}`)).toMatchObject({
      status: 400,
      body: { errors: { olderThan: [expect.stringMatching(/^must be seconds/)] } },
    });
  });

  test.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-01-01T00:00:00-12:00', '999999999', '0'])(
    'but not the age %s',
    async (olderThan) => {
      expect((await ann.get(`/v1/rounds?olderThan=${olderThan}`)).status).toBe(200);
    },
  );
});

describe('what can not be written down in the audit trail does not happen', () => {
  beforeAll(async () => {
    await sql()`alter table audit_events add constraint "full" check (at is null) not valid`;
  });
  afterAll(async () => {
    await sql()`alter table audit_events drop constraint "full"`;
  });

  test('a new player', async () => {
    const playerId = randomUUID();
    expect(await ann.post('/v1/players', { playerId, currency: 'EUR' })).toMatchObject(
      problem(500, 'internal_error'),
    );
    expect((await ann.get(`/v1/players/${playerId}`)).status).toBe(404);
  });

  test('a lock, an exclusion and a deposit', async () => {
    const path = `/v1/players/${await addPlayer(sql())}`;
    const before = await ann.get(path);
    const answers = [
      await ann.patch(path, { status: 'disabled' }),
      await ann.patch(path, { excludedUntil: '2999-01-01' }),
      await ann.post(`${path}/deposits`, { transactionId: randomUUID(), amount: '5' }),
    ];
    for (const answer of answers) expect(answer).toMatchObject(problem(500, 'internal_error'));
    expect(await ann.get(path)).toEqual(before);
  });

  test('a game, new or changed', async () => {
    const game = { gameCode: randomUUID(), name: 'Game', enabled: true };
    expect((await ann.post('/v1/games', game)).status).toBe(500);
    await sql()`insert into games values (${game.gameCode}, 'Game', true, now())`;
    expect((await ann.patch(`/v1/games/${game.gameCode}`, { enabled: false })).status).toBe(500);
    expect([...(await sql()`select enabled from games where game_code = ${game.gameCode}`)]).toEqual([
      { enabled: true },
    ]);
  });
});
