import { randomUUID } from 'node:crypto';
import { startProxy } from '@platform/service-kit/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { holdPlayer } from './hold-player.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

const newDebit = () => ({ transactionId: randomUUID(), roundId: randomUUID() });

/** The service with a player whom a test locks, and others. */
const startWithPlayers = async (variables: Record<string, string> = { MAX_WAIT_MS: '6000' }) => {
  const service = await startService({ variables });
  const { sql } = service.context.database;
  await addGame(sql);
  const add = async () => callerOf(service, await addPlayer(sql));
  const locked = await add();
  const others = await Promise.all(Array.from({ length: 10 }, add));
  return { service, locked, others };
};

test("while another transaction holds one player's row, every callback of other players succeeds", async () => {
  const { service, locked, others } = await startWithPlayers();
  await using _ = service;
  const holder = await holdPlayer(service.databaseUrl, locked.playerId);

  const debits = Array.from({ length: 8 }, newDebit);
  const refused = Promise.all(debits.map((debit) => locked.debit(debit)));
  const play = async (other: typeof locked) => {
    const debit = newDebit();
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    return [await other.debit(debit), await other.rollback(reversal), await locked.balance()];
  };
  const answers = await Promise.all(others.flatMap((other) => Array.from({ length: 8 }, () => play(other))));
  expect(answers.flat().filter(({ status }) => status !== 'OK')).toEqual([]);

  // The game server asks again after a 500.
  for (const answer of await refused) expect(answer).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
  await holder.release();
  for (const debit of debits) expect(await locked.debit(debit)).toMatchObject({ http: 200, status: 'OK' });
  expect((await locked.balance()).balance).toBe('920.00');
  await expectSoundLedger(service);
});

test('a batch meets a locked player once; later batches leave the player out', async () => {
  const { service: direct, locked: player, others } = await startWithPlayers();
  await using _ = direct;
  let lockTimeouts = 0;
  await using proxy = await startProxy(direct.databaseUrl, {
    isLost: (answer) => {
      if (answer.includes('55P03')) lockTimeouts += 1;
      return false;
    },
  });
  await using service = await startService({ variables: { DATABASE_URL: proxy.url, MAX_WAIT_MS: '6000' } });
  const locked = callerOf(service, player.playerId);
  const other = callerOf(service, others[0]?.playerId ?? '');
  const holder = await holdPlayer(direct.databaseUrl, locked.playerId);
  const refused = [locked.debit()];
  await expect.poll(service.context.ledger.lockedPlayers).toBe(1);
  for (let turn = 0; turn < 10; turn += 1) {
    refused.push(locked.debit(), locked.rollback());
    expect((await other.debit()).status).toBe('OK');
    expect((await other.rollback()).status).toBe('OK');
  }
  for (const answer of await Promise.all(refused)) expect(answer.http).toBe(500);
  expect(lockTimeouts).toBe(1);
  await holder.release();
  await expect.poll(service.context.ledger.lockedPlayers).toBe(0);
});

test('callbacks of a locked player are applied once when the row is released soon enough', async () => {
  const { service, locked } = await startWithPlayers({ MAX_WAIT_MS: '60000' });
  await using _ = service;
  const holder = await holdPlayer(service.databaseUrl, locked.playerId);
  const sent = [...Array.from({ length: 20 }, () => locked.debit()), locked.rollback()];
  await expect.poll(service.context.ledger.waiting).toBe(sent.length);
  await holder.release();
  for (const answer of await Promise.all(sent)) expect(answer).toMatchObject({ http: 200, status: 'OK' });
  expect((await locked.balance()).balance).toBe('800.00');
  await expectSoundLedger(service);
});

test('callbacks that overload refuses write no error, and their lines say why', async () => {
  const { service, others } = await startWithPlayers({ MAX_WAITING: '1', BATCHES_IN_FLIGHT: '1' });
  await using _ = service;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => others.map((other) => other.debit(newDebit()))).flat(),
  );
  expect(answers.filter(({ http }) => http === 500).length).toBeGreaterThan(0);
  const lines = () => service.lines.filter((line) => line.includes('"status":500'));
  await expect.poll(() => lines().length).toBeGreaterThan(0);
  for (const line of lines())
    expect(JSON.parse(line)).toMatchObject({ level: 'info', code: 'too_busy', msg: 'refused' });
  expect(service.lines.join('')).not.toContain('"level":"error"');
});

