import type { Page } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { decimalOf, isoTime } from '../db/sql.ts';
import { databaseNow, latestCredible } from '../db/time.ts';
import { planChanges, type Change, type Plan, type Wanted } from './changes.ts';
import { isCounted, limitText } from './domain.ts';
import type { LimitChange } from './schema.ts';
import { findSession } from './session-queries.ts';
import { writeCounters, countedEntries, countedSums, readLimits, sinceOf } from './counters.ts';

/** Adding up so many entries takes some tenths of a second. */
const maxQuickEntries = 100_000;

export type Setter = 'player' | 'operator';

/** Locks the player until the end of the transaction. Returns the time of the database after that; undefined without a player. */
export const lockPlayer = async (sql: ISql, playerId: string): Promise<Date | undefined> => {
  const lockedRows = await sql`select from players where player_id = ${playerId} for no key update`;
  return lockedRows.length === 0 ? undefined : databaseNow(sql);
};

/** Whether setting a limit may take seconds, because it is the player's first on bets, and adds up very many entries. */
export const isSlowToLimit = async (sql: ISql, playerId: string): Promise<boolean> => {
  const rows = await sql`
    select from players where player_id = ${playerId} and wagered is null and seq > ${maxQuickEntries}`;
  return rows.length > 0;
};

/** Changes that are not cancelled, oldest first. */
export const listChanges = async (sql: ISql, playerId: string): Promise<(Change & { setBy: Setter })[]> => {
  const rows = await sql<
    (Omit<Change, 'value' | 'effectiveAt'> & { setBy: Setter; value: string | null; effectiveAt: string })[]
  >`
    select change_id as "changeId", kind, period, set_by as "setBy", value, effective_at as "effectiveAt"
    from limit_changes where player_id = ${playerId} and cancelled_at is null order by change_id`;
  return rows.map((row) => ({
    ...row,
    value: row.value === null ? null : BigInt(row.value),
    effectiveAt: new Date(row.effectiveAt),
  }));
};

interface Request {
  playerId: string;
  setBy: Setter;
  /** Subject of the access token. */
  by: string;
  now: Date;
}

const storePlan = async (
  sql: ISql,
  { playerId, setBy, by, now }: Request,
  { cancelled, added }: Plan,
): Promise<void> => {
  const at = now.toISOString();
  await sql`
    update limit_changes set cancelled_at = ${at}
    where player_id = ${playerId} and change_id = any (${cancelled}::uuid[])`;
  for (const { kind, period, value, effectiveAt } of added)
    await sql`
      insert into limit_changes (player_id, kind, period, set_by, value, changed_at, effective_at, changed_by)
      values (${playerId}, ${kind}, ${period}, ${setBy}, ${value === null ? null : String(value)}, ${at},
        ${effectiveAt.toISOString()}, ${by})`;
  const details = {
    by,
    setBy,
    cancelled,
    changes: added.map(({ value, ...change }) => ({
      ...change,
      limit: value === null ? null : limitText(change.kind, value),
    })),
  };
  await sql`
    insert into audit_events (at, kind, player_id, details)
    values (${at}, 'limits_changed', ${playerId}, ${JSON.stringify(details)}::text::jsonb)`;
};

/**
 * Creates the counters of a player who has none, from the entries of the longest period. Older entries would be in the totals
 * and in the sums before each period, so they make no difference.
 */
const startCounting = async (
  sql: ISql,
  playerId: string,
  now: Date,
  sessionBreakS: number,
): Promise<void> => {
  const at = now.toISOString();
  const newest = await findSession(sql, playerId, sessionBreakS);
  const isCurrent =
    newest !== undefined && Math.abs(now.getTime() - Date.parse(newest.lastBetAt)) < sessionBreakS * 1000;
  const session = isCurrent ? newest : undefined;
  await sql`
    with first_in as (
      select period, ${sinceOf(sql, sql`period`, sql`${at}::timestamptz`)} as since, player.seq from players player,
        unnest(array['24h', '7d', 'month']) as money (period) where player_id = ${playerId}
    ), recent as materialized (
      select seq, at, operation, amount, transaction_id, id_space from entries
      where player_id = ${playerId} and seq > least(${session?.firstSeq ?? null}::bigint - 1, coalesce((
        -- Searched from the newest entry back. Times may differ from the order by less than a minute; see readLimits.
        select seq from entries where player_id = ${playerId}
          and at < (select min(since) from first_in) - interval '1 minute' order by seq desc limit 1), 0))
    ), counted as materialized (${countedEntries(sql, sql`recent`)}
    ), period as (
      select period, since, coalesce((
        select min(seq) from recent where at between since and ${sql.unsafe(latestCredible('moment'))}), first_in.seq + 1) as first
      from first_in, (select ${at}::timestamptz as moment) clock
      union all
      select 'session', ${session ? new Date(session.startedAt).toISOString() : at}::timestamptz,
        coalesce(${session?.firstSeq ?? null}::bigint, seq + 1) from players where player_id = ${playerId}
    ), windows as (
      insert into limit_windows
      select ${playerId}, period, since, first - 1, sums.* from period cross join lateral (
        select ${countedSums(sql)} from counted where seq < period.first) sums
    )
    update players set wagered = sums.wagered, lost = sums.lost, wagered_cap = 0, lost_cap = 0, limits_until = 'epoch'
    from (select ${countedSums(sql)} from counted) sums where player_id = ${playerId}`;
};

/**
 * Makes `wanted` the limits of one setter. The player must be locked. Commands that wait for this lock are decided by the
 * limits at the time when their batch began; later ones by these. The first limit on bets reads the entries of the player in
 * the longest period.
 */
export const changeLimits = async (
  sql: ISql,
  request: Request,
  wanted: readonly Wanted[],
  sessionBreakS: number,
): Promise<void> => {
  const { playerId, setBy, now } = request;
  const own = (await listChanges(sql, playerId)).filter((change) => change.setBy === setBy);
  const plan = planChanges(own, wanted, now);
  if (plan.added.length + plan.cancelled.length === 0) return;
  await storePlan(sql, request, plan);
  const read = async () => [...(await readLimits(sql, [playerId], now, sessionBreakS)).values()];
  const before = await read();
  const needsCounters = before.some((player) => isCounted(player) && player.counters === undefined);
  if (needsCounters) await startCounting(sql, playerId, now, sessionBreakS);
  // This stores caps that have already ended, so that domain.ts decides the next debit.
  await writeCounters(sql, needsCounters ? await read() : before);
};

/** All changes of a player, newest first; one more than the page holds. */
export const listHistory = (sql: ISql, playerId: string, { limit, offset }: Page) => sql<
  z.input<typeof LimitChange>[]
>`
  select change_id as "changeId", kind, period, set_by as "setBy",
    case kind when 'session' then value::text else ${decimalOf(sql, sql`value`)} end as "limit",
    ${isoTime(sql, sql`changed_at`)} as "changedAt", ${isoTime(sql, sql`effective_at`)} as "effectiveAt",
    ${isoTime(sql, sql`cancelled_at`)} as "cancelledAt", changed_by as "changedBy"
  from limit_changes where player_id = ${playerId}
  order by change_id desc limit ${limit + 1} offset ${String(offset)}`;
