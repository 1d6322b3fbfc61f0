import { Conflict } from '@platform/service-kit/problem';
import { isoTime, jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { PendingQuery, Row, TransactionSql } from 'postgres';
import type { z } from 'zod';
import { laneOf } from './changes.ts';
import { orderLanes, saveAttempts } from './settle.ts';
import type { Attempt } from './deliver.ts';
import { Attempt as ListedAttempt, type AttemptQuery, type Replay, type Schemas } from './schema.ts';
import { columns, isRotating, type Rights, type Subscription } from './subscription.ts';

/** Subscriptions of one caller. */
export const most = 50;
/** Changes that one request replays. */
const mostReplayed = 10_000;

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

/** The subscriptions that a caller sees: with a subject only its own. */
export type Seen = Pick<Rights, 'stores' | 'clients'> & { subject: string | null };

/**
 * SQL: a subscription of the same subject that sees nothing that the caller may not see: several tokens of a subject may be
 * limited to different clients.
 */
const isSeen = (sql: Queries, { subject, stores, clients }: Seen): PendingQuery<Row[]> => {
  const within = (name: string, limit: string[] | null) =>
    limit === null ? sql`` : sql`and rights -> ${name} <@ ${JSON.stringify(limit)}::text::jsonb`;
  const isOwn = subject === null ? sql`true` : sql`subject = ${subject}`;
  return sql`${isOwn} ${within('stores', stores)} ${within('clients', clients)}`;
};

/** A row as delivery needs it. Throws NotFound. */
const findToDeliver = async (sql: Queries, id: string): Promise<Subscription> => {
  const [row] = await sql<Subscription[]>`select ${sql.unsafe(columns)} from subscriptions where id = ${id}`;
  return orNotFound(row, 'subscription');
};

/** The statements on subscriptions as callers see them; `fields` are those of the schema. */
export const createQueries = (fields: readonly string[]) => {
  const rows = table(fields);
  return {
    find: async (sql: Queries, id: string, seen: Seen, lock: boolean): Promise<string | undefined> => {
      const found = await rows.list(
        sql,
        sql`where id = ${id} and ${isSeen(sql, seen)} ${lock ? sql`for update` : sql``}`,
      );
      return found[0];
    },
    list: (sql: Queries, seen: Seen) => rows.list(sql, sql`where ${isSeen(sql, seen)} order by id desc`),
    /** Undefined where the caller has too many. Begins at the end of the log. */
    insert: async (
      sql: Queries,
      { id, rights }: { id: string; rights: Rights },
      input: Input,
    ): Promise<string | undefined> => {
      const { subject } = rights;
      // One after the other for a caller, so that the number holds.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`subscriptions ${subject}`}, 0))`;
      const [{ count }] = await sql<[{ count: number }]>`
        select count(*)::int as count from subscriptions where subject = ${subject}`;
      if (count >= most) return undefined;
      const position = sql`(select position from feed_state)`;
      return rows.insert(sql, { id, subject, rights: JSON.stringify(rights), position, ...input });
    },
    /** A subscription that was disabled as `expired` continues at the end of the log: what it missed is no longer there. */
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
    /** Returns the new generation: that of the last rotation while the secret before it still signs. */
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

/** The newest attempts, one more than asked for. */
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

/** What is not tried any more is tried again. Returns the number of changes. */
const replayFailed = async (tx: TransactionSql, id: string): Promise<{ replayed: number; next: null }> => {
  const rows = await tx<{ lane: string }[]>`
    update subscription_held set failed_at = null, attempts = 0, due_at = 'infinity'
    where (subscription, position) in (
      select subscription, position from subscription_held
      where subscription = ${id} and failed_at is not null order by position limit ${mostReplayed})
    returning lane`;
  await orderLanes(tx, id, lanesOf(rows));
  return { replayed: rows.length, next: null };
};

const lanesOf = (rows: readonly { lane: string }[]): string[] => [...new Set(rows.map(({ lane }) => lane))];

/**
 * Has changes delivered again that have been delivered, or have failed: of those that `isVisible` selects. Returns their
 * number, and the time of the last one where there are more.
 */
export const replay = async (
  tx: TransactionSql,
  subscription: Subscription,
  asked: z.output<typeof Replay>,
  isVisible: PendingQuery<Row[]>,
): Promise<{ replayed: number; next: string | null }> => {
  const { id, actions, position } = subscription;
  // Not while a result is written.
  await tx`select from subscriptions where id = ${id} for update`;
  const [{ waiting }] = await tx<[{ waiting: number }]>`
    select count(*)::int as waiting from subscription_held where subscription = ${id} and failed_at is null`;
  if (waiting >= mostReplayed)
    throw new Conflict('too_many_waiting', 'Too many changes wait for this subscription already.');
  if ('failed' in asked) return replayFailed(tx, id);
  const which =
    'version' in asked
      ? tx`position = ${asked.version}`
      : tx`changed_at >= ${asked.from} and changed_at < ${asked.until}`;
  const rows = await tx<{ lane: string; position: string; changedAt: string }[]>`
    insert into subscription_held (subscription, position, lane, list, record, action, changed_at, attempts, due_at)
    select ${id}, position, ${laneOf(tx, subscription)}, list, record, action, changed_at, 0, 'infinity'
    from feed_log
    where ${which} and position <= ${position} and action = any(${actions as string[]}) and (${isVisible})
    order by feed_log.position limit ${mostReplayed}
    on conflict (subscription, position) do update set failed_at = null, attempts = 0, due_at = 'infinity'
    returning lane, position::text, ${tx.unsafe(isoTime('changed_at'))} as "changedAt"`;
  await orderLanes(tx, id, lanesOf(rows));
  const isMore = rows.length === mostReplayed;
  return { replayed: rows.length, next: isMore ? (rows.at(-1)?.changedAt ?? null) : null };
};
