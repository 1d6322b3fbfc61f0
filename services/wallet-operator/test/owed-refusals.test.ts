import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';

const auditDetails = async (sql: Sql) =>
  (await sql<{ details: object }[]>`select details from audit_events order by event_id`).map(
    ({ details }) => details,
  );

test('wins and rollbacks beyond the largest balance are in the audit trail', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const caller = callerOf(service, await addPlayer(sql, { balance: 2n ** 63n - 1n }));
  const bet = randomUUID();
  await caller.credit({ amount: '0.01' });
  await caller.debit({ transactionId: bet, amount: '1.00' });
  await caller.credit({ amount: '0.50' });
  await caller.rollback({ reverseTransactionId: bet });
  expect(await auditDetails(sql)).toMatchObject([
    { operation: 'credit', reason: 'balance_overflow', amount: 1 },
    { operation: 'rollback', reason: 'balance_overflow', reverseTransactionId: bet },
  ]);
});

test('a win that is refused because its round is unknown is in the audit trail', async () => {
  await using service = await startService({ variables: { CREDIT_UNKNOWN_ROUND: 'reject' } });
  const { sql } = service.context.database;
  await addGame(sql);
  await callerOf(service, await addPlayer(sql)).credit();
  expect(await auditDetails(sql)).toMatchObject([{ operation: 'credit', reason: 'round_unknown' }]);
});
