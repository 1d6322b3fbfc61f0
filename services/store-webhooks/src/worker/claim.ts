import type { Queries } from '../db/sql.ts';
import type { InboxEvent } from './event.ts';

/**
 * Takes up to `limit` events that are due, each the first of its entity, and gives them a lease:
 * who has not finished by its end has lost them to the next claim.
 */
export const claim = (sql: Queries, limit: number, leaseMs: number) => sql<InboxEvent[]>`
  with due as (
    select i.store_id, i.id from inbox i
    where i.state = 'pending' and i.due_at <= now() and not exists (
      select from inbox earlier
      where earlier.state = 'pending' and earlier.store_id = i.store_id
        and earlier.entity = i.entity and earlier.id < i.id)
    order by i.due_at limit ${limit}
    for update skip locked)
  update inbox i set attempts = i.attempts + 1, due_at = now() + ${leaseMs} * interval '1 ms'
  from due where i.store_id = due.store_id and i.id = due.id
  returning i.store_id as "storeId", i.id, i.event, i.service, i.entity, i.body, i.headers,
    i.received_at as "receivedAt", i.attempts`;

/** Which claim of an event speaks. */
export interface Claim {
  storeId: string;
  id: string;
  attempts: number;
}

/**
 * Marks events as done, as far as the claims still hold. Gives the ids of those; what was claimed
 * anew or finished by somebody else must have no effect from here.
 */
export const finish = async (sql: Queries, claims: readonly Claim[]): Promise<Set<string>> => {
  const rows = await sql<{ id: string }[]>`
    update inbox i set state = 'done', error = null, finished_at = now()
    from unnest(${claims.map(({ storeId }) => storeId)}::uuid[], ${claims.map(({ id }) => id)}::uuid[],
      ${claims.map(({ attempts }) => attempts)}::int[]) as c (store_id, id, attempts)
    where i.store_id = c.store_id and i.id = c.id and i.attempts = c.attempts and i.state = 'pending'
    returning i.id`;
  return new Set(rows.map(({ id }) => id));
};

/** Ends an event for good. */
export const end = async (
  sql: Queries,
  { storeId, id, attempts }: Claim,
  state: 'failed' | 'ignored',
  error: string,
): Promise<void> => {
  await sql`
    update inbox set state = ${state}, error = ${error}, finished_at = now()
    where store_id = ${storeId} and id = ${id} and attempts = ${attempts} and state = 'pending'`;
};

/** Lets an event be claimed again after a while. */
export const postpone = async (
  sql: Queries,
  { storeId, id, attempts }: Claim,
  delayMs: number,
  error: string,
): Promise<void> => {
  await sql`
    update inbox set due_at = now() + ${delayMs} * interval '1 ms', error = ${error}
    where store_id = ${storeId} and id = ${id} and attempts = ${attempts} and state = 'pending'`;
};
