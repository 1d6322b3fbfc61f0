import type { ISql } from 'postgres';
import type { z } from 'zod';
import type { Run } from '../../sealing/verify.ts';
import type { Proof } from './schema.ts';

export type Violation = z.input<typeof Proof>['violations'][number];

export const violation = (
  kind: Violation['kind'],
  detail: string,
  playerId: string | null = null,
): Violation => ({
  kind,
  playerId,
  transactionId: null,
  detail,
});

/** Maximum number of reported violations; nobody reads more. */
export const maxViolations = 100;

/** Forces look-ups by key until the end of the transaction, because plans without statistics may read whole tables. */
export const useIndexes = async (tx: ISql): Promise<void> => {
  await tx`select set_config(name, 'off', true)
    from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) name`;
};

/** The balance of a player, with the first and the newest entry, which must explain it. */
export interface Head {
  playerId: string;
  /** Null when there are entries without a player; `seq`, too. */
  balance: string | null;
  seq: string | null;
  /** The newest sealed entry; 0 before the first. */
  sealedSeq: string;
  oldestSeq: string | null;
  newestSeq: string;
  newestBalance: string;
}

/** The next `limit` ids in `players` and `entries`, sorted, with their heads. Takes a few look-ups for each. */
export const headsAfter = (sql: ISql, playerId: string, limit: number) => sql<Head[]>`
  with recursive with_entries (id, place) as (
    (select player_id, 1 from entries where player_id > ${playerId} order by player_id limit 1)
    union all
    select (select player_id from entries where player_id > with_entries.id order by player_id limit 1), place + 1
    from with_entries where id is not null and place < ${limit}
  ), ids as (
    select id from with_entries where id is not null
    union (select player_id from players where player_id > ${playerId} order by player_id limit ${limit})
    order by id limit ${limit}
  )
  select id as "playerId", balance::text, player.seq::text, coalesce(sealed.last_seq, 0)::text as "sealedSeq",
    oldest.seq::text as "oldestSeq", coalesce(newest.seq, 0)::text as "newestSeq",
    coalesce(newest.balance_after, 0)::text as "newestBalance"
  from ids left join players player on player.player_id = id
    left join lateral (
      select last_seq from sealed_runs where player_id = id order by last_seq desc limit 1) sealed on true
    left join lateral (select seq from entries where player_id = id order by seq limit 1) oldest on true
    left join lateral (
      select seq, balance_after from entries where player_id = id order by seq desc limit 1) newest on true
  order by id`;

/**
 * Violations of these rules in the entries: each follows from the one before it, none is missing, each reversal has its
 * debit, no tombstone has a debit, and a round that an entry closed is closed.
 */
export const violationsOfRuns = (sql: ISql, runs: readonly Run[]) => sql<Violation[]>`
  with run as materialized (
    select * from unnest(${runs.map(({ playerId }) => playerId)}::text[],
      ${runs.map(({ firstSeq }) => firstSeq)}::bigint[], ${runs.map(({ lastSeq }) => lastSeq)}::bigint[])
      as run (player_id, first_seq, last_seq)
  ), chain as (
    -- Lists the columns, so that metadata is not sorted with them.
    select e.player_id, seq, operation, transaction_id, id_space, round_id, amount, balance_after, reverses, round_closed, at,
      first_seq, lag(balance_after, 1, 0::bigint) over (partition by e.player_id, first_seq order by seq) as before
    from run join entries e on e.player_id = run.player_id and e.seq between first_seq - 1 and last_seq
  ), checked as materialized (
    select * from chain where seq >= first_seq
  ), sums as (
    select player_id, first_seq, count(*) as entries, sum(amount) as total,
      (array_agg(before order by seq))[1] as opening, (array_agg(balance_after order by seq desc))[1] as closing,
      (array_agg(transaction_id order by seq) filter (where balance_after <> before::numeric + amount))[1] as broken
    from checked group by player_id, first_seq
  ), found as (
    select 'sequence_has_gap' as kind, player_id, null as transaction_id,
      coalesce(entries, 0) || ' entries from ' || first_seq || ' to ' || last_seq as detail
    from run left join sums using (player_id, first_seq)
    where coalesce(entries, 0) <> last_seq::numeric - first_seq + 1
    union all
    select 'balance_differs', player_id, null,
      'balance ' || closing || ', ' || opening || ' and the entries from ' || first_seq || ' on are ' || opening + total
    from sums where closing <> opening + total
    union all
    select 'balance_after_differs', player_id, broken, 'does not follow from the entry before'
    from sums where broken is not null
    union all
    select 'reversal_without_debit', r.player_id, r.transaction_id, 'reverses ' || coalesce(r.reverses, 'nothing')
    from checked r left join entries d on d.transaction_id = r.reverses and d.id_space = r.id_space
      and d.operation = 'debit' and d.player_id = r.player_id and d.round_id = r.round_id and d.amount = -r.amount
    where r.operation = 'rollback' and r.amount > 0 and d.player_id is null
    union all
    select 'debit_reversed_twice', r.player_id, r.reverses, 'more than one reversal'
    from checked r where r.operation = 'rollback' and r.amount > 0 and exists (
      select from entries other where other.reverses = r.reverses and other.id_space = r.id_space
        and other.operation = 'rollback' and other.amount > 0 and (other.player_id, other.seq) <> (r.player_id, r.seq))
    union all
    select 'tombstone_with_debit', d.player_id, d.transaction_id, 'the debit may not be there'
    from checked t join entries d on d.transaction_id = t.transaction_id and d.id_space = t.id_space
      and d.operation = 'debit'
    where t.operation = 'tombstone'
    union all
    select 'round_state_differs', e.player_id, e.transaction_id, 'closed the round ' || e.round_id || ', which is open'
    from checked e left join rounds round on round.player_id = e.player_id and round.round_id = e.round_id
    where e.round_closed and (round.closed_at is null or round.closed_at > e.at)
  )
  select kind, player_id as "playerId", transaction_id as "transactionId", detail
  from found order by kind, player_id limit ${maxViolations}`;
