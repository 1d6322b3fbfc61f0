import { eq } from 'drizzle-orm';
import type { ISql } from 'postgres';
import { z } from 'zod';
import { deliveryJobs } from '../db/tables.ts';
import { createUpsert, type Merge } from '../db/sql.ts';
import type { Notice } from '../notifications/notice.ts';
import { finalStages, jobStages, type JobStage } from '../providers/records.ts';
import type { ChangeOf, EventChange } from './change.ts';
import { unindexed, exactly, updatedAfter } from './filters.ts';
import { declareList } from './list.ts';
import { posId, viewOf } from './view.ts';

/** The field for the time of each stage, in the order of `jobStages`; the last two stages share one. */
const timeFields = ['assignedAt', 'startedAt', 'arrivedAt', 'completedAt', 'endedAt', 'endedAt'] as const;

export const deliveryJobList = declareList({
  table: deliveryJobs,
  latest: deliveryJobs.eventId,
  name: 'deliveryJobs',
  tag: 'Delivery',
  summary: 'Delivery jobs, last changed first',
  view: viewOf(
    'DeliveryJob',
    deliveryJobs,
    'id orderId status driverId estimatedArrival assignedAt startedAt arrivedAt completedAt endedAt laterStageAt updatedAt',
    {
      id: posId,
      stage: z.enum(jobStages).meta({
        description:
          'Never moves back, and the first of the last three is final; the last two mean that nothing was delivered',
      }),
      laterStage: z
        .enum(finalStages)
        .nullable()
        .meta({ description: 'Another final stage that the provider reported after this one' }),
      status: 'In the words of the provider',
      driverName: z.string().nullable(),
      driverPhone: z.string().nullable(),
      driverLocation: z.object({ lat: z.number(), lng: z.number() }).nullable(),
      endedAt: 'When it was cancelled or failed',
    },
  ),
  show: (row) => {
    const { name, phone, lat, lng } = row.driver ?? {};
    return {
      ...row,
      stage: jobStages[row.position - 1] ?? 'assigned',
      laterStage: row.laterPosition === null ? null : jobStages[row.laterPosition - 1],
      driverName: name ?? null,
      driverPhone: phone ?? null,
      driverLocation: lat == null || lng == null ? null : { lat, lng },
    };
  },
  filters: {
    id: exactly(deliveryJobs.id, posId),
    orderId: exactly(deliveryJobs.orderId, posId),
    status: unindexed(deliveryJobs.status, 'In the words of the provider'),
    stage: {
      schema: z.enum(jobStages).optional().meta({ description: 'The current stage' }),
      condition: (stage) => eq(deliveryJobs.position, jobStages.indexOf(stage as JobStage) + 1),
      isSearch: true,
    },
    updatedAfter: updatedAfter(deliveryJobs),
  },
  single: {
    name: 'delivery job',
    key: { jobId: 'id' },
    summary: 'A delivery job',
  },
});

const firstFinal = jobStages.indexOf(finalStages[0]) + 1;
const isSecondEnd = `least(t.position, excluded.position) >= ${firstFinal} and excluded.position <> t.position`;

const greatest: Merge = (stored, incoming) => `greatest(${stored}, ${incoming})`;
const first: Merge = (stored, incoming) => `coalesce(${stored}, ${incoming})`;
/** Takes the value of the latest event that has one, except that the first final stage keeps its values. */
const latest: Merge = (stored, incoming) => `
  case when (excluded.position, excluded.event_id) >= (t.position, t.event_id) and not (${isSecondEnd})
    then coalesce(${incoming}, ${stored}) else coalesce(${stored}, ${incoming}) end`;
const ifSecondEnd = (stored: string, value: string): string =>
  `coalesce(${stored}, case when ${isSecondEnd} then ${value} end)`;

const upsert = createUpsert(deliveryJobs, {
  merged: {
    position: (stored, incoming) =>
      `case when ${stored} >= ${firstFinal} then ${stored} else greatest(${stored}, ${incoming}) end`,
    laterPosition: (stored) => ifSecondEnd(stored, 'excluded.position'),
    laterStageAt: (stored) => ifSecondEnd(stored, 'coalesce(excluded.completed_at, excluded.ended_at)'),
    eventId: greatest,
    updatedAt: greatest,
    orderId: latest,
    status: latest,
    driverId: latest,
    driver: latest,
    estimatedArrival: latest,
    ...Object.fromEntries(timeFields.map((field) => [field, first])),
  },
});

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const rowOf = ({ change: { stage, job }, ...source }: EventChange<ChangeOf<'job'>>) => {
  const stageIndex = jobStages.indexOf(stage);
  return {
    ...job,
    ...source,
    position: stageIndex + 1,
    estimatedArrival: isoOf(job.estimatedArrival),
    [timeFields[stageIndex] ?? 'endedAt']: isoOf(job.at) ?? source.updatedAt,
  };
};

interface Applied {
  storeId: string;
  id: string;
  orderId: string | null;
  previousPosition: number | null;
  position: number;
  eventId: string;
  consumerId: string | null;
  orderNo: string | null;
}

/**
 * Moves jobs forward in their life cycle. The position never moves back, and the first final one stays; a late event
 * still adds its time and missing fields of the driver.
 */
export const applyJobs = async (
  sql: ISql,
  changes: readonly EventChange<ChangeOf<'job'>>[],
): Promise<Notice[]> => {
  const applied = await sql<Applied[]>`
    with applied as (
      ${upsert(sql, changes.map(rowOf))}
      returning new.store_id as "storeId", new.id, new.order_id as "orderId", old.position as "previousPosition",
        new.position, new.event_id as "eventId")
    select a.*, o.consumer_id as "consumerId", o.details ->> 'orderNo' as "orderNo"
    from applied a left join orders o on o.store_id = a."storeId" and o.id = a."orderId"`;
  return applied
    .filter(({ previousPosition, position }) => (previousPosition ?? 0) < position)
    .flatMap(noticesOf);
};

/** Each step causes one notification to the shop and one to the customer. */
const noticesOf = ({
  id,
  position,
  previousPosition: _previous,
  orderId: _order,
  ...shared
}: Applied): Notice[] =>
  (['store', 'customer'] as const).map((audience) => ({
    ...shared,
    key: `job:${id}:${position}:${audience}`,
    kind: 'delivery',
    audience,
    change: String(jobStages[position - 1]),
    reference: id,
  }));
