import type { ISql } from 'postgres';
import { decisionTime, latestCredible } from '../db/time.ts';
import { limitWindows, players as playersTable } from '../db/tables.ts';
import { jsonRows, type Fragment } from '../db/sql.ts';
import {
  capsOf,
  isCounted,
  type Kind,
  type Limit,
  type Period,
  type PlayerLimits,
  type Window,
} from './domain.ts';
import { limitMonth } from './month.ts';

/**
 * The entries of `source` with the column `reversed`, for `countedSums`. Both define for all statements which entries count;
 * `count` in domain.ts is the same for one new entry.
 */
export const countedEntries = (sql: ISql, source: Fragment = sql`entries`) => sql`
  select e.*, reversal.player_id is not null as reversed
  from ${source} e left join entries reversal on e.operation = 'debit' and reversal.reverses = e.transaction_id
    and reversal.id_space = e.id_space and reversal.operation = 'rollback' and reversal.amount > 0`;

/** Sums of `countedEntries`. A reversed debit does not count. */
export const countedSums = (sql: ISql) => sql`
  coalesce(-sum(amount) filter (where operation = 'debit' and not reversed), 0)::bigint as wagered,
  coalesce(-sum(amount) filter (where operation in ('debit', 'credit') and not reversed), 0)::bigint as lost`;

/**
 * SQL: the start of a period of a `player` at `moment`. 24 hours and 7 days move with the time, in steps of a minute; a month
 * begins at midnight in the time zone of the player.
 */
export const sinceOf = (sql: ISql, period: Fragment, moment: Fragment) => sql`
  case ${period}
    when '24h' then date_trunc('minute', ${moment}) - interval '24 hours'
    when '7d' then date_trunc('minute', ${moment}) - interval '168 hours'
    when 'month' then ${limitMonth(sql, 'player', moment)}
  end`;

interface LimitsRow {
  playerId: string;
  moment: string;
  wagered: string | null;
  lost: string | null;
  limits: { kind: Kind; period: Period; value: string; since: string | null; deposited: string | null }[];
  nextChange: string | null;
  windows: { period: Period; since: string; afterSeq: string; wagered: string; lost: string }[];
}

const playerLimits = (row: LimitsRow): PlayerLimits => {
  const moment = new Date(row.moment);
  const windows = row.windows.map(({ period, since, ...sums }): Window => ({
    period,
    since: new Date(since),
    afterSeq: BigInt(sums.afterSeq),
    wagered: BigInt(sums.wagered),
    lost: BigInt(sums.lost),
  }));
  const sinceOfSession = windows.find(({ period }) => period === 'session')?.since ?? moment;
  return {
    playerId: row.playerId,
    moment,
    limits: row.limits.map(({ kind, period, value, since, deposited }): Limit => ({
      kind,
      period,
      value: BigInt(value),
      since: since === null ? sinceOfSession : new Date(since),
      deposited: deposited === null ? undefined : BigInt(deposited),
    })),
    nextChange: row.nextChange === null ? undefined : new Date(row.nextChange),
    counters:
      row.wagered === null || row.lost === null
        ? undefined
        : { totals: { wagered: BigInt(row.wagered), lost: BigInt(row.lost) }, windows },
    played: false,
  };
};

const fewEntries = 500;

/**
 * Returns the limits of players at `moment`, or at the newest decision if that is later: the lowest of each kind and period,
 * and the counters without the entries that have left their period. Decisions by them require that the players are locked.
 *
 * A period begins at its first entry, and all entries with higher numbers belong to it. When it moves, the statement adds up
 * either the entries that leave it, or, if at most the newest 500 stay (a new month), those that stay (`is_short`). The
 * minute allows for times that differ from the order of the entries, because a batch may wait for a lock. Entries and
 * periods from a time when the clock ran ahead (`is_ahead`) belong to no period; such a period is added up anew.
 */
