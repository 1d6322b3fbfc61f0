import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';

/** The rights of the creator of a subscription as JSON; null: no limit. */
export interface Rights {
  subject: string;
  stores: string[] | null;
  clients: string[] | null;
}

export type Ordering = 'record' | 'none';

/** A subscription that this worker has claimed. */
export interface Subscription {
  id: string;
  /** The creator. */
  subject: string;
  rights: unknown;
  url: string;
  lists: readonly string[];
  actions: readonly string[];
  /** Only changes of records of these owners; null for all. */
  owners: readonly string[] | null;
  ordering: Ordering;
  generation: number;
  /** Whether the secret before this one signs as well. */
  isRotating: boolean;
  /** Changes up to this position were delivered or are held. */
  position: string;
  /** Failures since the last success. */
  failures: number;
  /** Whether it is active and not in a pause after failures. */
  isDue: boolean;
}

/** Length of a lease. A worker renews it with each window of changes, which takes less time than this. */
export const leaseMs = 60_000;
/** SQL: a secret signs for this time after it was replaced. */
const rotation = `interval '1 day'`;

/** SQL: whether the secret before this one signs as well. */
export const isRotating = `coalesce(rotated_at > now() - ${rotation}, false)`;

export const columns = `id, subject, rights, url, lists, actions, owners, ordering, generation,
  ${isRotating} as "isRotating", position::text, failures,
  state = 'active' and due_at <= now() as "isDue"`;

/**
 * Claims up to `max` subscriptions that have changes to deliver; those that have waited longest come first. A subject gets
 * only a part of `max`, so that its slow subscriptions always leave room for those of others.
 */
export const claim = (sql: Sql, worker: string, max: number): Promise<Subscription[]> => sql<Subscription[]>`
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
    where not is_served and place <= 1 + ${max}::int / (2 + 2 * (select count(distinct subject) from wanted))
    order by place, lease_until limit ${max}
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

/** Ends the lease, so that other workers can claim the subscription. */
export const release = (sql: Sql, worker: string, { id }: Subscription): Promise<unknown> =>
  sql`update subscriptions set worker = null, lease_until = now() where id = ${id} and worker = ${worker}`;

/** Serves the subscription again after ten seconds. */
export const pause = (sql: Sql, worker: string, { id }: Subscription): Promise<unknown> => sql`
  update subscriptions set due_at = now() + interval '10 s' where id = ${id} and worker = ${worker}`;

/** Why a subscription is disabled: its creator may no longer read the lists, or the missed changes were deleted. */
export type DisableReason = 'rights' | 'expired';

/** SQL: when the contact gets a mail about a subscription that is disabled now: not within a day of the last one. */
export const noticeDue = `greatest(now(), noticed_at + interval '1 day')`;

export const disable = (sql: Sql, { id }: Subscription, reason: DisableReason): Promise<unknown> => sql`
  update subscriptions set state = 'disabled', state_reason = ${reason}, notice_due_at = ${sql.unsafe(noticeDue)}
  where id = ${id} and state = 'active'`;
