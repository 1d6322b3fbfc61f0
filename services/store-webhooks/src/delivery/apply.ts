import { jobStages } from '../providers/records.ts';
import type { ISql } from 'postgres';
import { commaSeparated } from '../db/sql.ts';
import { jobText } from '../notifications/text.ts';
import type { ChangeOf, Notice, Sourced } from '../worker/change.ts';

type JobChange = Sourced<ChangeOf<'job'>>;

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const timeNames = ['assigned_at', 'started_at', 'arrived_at', 'completed_at', 'ended_at'] as const;

const rowsOf = (changes: readonly JobChange[]) =>
  changes.map(({ storeId, eventId, receivedAt, change: { stage, job } }) => {
    const position = jobStages.indexOf(stage) + 1;
    return {
      store_id: storeId,
      id: job.id,
      order_id: job.orderId,
      position,
      status: job.status,
      driver_id: job.driverId,
      driver: job.driver,
      estimated_arrival: isoOf(job.estimatedArrival),
      [timeNames[position - 1] ?? 'ended_at']: isoOf(job.at) ?? receivedAt,
      event_id: eventId,
      updated_at: receivedAt,
    };
  });

interface Applied {
  storeId: string;
  id: string;
  orderId: string | null;
  was: number | null;
  position: 1 | 2 | 3 | 4 | 5 | 6;
  eventId: string;
}

const steps = {
  1: 'has a driver',
  2: 'is on its way',
  3: 'has arrived',
  4: 'was delivered',
  5: 'was cancelled',
  6: 'could not be delivered',
} as const;

/**
 * Moves jobs forward in their life cycle. The position never moves back; a late event still adds its time
 * and missing fields of the driver.
 */
export const applyJobs = async (sql: ISql, changes: readonly JobChange[]): Promise<Notice[]> => {
  const applied = await sql<Applied[]>`
    insert into delivery_jobs as j
    select * from jsonb_populate_recordset(null::delivery_jobs, ${JSON.stringify(rowsOf(changes))}::jsonb)
    on conflict (store_id, id) do update set
      position = greatest(j.position, excluded.position),
      ${commaSeparated(
        sql,
        ['order_id', 'status', 'driver_id', 'driver', 'estimated_arrival'].map((name) => {
          const [there, comes] = [sql(`j.${name}`), sql(`excluded.${name}`)];
          return sql`${sql(name)} = case when ${isLater(sql)} then coalesce(${comes}, ${there})
            else coalesce(${there}, ${comes}) end`;
        }),
      )},
      ${commaSeparated(
        sql,
        timeNames.map(
          (name) => sql`${sql(name)} = coalesce(${sql(`j.${name}`)}, ${sql(`excluded.${name}`)})`,
        ),
      )},
      event_id = greatest(j.event_id, excluded.event_id),
      updated_at = greatest(j.updated_at, excluded.updated_at)
    returning new.store_id as "storeId", new.id, new.order_id as "orderId", old.position as was,
      new.position, new.event_id as "eventId"`;
  return applied.filter(({ was, position }) => (was ?? 0) < position).flatMap(noticesOf);
};

const isLater = (sql: ISql) => sql`(excluded.position, excluded.event_id) >= (j.position, j.event_id)`;

/** Each step causes one notification to the shop and one to the customer. */
const noticesOf = ({ storeId, id, orderId, position, eventId }: Applied): Notice[] =>
  (['store', 'customer'] as const).map((audience) => ({
    storeId,
    key: `job:${id}:${position}:${audience}`,
    kind: 'delivery',
    audience,
    subject: jobText(audience, orderId, id, steps[position]),
    reference: id,
    consumerId: null,
    eventId,
  }));