export const readLimits = async (
  sql: ISql,
  playerIds: readonly string[],
  moment: Date,
  sessionBreakS: number,
): Promise<Map<string, PlayerLimits>> => {
  if (playerIds.length === 0) return new Map();
  const since = sinceOf(sql, sql`period`, sql`clock.at`);
  const latest = sql.unsafe(latestCredible('clock.at'));
  const rows = await sql<LimitsRow[]>`
    select player.player_id as "playerId", clock.at as moment, player.wagered::text, player.lost::text, in_force.limits, in_force."nextChange",
      case when player.limits_until is null then '[]'::json else counted.windows end as windows
    from players player
      cross join (select ${moment.toISOString()}::timestamptz as moment) batch
      cross join lateral (select ${sql.unsafe(decisionTime('batch.moment', 'player.decided_at'))} as at) clock
      cross join lateral (
        select coalesce(json_agg(json_build_object('kind', kind, 'period', period, 'value', value::text,
            'since', since, 'deposited', case when kind = 'deposit' then coalesce((
              select sum(amount) from entries where player_id = player.player_id and operation = 'deposit'
                and at between since and ${latest}), 0)::text end
          )), '[]') as limits, (
            select min(effective_at) from limit_changes where player_id = player.player_id and cancelled_at is null
              and effective_at > clock.at and kind <> 'deposit') as "nextChange"
        from (
          select kind, period, min(value) as value, ${since} as since
          from (
            select distinct on (kind, period, set_by) kind, period, value from limit_changes
            where player_id = player.player_id and cancelled_at is null and effective_at <= clock.at
            order by kind, period, set_by, change_id desc
          ) newest
          where value is not null group by kind, period
        ) lowest
      ) in_force
      cross join lateral (
        select json_agg(json_build_object('period', period, 'since', since, 'afterSeq', after_seq::text,
          'wagered', wagered::text, 'lost', lost::text)) as windows
        from (
          select known.period, known.since, first_in.seq - 1 as after_seq,
            case when known.is_short then player.wagered - sums.wagered else known.wagered + sums.wagered end as wagered,
            case when known.is_short then player.lost - sums.lost else known.lost + sums.lost end as lost
          from (
            select stored.period, stored.after_seq, stored.wagered, stored.lost,
              case when begun.is_new then clock.at when ahead.is_ahead then begun.since
                else greatest(stored.since, begun.since) end as since,
              begun.is_new or ahead.is_ahead
                or coalesce(begun.last_old < begun.since - interval '1 minute', false) as is_short,
              begun.is_new
            from limit_windows stored
              cross join lateral (
                select ${since} as since,
                  stored.period = 'session' and not coalesce((
                    select at > clock.at - make_interval(secs => ${sessionBreakS}) and at <= ${latest}
                    from entries where player_id = player.player_id and operation = 'debit'
                    order by seq desc limit 1), false) as is_new,
                  (select at from entries where player_id = player.player_id and seq = player.seq - ${fewEntries}::bigint
                    and seq > stored.after_seq and stored.period <> 'session') as last_old
                offset 0 -- Without it, the planner would compute the expressions again for each entry.
              ) begun
              cross join lateral (
                -- A month of another time zone may have begun later than this one.
                select coalesce(stored.since > case stored.period when 'month' then clock.at else begun.since end, false)
                  as is_ahead
              ) ahead
            where stored.player_id = player.player_id
            offset 0
          ) known
            cross join lateral (
              select case when known.is_new then player.seq + 1 when known.period = 'session' then known.after_seq + 1
                else coalesce((
                  select seq from entries where player_id = player.player_id and at between known.since and ${latest}
                    and seq > case when known.is_short then player.seq - ${fewEntries}::bigint else known.after_seq end
                  order by seq limit 1), player.seq + 1) end as seq
              offset 0
            ) first_in
            cross join lateral (
              select ${countedSums(sql)} from (
                ${countedEntries(sql)} where e.player_id = player.player_id
                  and e.seq >= case when known.is_short then first_in.seq else known.after_seq + 1 end
                  and e.seq < case when known.is_short then player.seq + 1 else first_in.seq end
              ) counted
            ) sums
        ) window_now
      ) counted
    where player.player_id = any (${playerIds}::text[])`;
  return new Map(rows.map((row) => [row.playerId, playerLimits(row)]));
};

/**
 * Stores the counters after the decisions of a batch; deletes those of players whose bets no limit concerns any more. The
 * transaction must have locked the players.
 */
export const writeCounters = async (sql: ISql, players: readonly PlayerLimits[]): Promise<void> => {
  const withCounters = players.filter(({ counters }) => counters !== undefined);
  if (withCounters.length === 0) return;
  const counted = withCounters.filter(isCounted);
  const ended = withCounters.filter((player) => !isCounted(player)).map(({ playerId }) => ({ playerId }));
  const rows = counted.map((player) => {
    const { playerId, counters, moment: decidedAt } = player;
    return { playerId, ...counters?.totals, ...capsOf(player), decidedAt };
  });
  const windows = counted.flatMap(({ playerId, counters }) =>
    (counters?.windows ?? []).map((window) => ({ playerId, ...window })),
  );
  await sql`
    with ended as (
      delete from limit_windows where player_id = any (${ended.map(({ playerId }) => playerId)}::text[])
    ), moved as (
      insert into limit_windows
      select * from json_populate_recordset(null::limit_windows, ${jsonRows(limitWindows, windows)}::text::json)
      on conflict (player_id, period) do update set since = excluded.since, after_seq = excluded.after_seq,
        wagered = excluded.wagered, lost = excluded.lost
    )
    -- An upsert finds its rows by their key under every plan.
    insert into players
      (player_id, currency, created_at, wagered, lost, wagered_cap, lost_cap, limits_until, decided_at)
    select player_id, '', now(), wagered, lost, wagered_cap, lost_cap, limits_until, decided_at
    from json_populate_recordset(null::players, ${jsonRows(playersTable, [...rows, ...ended])}::text::json)
    on conflict (player_id) do update set wagered = excluded.wagered, lost = excluded.lost,
      wagered_cap = excluded.wagered_cap, lost_cap = excluded.lost_cap, limits_until = excluded.limits_until,
      decided_at = coalesce(excluded.decided_at, players.decided_at)`;
};
