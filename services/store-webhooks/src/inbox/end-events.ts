import type { ISql, Sql } from 'postgres';
import { arrayOf, plainArrayOf } from '../db/sql.ts';
import type { ClaimedEvent } from './event.ts';

/**
 * Identifies one claim of an event: a later claim has a higher number of attempts, or another worker if the event was
 * replayed in between, which sets the number to 0.
 */
export interface Claim extends Pick<ClaimedEvent, 'storeId' | 'entity' | 'id' | 'attempts'> {
  /** Null: no worker has claimed it. */
  worker: string | null;
}

/** Identifies an event in the queue. */
type QueuedEvent = Pick<Claim, 'storeId' | 'entity' | 'id'>;

/** The claims as a table `c`. */
const claimTable = (sql: ISql, claims: readonly Claim[]) => sql`
  unnest(${plainArrayOf(claims.map(({ storeId }) => storeId))}::uuid[],
    ${arrayOf(claims.map(({ entity }) => entity))}::text[], ${plainArrayOf(claims.map(({ id }) => id))}::uuid[],
    ${plainArrayOf(claims.map(({ attempts }) => attempts))}::int[],
    ${plainArrayOf(claims.map(({ worker }) => worker))}::uuid[])
  as c (store_id, entity, id, attempts, worker)`;

const isHeld = (sql: ISql) => sql`
  q.store_id = c.store_id and q.entity = c.entity and q.id = c.id and q.attempts = c.attempts
    and q.worker is not distinct from c.worker`;

/**
 * Makes the events due that are parked behind ended events. It is a separate statement that runs after the one that ends
 * events, because only then does it see all events that were parked until that moment.
 */
export const release = (sql: ISql, ended: readonly QueuedEvent[]) => sql`
  update queue set due_at = now() where ctid = any(array(
    select next.ctid from unnest(${plainArrayOf(ended.map(({ storeId }) => storeId))}::uuid[],
      ${arrayOf(ended.map(({ entity }) => entity))}::text[], ${plainArrayOf(ended.map(({ id }) => id))}::uuid[])
      as c (store_id, entity, id)
    join lateral (
      select n.ctid, n.due_at, n.attempts from queue n
      where n.store_id = c.store_id and n.entity = c.entity and n.id > c.id
      order by n.id limit 1) as next on next.due_at > now() and next.attempts = 0))`;

/**
 * Ends events whose claims are still valid, inside the caller's transaction, and makes the events due that wait behind them.
 * Returns both counts. The changes of events that were not ended must not be applied.
 */
export const endEvents = async (
  sql: ISql,
  claims: readonly Claim[],
  state: 'done' | 'failed' | 'ignored' = 'done',
  error: string | null = null,
): Promise<{ ended: number; released: number }> => {
  const ended = sql`
    with ended as (
      delete from queue q using ${claimTable(sql, claims)} where ${isHeld(sql)}
      returning q.store_id, q.id, greatest(q.attempts, 1) as attempts)
    insert into results (store_id, id, state, attempts, error, finished_at)
    select store_id, id, ${state}, attempts, ${error}, now() from ended`.execute();
  // Both statements are sent together and run in order; without execute() this one would be sent last.
  const [{ count }, released] = await Promise.all([ended, release(sql, claims)]);
  return { ended: count, released: released.count };
};

/** Ends an event with a final state, if the claim is still valid. */
export const endEvent = async (
  sql: Sql,
  claim: Claim,
  state: 'done' | 'failed' | 'ignored',
  error: string | null,
): Promise<void> => {
  await sql.begin((tx) => endEvents(tx, [claim], state, error));
};

interface Postponement {
  delayMs: number;
  error: string;
  /** False if nothing was tried: then this attempt is not counted. */
  isAttempt: boolean;
  /** Whether the event is claimed alone next time, as it is after three crashes. */
  isSuspect?: boolean;
}

/** Makes events whose claims are still valid due again after `delayMs`. */
export const postponeEvents = async (
  sql: ISql,
  claims: readonly Claim[],
  { delayMs, error, isAttempt, isSuspect = false }: Postponement,
): Promise<void> => {
  await sql`
    update queue q set worker = null, due_at = now() + ${delayMs} * interval '1 ms', error = ${error}, crashes = ${isSuspect ? 3 : 0},
      attempts = q.attempts - ${isAttempt ? 0 : 1}
    from ${claimTable(sql, claims)} where ${isHeld(sql)}`;
};
