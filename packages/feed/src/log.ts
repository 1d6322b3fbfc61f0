import { randomBytes } from 'node:crypto';
import { isoTime } from '@platform/service-kit/json-table';
import type { Sql } from 'postgres';

/** A position in the feed. The epoch and the stamp detect a position from another database or from before a restore. */
export interface Cursor {
  /** UUID of the database. */
  epoch: string;
  position: bigint;
  /** Random number of the batch that assigned the position. */
  stamp: bigint;
}

const cursorBytes = 32;

/** The cursor as opaque text of 43 characters. */
export const cursorText = ({ epoch, position, stamp }: Cursor): string => {
  const buffer = Buffer.alloc(cursorBytes);
  buffer.write(epoch.replaceAll('-', ''), 'hex');
  buffer.writeBigInt64BE(position, 16);
  buffer.writeBigInt64BE(stamp, 24);
  return buffer.toString('base64url');
};

/** Returns undefined when the text is not a cursor. */
export const parseCursor = (text: string): Cursor | undefined => {
  const buffer = Buffer.from(text, 'base64url');
  if (buffer.length !== cursorBytes || buffer.toString('base64url') !== text) return undefined;
  const epoch = buffer.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const position = buffer.readBigInt64BE(16);
  // Bounded, because adding to it in SQL must not overflow bigint.
  if (position < 0n || position > Number.MAX_SAFE_INTEGER) return undefined;
  return { epoch, position, stamp: buffer.readBigInt64BE(24) };
};

/** Maximum number of rows that one transaction moves. It takes some milliseconds, during which other movers wait. */
const batchSize = 2000;
/** Number of positions that one page searches; a filter with few matches needs several pages. */
const defaultWindow = 10_000;
/** Number of positions if there is an index by owner. */
const windowByOwner = 1_000_000;
/** Maximum number of changes that a page by owner reads for all owners together, to find the first ones. */
const maxReadByOwner = 5000;

/** SQL: the last id that was allocated for a change, even if its transaction has not committed. */
const allocated = `coalesce(pg_sequence_last_value('feed_pending_id_seq'), 0)`;

/**
 * SQL: whether there may be changes to move. True if there are new ids, or if a transaction has ended that was open when the ids up
 * to `moved_to` were moved. Transaction ids above all ended ones may come from the server that the database was moved from.
 */
const pendingSql = `${allocated} <> moved_to or exists (
  select from unnest(open) xid where pg_visible_in_snapshot(xid, pg_current_snapshot()) or xid >= pg_snapshot_xmax(pg_current_snapshot()))`;

/**
 * Moves committed changes to the log and assigns their positions, in the order of the moves and not of the commits, so that a slow
 * writer delays nobody. Concurrent calls wait for the lock. Moved rows are not read again, even if an open transaction keeps
 * vacuum from removing them (docs/adr/0192). Returns whether there may be more.
 */
export const moveChanges = async (sql: Sql): Promise<boolean> => {
  const [{ pending, upTo }] = await sql<[{ pending: boolean; upTo: string }]>`
    select ${sql.unsafe(pendingSql)} as pending, ${sql.unsafe(allocated)} as "upTo" from feed_state`;
  if (!pending) return false;
  return sql.begin<boolean>(async (tx) => {
    // A separate statement, because the next one must see what the previous mover has written. Ids restart at 0 if the database
    // was copied without its sequences.
    const [{ position, movedTo }] = await tx<[{ position: string; movedTo: string }]>`
      select position, case when moved_to > ${sql.unsafe(allocated)} then 0 else moved_to end as "movedTo"
      from feed_state for update`;
    const stamp = randomBytes(8).readBigInt64BE().toString();
    const [{ taken }] = await tx<[{ taken: number }]>`
      with ended as (
        select xid from feed_state, unnest(open) xid
        where pg_visible_in_snapshot(xid, pg_current_snapshot()) or xid > pg_current_xact_id()),
      taken as (
        delete from feed_pending
        where id = any (array(
          select id from (
            (select id from feed_pending where id > ${movedTo} order by id limit ${batchSize})
            union all
            select late.id from ended cross join lateral (
              select id from feed_pending where xid = ended.xid and id <= ${movedTo} order by xid, id limit ${batchSize}) late
          ) candidates order by id limit ${batchSize}))
        returning *),
      -- Several writes of a record in one transaction are one change.
      changes as (
        select max(id) as id, list, record, owner,
          (array_agg(action order by id))[1] as first, (array_agg(action order by id desc))[1] as last
        from taken group by xid, list, record, owner),
      placed as (
        insert into feed_log (position, stamp, list, record, owner, action, changed_at)
        select ${position}::bigint + row_number() over (order by id), ${stamp}, list, record, owner,
          case when last = 'deleted' or first = last then last when first = 'created' then first else 'updated' end,
          clock_timestamp()
        from changes where not (first = 'created' and last = 'deleted')
        returning position),
      read as (
        select count(*) = ${batchSize} as "isFull", coalesce(max(id), 0) as last,
          greatest(${upTo}::bigint, ${movedTo}) as "upTo", (select max(position) from placed) as position
        from taken),
      moved as (
        update feed_state set
          position = coalesce(read.position, feed_state.position),
          stamp = case when read.position is null then stamp else ${stamp} end,
          -- All rows up to this id were moved, except those that were not committed when this statement started.
          moved_to = case when not "isFull" then "upTo" when last > ${movedTo} then least(last, "upTo") else ${movedTo} end,
          open = case
            when "isFull" and last <= ${movedTo} then open
            when "upTo" = ${movedTo} then array(select unnest(open) except select xid from ended)
            else array(
              select pg_snapshot_xip(pg_current_snapshot())
              union
              -- Transactions that started after the last ended one and before this one.
              select later::text::xid8 from generate_series(
                pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id()::text::bigint) later
              except select pg_current_xact_id())
          end
        from read)
      select count(*)::int as taken from taken`;
    return taken === batchSize;
  });
};

