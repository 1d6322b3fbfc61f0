import type { ISql, Sql } from 'postgres';
import { arrayOf, plainArrayOf } from '../db/sql.ts';
import type { InboxEvent } from './event.ts';

/** A worker, and how long it may keep an event, in milliseconds. */
export interface Claimer {
  worker: string;
  keepMs: number;
}

/** An event behind another one is looked at again after this time, in milliseconds, if nothing released it before. */
const parkMs = 3000;

/** Bodies of the events of one claim at most, in bytes; a larger one is claimed alone. */
const maxBytes = 8 * 2 ** 20;

/** A claimed event, or a row with a null id if none was claimed; `parked` is the same in all rows. */
type Looked = (InboxEvent | { id: null }) & { parked: number };

/**
 * Examines the first events that are due. Claims an event that is the first of its entity, and parks an event behind
 * another one, so that the next claim does not examine it again. `release` makes a parked event due when the event
 * before it has ended.
 *
 * The statement that parks an event holds a lock on the event before it. So that event cannot end in between, which
 * would leave the parked event without a release.
 */
const look = (sql: ISql, which: 'ordinary' | 'suspects', limit: number, { worker, keepMs }: Claimer) => sql<
  Looked[]
>`
  with looked as materialized (
    select due.ctid as place, due.store_id, due.entity, due.id, due.due_at, (
      select before.id from queue before
      where before.store_id = due.store_id and before.entity = due.entity and before.id < due.id
      order by before.id desc limit 1) as before
    from queue due
    where due.due_at <= now() and ${which === 'suspects' ? sql`due.crashes > 2` : sql`due.crashes <= 2`}
    order by due.due_at limit ${limit}
    for update of due skip locked),
  ahead as materialized (
    select looked.place from looked
    join queue q on q.store_id = looked.store_id and q.entity = looked.entity and q.id = looked.before
    for share of q skip locked),
  parked as (
    update queue set due_at = now() + ${parkMs} * interval '1 ms'
    where ctid = any(array(select place from ahead)) returning 1),
  sized as (
    select looked.place, row_number() over claim as n, sum(octet_length(e.body)) over claim as bytes
    from looked join events e on e.store_id = looked.store_id and e.id = looked.id
    where looked.before is null
    window claim as (order by looked.due_at, looked.id rows unbounded preceding)),
  claimed as (
    update queue q set attempts = attempts + 1, worker = ${worker}, due_at = now() + ${keepMs} * interval '1 ms'
    where q.ctid = any(array(select place from sized where n = 1 or bytes <= ${maxBytes}))
    returning q.store_id, q.entity, q.id, q.attempts, q.worker, q.crashes, q.queued_at)
  select e.store_id as "storeId", e.id, e.event, e.service, claimed.entity, e.body, e.headers,
    e.received_at as "receivedAt", claimed.queued_at as "queuedAt", claimed.attempts, claimed.worker, claimed.crashes,
    parked
  from (select count(*)::int as parked from parked) as p
  left join (claimed join events e on e.store_id = claimed.store_id and e.id = claimed.id) on true`;

/**
 * Claims up to `limit` due events, each the first of its entity. `suspects` are those with which several workers died,
 * `ordinary` are all others.
 */
export const claim = async (
  sql: ISql,
  claimer: Claimer,
  limit: number,
  which: 'ordinary' | 'suspects' = 'ordinary',
): Promise<InboxEvent[]> => {
  for (;;) {
    const looked = await look(sql, which, limit, claimer);
    const claimed = looked.filter((event) => event.id !== null);
    if (claimed.length > 0 || looked[0]?.parked === 0) return claimed;
  }
};

/**
 * Identifies one claim of an event: a later claim has a higher number of attempts, or another worker if the event was
 * replayed in between, which sets the number to 0.
 */
export interface Claim extends Pick<InboxEvent, 'storeId' | 'entity' | 'id' | 'attempts'> {
  /** Null: no worker has claimed it. */
  worker: string | null;
}

/** The claims as rows of `c`. */
const rowsOf = (sql: ISql, claims: readonly Claim[]) => sql`
  unnest(${plainArrayOf(claims.map(({ storeId }) => storeId))}::uuid[],
    ${arrayOf(claims.map(({ entity }) => entity))}::text[], ${plainArrayOf(claims.map(({ id }) => id))}::uuid[],
    ${plainArrayOf(claims.map(({ attempts }) => attempts))}::int[],
    ${plainArrayOf(claims.map(({ worker }) => worker))}::uuid[])
  as c (store_id, entity, id, attempts, worker)`;

const isHeld = (sql: ISql) => sql`
  q.store_id = c.store_id and q.entity = c.entity and q.id = c.id and q.attempts = c.attempts
    and q.worker is not distinct from c.worker`;

/**
 * Makes the events due that are parked behind ended events. This is a separate statement after the one that ends them,
 * because only then it sees all events that were parked until that moment.
 */
const release = (sql: ISql, ended: readonly Claim[]) => sql`
  update queue set due_at = now() where ctid = any(array(
    select next.ctid from ${rowsOf(sql, ended)}
    join lateral (
      select n.ctid, n.due_at, n.attempts from queue n
      where n.store_id = c.store_id and n.entity = c.entity and n.id > c.id
      order by n.id limit 1) as next on next.due_at > now() and next.attempts = 0))`;

/**
 * Ends events whose claims are still valid, inside the caller's transaction, and makes those due that wait behind them.
 * Returns how many of each. The changes of events that were not ended must not be applied.
 */
export const finish = async (
  sql: ISql,
  claims: readonly Claim[],
  state: 'done' | 'failed' | 'ignored' = 'done',
  error: string | null = null,
): Promise<{ ended: number; released: number }> => {
  const ended = sql`
    with ended as (
      delete from queue q using ${rowsOf(sql, claims)} where ${isHeld(sql)}
      returning q.store_id, q.id, greatest(q.attempts, 1) as attempts)
    insert into results (store_id, id, state, attempts, error, finished_at)
    select store_id, id, ${state}, attempts, ${error}, now() from ended`.execute();
  // Both statements are sent together and run in order; without execute() this one would be sent last.
  const [{ count }, released] = await Promise.all([ended, release(sql, claims)]);
  return { ended: count, released: released.count };
};

/** Ends an event with a final state, if the claim is still valid. */
export const end = async (
  sql: Sql,
  claim: Claim,
  state: 'done' | 'failed' | 'ignored',
  error: string | null,
): Promise<void> => {
  await sql.begin((tx) => finish(tx, [claim], state, error));
};

interface Postponement {
  delayMs: number;
  error: string;
  /** Whether this attempt counts; not if nothing was tried. */
  counts: boolean;
}

/** Makes events due again after `delayMs` whose claims are still valid. */
export const postpone = async (
  sql: ISql,
  claims: readonly Claim[],
  { delayMs, error, counts }: Postponement,
): Promise<void> => {
  await sql`
    update queue q set worker = null, due_at = now() + ${delayMs} * interval '1 ms', error = ${error}, crashes = 0,
      attempts = q.attempts - ${counts ? 0 : 1}
    from ${rowsOf(sql, claims)} where ${isHeld(sql)}`;
};
