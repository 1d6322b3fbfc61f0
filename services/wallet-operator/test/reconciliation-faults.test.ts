import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '@platform/service-kit/db';
import { seededRandom } from '@platform/service-kit/testing';
import type { Sql, TransactionSql } from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { removeExpired } from '../src/reconciliation/run-queries.ts';
import { createComparer } from '../src/reconciliation/comparing.ts';
import { jsonLines } from '@platform/wallet-conformance/game-server/statement';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { keys, createTestDatabase, startService } from './harness.ts';
import { startProcess } from './process.ts';
import { expectSoundLedger } from './proof.ts';
import { getJson, playStatement, reconcile, sendStatement, waitForDifferences } from './reconciliations.ts';

/** Inserts entries of the last minutes, one round of a debit and a credit for each number. */
const fill = async (sql: Sql, playerId: string, rounds: number): Promise<void> => {
  await sql`insert into rounds (player_id, round_id, game_code, opened_at, closed_at)
    select ${playerId}, 'r-' || n, 'dice-alpha', now() - interval '5 minutes', now() from generate_series(1, ${rounds}::int) n`;
  await sql`
    insert into entries (player_id, seq, operation, transaction_id, round_id, game_code, amount, balance_after,
      round_closed, at, id_space)
    select ${playerId}, 2 * n, 'debit', 'd-' || n, 'r-' || n, 'dice-alpha', -1, 99999, null::boolean,
      now() - interval '5 minutes' + make_interval(secs => n / 100.0), 'game' from generate_series(1, ${rounds}::int) n
    union all
    select ${playerId}, 2 * n + 1, 'credit', 'c-' || n, 'r-' || n, 'dice-alpha', 1, 100000, true,
      now() - interval '5 minutes' + make_interval(secs => n / 100.0), 'game' from generate_series(1, ${rounds}::int) n`;
  await sql`update players set seq = 1 + 2 * ${rounds}::int where player_id = ${playerId}`;
};

/** The lines of `fill`, without the debits whose numbers are divisible by 1,000. */
const statementOf = (playerId: string, rounds: number): string =>
  Array.from({ length: rounds }, (_, index) => {
    const n = index + 1;
    const common = { playerId, roundId: `r-${n}`, gameCode: 'dice-alpha', amount: '0.01', currency: 'EUR' };
    const credit = { ...common, operation: 'credit', transactionId: `c-${n}`, roundClosed: true };
    const debit = { ...common, operation: 'debit', transactionId: `d-${n}` };
    return (n % 1000 === 0 ? [credit] : [debit, credit]).map((line) => `${JSON.stringify(line)}\n`).join('');
  }).join('');

test('after kill -9 at any moment of the comparison each difference is stored once', async () => {
  const random = seededRandom();
  await using database = await createTestDatabase();
  await using admin = openDatabase({ url: database.url, name: 'test', max: 2, statementTimeoutMs: 600_000 });
  const { sql } = admin;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const rounds = 5000;
  await fill(sql, playerId, rounds);
  const folder = await mkdtemp(join(tmpdir(), 'reconciliation-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'jwks.json'), JSON.stringify(keys.jwks));
  await using process = await startProcess(database.url, '', {
    AUTH_JWKS: join(folder, 'jwks.json'),
    AUTH_ISSUER: keys.issuer,
    AUTH_AUDIENCE: keys.audience,
  });
  const sent = await sendStatement(process.url, statementOf(playerId, rounds));
  expect(sent.status).toBe(201);
  for (let round = 0; round < 4; round++) {
    await sleep(random() * 300);
    await process.kill();
    await process.start();
  }
  const { status, differences } = await waitForDifferences(
    process.url,
    String(sent.body['reconciliationId']),
  );
  expect(status).toBe('done');
  expect(differences.map(({ number, kind }) => [number, kind])).toEqual(
    Array.from({ length: rounds / 1000 }, (_, index) => [index + 1, 'missing_there']),
  );
  expect(new Set(differences.map(({ transactionId }) => transactionId)).size).toBe(rounds / 1000);
});

test('a debit waits for no step of a comparison', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const lines = await playStatement(service, [playerId], 5);
  // Only the comparer of this test works.
  await service.context.comparing[Symbol.asyncDispose]();
  const sent = await sendStatement(service.url, jsonLines(lines.slice(1)));
  const steps: string[] = [];
  const begin = (work: (tx: TransactionSql) => Promise<void>) =>
    sql.begin(async (tx) => {
      await work(tx);
      // The transaction is still open.
      expect((await callerOf(service, playerId).debit({ amount: '0.01' })).status).toBe('OK');
      const [row] = await tx<{ step: string }[]>`select step from reconciliations`;
      steps.push(row?.step ?? '');
    });
  const compare = createComparer(Object.assign(() => undefined, { begin }) as unknown as Sql);
  while (await compare());
  expect(steps.slice(0, 2)).toEqual(['lines', 'entries']);
  expect(steps.at(-1)).toBe('ended');
  const found = await getJson<{ differences: number }>(
    service.url,
    `/v1/reconciliations/${String(sent.body['reconciliationId'])}`,
  );
  expect(found.differences).toBe(1);
  await expectSoundLedger(service);
});

test('a statement whose upload was interrupted is reported, and its lines are removed', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const playerId = await addPlayer(sql);
  await service.context.comparing[Symbol.asyncDispose]();
  const compare = createComparer(sql);
  const interrupted = await sendStatement(service.url, statementOf(playerId, 5));
  await sql`update reconciliations set step = 'receiving', touched_at = now() - interval '3 minutes' where step <> 'ended'`;
  while (await compare());
  const path = `/v1/reconciliations/${String(interrupted.body['reconciliationId'])}`;
  expect(await getJson(service.url, path)).toMatchObject({
    status: 'failed',
    failure: 'interrupted',
    differences: 0,
  });
  expect(await sql`select from reconciliation_lines`).toHaveLength(0);
});

test('reconciliations and dry runs are deleted after 90 days, except for what was repaired', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  await reconcile(service.url, statementOf(playerId, 3));
  const kept = await reconcile(service.url, statementOf(playerId, 3));
  await sql`update reconciliation_differences set repair_transaction_id = 'x', state = 'applied'
    where reconciliation_id = ${kept.reconciliationId} and number = 2`;
  await sql`insert into reconciliation_dry_runs (reconciliation_id, created_at, created_by, repairs)
    select ${kept.reconciliationId}, now() - make_interval(days => days), days, '[]' from unnest(array[1, 91, 92]) days`;
  await sql`update reconciliation_differences set dry_run_id = (select dry_run_id from reconciliation_dry_runs
    where created_by = '92') where number = 2`;
  while (await removeExpired(sql, 90, 2));
  expect(await sql`select created_by as days from reconciliation_dry_runs order by days`).toEqual([
    { days: '1' },
    { days: '92' },
  ]);
  expect(await sql`select from reconciliation_differences`).toHaveLength(12);
  await sql`update reconciliations set created_at = now() - interval '91 days'`;
  while (await removeExpired(sql, 90, 2));
  expect(await sql`select number from reconciliation_differences`).toEqual([{ number: 2 }]);
  expect(await sql`select reconciliation_id from reconciliations`).toEqual([
    { reconciliation_id: kept.reconciliationId },
  ]);
});
