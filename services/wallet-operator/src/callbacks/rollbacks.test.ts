import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ok, startForDecisions } from '../../test/decisions.ts';

// The tests cover each row of the decision table, and what the contract of the game server leaves open.
const { entriesOf, player, sql } = startForDecisions();

describe('rollback', () => {
  test('of an unknown debit: OK with the current balance, and the late debit is refused and moves nothing', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.debit(debit)).toMatchObject({ http: 200, status: 'ERROR_UNKNOWN' });
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
    expect((await entriesOf(caller.playerId)).map(({ operation }) => operation)).toEqual([
      'deposit',
      'tombstone',
      'rollback',
    ]);
  });

  test.each(['credit', 'rollback'] as const)(
    'of an unknown debit uses its id up: a %s with that id is refused, audited, and moves nothing',
    async (callback) => {
      const caller = await player();
      const transactionId = randomUUID();
      await caller.rollback({ reverseTransactionId: transactionId });
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await caller[callback]({ transactionId })).toMatchObject({
          http: 200,
          status: 'ERROR_UNKNOWN',
        });
      expect(await caller.balance()).toMatchObject(ok('1000.00'));
      expect(await entriesOf(caller.playerId)).toHaveLength(3);
      const [, event] = await sql()`
        select details from audit_events where player_id = ${caller.playerId} order by event_id`;
      expect(event).toMatchObject({
        details: { operation: callback, status: 'ERROR_UNKNOWN', reason: 'tombstoned', transactionId },
      });
    },
  );

  test('of a rejected debit: the same', async () => {
    const caller = await player({ balance: 0 });
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    expect((await caller.debit(debit)).status).toBe('ERROR_NOT_ENOUGH_MONEY');
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect(await caller.rollback(reversal)).toMatchObject(ok('0.00'));
    await caller.credit({ amount: '100' });
    expect((await caller.debit(debit)).status).toBe('ERROR_UNKNOWN');
    expect(await caller.balance()).toMatchObject(ok('100.00'));
  });

  test('gives a debit back, once, whatever id asks for it', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    await caller.debit(debit);
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
    expect(await caller.debit(debit)).toMatchObject(ok('990.00'));
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
  });

  test('at the same instant as its debit: the sum is zero', async () => {
    const caller = await player();
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const debit = { transactionId: randomUUID(), roundId: randomUUID() };
        const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
        const both = [() => caller.debit(debit), () => caller.rollback(reversal)];
        const [first, second] = await Promise.all(
          (index % 2 ? both : both.toReversed()).map((send) => send()),
        );
        const [debited, reversed] = index % 2 ? [first, second] : [second, first];
        expect(reversed?.status).toBe('OK');
        expect(['OK', 'ERROR_UNKNOWN']).toContain(debited?.status);
      }),
    );
    expect(await caller.balance()).toMatchObject(ok('1000.00'));
  });

  test('of a credit or of a rollback does not exist', async () => {
    const caller = await player();
    const roundId = randomUUID();
    const [credit, rollback] = [randomUUID(), randomUUID()];
    await caller.credit({ transactionId: credit, roundId, roundClosed: false });
    await caller.rollback({ transactionId: rollback, roundId });
    for (const reverseTransactionId of [credit, rollback]) {
      expect(await caller.rollback({ roundId, reverseTransactionId })).toMatchObject({
        http: 200,
        status: 'ERROR_TRANSACTION_DOES_NOT_EXIST',
      });
    }
    expect(await caller.balance()).toMatchObject(ok('1005.00'));
  });

  test("of another player's debit does not exist", async () => {
    const [caller, stranger] = [await player(), await player()];
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await caller.debit(debit);
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect((await stranger.rollback(reversal)).status).toBe('ERROR_TRANSACTION_DOES_NOT_EXIST');
    expect((await stranger.balance()).balance).toBe('1000.00');
    expect((await caller.balance()).balance).toBe('990.00');
  });

  test('that names another round reverses the debit in its own round, and is in the audit trail', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await caller.debit(debit);
    const reversal = {
      transactionId: randomUUID(),
      roundId: randomUUID(),
      reverseTransactionId: debit.transactionId,
      roundClosed: true,
    };
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    // A repeat is recognised by the round that it named.
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect((await caller.rollback({ ...reversal, roundId: debit.roundId })).status).toBe(
      'ERROR_DUPLICATE_TRANSACTION',
    );
    const rounds = await sql()`
      select round_id as "roundId", closed_at is not null as "isClosed" from rounds
      where player_id = ${caller.playerId}`;
    expect(rounds).toEqual([{ roundId: debit.roundId, isClosed: true }]);
    const events = await sql()`
      select details from audit_events where player_id = ${caller.playerId} order by event_id`;
    expect(events.map(({ details }) => details)).toMatchObject([
      { reason: 'target_of_another_round', roundId: reversal.roundId, debitRoundId: debit.roundId },
    ]);
  });

  test('that names another round in the same batch as a win of the right one', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await caller.debit(debit);
    const results = await Promise.all([
      caller.rollback({ reverseTransactionId: debit.transactionId, roundClosed: true }),
      caller.rollback({ reverseTransactionId: randomUUID(), roundId: debit.roundId, roundClosed: true }),
      caller.credit({ roundId: debit.roundId }),
    ]);
    expect(results.slice(0, 2).map(({ status }) => status)).toEqual(['OK', 'OK']);
    const isPaid = results[2].status === 'OK';
    expect((await caller.balance()).balance).toBe(isPaid ? '1005.00' : '1000.00');
  });

  test('of itself is wrong syntax and kills nothing', async () => {
    const caller = await player();
    const id = randomUUID();
    expect((await caller.rollback({ transactionId: id, reverseTransactionId: id })).status).toBe(
      'ERROR_WRONG_SYNTAX',
    );
    expect(await caller.debit({ transactionId: id })).toMatchObject(ok('990.00'));
  });

  test('of a debit in a closed round: reversed, and in the audit trail', async () => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    await caller.debit(debit);
    await caller.credit({ roundId: debit.roundId, amount: '0' });
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId };
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    const events = await sql()`
      select details from audit_events where player_id = ${caller.playerId}`;
    expect(events).toMatchObject([
      { details: { operation: 'rollback', reason: 'after_close', status: 'OK' } },
    ]);
  });

  test.each([true, false])('with roundClosed true closes the round, debit known: %s', async (known) => {
    const caller = await player();
    const debit = { transactionId: randomUUID(), roundId: randomUUID() };
    if (known) await caller.debit(debit);
    const reversal = { roundId: debit.roundId, reverseTransactionId: debit.transactionId, roundClosed: true };
    expect(await caller.rollback(reversal)).toMatchObject(ok('1000.00'));
    expect((await caller.debit({ roundId: debit.roundId })).status).toBe('ERROR_UNKNOWN');
    expect((await caller.credit({ roundId: debit.roundId })).status).toBe('ERROR_UNKNOWN');
  });
});
