import { countWithin, maxBytes, sizesOf, type FollowedList } from '@platform/feed/followed-list';
import { isoTime } from '@platform/service-kit/json-table';
import type { Guard } from '@platform/service-kit/route';
import type { Queries } from '@platform/service-kit/record';
import type { PendingQuery, Row, Sql } from 'postgres';
import type { Subscription } from './subscription.ts';

/** A list that can be subscribed to. */
export interface OfferedList<Caller> extends Pick<
  FollowedList<Caller>,
  'list' | 'name' | 'owners' | 'items' | 'bytes'
> {
  /** What a caller needs beside the scope of subscriptions. */
  auth: Pick<Guard<Caller>, 'identify' | 'keyOf'>;
}

/** A change that is to be delivered. */
export interface Change {
  position: string;
  list: string;
  record: string;
  action: string;
  changedAt: string;
  /** Changes of one lane are delivered one after the other. */
  lane: string;
  /** Attempts so far. */
  attempts: number;
  /** Whether it is in `subscription_held`. */
  isHeld: boolean;
  /** Whether an earlier one of its lane is held. */
  waits: boolean;
}

/** Changes of one window, which is written down as a whole. */
export const windowSize = 200;
/** Positions of the log that one window looks at. */
const positions = 10_000;

const changedAt = `${isoTime('changed_at')} as "changedAt"`;

/** Held changes that are due, and those behind them in their lanes. */
export const readHeld = (sql: Sql, { id }: Subscription): Promise<Change[]> => sql<Change[]>`
  select position::text, list, record, action, ${sql.unsafe(changedAt)}, lane, attempts, true as "isHeld", false as waits
  from subscription_held
  where subscription = ${id} and failed_at is null and lane = any (array(
    select lane from subscription_held
    where subscription = ${id} and failed_at is null and due_at <= now() order by due_at limit 50))
  order by subscription_held.position limit ${windowSize}`;

/** SQL of the lane of a change in the log. */
export const laneOf = (sql: Queries, { ordering }: Subscription): PendingQuery<Row[]> =>
  ordering === 'record' ? sql`list || '/' || record` : sql`position::text`;

/** SQL: the changes of these lists that the caller may see and has asked for. */
export const visibleTo = <Caller>(
  sql: Queries,
  { owners: asked }: Subscription,
  lists: readonly OfferedList<Caller>[],
  caller: Caller,
): PendingQuery<Row[]> =>
  lists
    .map(({ list, owners }) => {
      const allowed = owners(undefined, caller);
      const isAsked = asked === null ? sql`` : sql`and (owner is null or owner = any(${asked as string[]}))`;
      return allowed === undefined
        ? sql`list = ${list} ${isAsked}`
        : sql`list = ${list} and owner = any(${allowed as string[]}) ${isAsked}`;
    })
    .reduce((any, condition) => sql`${any} or ${condition}`, sql`false`);

/** The first of these changes whose items can be in memory together, and about how many bytes they have. */
export const firstWithinBytes = async <Caller>(
  sql: Sql,
  lists: readonly Pick<OfferedList<Caller>, 'list' | 'bytes'>[],
  changes: readonly Change[],
  caller: Caller,
): Promise<{ changes: readonly Change[]; bytes: number }> => {
  const sizes = new Map<Change, number>();
  for (const list of lists) {
    const own = changes.filter((change) => change.list === list.list && !change.waits);
    const found = await sizesOf(
      sql,
      list,
      own.map(({ record: id, action }) => ({ id, action })),
      caller,
    );
    own.forEach((change, at) => sizes.set(change, found[at] ?? 0));
  }
  const all = changes.map((change) => sizes.get(change) ?? 0);
  const count = countWithin(all, maxBytes);
  return {
    changes: changes.slice(0, count),
    bytes: all.slice(0, count).reduce((sum, size) => sum + size, 0),
  };
};

export interface LogWindow {
  /** Whether changes behind the subscription's position are no longer kept. */
  isExpired: boolean;
  /** The position up to which these are all changes. */
  end: string;
  changes: Change[];
}

/** The next changes of the log. */
export const readLog = async <Caller>(
  sql: Sql,
  subscription: Subscription,
  lists: readonly OfferedList<Caller>[],
  caller: Caller,
): Promise<LogWindow> => {
  const { id, position, actions } = subscription;
  const [window] = await sql<[LogWindow]>`
    select position > ${position}::bigint and not exists (
        select from feed_log where position = ${position}::bigint + 1) as "isExpired",
      least(position, ${position}::bigint + ${positions})::text as end,
      (select coalesce(json_agg(change), '[]') from (
        select *, exists (
          select from subscription_held held
          where subscription = ${id} and failed_at is null and held.lane = change.lane) as waits
        from (
          select position::text, list, record, action, ${sql.unsafe(changedAt)}, ${laneOf(sql, subscription)} as lane, 0 as attempts,
            false as "isHeld"
          from feed_log
          where position > ${position} and position <= ${position}::bigint + ${positions}
            and action = any(${actions as string[]}) and (${visibleTo(sql, subscription, lists, caller)})
          order by feed_log.position limit ${windowSize}) change
      ) change) as changes
    from feed_state`;
  const last = window.changes.length === windowSize ? window.changes.at(-1) : undefined;
  return { ...window, end: last?.position ?? window.end };
};
