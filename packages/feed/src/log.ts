import { randomBytes } from 'node:crypto';
import { isoTime } from '@platform/service-kit/json-table';
import type { Sql } from 'postgres';

/** A place in the feed: that of a change, and what distinguishes the database and the batch that gave it that place. */
export interface Cursor {
  /** UUID of the database. */
  epoch: string;
  position: bigint;
  /** Random number of the batch. */
  stamp: bigint;
}

const bytes = 32;

/** Text of 43 characters that a client keeps and does not look into. */
export const cursorText = ({ epoch, position, stamp }: Cursor): string => {
  const buffer = Buffer.alloc(bytes);
  buffer.write(epoch.replaceAll('-', ''), 'hex');
  buffer.writeBigInt64BE(position, 16);
  buffer.writeBigInt64BE(stamp, 24);
  return buffer.toString('base64url');
};

/** Returns undefined when the text is not a cursor. */
export const parseCursor = (text: string): Cursor | undefined => {
  const buffer = Buffer.from(text, 'base64url');
  if (buffer.length !== bytes || buffer.toString('base64url') !== text) return undefined;
  const epoch = buffer.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const position = buffer.readBigInt64BE(16);
  // What is added to it in SQL must stay a bigint.
  if (position < 0n || position > Number.MAX_SAFE_INTEGER) return undefined;
  return { epoch, position, stamp: buffer.readBigInt64BE(24) };
};

/** Rows that one transaction moves; some milliseconds, for which readers that move as well wait. */
const batch = 2000;
/** Positions that one page looks at: a filter that finds little is answered in several pages. */
const usualWindow = 10_000;
/** The same where an index has the changes of each owner. */
const windowByOwner = 1_000_000;
/** Changes that a page by owner reads of all owners together, to find the first ones. */
const maxReadByOwner = 5000;

/** The last id that was given to a change, also of a transaction that has not committed. */
const allocated = `coalesce(pg_sequence_last_value('feed_pending_id_seq'), 0)`;

/**
 * Whether there may be changes to move: there are new ids, or a transaction has ended that was open when ids up to `moved_to`
 * were looked at. A transaction beyond all that have ended may be one of the server that the database was moved from.
 */
const pendingSql = `${allocated} <> moved_to or exists (
  select from unnest(open) xid where pg_visible_in_snapshot(xid, pg_current_snapshot()) or xid >= pg_snapshot_xmax(pg_current_snapshot()))`;

/**
 * Gives committed changes their positions: their order is that of this transaction, whatever the order of their commits was,
 * so a writer that takes long delays nobody. Of several calls one moves and the others wait for its lock. Rows that were moved
 * are not met again, also while an open transaction keeps vacuum from them (docs/adr/0192). Returns whether there may be more.
 */
