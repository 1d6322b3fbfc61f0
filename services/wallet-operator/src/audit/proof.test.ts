import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from '../../test/factories.ts';
import { startService } from '../../test/harness.ts';
import { person } from '../../test/people.ts';

/** What somebody with the owner's rights could do to the data; the trigger does not see it. */
const tamper = (sql: Sql, change: (tx: Sql) => Promise<unknown>) =>
  sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await change(tx as unknown as Sql);
  });

const player = 'ada';
const entry = (tx: Sql, seq: number, operation: string, amount: number, after: number, more: object = {}) =>
  tx`insert into entries ${tx({ player_id: player, seq, operation, transaction_id: randomUUID(), round_id: 'r', amount, balance_after: after, at: '2026-01-01', ...more })}`;

const crimes: [string, (tx: Sql) => Promise<unknown>][] = [
  ['balance_differs', (tx) => tx`update players set balance = balance + 1 where player_id = ${player}`],
  ['sequence_has_gap', (tx) => tx`delete from entries where player_id = ${player} and seq = 2`],
  ['sequence_has_gap', (tx) => tx`update players set seq = seq + 1 where player_id = ${player}`],
  ['entries_without_player', (tx) => tx`delete from players where player_id = ${player}`],
  [
    'balance_after_differs',
    (tx) => tx`update entries set balance_after = 7 where player_id = ${player} and seq = 2`,
  ],
  [
    'balance_differs',
    (tx) => tx`update entries set amount = amount - 1 where player_id = ${player} and seq = 2`,
  ],
  ['reversal_without_debit', (tx) => entry(tx, 5, 'rollback', 5, 99_505, { reverses: 'no such debit' })],
  [
    'reversal_without_debit',
    (tx) => entry(tx, 5, 'rollback', 999, 100_499, { reverses: 'the debit', round_id: 'another' }),
  ],
  [
    'debit_reversed_twice',
    async (tx) => {
      await tx`drop index entries_reversal`;
      await entry(tx, 5, 'rollback', 500, 100_000, { reverses: 'the debit', round_id: 'round' });
      await entry(tx, 6, 'rollback', 500, 100_500, { reverses: 'the debit', round_id: 'round' });
    },
  ],
  [
    'tombstone_with_debit',
    async (tx) => {
      await tx`drop index entries_transaction`;
      await entry(tx, 5, 'tombstone', 0, 99_500, { transaction_id: 'the debit' });
    },
  ],
];

test.each(crimes)('names %s', async (kind, change) => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  await addPlayer(sql, {}, player);
  const caller = callerOf(service, player);
  await caller.debit({ transactionId: 'the debit', roundId: 'round', amount: '5' });
  await caller.rollback();
  const ann = await person(service);
  expect((await ann.get('/v1/audit/proof')).body).toMatchObject({
    ok: true,
    players: 1,
    entries: 4,
    violations: [],
  });
  await tamper(sql, change);
  const { status, body } = await ann.get('/v1/audit/proof');
  expect(status).toBe(200);
  expect(body['ok']).toBe(false);
  expect(body['violations']).toContainEqual(expect.objectContaining({ kind, playerId: player }));
});