/** A debit and a credit are one statement, a rollback is decided in a transaction. */
test.each([
  ['debit', 'INSERT 0 1'],
  ['credit', 'INSERT 0 1'],
  ['rollback', 'COMMIT'],
] as const)(
  'an answer lost between the commit of a %s and the service: 500, and the repeat has the stored answer',
  async (callback, commitTag) => {
    await using direct = await startService();
    const { sql } = direct.context.database;
    const playerId = await addPlayer(sql);
    await addGame(sql);
    let cutting = false;
    // This answer is sent after the commit: the batch is in the ledger, but the service does not know.
    await using proxy = await startProxy(direct.databaseUrl, {
      isLost: (answer) => cutting && answer.includes(commitTag),
    });
    await using service = await startService({ variables: { DATABASE_URL: proxy.url } });
    const caller = callerOf(service, playerId);
    expect((await caller.balance()).status).toBe('OK');

    const fields = {
      transactionId: randomUUID(),
      roundId: randomUUID(),
      reverseTransactionId: randomUUID(),
    };
    cutting = true;
    expect(await caller[callback](fields)).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
    cutting = false;
    const [row] = await sql<{ balance: string }[]>`
      select balance_after as balance from entries where transaction_id = ${fields.transactionId}`;
    expect(row).toBeDefined();

    const again = await caller[callback](fields);
    expect(again).toMatchObject({ http: 200, status: 'OK' });
    expect(again.balance?.replace('.', '')).toBe(row?.balance);
    const [count] = await sql`
      select count(*)::int as count from entries where transaction_id = ${fields.transactionId}`;
    expect(count).toEqual({ count: 1 });
    await expectSoundLedger({ sql });
  },
);

test('packets dropped on an open connection: 500 after a time limit, and the repeat is applied once', async () => {
  await using direct = await startService();
  const { sql } = direct.context.database;
  await addGame(sql);
  await using proxy = await startProxy(direct.databaseUrl);
  await using service = await startService({ variables: { DATABASE_URL: proxy.url } });
  const players = await Promise.all(Array.from({ length: 4 }, () => addPlayer(sql)));
  const callers = players.map((playerId) => callerOf(service, playerId));
  for (const caller of callers) expect((await caller.debit()).status).toBe('OK');

  const debits = callers.map(() => ({ transactionId: randomUUID(), roundId: randomUUID() }));
  const send = () => Promise.all(callers.map((caller, at) => caller.debit(debits[at])));
  proxy.freezeOpen();
  // The batch on the open connection is lost; another batch may have opened a new one.
  const answers = (await send()).map(({ http, status }) => `${http} ${status}`);
  expect(answers).toContain('500 ERROR_UNKNOWN');
  expect(answers.filter((answer) => answer !== '500 ERROR_UNKNOWN' && answer !== '200 OK')).toEqual([]);
  await expect
    .poll(async () => (await send()).map(({ status, balance }) => `${status} ${balance}`))
    .toEqual(callers.map(() => 'OK 980.00'));
  for (const caller of callers) expect((await caller.balance()).balance).toBe('980.00');
  await expectSoundLedger({ sql });
});

let service: Running;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

/** SQLSTATEs that mean "not now", one of each class; PostgreSQL raises them here when a row is written. */
test.each(['08006', '53300', '53100', '57P01', '57P03', '55000', '55P03', '40001'])(
  'SQLSTATE %s: a deposit is 503, a callback 500 ERROR_UNKNOWN, and both succeed when they are sent again',
  async (code) => {
    const { sql } = service.context.database;
    const playerId = await addPlayer(sql);
    const caller = callerOf(service, playerId);
    const admin = await person(service);
    const transfer = { transactionId: randomUUID(), amount: '1.00' };
    const deposit = () => admin.post(`/v1/players/${playerId}/deposits`, transfer);
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await sql.unsafe(`create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'not now' using errcode = '${code}'; end $$;
      create trigger fail before insert on entries for each row execute function fail()`);
    const [deposited, debited] = [await deposit(), await caller.debit(debit)];
    await sql`drop function fail() cascade`;
    expect(deposited).toMatchObject({ status: 503, type: 'application/problem+json' });
    expect(debited).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
    expect(await deposit()).toMatchObject({ status: 201, body: { balance: '1001.00' } });
    expect(await caller.debit(debit)).toMatchObject({ http: 200, status: 'OK', balance: '991.00' });
  },
);