export const moveChanges = async (sql: Sql): Promise<boolean> => {
  const [{ pending, upTo }] = await sql<[{ pending: boolean; upTo: string }]>`
    select ${sql.unsafe(pendingSql)} as pending, ${sql.unsafe(allocated)} as "upTo" from feed_state`;
  if (!pending) return false;
  return sql.begin<boolean>(async (tx) => {
    // In a statement of its own: the next one must see what the last mover has written. Ids begin anew where a database was copied
    // without its sequences.
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
            (select id from feed_pending where id > ${movedTo} order by id limit ${batch})
            union all
            select late.id from ended cross join lateral (
              select id from feed_pending where xid = ended.xid and id <= ${movedTo} order by xid, id limit ${batch}) late
          ) candidates order by id limit ${batch}))
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
        select count(*) = ${batch} as "isFull", coalesce(max(id), 0) as last,
          greatest(${upTo}::bigint, ${movedTo}) as "upTo", (select max(position) from placed) as position
        from taken),
      moved as (
        update feed_state set
          position = coalesce(read.position, feed_state.position),
          stamp = case when read.position is null then stamp else ${stamp} end,
          -- Up to there, what is not taken was not committed when this statement began.
          moved_to = case when not "isFull" then "upTo" when last > ${movedTo} then least(last, "upTo") else ${movedTo} end,
          open = case
            when "isFull" and last <= ${movedTo} then open
            when "upTo" = ${movedTo} then array(select unnest(open) except select xid from ended)
            else array(
              select pg_snapshot_xip(pg_current_snapshot())
              union
              -- Began after the last one that has ended, and before this transaction.
              select later::text::xid8 from generate_series(
                pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id()::text::bigint) later
              except select pg_current_xact_id())
          end
        from read)
      select count(*)::int as taken from taken`;
    return taken === batch;
  });
};

export interface Change {
  id: string;
  action: 'created' | 'updated' | 'deleted';
  /** Its position: grows with each change of a record. */
  version: number;
  changedAt: string;
}

/** A change of any list, as the log has it. */
export interface LoggedChange extends Change {
  list: string;
  owner: string | null;
  /** That of its batch, as in a cursor. */
  stamp: string;
}

/** A change without what only the feed knows. */
export const changeOf = ({ id, action, version, changedAt }: LoggedChange): Change => ({
  id,
  action,
  version,
  changedAt,
});

/** A part of the log. */
export interface LogPage {
  changes: readonly LoggedChange[];
  /** Behind the last change. */
  next: Cursor;
  hasMore: boolean;
}

export interface LogQuery {
  list: string;
  /** Undefined begins at the end. */
  after: Cursor | undefined;
  /** Only changes of records of these; undefined for all. */
  owners: readonly string[] | undefined;
  /** Another list, of which only what is given to these owners or taken from them is among the changes. */
  memberships?: string | undefined;
  /** Whether the log has an index by owner. */
  byOwner?: boolean | undefined;
  /** How many at most. */
  limit: number;
  /** For how many days a cursor is valid. */
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

const pageByOwner = ({ length }: readonly string[], limit: number): number =>
  Math.min(limit, Math.ceil(maxReadByOwner / Math.max(length, 1)));

/**
 * The changes of a list behind a cursor, in their order, and the cursor behind them. `unknown`: no change has this cursor, for
 * example because a backup was restored; `expired`: it is too old.
 */
export const readLog = async (
  sql: Sql,
  { list, after, owners, memberships, days, byOwner = false, ...asked }: LogQuery,
): Promise<'unknown' | 'expired' | LogPage> => {
  const window = byOwner ? windowByOwner : usualWindow;
  const limit = byOwner && owners ? pageByOwner(owners, asked.limit) : asked.limit;
  const from = after === undefined ? null : after.position.toString();
  const orMembers = memberships === undefined ? sql`` : sql`or list = ${memberships} and action <> 'updated'`;
  const isMeant = sql`position <= ${from}::bigint + ${window} and (list = ${list} ${orMembers})`;
  // By owner in the order of its index, since the plan for all owners would walk through the window.
  const found =
    byOwner && owners
      ? sql`
        unnest(${owners as string[]}::text[]) of_owner cross join lateral (
          select * from feed_log
          where owner = of_owner and (owner, position) > (of_owner, ${from}::bigint) and ${isMeant}
          order by owner, position limit ${limit}) feed_log`
      : sql`
        feed_log where position > ${from}::bigint and ${isMeant} ${owners ? sql`and owner = any(${owners as string[]})` : sql``}`;
  const [row] = await sql<[Row]>`
    select state.epoch, state.position as end, state.stamp as "endStamp", known.stamp,
      known.changed_at < now() - ${days} * interval '1 day' as expired, ahead.stamp as "aheadStamp",
      (select coalesce(json_agg(change order by change.version), '[]') from (
        select record as id, action, position as version, list, owner, stamp::text,
          ${sql.unsafe(isoTime('changed_at'))} as "changedAt"
        from ${found}
        order by position limit ${limit}) change
      ) as changes
    from feed_state state
      left join feed_log known on known.position = ${from}::bigint
      left join feed_log ahead on ahead.position = ${from}::bigint + ${window}`;
  const end: Cursor = { epoch: row.epoch, position: BigInt(row.end), stamp: BigInt(row.endStamp) };
  if (after === undefined || cursorText(after) === cursorText(end))
    return { changes: [], next: end, hasMore: false };
  if (after.epoch !== row.epoch || after.position >= end.position) return 'unknown';
  // The log may have been pruned up to the cursor, and further.
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

/** The cursor behind all that has been committed so far. */
export const endOfLog = async (sql: Sql): Promise<Cursor> => {
  while (await moveChanges(sql));
  const [state] = await sql<[Record<keyof Cursor, string>]>`select epoch, position, stamp from feed_state`;
  return { epoch: state.epoch, position: BigInt(state.position), stamp: BigInt(state.stamp) };
};

/** What `withPruning` deletes: a day after no cursor leads to it, so that no reader finds a part of it missing. */
export const outdatedChanges = (days: number) => ({
  table: 'feed_log',
  // The newest stays, so that who has read up to it misses nothing.
  outdated: `changed_at < now() - interval '${days + 1} days' and position < (select position from feed_state)`,
});
