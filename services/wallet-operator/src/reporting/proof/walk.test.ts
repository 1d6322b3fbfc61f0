import { openDatabase } from '@platform/service-kit/db';
import type { ISql, Sql } from 'postgres';
import { expect, test } from 'vitest';
import { playRounds, seal, sealingKey, startSealingService } from '../../../test/evidence.ts';
import { callerOf } from '../../../test/factories.ts';
import { createTestDatabase, startService } from '../../../test/harness.ts';
import { person } from '../../../test/people.ts';
import { proofOk, tamper } from '../../../test/proof.ts';
import { trustKey } from '../../sealing/queries.ts';
import { closeDays, newestFinishedDay } from '../summary/queries.ts';
import { checkUnsealed } from './proof.ts';
import { checkWholeLedger } from './proving.ts';

/** Proves every second, and walks over all that is sealed in less than two. */
const fast = { PROVE_EVERY_S: '1', SEAL_WALK_DAYS: '0.00002' };

/** A sealed ledger with sums of its days, of which somebody with the owner's rights changes something. */
const sealedLedger = async (variables: Record<string, string> = {}) => {
  const service = await startSealingService(variables);
  const { sql } = service.context.database;
  const round = await playRounds(service);
  await tamper(sql, async (tx) => {
    await tx`update entries set at = at - interval '2 days'`;
    await tx`update rounds set opened_at = opened_at - interval '2 days', closed_at = closed_at - interval '2 days'`;
  });
  await closeDays(sql, await newestFinishedDay(sql));
  await seal(sql);
  return { service, sql, ...round };
};

/** An old entry, all later balances, and the sums of the days. */
const rewrite = async (tx: ISql, playerId: string, by: number): Promise<void> => {
  await tx`update entries set amount = amount + ${by} where player_id = ${playerId} and seq = 1`;
  await tx`update entries set balance_after = balance_after + ${by} where player_id = ${playerId}`;
  await tx`update players set balance = balance + ${by} where player_id = ${playerId}`;
  await tx`update daily_sums set closing = closing + ${by}, deposits = deposits + ${by} where game_code = ''`;
};

test('the walk over sealed entries finds an entry that was rewritten with all later balances and sums, and a restart does not forget it', async () => {
  const { service, sql, playerId } = await sealedLedger();
  await using _ = service;
  await tamper(sql, (tx) => rewrite(tx, playerId, 100));
  expect((await (await person(service)).get('/v1/audit/proof')).body).toMatchObject({ ok: true });
  {
    await using walking = await startService({ databaseUrl: service.databaseUrl, variables: fast });
    await expect.poll(() => proofOk(walking)).toBe('0');
    // The line is logged after the transaction that the metric reads.
    const log = () => walking.lines.join('');
    await expect.poll(log).toContain('the walk over the sealed entries found violations');
  }
  await using restarted = await startService({ databaseUrl: service.databaseUrl });
  await expect.poll(() => proofOk(restarted)).toBe('0');
  const { body } = await (await person(restarted)).get('/v1/audit/proof');
  expect(body).toMatchObject({ ok: false, violations: [{ kind: 'checkpoint_differs' }] });
  await tamper(sql, (tx) => rewrite(tx, playerId, -100));
  expect((await (await person(restarted)).get('/v1/audit/proof')).body).toMatchObject({ ok: false });
  // A walk that begins now finds nothing.
  await using again = await startService({ databaseUrl: service.databaseUrl, variables: fast });
  await expect.poll(() => proofOk(again)).toBe('1');
  expect((await (await person(restarted)).get('/v1/audit/proof')).body).toMatchObject({
    ok: true,
    violations: [],
  });
});

