import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import type { Change } from './changes.ts';
import type { Attempt, Held, Result } from './deliver.ts';
import { columns, leaseMs, noticeDue, type Subscription } from './subscription.ts';

/** A subscription is disabled after failing for this time. */
const disabledAfter = `interval '5 days'`;

/** Maximum number of stored attempts of a subscription, so that they do not fill the disk. */
const keptAttempts = 1000;

/** SQL: the lock that separates what is stored before an erasure from what is stored after it. */
const answersLock = `hashtextextended('answers of subscribers', 0)`;

export const saveAttempts = async (sql: Queries, id: string, attempts: readonly Attempt[]): Promise<void> => {
  if (attempts.length === 0) return;
  if (attempts.some(({ answer }) => answer !== null))
    await sql`select pg_advisory_xact_lock_shared(${sql.unsafe(answersLock)})`;
  await sql`
    insert into subscription_attempts (subscription, sent_at, event, type, record, version, attempt, status, ms, error, answer)
    select ${id}, "sentAt", event, type, record, version, attempt, status, ms, error,
      case when not exists (
        select from subscription_erasures where owner = split_part(record, '/', 1) and until > now()) then answer end
    from json_to_recordset(${JSON.stringify(attempts)}::text::json) as attempts ("sentAt" timestamptz, event text, type text, record text,
      version bigint, attempt integer, status integer, ms integer, error text, answer text)`;
  await sql`
    delete from subscription_attempts where subscription = ${id} and id <= (
      select id from subscription_attempts where subscription = ${id} order by id desc offset ${keptAttempts} limit 1)`;
};

/**
 * Erases the stored answers about records of an owner (those with an id `{owner}/…`), because failing servers often repeat the
 * request. For a minute, none is stored: messages that were sent before may still be answered. Call it as the last statement of
 * a transaction, and `deleteErasedAnswers` after it.
 */
export const eraseAnswers = async (sql: Queries, owner: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${sql.unsafe(answersLock)})`;
  await sql`
    insert into subscription_erasures (owner, until) values (${owner}, clock_timestamp() + interval '1 minute')
    on conflict (owner) do update set until = excluded.until`;
};

/** Maximum number of answers that one statement deletes. */
const erasedAtOnce = 1000;

/** Deletes erased answers. Call it until it returns false; the background work of subscriptions does so after a crash. */
export const deleteErasedAnswers = async (sql: Queries): Promise<boolean> => {
  const { count } = await sql`
    update subscription_attempts set answer = null where id = any(array(
      select id from subscription_erasures cross join lateral (
        select id from subscription_attempts
        where answer is not null and split_part(record, '/', 1) = owner limit ${erasedAtOnce}) erased
      limit ${erasedAtOnce}))`;
  if (count === 0) await sql`delete from subscription_erasures where until < now()`;
  return count > 0;
};

/** Makes the first change of each of these lanes due, and the others wait. */
export const orderLanes = (sql: Queries, id: string, lanes: readonly string[]): Promise<unknown> => sql`
  update subscription_held held set due_at = case when is_first then now() else 'infinity' end
  from (
    select position, row_number() over (partition by lane order by position) = 1 as is_first
    from subscription_held
    where subscription = ${id} and failed_at is null and lane = any(${lanes as string[]})) ordered
  where held.subscription = ${id} and held.position = ordered.position and is_first = (held.due_at = 'infinity')`;

const saveHeld = async (sql: Queries, id: string, held: readonly Held[]): Promise<void> => {
  if (held.length === 0) return;
  await sql`
    insert into subscription_held (subscription, position, lane, list, record, action, changed_at, attempts, due_at, failed_at)
    select ${id}, position, lane, list, record, action, "changedAt", attempts, now() + "dueInMs" * interval '1 ms',
      case when failed then now() end
    from json_to_recordset(${JSON.stringify(held)}::text::json) as held (position bigint, lane text, list text, record text, action text,
      "changedAt" timestamptz, attempts integer, "dueInMs" integer, failed boolean)
    on conflict (subscription, position) do update
      set attempts = excluded.attempts, due_at = excluded.due_at, failed_at = excluded.failed_at`;
};

const isHeld = ({ heldReplays }: Change): boolean => heldReplays !== null;

/** Removes delivered changes, except those whose replay was requested meanwhile. */
const removeHeld = async (sql: Queries, id: string, delivered: readonly Change[]): Promise<void> => {
  const rows = delivered.filter(isHeld);
  if (rows.length === 0) return;
  await sql`
    delete from subscription_held held
    using unnest(${rows.map(({ position }) => position)}::bigint[], ${rows.map(({ heldReplays }) => heldReplays)}::integer[])
      as delivered (position, replays)
    where subscription = ${id} and held.position = delivered.position and held.replays = delivered.replays`;
};

/**
 * Stores the result of a window, and `position` if the window came from the log. Returns undefined and stores nothing if another
 * worker has claimed the subscription.
 */
export const saveResult = (
  sql: Sql,
  worker: string,
  { id }: Subscription,
  result: Result,
  position: string | undefined,
): Promise<Subscription | undefined> =>
  sql.begin<Subscription | undefined>(async (tx) => {
    const { attempts, delivered, held, failures, pauseMs, isGone } = result;
    const failingSince =
      failures === 0 ? tx`null` : delivered.length > 0 ? tx`now()` : tx`coalesce(failing_since, now())`;
    const hasFailedTooLong = tx`(state = 'active' and ${failures} > 0 and ${delivered.length} = 0
      and failing_since < now() - ${tx.unsafe(disabledAfter)})`;
    const isDisabled = isGone ? tx`state <> 'disabled'` : hasFailedTooLong;
    const [updated] = await tx<Subscription[]>`
      update subscriptions set failures = ${failures}, lease_until = now() + ${leaseMs} * interval '1 ms',
        position = coalesce(${position ?? null}::bigint, position),
        failing_since = ${attempts.length === 0 ? tx`failing_since` : failingSince},
        last_delivered_at = ${delivered.length > 0 ? tx`now()` : tx`last_delivered_at`},
        due_at = now() + ${pauseMs} * interval '1 ms',
        state = case when ${isDisabled} then 'disabled' else state end,
        state_reason = case when ${isDisabled} then ${isGone ? 'gone' : 'failures'} else state_reason end,
        notice_due_at = case when ${isDisabled} then ${tx.unsafe(noticeDue)} else notice_due_at end
      where id = ${id} and worker = ${worker}
      returning ${tx.unsafe(columns)}`;
    if (updated === undefined) return undefined;
    await saveAttempts(tx, id, attempts);
    await removeHeld(tx, id, delivered);
    await saveHeld(tx, id, held);
    const lanes = new Set([...held, ...delivered.filter(isHeld)].map(({ lane }) => lane));
    if (lanes.size > 0) await orderLanes(tx, id, [...lanes]);
    return updated;
  });
