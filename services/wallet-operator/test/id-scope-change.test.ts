import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { processEnvironment } from './process.ts';
import { expectSoundLedger } from './proof.ts';

const folder = new URL('..', import.meta.url).pathname;

test('a process with another TRANSACTION_ID_SCOPE than the ledger was started with does not start', async () => {
  await using service = await startService();
  await addGame(service.context.database.sql);
  const caller = callerOf(service, await addPlayer(service.context.database.sql));
  expect((await caller.debit()).status).toBe('OK');
  const env = { ...processEnvironment(service.databaseUrl), PORT: '0', TRANSACTION_ID_SCOPE: 'player' };
  const failed = promisify(execFile)(process.execPath, ['src/main.ts'], { cwd: folder, env });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Set TRANSACTION_ID_SCOPE=global, or use an empty database.'),
  });
});

test('a process that started while the database was down moves nothing under another scope', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const fields = { transactionId: randomUUID(), roundId: randomUUID() };
  expect((await callerOf(service, playerId).debit(fields)).status).toBe('OK');
  // `startService` skips the check of main.ts, as a failed check does.
  await using other = await startService({
    variables: {
      DATABASE_URL: service.databaseUrl,
      TRANSACTION_ID_SCOPE: 'player',
    },
  });
  const caller = callerOf(other, playerId);
  for (const answer of [await caller.debit(fields), await caller.credit(), await caller.balance()])
    expect(answer).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
  expect(other.lines.join('')).toContain('Set TRANSACTION_ID_SCOPE=global');
  expect((await callerOf(service, playerId).balance()).balance).toBe('990.00');
  await expectSoundLedger(service);
});

test('of two processes that start at once on an empty database, with different scopes, one is refused', async () => {
  await using service = await startService();
  await using other = await startService({
    variables: {
      DATABASE_URL: service.databaseUrl,
      TRANSACTION_ID_SCOPE: 'player',
    },
  });
  const claims = await Promise.allSettled([service, other].map(({ context }) => context.ledger.claimScope()));
  expect(claims.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('the stored scope can not be changed', async () => {
  await using service = await startService();
  await service.context.ledger.claimScope();
  const { sql } = service.context.database;
  await expect(sql`update ledger_settings set value = 'player'`).rejects.toMatchObject({ code: '23001' });
  await expect(sql`delete from ledger_settings`).rejects.toMatchObject({ code: '23001' });
});
