import type { Sql } from 'postgres';
import type { Env } from '../env.ts';
import { firstIdOf } from '../queue/event.ts';

/** How records of a type age. */
interface Aging {
  /** The last of these days they were changed on or after stay; Infinity: all stay. */
  days: number;
  /** The column that orders them by age; there is an index on the store and it. */
  by: 'event_id' | 'id' | 'created_at';
  /** A condition on records that may go. */
  ended?: string;
}

/**
 * The types of records that grow, by table. None goes before the events that it came from: a replay would make it again,
 * and notify again.
 */
export const recordRetention = (env: Env) => {
  const days = (setting: number) => Math.max(setting, env.INBOX_RETENTION_DAYS);
  return {
    orders: { by: 'event_id', days: days(env.ORDER_RETENTION_DAYS) },
    members: { by: 'event_id', days: days(env.MEMBER_RETENTION_DAYS) },
    delivery_jobs: { by: 'event_id', days: days(env.DELIVERY_JOB_RETENTION_DAYS) },
    verifications: { by: 'event_id', days: days(env.VERIFICATION_RETENTION_DAYS) },
    import_jobs: { by: 'id', days: days(env.IMPORT_JOB_RETENTION_DAYS), ended: "state <> 'pending'" },
    notifications: { by: 'id', days: days(env.NOTIFICATION_RETENTION_DAYS), ended: "mail <> 'pending'" },
    payments: { by: 'created_at', days: days(env.PAYMENT_RETENTION_DAYS) },
    event_reveals: { by: 'id', days: days(env.REVEAL_RETENTION_DAYS) },
  } satisfies Record<string, Aging>;
};

const atOnce = 1000;
const dayMs = 86_400_000;

/**
 * Deletes at most 1,000 records of a type, those of each store oldest first. The lock makes sure that none of them was
 * changed since it was chosen; what another process has locked is left for the next slice.
 */
const pruneTable = async (sql: Sql, table: string, { by, ended = 'true' }: Aging, before: Date) => {
  const limit = by === 'created_at' ? before.toISOString() : firstIdOf(before);
  const { count } = await sql`
    delete from ${sql(table)} where ctid = any(array(
      select old.ctid from stores cross join lateral (
        select r.ctid from ${sql(table)} r
        where r.store_id = stores.id and r.${sql(by)} < ${limit} and ${sql.unsafe(ended)}
        order by r.${sql(by)} limit ${atOnce} for update skip locked) old
      limit ${atOnce}))`;
  return count === atOnce;
};

/** Deletes a slice of the records of each type that are older than they are kept. Returns whether there may be more. */
export const pruneRecords = async (
  sql: Sql,
  types: Partial<Record<string, Aging>>,
  now: Date,
): Promise<boolean> => {
  let hasMore = false;
  for (const [table, aging] of Object.entries(types))
    if (aging !== undefined && aging.days !== Infinity)
      hasMore =
        (await pruneTable(sql, table, aging, new Date(now.getTime() - aging.days * dayMs))) || hasMore;
  return hasMore;
};