const damages: [string, string, (tx: ISql) => Promise<unknown>][] = [
  ['a changed currency', 'checkpoint_differs', (tx) => tx`update players set currency = 'JPY'`],
  ['a round that is open again', 'round_state_differs', (tx) => tx`update rounds set closed_at = null`],
  ['a changed sum of a day', 'daily_sum_differs', (tx) => tx`update daily_sums set wins = wins + 1`],
  [
    'a checkpoint with another time',
    'checkpoint_differs',
    (tx) => tx`update sealed_ranges set sealed_at = now()`,
  ],
  ['a removed entry', 'sequence_has_gap', (tx) => tx`delete from entries where seq = 2`],
];

test.each(damages)('the walk finds %s', async (_name, kind, change) => {
  const { service, sql } = await sealedLedger(fast);
  await using _ = service;
  await expect.poll(() => proofOk(service)).toBe('1');
  await tamper(sql, change);
  await expect.poll(() => proofOk(service)).toBe('0');
  const known = async () =>
    ((await (await person(service)).get('/v1/audit/proof')).body['violations'] ?? []) as object[];
  await expect.poll(known).toContainEqual(expect.objectContaining({ kind }));
});

test('the proof finds that the newest checkpoint was removed', async () => {
  const { service, sql } = await sealedLedger();
  await using _ = service;
  await tamper(
    sql,
    (tx) => tx`delete from sealed_ranges where number = (select max(number) from sealed_ranges)`,
  );
  const { body } = await (await person(service)).get('/v1/audit/proof');
  expect(body['violations']).toContainEqual(expect.objectContaining({ kind: 'checkpoint_differs' }));
});

test('a violation that the proof found is still reported after its entries are sealed', async () => {
  const { service, sql, playerId } = await sealedLedger();
  await using _ = service;
  await callerOf(service, playerId).debit();
  await callerOf(service, playerId).debit();
  await tamper(
    sql,
    (tx) => tx`update entries set balance_after = 7 where player_id = ${playerId} and seq = 6`,
  );
  const ann = await person(service);
  expect((await ann.get('/v1/audit/proof')).body).toMatchObject({ ok: false });
  await seal(sql);
  expect((await ann.get('/v1/audit/proof')).body).toMatchObject({
    ok: false,
    violations: [{ kind: 'balance_after_differs', playerId }],
  });
});

/** Rows of the ledger that the proof reads, by index and in other ways. */
const rowsRead = async (sql: Sql): Promise<number> => {
  const read = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<[{ rows: number }]>`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_user_tables
      where relname in ('entries', 'sealed_runs', 'sealed_ranges', 'rounds')`;
    return row.rows;
  };
  const before = await read();
  await checkUnsealed(sql);
  return (await read()) - before;
};

test('the proof reads no more rows of a ledger whose sealed part is five times as large', async () => {
  await using database = await createTestDatabase();
  // No service, whose own work would count.
  await using one = openDatabase({ url: database.url, name: 'test', max: 1 });
  const { sql } = one;
  await trustKey(sql, sealingKey);
  await sql`insert into players (player_id, currency, balance, seq, created_at)
    select 'many-' || n, 'EUR', 0, 0, now() from generate_series(1, 20) n`;
  const grow = async (from: number, to: number): Promise<void> => {
    await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
      select player_id, n, 'deposit', player_id || '-' || n, 1, n, now(), 'operator'
      from players, generate_series(${from}::int, ${to}::int) n`;
    await sql`update players set balance = ${to}, seq = ${to}`;
    await seal(sql);
    // Rows that an index alone answers once a vacuum ran would be counted or not by chance. One vacuum may leave pages out.
    const pagesLeftOut = async () => {
      await sql`vacuum analyze`;
      return sql`select relname from pg_class
        where relname in ('players', 'entries', 'sealed_runs') and relallvisible < relpages`;
    };
    await expect.poll(pagesLeftOut).toEqual([]);
  };
  await grow(1, 200);
  const small = await rowsRead(sql);
  await grow(201, 1000);
  expect(await rowsRead(sql)).toBe(small);
  expect(small).toBeLessThan(20 * 5 + 10);
  expect(await checkWholeLedger(sql)).toMatchObject({ ok: true, players: 20, entries: 20_000 });
});
