import { randomUUID } from 'node:crypto';
import { startProxy } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

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