export interface Change {
  id: string;
  action: 'created' | 'updated' | 'deleted';
  /** The position; grows with each change of a record. */
  version: number;
  changedAt: string;
}

/** A change of any list as it is stored in the log. */
export interface LoggedChange extends Change {
  list: string;
  owner: string | null;
  /** Random number of its batch, as in a cursor. */
  stamp: string;
}

/** A change without the internal fields of the log. */
export const changeOf = ({ id, action, version, changedAt }: LoggedChange): Change => ({
  id,
  action,
  version,
  changedAt,
});

/** A page of the log. */
export interface LogPage {
  changes: readonly LoggedChange[];
  /** The cursor after the last change. */
  next: Cursor;
  hasMore: boolean;
}

export interface LogQuery {
  list: string;
  /** Undefined starts at the end. */
  after: Cursor | undefined;
  /** Only changes of records of these owners; undefined for all. */
  owners: readonly string[] | undefined;
  /** A list of memberships, whose created and deleted rows of these owners are also among the changes. */
  memberships?: string | undefined;
  /** Whether the log has an index by owner. */
  byOwner?: boolean | undefined;
  /** Maximum number of changes. */
  limit: number;
  /** Number of days for which a cursor is valid. */
  days: number;
}

interface Row {
  epoch: string;
  end: string;
  endStamp: string;
  stamp: string | null;
  expired: boolean | null;
  aheadStamp: string | null;
  changes: LoggedChange[];
}

const limitByOwner = ({ length }: readonly string[], limit: number): number =>
  Math.min(limit, Math.ceil(maxReadByOwner / Math.max(length, 1)));

/**
 * Reads the changes of a list after a cursor, in order, and the cursor after them. Returns `unknown` if no change has this cursor,
 * for example after a restore, and `expired` if it is too old.
 */
export const readLog = async (
  sql: Sql,
  { list, after, owners, memberships, days, byOwner = false, ...query }: LogQuery,
): Promise<'unknown' | 'expired' | LogPage> => {
  const window = byOwner ? windowByOwner : defaultWindow;
  const limit = byOwner && owners ? limitByOwner(owners, query.limit) : query.limit;
  const from = after === undefined ? null : after.position.toString();
  const orMembers = memberships === undefined ? sql`` : sql`or list = ${memberships} and action <> 'updated'`;
  const isInWindow = sql`position <= ${from}::bigint + ${window} and (list = ${list} ${orMembers})`;
  // By owner, the query uses the order of its index; the plan for all owners would scan the whole window.
  const matchingRows =
    byOwner && owners
      ? sql`
        unnest(${owners as string[]}::text[]) of_owner cross join lateral (
          select * from feed_log
          where owner = of_owner and (owner, position) > (of_owner, ${from}::bigint) and ${isInWindow}
          order by owner, position limit ${limit}) feed_log`
      : sql`
        feed_log where position > ${from}::bigint and ${isInWindow} ${owners ? sql`and owner = any(${owners as string[]})` : sql``}`;
  const [row] = await sql<[Row]>`
    select state.epoch, state.position as end, state.stamp as "endStamp", known.stamp,
      known.changed_at < now() - ${days} * interval '1 day' as expired, ahead.stamp as "aheadStamp",
      (select coalesce(json_agg(change order by change.version), '[]') from (
        select record as id, action, position as version, list, owner, stamp::text,
          ${sql.unsafe(isoTime('changed_at'))} as "changedAt"
        from ${matchingRows}
        order by position limit ${limit}) change
      ) as changes
    from feed_state state
      left join feed_log known on known.position = ${from}::bigint
      left join feed_log ahead on ahead.position = ${from}::bigint + ${window}`;
  const end: Cursor = { epoch: row.epoch, position: BigInt(row.end), stamp: BigInt(row.endStamp) };
  if (after === undefined || cursorText(after) === cursorText(end))
    return { changes: [], next: end, hasMore: false };
  if (after.epoch !== row.epoch || after.position >= end.position) return 'unknown';
  // The position of the cursor may have been pruned from the log.
  if (row.stamp === null || row.expired === true) return 'expired';
  if (BigInt(row.stamp) !== after.stamp) return 'unknown';
  const last = row.changes.length === limit ? row.changes.at(-1) : undefined;
  const next = ((): Cursor => {
    if (last) return { epoch: end.epoch, position: BigInt(last.version), stamp: BigInt(last.stamp) };
    if (row.aheadStamp === null) return end;
    return { epoch: end.epoch, position: after.position + BigInt(window), stamp: BigInt(row.aheadStamp) };
  })();
  return { changes: row.changes, next, hasMore: next.position < end.position };
};

/** Moves all committed changes to the log and returns the cursor after them. */
export const endOfLog = async (sql: Sql): Promise<Cursor> => {
  while (await moveChanges(sql));
  const [state] = await sql<[Record<keyof Cursor, string>]>`select epoch, position, stamp from feed_state`;
  return { epoch: state.epoch, position: BigInt(state.position), stamp: BigInt(state.stamp) };
};

/** The log rows that `withPruning` deletes: a day after cursors expire, so that no reader finds them partly deleted. */
export const outdatedChanges = (days: number) => ({
  table: 'feed_log',
  // Keeps the newest row, so that a reader who has read everything keeps a valid cursor.
  outdated: `changed_at < now() - interval '${days + 1} days' and position < (select position from feed_state)`,
});
