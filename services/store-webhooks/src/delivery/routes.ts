import { NotFound } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Fragment } from '../db/sql.ts';
import type { JobRecord } from '../providers/records.ts';
import { storeList } from '../stores/list.ts';
import { isoOf, isoOrNull } from '../time.ts';

const stages = ['assigned', 'started', 'arrived', 'completed'] as const;

const JobView = z
  .object({
    id: z.string().meta({ description: "The POS's" }),
    orderId: z.string().nullable(),
    stage: z.enum(stages).meta({ description: 'How far it has come; never moves back' }),
    status: z.string().nullable().meta({ description: 'As the provider named it' }),
    driverId: z.string().nullable(),
    driverLocation: z.object({ lat: z.number(), lng: z.number() }).nullable(),
    estimatedArrival: instant().nullable(),
    assignedAt: instant().nullable(),
    startedAt: instant().nullable(),
    arrivedAt: instant().nullable(),
    completedAt: instant().nullable(),
    updatedAt: instant(),
  })
  .meta({ id: 'DeliveryJob' });

type Times = 'estimatedArrival' | 'assignedAt' | 'startedAt' | 'arrivedAt' | 'completedAt';

interface JobRow extends Record<Times, string | null> {
  id: string;
  orderId: string | null;
  position: number;
  status: string | null;
  driverId: string | null;
  driver: JobRecord['driver'];
  updatedAt: string;
}

const show = (row: JobRow): z.input<typeof JobView> => ({
  id: row.id,
  orderId: row.orderId,
  stage: stages[row.position - 1] ?? 'assigned',
  status: row.status,
  driverId: row.driverId,
  driverLocation:
    row.driver?.lat == null || row.driver.lng == null ? null : { lat: row.driver.lat, lng: row.driver.lng },
  estimatedArrival: isoOrNull(row.estimatedArrival),
  assignedAt: isoOrNull(row.assignedAt),
  startedAt: isoOrNull(row.startedAt),
  arrivedAt: isoOrNull(row.arrivedAt),
  completedAt: isoOrNull(row.completedAt),
  updatedAt: isoOf(row.updatedAt),
});

export const deliveryRoutes = (context: Context): Route[] => {
  const { sql } = context.database;
  const select = (where: Fragment) => sql`
    select id, order_id as "orderId", position, status, driver_id as "driverId", driver,
      estimated_arrival as "estimatedArrival", assigned_at as "assignedAt", started_at as "startedAt",
      arrived_at as "arrivedAt", completed_at as "completedAt", updated_at as "updatedAt"
    from delivery_jobs where ${where}`;
  return [
    storeList<JobRow, typeof JobView>(context, {
      name: 'deliveryJobs',
      path: 'delivery-jobs',
      tag: 'Delivery',
      summary: 'The delivery jobs, the last changed first',
      item: JobView,
      rows: (store) => sql`${select(sql`store_id = ${store}`)} order by event_id desc`,
      show,
    }),
    route(
      {
        method: 'get',
        path: '/v1/stores/{id}/delivery-jobs/{jobId}',
        operationId: 'getDeliveryJob',
        tag: 'Delivery',
        summary: 'A delivery job',
        caller: context.verifier.guard('stores:admin'),
        params: z.strictObject({ id: z.uuid(), jobId: z.string().max(200) }),
        responses: { 200: { description: 'The job', body: JobView } },
        problems: [404],
      },
      async ({ params }) => {
        const [row] = await sql<JobRow[]>`${select(sql`store_id = ${params.id} and id = ${params.jobId}`)}`;
        if (row === undefined) throw new NotFound('delivery job');
        return { status: 200, body: show(row) };
      },
    ),
  ];
};
