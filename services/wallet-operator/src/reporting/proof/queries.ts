import { randomBytes } from 'node:crypto';
import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import type { z } from 'zod';
import { checkCounters } from '../../limits/proof.ts';
import type { Proof } from '../audit/schema.ts';
import { differingSums } from '../summary/proof.ts';

type Findings = Omit<z.input<typeof Proof>, 'ok' | 'checkedAt'>;
type Violation = Findings['violations'][number];

/** As many as a person will read. */
const mostViolations = 100;

type Fragment = PendingQuery<Row[]>;

/**
 * Counts everything and finds the first players whose entries do not add up. The table is read once, in the
 * order it has on disk: in the order of their players, each entry of a large ledger would cost a page of its own.
 *
 * That each balance follows from the one before is seen without an order, too. An entry gives two hashes, of its
 * number with the balance after it, and of the number before it with the balance before it; along a chain they
 * cancel in pairs, all but the first and the last. The seed is new each time, so that nobody can prepare entries
 * that cancel without following from each other.
 */
const findSuspects = async (
  snapshot: TransactionSql,
): Promise<{ players: number; entries: number; suspects: string[] }> => {
  const seed = String(randomBytes(8).readBigInt64LE());
  const link = (seq: Fragment, balance: Fragment) =>
    snapshot`hashint8extended(${balance}, hashint8extended(${seq}, ${seed}::bigint))`;
  const own = link(snapshot`seq`, snapshot`balance_after`);
  const before = link(snapshot`seq - 1`, snapshot`balance_after - amount`);
  const start = link(snapshot`0`, snapshot`0`);
  const end = link(snapshot`p.seq`, snapshot`p.balance`);
  const [counts] = await snapshot<[{ players: number; entries: number; suspects: string[] }]>`
    with sums as (
      select player_id, count(*) as entries, sum(amount) as total, min(seq) as oldest, max(seq) as newest,
        -- Where int64 has no number for the balance before, there was none.
        bit_xor(${own}) # coalesce(bit_xor(case when seq > 0 and balance_after >= 0
          and (amount >= 0 or balance_after <= 9223372036854775807 + amount) then ${before} end), 0) as chain
      from entries group by player_id
    )
    select count(p.player_id)::float8 as players, coalesce(sum(s.entries), 0)::float8 as entries,
      coalesce((array_agg(player_id order by player_id) filter (where p.player_id is null
        or p.balance <> coalesce(s.total, 0) or p.seq <> coalesce(s.entries, 0) or p.seq <> coalesce(s.newest, 0)
        or s.oldest <> 1 or s.chain <> (${start} # ${end})))[:${mostViolations}::int], '{}') as suspects
    from sums s full join players p using (player_id)`;
  return counts;
};

/** Says what is wrong with these players, and with reversals and tombstones of all. */
const nameViolations = (snapshot: TransactionSql, suspects: readonly string[]) => snapshot<Violation[]>`
  with chain as (
    select player_id, seq, amount, balance_after, transaction_id,
      lag(balance_after, 1, 0) over newest as before, lag(seq, 1, 0) over newest as seq_before
    from entries where player_id = any (${suspects}) window newest as (partition by player_id order by seq)
  ), sums as (
    select player_id, sum(amount) as total, count(*) as entries, max(seq) as newest,
      count(*) filter (where seq::numeric <> seq_before::numeric + 1) as misplaced,
      (array_agg(transaction_id order by seq) filter (where balance_after <> before::numeric + amount))[1] as broken
    from chain group by player_id
  ), suspects as (
    select * from players where player_id = any (${suspects})
  ), found as (
    select 'entries_without_player' as kind, s.player_id, null as transaction_id, s.entries || ' entries' as detail
    from sums s left join suspects p using (player_id) where p.player_id is null
    union all
    select 'balance_differs', p.player_id, null,
      'balance ' || p.balance || ', sum of the entries ' || coalesce(s.total, 0)
    from suspects p left join sums s using (player_id) where p.balance <> coalesce(s.total, 0)
    union all
    select 'sequence_has_gap', p.player_id, null,
      'newest ' || p.seq || ', ' || coalesce(s.entries, 0) || ' entries up to ' || coalesce(s.newest, 0)
    from suspects p left join sums s using (player_id)
    where p.seq <> coalesce(s.entries, 0) or p.seq <> coalesce(s.newest, 0) or s.misplaced > 0
    union all
    select 'balance_after_differs', player_id, broken, 'does not follow from the entry before'
    from sums where broken is not null
    union all
    select 'reversal_without_debit', r.player_id, r.transaction_id, 'reverses ' || coalesce(r.reverses, 'nothing')
    from entries r left join entries d on d.transaction_id = r.reverses and d.id_space = r.id_space
      and d.operation = 'debit' and d.player_id = r.player_id and d.round_id = r.round_id and d.amount = -r.amount
    where r.operation = 'rollback' and r.amount > 0 and d.player_id is null
    union all
    select 'debit_reversed_twice', min(player_id), reverses, count(*) || ' reversals'
    from entries where operation = 'rollback' and amount > 0 group by reverses, id_space having count(*) > 1
    union all
    select 'tombstone_with_debit', d.player_id, d.transaction_id, 'the debit may not be there'
    from entries t join entries d on d.transaction_id = t.transaction_id and d.id_space = t.id_space
      and d.operation = 'debit'
    where t.operation = 'tombstone'
  )
  select kind, player_id as "playerId", transaction_id as "transactionId", detail
  from found order by kind, player_id limit ${mostViolations}`;

/**
 * Checks the whole ledger against itself in one snapshot. It only reads, so callbacks go on meanwhile;
 * what they commit after the snapshot is not seen.
 */
export const checkLedger = (sql: Sql): Promise<Findings> =>
  sql.begin('isolation level repeatable read read only', async (snapshot) => {
    await snapshot`set local work_mem = '64MB'`;
    const { suspects, ...counts } = await findSuspects(snapshot);
    const inLedger = await nameViolations(snapshot, suspects);
    const inCounters = await checkCounters(snapshot, mostViolations);
    const inSums = (await differingSums(snapshot, mostViolations)).map((detail) => ({
      kind: 'daily_sum_differs' as const,
      playerId: null,
      transactionId: null,
      detail,
    }));
    return { ...counts, violations: [...inLedger, ...inCounters, ...inSums].slice(0, mostViolations) };
  });
