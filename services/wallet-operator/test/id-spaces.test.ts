import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ok } from './decisions.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

describe.each(['global', 'player'])('TRANSACTION_ID_SCOPE=%s: deposits and withdrawals', (scope) => {
  let service: Running;
  let admin: Awaited<ReturnType<typeof person>>;
  beforeAll(async () => {
    service = await startService({ variables: { TRANSACTION_ID_SCOPE: scope } });
    admin = await person(service);
    await addGame(service.context.database.sql);
  });
  afterAll(async () => {
    await expectSoundLedger(service);
    await service[Symbol.asyncDispose]();
  });
  const newCaller = async () => callerOf(service, await addPlayer(service.context.database.sql));

  test.each(['debit', 'credit', 'rollback'] as const)(
    'have ids of their own: a %s with the id of a deposit is a transaction of its own, before and after it',
    async (callback) => {
      const caller = await newCaller();
      const deposits = `/v1/players/${caller.playerId}/deposits`;
      const moved = { debit: -1000, credit: 500, rollback: 0 }[callback];
      const balance = (cents: number) => ((100_000 + cents) / 100).toFixed(2);
      for (const depositFirst of [true, false]) {
        const before = depositFirst ? 0 : 700 + moved;
        const transactionId = randomUUID();
        const fields = { transactionId, roundId: randomUUID(), reverseTransactionId: randomUUID() };
        const deposit = () => admin.post(deposits, { transactionId, amount: '7.00' });
        const call = () => caller[callback](fields);
        const expectDeposit = async (cents: number) =>
          expect(await deposit()).toMatchObject({ status: 201, body: { balance: balance(cents) } });
        const expectCall = async (cents: number) => expect(await call()).toMatchObject(ok(balance(cents)));
        // Each is repeated, so that the stored answer of one is never taken for the other's.
        for (let attempt = 0; attempt < 2; attempt++) {
          if (depositFirst) await expectDeposit(before + 700);
          await expectCall(before + moved + (depositFirst ? 700 : 0));
          if (!depositFirst) await expectDeposit(before + moved + 700);
        }
      }
      expect(await caller.balance()).toMatchObject(ok(balance(2 * (700 + moved))));
    },
  );

  test('are not reversed by a rollback that names their id, nor blocked by its tombstone', async () => {
    const caller = await newCaller();
    const path = `/v1/players/${caller.playerId}`;
    const transactionId = randomUUID();
    await admin.post(`${path}/withdrawals`, { transactionId, amount: '100.00' });
    expect(await caller.rollback({ reverseTransactionId: transactionId })).toMatchObject(ok('900.00'));
    const later = randomUUID();
    expect(await caller.rollback({ reverseTransactionId: later })).toMatchObject(ok('900.00'));
    const deposit = await admin.post(`${path}/deposits`, { transactionId: later, amount: '1.00' });
    expect(deposit).toMatchObject({ status: 201, body: { balance: '901.00' } });
  });

  test('share one id space for all players: an id used twice is a conflict and moves nothing', async () => {
    const [caller, stranger] = [await newCaller(), await newCaller()];
    const transfer = { transactionId: randomUUID(), amount: '5.00' };
    expect((await admin.post(`/v1/players/${caller.playerId}/deposits`, transfer)).status).toBe(201);
    for (const path of [`${caller.playerId}/withdrawals`, `${stranger.playerId}/deposits`])
      expect(await admin.post(`/v1/players/${path}`, transfer)).toMatchObject({
        status: 409,
        body: { code: 'duplicate_transaction' },
      });
    expect(await caller.balance()).toMatchObject(ok('1005.00'));
    expect(await stranger.balance()).toMatchObject(ok('1000.00'));
  });

  test('200 deposits and debits with one id at once: each is applied once', async () => {
    const caller = await newCaller();
    const transactionId = randomUUID();
    const fields = { transactionId, roundId: randomUUID() };
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const deposit = { transactionId, amount: '3.00' };
        const [debited, deposited] = await Promise.all([
          caller.debit(fields),
          admin.post(`/v1/players/${caller.playerId}/deposits`, deposit),
        ]);
        expect([debited.status, deposited.status]).toEqual(['OK', 201]);
      }),
    );
    expect(await caller.balance()).toMatchObject(ok('993.00'));
  });
});

describe('TRANSACTION_ID_SCOPE=player', () => {
  let service: Running;
  beforeAll(async () => {
    service = await startService({ variables: { TRANSACTION_ID_SCOPE: 'player' } });
    await addGame(service.context.database.sql);
  });
  afterAll(async () => {
    await expectSoundLedger(service);
    await service[Symbol.asyncDispose]();
  });
  const newCaller = async () => callerOf(service, await addPlayer(service.context.database.sql));

  test('the same id of two players is two transactions, each idempotent', async () => {
    const callers = [await newCaller(), await newCaller()];
    const ids = { transactionId: '1', roundId: '1' };
    for (const [at, caller] of callers.entries()) {
      const amount = `${at + 1}.00`;
      const after = ok(`${999 - at}.00`);
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await caller.debit({ ...ids, amount })).toMatchObject(after);
      expect((await caller.debit({ ...ids, amount: '9.00' })).status).toBe('ERROR_DUPLICATE_TRANSACTION');
      expect((await caller.credit(ids)).status).toBe('ERROR_DUPLICATE_TRANSACTION');
    }
  });

  test("a rollback reverses the player's own debit, never another player's of the same id", async () => {
    const [caller, stranger] = [await newCaller(), await newCaller()];
    const debit = { transactionId: 'bet', roundId: 'round' };
    const reversal = { roundId: 'round', reverseTransactionId: 'bet' };
    await caller.debit(debit);
    expect(await stranger.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.balance()).toMatchObject(ok('990.00'));
    // The stranger's tombstone is the stranger's alone.
    expect((await stranger.debit(debit)).status).toBe('ERROR_UNKNOWN');
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    const third = await newCaller();
    expect(await third.debit(debit)).toMatchObject(ok('990.00'));
    expect(await third.rollback(reversal)).toMatchObject(ok('1000.00'));
  });

  test('30 players use one id at once, 5 copies each: each is applied once', async () => {
    const callers = await Promise.all(Array.from({ length: 30 }, newCaller));
    const ids = { transactionId: 'same', roundId: 'same' };
    const answers = await Promise.all(
      callers.flatMap((caller) => Array.from({ length: 5 }, () => caller.debit(ids))),
    );
    expect(new Set(answers.map(({ status, balance }) => `${status} ${balance}`))).toEqual(
      new Set(['OK 990.00']),
    );
  });

  test('a player id that looks like an id space gets into no other space', async () => {
    const { sql } = service.context.database;
    const callers = ['operator', 'game', 'a', 'player/a'];
    for (const playerId of callers) {
      await addPlayer(sql, {}, playerId);
      const caller = callerOf(service, playerId);
      expect(await caller.debit({ transactionId: 't', roundId: 'r' })).toMatchObject(ok('990.00'));
    }
  });
});
