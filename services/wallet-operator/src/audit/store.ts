import type { Page } from '@platform/pagination/page-limit';
import { desc, eq } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Sql } from 'postgres';
import { auditEvents } from '../db/tables.ts';

export interface Violation {
  kind:
    | 'balance_differs'
    | 'sequence_has_gap'
    | 'entries_without_player'
    | 'balance_after_differs'
    | 'reversal_without_debit'
    | 'debit_reversed_twice'
    | 'tombstone_with_debit';
  playerId: string;
  transactionId: string | null;
  detail: string;
}

export interface Findings {
  players: number;
  entries: number;
  violations: Violation[];
}

/** As many as a person will read. */
const mostViolations = 100;

/**
 * Checks the whole ledger against itself in one snapshot. It only reads, so callbacks go on meanwhile;
 * what they commit after the snapshot is not seen.
 */
export const checkLedger = (sql: Sql): Promise<Findings> =>
  sql.begin('isolation level repeatable read read only', async (snapshot) => {
    await snapshot`set local statement_timeout = '120s'`;
    await snapshot`set local work_mem = '64MB'`;
    const [counts] = await snapshot<{ players: number; entries: number }[]>`
      select (select count(*) from players)::float8 as players, (select count(*) from entries)::float8 as entries`;
    const violations = await snapshot<Violation[]>`
      with chain as (
        select player_id, seq, amount, balance_after, transaction_id,
          lag(balance_after, 1, 0) over newest as before, lag(seq, 1, 0) over newest as seq_before
        from entries window newest as (partition by player_id order by seq)
      ), sums as (
        select player_id, sum(amount) as total, count(*) as entries, max(seq) as newest,
          count(*) filter (where seq <> seq_before + 1) as misplaced,
          min(transaction_id) filter (where balance_after <> before + amount) as broken
        from chain group by player_id
      ), found as (
        select 'entries_without_player' as kind, s.player_id, null as transaction_id, s.entries || ' entries' as detail
        from sums s left join players p using (player_id) where p.player_id is null
        union all
        select 'balance_differs', p.player_id, null,
          'balance ' || p.balance || ', sum of the entries ' || coalesce(s.total, 0)
        from players p left join sums s using (player_id) where p.balance <> coalesce(s.total, 0)
        union all
        select 'sequence_has_gap', p.player_id, null,
          'newest ' || p.seq || ', ' || coalesce(s.entries, 0) || ' entries up to ' || coalesce(s.newest, 0)
        from players p left join sums s using (player_id)
        where p.seq <> coalesce(s.entries, 0) or p.seq <> coalesce(s.newest, 0) or s.misplaced > 0
        union all
        select 'balance_after_differs', player_id, broken, 'does not follow from the entry before'
        from sums where broken is not null
        union all
        select 'reversal_without_debit', r.player_id, r.transaction_id, 'reverses ' || coalesce(r.reverses, 'nothing')
        from entries r left join entries d on d.transaction_id = r.reverses and d.operation = 'debit'
          and d.player_id = r.player_id and d.round_id = r.round_id and d.amount = -r.amount
        where r.operation = 'rollback' and r.amount > 0 and d.player_id is null
        union all
        select 'debit_reversed_twice', min(player_id), reverses, count(*) || ' reversals'
        from entries where operation = 'rollback' and amount > 0 group by reverses having count(*) > 1
        union all
        select 'tombstone_with_debit', d.player_id, d.transaction_id, 'the debit may not be there'
        from entries t join entries d on d.transaction_id = t.transaction_id and d.operation = 'debit'
        where t.operation = 'tombstone'
      )
      select kind, player_id as "playerId", transaction_id as "transactionId", detail
      from found order by kind, player_id limit ${mostViolations}`;
    return { players: counts?.players ?? 0, entries: counts?.entries ?? 0, violations: [...violations] };
  });

export type AuditRow = typeof auditEvents.$inferSelect;

export const insertEvent = async (
  orm: PostgresJsDatabase,
  event: Omit<typeof auditEvents.$inferInsert, 'eventId'>,
): Promise<void> => {
  await orm.insert(auditEvents).values(event);
};

/** The newest first; one more than the page holds. */
export const listEvents = (
  orm: PostgresJsDatabase,
  playerId: string | undefined,
  { limit, offset }: Page,
): Promise<AuditRow[]> =>
  orm
    .select()
    .from(auditEvents)
    .where(playerId === undefined ? undefined : eq(auditEvents.playerId, playerId))
    .orderBy(desc(auditEvents.eventId))
    .limit(limit + 1)
    .offset(Number(offset));
