import type { ISql, Sql, TransactionSql } from 'postgres';
import type { Fragment } from '../db/sql.ts';
import type { InboxEvent } from './event.ts';

/** A claimed event, or a row with a null id if none was claimed; `parked` is the same in all rows. */
type Looked = (InboxEvent | { id: null }) & { parked: number };

/**
 * Examines the first events that are due. Claims an event that is the first of its entity, and parks an
 * event behind another one, so that the next claim does not examine it again. `release` makes a parked
 * event due when the event before it has ended; otherwise it becomes due when its own lease expires.
 *
 * The statement that parks an event holds a lock on the event before it. So that event cannot end in
 * between, which would leave the parked event without a release.
 *
 * The query plan must not depend on statistics, because those of a queue are always outdated. So the
 * query follows the index of due events and stops at the limit; it requests the previous event in the
 * order of the only index with the predicate `finished_at is null`; it looks up the locked event by its
 * key alone; and it updates rows by their physical location (ctid).
 */
const look = (sql: ISql, limit: number, leaseMs: number) => sql<Looked[]>`
  with looked as materialized (
    select due.ctid as place, due.store_id, before.id as before
    from inbox due left join lateral (
      select e.store_id, e.entity, e.id from inbox e
      where e.finished_at is null and (e.store_id, e.entity, e.id) < (due.store_id, due.entity, due.id)
      order by e.store_id desc, e.entity desc, e.id desc limit 1) as before
      on before.store_id = due.store_id and before.entity = due.entity
    where due.state = 'pending' and due.due_at <= now()
    order by due.due_at limit ${limit}
    for update of due skip locked),
  ahead as materialized (
    select looked.place, e.finished_at from looked join inbox e on e.store_id = looked.store_id and e.id = looked.before
    for share of e skip locked),
  parked as (
    update inbox set due_at = now() + ${leaseMs} * interval '1 ms'
    where ctid = any(array(select place from ahead where finished_at is null)) returning 1),
  claimed as (
    update inbox i set attempts = i.attempts + 1, due_at = now() + ${leaseMs} * interval '1 ms'
    where i.ctid = any(array(select place from looked where before is null))
    returning i.store_id as "storeId", i.id, i.event, i.service, i.entity, i.body, i.headers,
      i.received_at as "receivedAt", i.attempts, i.error)
  select claimed.*, parked from (select count(*)::int as parked from parked) as p left join claimed on true`;

/**
 * Claims up to `limit` due events, each the first of its entity, for the length of a lease. Events that
 * are not finished when the lease expires can be claimed again.
 */
export const claim = async (sql: ISql, limit: number, leaseMs: number): Promise<InboxEvent[]> => {
  for (;;) {
    const looked = await look(sql, limit, leaseMs);
    const claimed = looked.filter((event) => event.id !== null);
    if (claimed.length > 0 || looked[0]?.parked === 0) return claimed;
  }
};

/** Identifies one claim of an event: a later claim has a higher number of attempts. */
export interface Claim {
  storeId: string;
  id: string;
  entity: string | null;
  attempts: number;
}

/**
 * Locks the events whose claims are still valid, which excludes events that another worker has claimed
 * since. Looks them up by their keys alone, because statistics may show the indexes of unfinished events
 * as empty, and thus cheap, however many entries they have.
 */
const held = (sql: ISql, claims: readonly Claim[]): Fragment => sql`
  with claimed as materialized (
    select i.ctid as place, i.state
    from unnest(${claims.map(({ storeId }) => storeId)}::uuid[], ${claims.map(({ id }) => id)}::uuid[],
      ${claims.map(({ attempts }) => attempts)}::int[]) as c (store_id, id, attempts)
    join inbox i on i.store_id = c.store_id and i.id = c.id and i.attempts = c.attempts
    for update of i)`;

const places = (sql: ISql): Fragment => sql`array(select place from claimed where state = 'pending')`;

/**
 * Makes the events due that are parked behind ended events. This is a separate statement after the one
 * that ends them, because only then it sees all events that were parked until that moment.
 */
const release = async (sql: ISql, ended: readonly Claim[]): Promise<void> => {
  await sql`
    update inbox set due_at = now() where ctid = any(array(
      select next.ctid
      from unnest(${ended.map(({ storeId }) => storeId)}::uuid[], ${ended.map(({ id }) => id)}::uuid[],
        ${ended.map(({ entity }) => entity)}::text[]) as c (store_id, id, entity)
      join lateral (
        select n.ctid, n.store_id, n.entity, n.due_at, n.attempts from inbox n
        where n.finished_at is null and (n.store_id, n.entity, n.id) > (c.store_id, c.entity, c.id)
        order by n.store_id, n.entity, n.id limit 1) as next
        on next.store_id = c.store_id and next.entity = c.entity
      where next.due_at > now() and next.attempts = 0))`;
};

/**
 * Marks events whose claims are still valid as done, inside the caller's transaction. Returns their ids;
 * the changes of other events must not be applied.
 */
export const finish = async (sql: TransactionSql, claims: readonly Claim[]): Promise<Set<string>> => {
  const marked = sql<{ id: string }[]>`
    ${held(sql, claims)}
    update inbox set state = 'done', error = null, finished_at = now()
    where ctid = any(${places(sql)}) returning id`.execute();
  // Both statements are sent together and run in order; without execute() this one would be sent last.
  const [rows] = await Promise.all([marked, release(sql, claims)]);
  return new Set(rows.map(({ id }) => id));
};

/** Ends an event with a final state. */
export const end = (
  sql: Sql,
  claim: Claim,
  state: 'done' | 'failed' | 'ignored',
  error: string | null,
): Promise<void> =>
  sql.begin(async (tx) => {
    await tx`
      ${held(tx, [claim])}
      update inbox set state = ${state}, error = ${error}, attempts = greatest(attempts, 1), finished_at = now()
      where ctid = any(${places(tx)})`;
    await release(tx, [claim]);
  });

interface Postponement {
  delayMs: number;
  error: string;
  /** Whether this attempt counts; not if nothing was tried. */
  counts: boolean;
}

/** Makes an event due again after `delayMs`. */
export const postpone = async (
  sql: ISql,
  claim: Claim,
  { delayMs, error, counts }: Postponement,
): Promise<void> => {
  await sql`
    ${held(sql, [claim])}
    update inbox set due_at = now() + ${delayMs} * interval '1 ms', error = ${error},
      attempts = attempts - ${counts ? 0 : 1}
    where ctid = any(${places(sql)})`;
};

/**
 * Extends the leases of claims that are still valid. Skips rows that are locked: their events are ending, and waiting
 * for them could deadlock.
 */
export const renew = async (sql: ISql, claims: readonly Claim[], leaseMs: number): Promise<void> => {
  await sql`
    update inbox set due_at = greatest(due_at, now() + ${leaseMs} * interval '1 ms') where ctid = any(array(
      select i.ctid
      from unnest(${claims.map(({ storeId }) => storeId)}::uuid[], ${claims.map(({ id }) => id)}::uuid[],
        ${claims.map(({ attempts }) => attempts)}::int[]) as c (store_id, id, attempts)
      join inbox i on i.store_id = c.store_id and i.id = c.id and i.attempts = c.attempts
      where i.state = 'pending' for update of i skip locked))`;
};
