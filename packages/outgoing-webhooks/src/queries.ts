import { Conflict } from '@platform/service-kit/problem';
import { isoTime, jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { PendingQuery, Row, TransactionSql } from 'postgres';
import type { z } from 'zod';
import { laneOf, maxWaiting } from './changes.ts';
import { orderLanes, saveAttempts } from './save-result.ts';
import type { Attempt } from './deliver.ts';
import { Attempt as ListedAttempt, type AttemptQuery, type Replay, type Schemas } from './schema.ts';
import { columns, isRotating, type Rights, type Subscription } from './subscription.ts';

/** Maximum number of subscriptions of one caller. */
export const maxSubscriptions = 50;
/** Maximum number of changes that one request replays, and of positions of the log that it searches. */
const [maxReplayed, maxSearched] = [10_000, 200_000];

const countOf = (condition: string): string =>
  `(select count(*) from subscription_held where subscription = id and failed_at is ${condition})`;

const table = (fields: readonly string[]) =>
  jsonTable('subscriptions', fields, {
    waiting: countOf('null'),
    failed: countOf('not null'),
    failingSince: isoTime('failing_since'),
  });

type Input = z.output<Schemas['Input']>;
type Patch = z.output<Schemas['Patch']>;

/** A caller who sees subscriptions: only those of `subject`, unless it is null. */
export type Viewer = Pick<Rights, 'stores' | 'clients'> & { subject: string | null };

/**
 * SQL: whether the viewer sees a subscription: it has the same subject, and no rights that the viewer lacks, because tokens of
 * one subject may be limited to different clients.
 */
const canSee = (sql: Queries, { subject, stores, clients }: Viewer): PendingQuery<Row[]> => {
  const limitCondition = (name: string, limit: string[] | null) =>
    limit === null ? sql`` : sql`and rights -> ${name} <@ ${JSON.stringify(limit)}::text::jsonb`;
  const ofSubject = subject === null ? sql`true` : sql`subject = ${subject}`;
  return sql`${ofSubject} ${limitCondition('stores', stores)} ${limitCondition('clients', clients)}`;
};

/** Reads the columns that delivery needs. Throws NotFound. */
const findToDeliver = async (sql: Queries, id: string): Promise<Subscription> => {
  const [row] = await sql<Subscription[]>`select ${sql.unsafe(columns)} from subscriptions where id = ${id}`;
  return orNotFound(row, 'subscription');
};

/** Statements that return subscriptions as JSON with the `fields` of the schema. */
export const createQueries = (fields: readonly string[]) => {
  const rows = table(fields);
  return {
    find: async (sql: Queries, id: string, viewer: Viewer, lock: boolean): Promise<string | undefined> => {
      const condition = sql`id = ${id} and ${canSee(sql, viewer)}`;
      const [row] = await rows.list(sql, sql`where ${condition} ${lock ? sql`for update` : sql``}`);
      return row;
    },
    list: (sql: Queries, viewer: Viewer) =>
      rows.list(sql, sql`where ${canSee(sql, viewer)} order by id desc`),
    /** Inserts a subscription that starts at the end of the log. Returns undefined if the caller has too many. */
    insert: async (
      sql: Queries,
      { id, rights }: { id: string; rights: Rights },
      input: Input,
    ): Promise<string | undefined> => {
      const { subject } = rights;
      // The lock serialises the requests of a caller, so that the limit holds.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`subscriptions ${subject}`}, 0))`;
      const [{ count }] = await sql<[{ count: number }]>`
        select count(*)::int as count from subscriptions where subject = ${subject}`;
      if (count >= maxSubscriptions) return undefined;
      const position = sql`(select position from feed_state)`;
      return rows.insert(sql, { id, subject, rights: JSON.stringify(rights), position, ...input });
    },
    /** A subscription that was disabled as `expired` continues at the end of the log, because the missed changes were deleted. */
    update: (sql: Queries, id: string, { state, ...patch }: Patch): Promise<string> =>
      rows.update(
        sql,
        { id },
        {
          ...patch,
          ...(state && { state, state_reason: null }),
          ...(state === 'active' && {
            failures: 0,
            failing_since: null,
            notice_due_at: null,
            due_at: sql`now()`,
            position: sql`case when state_reason = 'expired' then (select position from feed_state) else position end`,
          }),
        },
      ),
    remove: (sql: Queries, id: string) => rows.remove(sql, { id }),
    findToDeliver,
    /** Returns the new generation, or the current one while the secret before it still signs. */
    rotate: async (sql: Queries, id: string): Promise<number> => {
      const [row] = await sql<[{ generation: number }]>`
        update subscriptions set generation = generation + 1, rotated_at = now()
        where id = ${id} and not ${sql.unsafe(isRotating)} returning generation`;
      return row?.generation ?? (await findToDeliver(sql, id)).generation;
    },
    recordAttempt: (sql: Queries, id: string, attempt: Attempt) => saveAttempts(sql, id, [attempt]),
  };
};

const attempts = jsonTable('subscription_attempts', Object.keys(ListedAttempt.shape));

/** Reads the newest attempts: up to `limit` + 1, to show whether more follow. */
export const listAttempts = (
  sql: Queries,
  id: string,
  { result, before, limit }: z.output<typeof AttemptQuery>,
): Promise<string[]> => {
  const isOfResult =
    result === undefined ? sql`` : sql`and error is ${sql.unsafe(result === 'failed' ? 'not null' : 'null')}`;
  return attempts.list(
    sql,
    sql`where subscription = ${id} ${before === undefined ? sql`` : sql`and id < ${before}`} ${isOfResult}
      order by id desc limit ${limit + 1}`,
  );
};

/** Schedules failed changes again. Returns their number. */
const replayFailed = async (tx: TransactionSql, id: string): Promise<{ replayed: number; next: null }> => {
  const rows = await tx<{ lane: string }[]>`
    update subscription_held set failed_at = null, attempts = 0, due_at = 'infinity'
    where (subscription, position) in (
      select subscription, position from subscription_held
      where subscription = ${id} and failed_at is not null order by position limit ${maxReplayed})
    returning lane`;
  await orderLanes(tx, id, lanesOf(rows));
  return { replayed: rows.length, next: null };
};

const lanesOf = (rows: readonly { lane: string }[]): string[] => [...new Set(rows.map(({ lane }) => lane))];

interface Range {
  /** SQL that selects it from the log. */
  condition: PendingQuery<Row[]>;
  /** The time at which a search for more has to begin; null if it contains everything that was asked for. */
  next: string | null;
}

/**
 * SQL: the position up to which all changes of the log are earlier than a time, at most `last`. A binary search, because later
 * changes have higher positions, except after the clock was set back.
 */
const positionAt = (tx: TransactionSql, last: string, time: PendingQuery<Row[]>): PendingQuery<Row[]> => tx`(
  with recursive search as (
    select (select position from feed_log order by position limit 1) as low, ${last}::bigint as high
    union all
    select case when is_before then middle + 1 else low end, case when is_before then high else middle end
    from search cross join lateral (select (low + high) / 2 as middle) half cross join lateral (
      select changed_at < ${time} as is_before from feed_log
      where position >= middle order by position limit 1) probe
    where low < high)
  select low from search where low >= high)`;

/** The part of the log that a request asks for, up to `maxSearched` positions. */
const rangeOf = async (
  tx: TransactionSql,
  { position: last }: Subscription,
  request: Exclude<z.output<typeof Replay>, { failed: true }>,
): Promise<Range> => {
  if ('version' in request) return { condition: tx`position = ${request.version}`, next: null };
  const { from, until } = request;
  // A minute more, because the clock may have been set back.
  const [{ first, end, next }] = await tx<[{ first: string; end: string; next: string | null }]>`
    with found as materialized (
      select ${positionAt(tx, last, tx`${from}::timestamptz - interval '1 minute'`)} as low,
        ${positionAt(tx, last, tx`${until}::timestamptz + interval '1 minute'`)} as high),
    bounds as (
      select high, (select position from feed_log where position >= low order by position limit 1) as first from found)
    select first, least(high, first + ${maxSearched} - 1) as end, (
      select ${tx.unsafe(isoTime('changed_at'))} from feed_log
      where position >= first + ${maxSearched} and position <= high and changed_at < ${until}
      order by position limit 1) as next
    from bounds`;
  return {
    condition: tx`position between ${first} and ${end} and changed_at >= ${from} and changed_at < ${until}`,
    next,
  };
};

/**
 * Schedules changes again that were delivered or have failed, if `isVisible` selects them. Returns their number, and the time
 * of the last one if there are more.
 */
export const replay = async (
  tx: TransactionSql,
  subscription: Subscription,
  request: z.output<typeof Replay>,
  isVisible: PendingQuery<Row[]>,
): Promise<{ replayed: number; next: string | null }> => {
  const { id, position, actions } = subscription;
  // Waits until no result of a delivery is being stored.
  await tx`select from subscriptions where id = ${id} for update`;
  const [{ waiting }] = await tx<[{ waiting: number }]>`
    select count(*)::int as waiting from subscription_held where subscription = ${id} and failed_at is null`;
  if (waiting >= maxWaiting)
    throw new Conflict('too_many_waiting', 'Too many changes wait for this subscription already.');
  if ('failed' in request) return replayFailed(tx, id);
  const { condition, next } = await rangeOf(tx, subscription, request);
  const rows = await tx<{ lane: string; position: string; changedAt: string }[]>`
    insert into subscription_held (subscription, position, lane, list, record, action, changed_at, attempts, due_at)
    select ${id}, position, ${laneOf(tx, subscription)}, list, record, action, changed_at, 0, 'infinity'
    from feed_log
    where ${condition} and position <= ${position} and action = any(${actions as string[]}) and (${isVisible})
    order by feed_log.position limit ${maxReplayed}
    on conflict (subscription, position) do update
      set failed_at = null, attempts = 0, due_at = 'infinity', replays = subscription_held.replays + 1
    returning lane, position::text, ${tx.unsafe(isoTime('changed_at'))} as "changedAt"`;
  await orderLanes(tx, id, lanesOf(rows));
  return {
    replayed: rows.length,
    next: (rows.length === maxReplayed ? rows.at(-1)?.changedAt : next) ?? null,
  };
};
