import type { ISql } from 'postgres';
import { plainArrayOf, type Fragment } from '../db/sql.ts';
import type { ClaimedRow } from './event.ts';

/** A worker, and how long it may keep a claimed event, in milliseconds. */
export interface Claimer {
  worker: string;
  keepMs: number;
}

/**
 * An event that waits behind an earlier one of its entity is examined again after this time, in milliseconds, if nothing released
 * it before. Long, because an entity whose first event cannot be processed for now may have thousands of events.
 */
const parkMs = 120_000;

/** The maximum size of the bodies of one claim, in bytes; a larger event is claimed alone. */
const maxBytes = 8 * 2 ** 20;

/** Limits of a round-robin claim: stores, events per store, events per store that are read to find due ones, and bytes of bodies. */
const roundRobinLimits = { stores: 16, events: 4, searched: 256, bytes: 2 ** 20 };

/** A claimed event, or a row with a null id if none was claimed. `parked`: the number of parked events, the same in all rows. */
type Examined = (ClaimedRow | { id: null }) & { parked: number };

/**
 * Examines the first events that are due. Claims an event that is the first of its entity, and parks an event behind
 * an earlier one of its entity, so that the next claim does not examine it again. `release` makes a parked event due when the event
 * before it has ended.
 *
 * The statement that parks an event also locks the event before it: if that event ended in between, nothing would
 * release the parked event.
 */
const claimOrPark = (
  sql: ISql,
  condition: Fragment,
  limit: number,
  { worker, keepMs }: Claimer,
  bytes = maxBytes,
) => sql<Examined[]>`
  with examined as materialized (
    select due.ctid as place, due.store_id, due.entity, due.id, due.due_at, (
      select before.id from queue before
      where before.store_id = due.store_id and before.entity = due.entity and before.id < due.id
      order by before.id desc limit 1) as before
    from queue due
    where due.due_at <= now() and ${condition}
    order by due.due_at limit ${limit}
    for update of due skip locked),
  ahead as materialized (
    select examined.place from examined
    join queue q on q.store_id = examined.store_id and q.entity = examined.entity and q.id = examined.before
    for share of q skip locked),
  parked as (
    update queue set due_at = now() + ${parkMs} * interval '1 ms'
    where ctid = any(array(select place from ahead)) returning 1),
  sized as (
    select examined.place, row_number() over claim as n, sum(octet_length(e.body)) over claim as bytes
    from examined join events e on e.store_id = examined.store_id and e.id = examined.id
    where examined.before is null
    window claim as (order by examined.due_at, examined.id rows unbounded preceding)),
  claimed as (
    update queue q set attempts = attempts + 1, worker = ${worker}, due_at = now() + ${keepMs} * interval '1 ms'
    where q.ctid = any(array(select place from sized where n = 1 or bytes <= ${bytes}))
    returning q.store_id, q.entity, q.id, q.attempts, q.worker, q.crashes, q.queued_at, q.is_remapped)
  select e.store_id as "storeId", e.id, e.event, e.service, claimed.entity, e.body, e.headers,
    e.received_at as "receivedAt", claimed.queued_at as "queuedAt", claimed.attempts, claimed.worker, claimed.crashes,
    claimed.is_remapped as "isRemapped", parked
  from (select count(*)::int as parked from parked) as p
  left join (claimed join events e on e.store_id = claimed.store_id and e.id = claimed.id) on true`;

const claimWhere = async (...args: Parameters<typeof claimOrPark>): Promise<ClaimedRow[]> => {
  for (;;) {
    const examined = await claimOrPark(...args);
    const claimed = examined.filter((event) => event.id !== null);
    if (claimed.length > 0 || examined[0]?.parked === 0) return claimed;
  }
};

/**
 * Claims up to `limit` due events, each the first of its entity, in the order in which they became due. `suspects` are events
 * that several workers crashed with, `ordinary` all others.
 */
export const claim = (
  sql: ISql,
  claimer: Claimer,
  limit: number,
  group: 'ordinary' | 'suspects' = 'ordinary',
): Promise<ClaimedRow[]> =>
  claimWhere(sql, group === 'suspects' ? sql`due.crashes > 2` : sql`due.crashes <= 2`, limit, claimer);

/** Sorts before the id of every store. */
const lowestId = '00000000-0000-0000-0000-000000000000';

/** The maximum number of events of a round-robin claim. */
export const maxRoundRobinEvents = roundRobinLimits.stores * roundRobinLimits.events;

/**
 * Returns a function that claims a few due events of each of the next stores (round-robin), so that a replay of one store does
 * not delay the others. The primary key of the queue starts with the store, so each next store takes one index step.
 */
export const createRoundRobinClaim = (sql: ISql, claimer: Claimer): (() => Promise<ClaimedRow[]>) => {
  /** The store that was served last. */
  let lastStoreId = lowestId;
  return async () => {
    const stores = await sql<{ id: string }[]>`
      with recursive turn as (
        (select store_id as id from queue where store_id > ${lastStoreId} order by store_id limit 1)
        union all
        select following.id from turn cross join lateral (
          select store_id as id from queue where store_id > turn.id order by store_id limit 1) as following)
      select id from turn limit ${roundRobinLimits.stores}`;
    lastStoreId = (stores.length === roundRobinLimits.stores ? stores.at(-1)?.id : undefined) ?? lowestId;
    const firstOfEach = sql`due.ctid = any(array(
      select earliest.place from unnest(${plainArrayOf(stores.map(({ id }) => id))}::uuid[]) as store (id)
      cross join lateral (
        select place from (
          select ctid as place, due_at, crashes from queue where store_id = store.id
          order by entity, id limit ${roundRobinLimits.searched}) as searched
        where due_at <= now() and crashes <= 2 order by due_at limit ${roundRobinLimits.events}) as earliest))`;
    return claimWhere(sql, firstOfEach, maxRoundRobinEvents, claimer, roundRobinLimits.bytes);
  };
};
