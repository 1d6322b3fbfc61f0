import type { Sql, TransactionSql } from 'postgres';
import type { Fragment, Queries } from '../db/sql.ts';
import type { InboxEvent } from './event.ts';

/** An event that was claimed, or with no id the word that nothing was; `parked` is the same in all rows. */
type Looked = (InboxEvent | { id: null }) & { parked: number };

/**
 * Looks at the first events that are due. What is the first of its entity is claimed; what follows another
 * one is parked, so that the next look does not walk past it again: `release` makes it due when its turn
 * has come, or at the latest its own lease does.
 *
 * Whoever parks an event holds a lock on the one before it, which therefore can't end in between and
 * release nobody.
 *
 * Its plan must not follow from statistics: those of a queue are always of another moment. So it goes
 * along the index of what is due and stops at the limit; the order in which it asks for the event before
 * is that of one index alone, whose predicate is `finished_at is null`; the locked one is looked up by
 * nothing but its key; rows are changed where they were found.
 */
const look = (sql: Queries, limit: number, leaseMs: number) => sql<Looked[]>`
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
      i.received_at as "receivedAt", i.attempts)
  select claimed.*, parked from (select count(*)::int as parked from parked) as p left join claimed on true`;

/**
 * Takes up to `limit` events that are due, each the first of its entity, and gives them a lease:
 * who has not finished by its end has lost them to the next claim.
 */
export const claim = async (sql: Queries, limit: number, leaseMs: number): Promise<InboxEvent[]> => {
  for (;;) {
    const looked = await look(sql, limit, leaseMs);
    const claimed = looked.filter((event) => event.id !== null);
    if (claimed.length > 0 || looked[0]?.parked === 0) return claimed;
  }
};

/** Which claim of an event speaks. */
export interface Claim {
  storeId: string;
  id: string;
  entity: string | null;
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

/**
 * Makes due what was parked behind events that have ended. A statement of its own, after theirs: only then
 * it sees what was parked until they were.
 */
const release = async (sql: Queries, ended: readonly Claim[]): Promise<void> => {
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
 * Marks events as done, as far as the claims still hold, inside the caller's transaction. Gives the ids of
 * those; no other may have an effect.
 */
export const finish = async (sql: TransactionSql, claims: readonly Claim[]): Promise<Set<string>> => {
  const marked = sql<{ id: string }[]>`
    ${held(sql, claims)}
    update inbox set state = 'done', error = null, finished_at = now()
    where ctid = any(${places(sql)}) returning id`.execute();
  // Sent together, done one after the other; without execute() it would be sent last.
  const [rows] = await Promise.all([marked, release(sql, claims)]);
  return new Set(rows.map(({ id }) => id));
};

/** Ends an event for good. */
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

/** Lets an event be claimed again after a while. */
export const postpone = async (sql: Queries, claim: Claim, delayMs: number, error: string): Promise<void> => {
  await sql`
    ${held(sql, [claim])}
    update inbox set due_at = now() + ${delayMs} * interval '1 ms', error = ${error}
    where ctid = any(${places(sql)})`;
};
