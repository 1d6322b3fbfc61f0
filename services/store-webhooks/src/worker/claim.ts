import type { Fragment, Queries } from '../db/sql.ts';
import type { InboxEvent } from './event.ts';

/**
 * Takes up to `limit` events that are due, each the first of its entity, and gives them a lease:
 * who has not finished by its end has lost them to the next claim.
 *
 * Its plan must not follow from statistics: those of a queue are always of another moment. So it goes
 * along the index of what is due and stops at the limit; `offset 0` keeps the look at earlier events
 * from becoming a join, its `finished_at is null` belongs to one index alone; rows are changed where
 * they were found.
 */
export const claim = (sql: Queries, limit: number, leaseMs: number) => sql<InboxEvent[]>`
  update inbox i set attempts = i.attempts + 1, due_at = now() + ${leaseMs} * interval '1 ms'
  where i.ctid = any(array(
    select due.ctid from inbox due
    where due.state = 'pending' and due.due_at <= now() and not exists (
      select from inbox earlier
      where earlier.finished_at is null and earlier.store_id = due.store_id
        and earlier.entity = due.entity and earlier.id < due.id offset 0)
    order by due.due_at limit ${limit}
    for update skip locked))
  returning i.store_id as "storeId", i.id, i.event, i.service, i.entity, i.body, i.headers,
    i.received_at as "receivedAt", i.attempts`;

/** Which claim of an event speaks. */
export interface Claim {
  storeId: string;
  id: string;
  attempts: number;
}

/**
 * Locks the events whose claims still hold: what was claimed anew or finished by somebody else is not
 * among them. They are looked up by nothing but their keys, since the indexes of unfinished events look
 * empty to statistics, and thus cheap, however many they hold.
 */
const held = (sql: Queries, claims: readonly Claim[]): Fragment => sql`
  with claimed as materialized (
    select i.ctid as place, i.state
    from unnest(${claims.map(({ storeId }) => storeId)}::uuid[], ${claims.map(({ id }) => id)}::uuid[],
      ${claims.map(({ attempts }) => attempts)}::int[]) as c (store_id, id, attempts)
    join inbox i on i.store_id = c.store_id and i.id = c.id and i.attempts = c.attempts
    for update of i)`;

const places = (sql: Queries): Fragment => sql`array(select place from claimed where state = 'pending')`;

/** Marks events as done, as far as the claims still hold. Gives the ids of those; no other may have an effect. */
export const finish = async (sql: Queries, claims: readonly Claim[]): Promise<Set<string>> => {
  const rows = await sql<{ id: string }[]>`
    ${held(sql, claims)}
    update inbox set state = 'done', error = null, finished_at = now()
    where ctid = any(${places(sql)}) returning id`;
  return new Set(rows.map(({ id }) => id));
};

/** Ends an event for good. */
export const end = async (
  sql: Queries,
  claim: Claim,
  state: 'done' | 'failed' | 'ignored',
  error: string | null,
): Promise<void> => {
  await sql`
    ${held(sql, [claim])}
    update inbox set state = ${state}, error = ${error}, attempts = greatest(attempts, 1), finished_at = now()
    where ctid = any(${places(sql)})`;
};

/** Lets an event be claimed again after a while. */
export const postpone = async (sql: Queries, claim: Claim, delayMs: number, error: string): Promise<void> => {
  await sql`
    ${held(sql, [claim])}
    update inbox set due_at = now() + ${delayMs} * interval '1 ms', error = ${error}
    where ctid = any(${places(sql)})`;
};
