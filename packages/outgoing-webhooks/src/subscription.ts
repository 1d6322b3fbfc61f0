import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';

/** What is kept of the maker of a subscription, as JSON; null: without this limit. */
export interface Rights {
  subject: string;
  stores: string[] | null;
  clients: string[] | null;
}

export type Ordering = 'record' | 'none';

/** A subscription that this worker has claimed. */
export interface Subscription {
  id: string;
  /** Who made it. */
  subject: string;
  rights: unknown;
  url: string;
  lists: readonly string[];
  actions: readonly string[];
  /** Only changes of records of these; null for all. */
  owners: readonly string[] | null;
  ordering: Ordering;
  generation: number;
  /** Whether the secret before this one signs as well. */
  isRotating: boolean;
  /** What is not behind it was delivered or is held. */
  position: string;
  /** Failures since the last success. */
  failures: number;
  /** Whether it is active, and no pause is left to wait for. */
  isDue: boolean;
}

/** The time for a window of changes, in which no worker may take longer than this for one. */
export const leaseMs = 60_000;
/** A secret signs for this long after it was replaced, as SQL. */
const rotation = `interval '1 day'`;

/** SQL: whether the secret before this one signs as well. */
export const isRotating = `coalesce(rotated_at > now() - ${rotation}, false)`;

export const columns = `id, subject, rights, url, lists, actions, owners, ordering, generation,
  ${isRotating} as "isRotating", position::text, failures,
  state = 'active' and due_at <= now() as "isDue"`;

/**
 * Claims up to `room` subscriptions that have something to deliver, those first that had their turn longest ago. A subject gets
 * a part of the room, so that however many slow ones it has, there is always room for those of others.
 */
export const claim = (sql: Sql, worker: string, room: number): Promise<Subscription[]> => sql<Subscription[]>`
  with wanted as materialized (
    select id, subject, lease_until, lease_until > now() as is_served from subscriptions
    where state = 'active' and (lease_until > now() or due_at <= now() and (
      position < (select position from feed_state) or exists (
        select from subscription_held
        where subscription = subscriptions.id and failed_at is null and subscription_held.due_at <= now())))
  ), ranked as (
    select id, lease_until, is_served,
      row_number() over (partition by subject order by is_served desc, lease_until) as place
    from wanted
  ), chosen as (
    select id from ranked
    where not is_served and place <= 1 + ${room}::int / (2 + 2 * (select count(distinct subject) from wanted))
    order by place, lease_until limit ${room}
  )
  update subscriptions set worker = ${worker}, lease_until = now() + ${leaseMs} * interval '1 ms'
  where id = any (array(
    select id from subscriptions
    where id in (select id from chosen) and lease_until <= now() for update skip locked))
  returning ${sql.unsafe(columns)}`;

/** Gives the subscriptions of a subject to another one with the same rights. */
export const transferSubscriptions = (sql: Queries, from: string, to: string): Promise<unknown> => sql`
  update subscriptions set subject = ${to}, rights = jsonb_set(rights, '{subject}', to_jsonb(${to}::text))
  where subject = ${from}`;

/** Lets others claim it. */
export const release = (sql: Sql, worker: string, { id }: Subscription): Promise<unknown> =>
  sql`update subscriptions set worker = null, lease_until = now() where id = ${id} and worker = ${worker}`;

/** Why a subscription is not active any more: its maker may not read, or what it missed is no longer kept. */
export type End = 'rights' | 'expired';

/** SQL: when the contact of one that is disabled now gets a mail: a day after the last one. */
export const noticeDue = `greatest(now(), noticed_at + interval '1 day')`;

export const disable = (sql: Sql, { id }: Subscription, reason: End): Promise<unknown> => sql`
  update subscriptions set state = 'disabled', state_reason = ${reason}, notice_due_at = ${sql.unsafe(noticeDue)}
  where id = ${id} and state = 'active'`;
