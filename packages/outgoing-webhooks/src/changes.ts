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
  /** The guard that a subscriber must pass in addition to that of subscriptions. */
  auth: Pick<Guard<Caller>, 'identify' | 'keyOf'>;
}

/** A change to deliver. */
export interface Change {
  position: string;
  list: string;
  record: string;
  action: string;
  changedAt: string;
  /** Changes of one lane are delivered one after the other. */
  lane: string;
  /** Number of previous attempts. */
  attempts: number;
  /** Number of requested replays of a change that is in `subscription_held`; null if it is not there. */
  heldReplays: number | null;
  /** Whether an earlier change of its lane is held. */
  waits: boolean;
}

/** Maximum number of changes of one window, whose result is stored in one transaction. */
export const windowSize = 200;
/** Number of positions of the log that one window searches. */
const searchedPositions = 10_000;
/** While so many changes of a subscription wait, no further ones are read: each window orders the waiting ones of its lanes. */
export const maxWaiting = 10_000;

const changedAt = `${isoTime('changed_at')} as "changedAt"`;

/** Held changes that are due, and the changes behind them in their lanes. */
export const readHeld = (sql: Sql, { id }: Subscription): Promise<Change[]> => sql<Change[]>`
  select position::text, list, record, action, ${sql.unsafe(changedAt)}, lane, attempts, replays as "heldReplays", false as waits
  from subscription_held
  where subscription = ${id} and failed_at is null and lane = any (array(
    select lane from subscription_held
    where subscription = ${id} and failed_at is null and due_at <= now() order by due_at limit 50))
  order by subscription_held.position limit ${windowSize}`;

/** SQL of the lane of a change in the log. */
export const laneOf = (sql: Queries, { ordering }: Subscription): PendingQuery<Row[]> =>
  ordering === 'record' ? sql`list || '/' || record` : sql`position::text`;

/** SQL: the changes of these lists that the caller may see and has subscribed to. */
export const visibleTo = <Caller>(
  sql: Queries,
  { owners: limit }: Subscription,
  lists: readonly OfferedList<Caller>[],
  caller: Caller,
): PendingQuery<Row[]> =>
  lists
    .map(({ list, owners }) => {
      const allowed = owners(undefined, caller);
      const byOwner = limit === null ? sql`` : sql`and (owner is null or owner = any(${limit as string[]}))`;
      return allowed === undefined
        ? sql`list = ${list} ${byOwner}`
        : sql`list = ${list} and owner = any(${allowed as string[]}) ${byOwner}`;
    })
    .reduce((any, condition) => sql`${any} or ${condition}`, sql`false`);

/** The first of these changes whose items may be in memory together, and the approximate bytes of these items. */
export const firstWithinBytes = async <Caller>(
  sql: Sql,
  lists: readonly Pick<OfferedList<Caller>, 'list' | 'bytes'>[],
  changes: readonly Change[],
  caller: Caller,
): Promise<{ changes: readonly Change[]; bytes: number }> => {
  const sizes = new Map<Change, number>();
  for (const list of lists) {
    const ofList = changes.filter((change) => change.list === list.list && !change.waits);
    const records = ofList.map(({ record: id, action }) => ({ id, action }));
    const listSizes = await sizesOf(sql, list, records, caller);
    ofList.forEach((change, index) => sizes.set(change, listSizes[index] ?? 0));
  }
  const bytes = changes.map((change) => sizes.get(change) ?? 0);
  const count = countWithin(bytes, maxBytes);
  return {
    changes: changes.slice(0, count),
    bytes: bytes.slice(0, count).reduce((sum, size) => sum + size, 0),
  };
};

export interface LogWindow {
  /** Whether changes after the subscription's position were deleted from the log. */
  isExpired: boolean;
  /** Whether too many changes wait already. */
  isFull: boolean;
  /** The position up to which `changes` is complete. */
  end: string;
  changes: Change[];
}

/** Reads the next changes of the log. */
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
      exists (
        select from subscription_held where subscription = ${id} and failed_at is null offset ${maxWaiting - 1}) as "isFull",
      least(position, ${position}::bigint + ${searchedPositions})::text as end,
      (select coalesce(json_agg(change), '[]') from (
        select *, exists (
          select from subscription_held held
          where subscription = ${id} and failed_at is null and held.lane = change.lane) as waits
        from (
          select position::text, list, record, action, ${sql.unsafe(changedAt)}, ${laneOf(sql, subscription)} as lane, 0 as attempts,
            null as "heldReplays"
          from feed_log
          where position > ${position} and position <= ${position}::bigint + ${searchedPositions}
            and action = any(${actions as string[]}) and (${visibleTo(sql, subscription, lists, caller)})
          order by feed_log.position limit ${windowSize}) change
      ) change) as changes
    from feed_state`;
  const last = window.changes.length === windowSize ? window.changes.at(-1) : undefined;
  return { ...window, end: last?.position ?? window.end };
};
