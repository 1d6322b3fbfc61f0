import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { jobStages } from '../providers/records.ts';
import { deliveryJobs } from '../db/tables.ts';
import { declareList } from '../stores/lists.ts';

const JobView = z
  .object({
    id: z.string().meta({ description: 'The id that the POS gave' }),
    orderId: z.string().nullable(),
    stage: z
      .enum(jobStages)
      .meta({ description: 'Never moves back; the last two end it without a delivery' }),
    status: z.string().nullable().meta({ description: 'As the provider named it' }),
    driverId: z.string().nullable(),
    driverLocation: z.object({ lat: z.number(), lng: z.number() }).nullable(),
    estimatedArrival: instant().nullable(),
    assignedAt: instant().nullable(),
    startedAt: instant().nullable(),
    arrivedAt: instant().nullable(),
    completedAt: instant().nullable(),
    endedAt: instant().nullable().meta({ description: 'When it was cancelled or failed' }),
    updatedAt: instant(),
  })
  .meta({ id: 'DeliveryJob' });

const showJob = (row: typeof deliveryJobs.$inferSelect): z.input<typeof JobView> => {
  const { lat, lng } = row.driver ?? {};
  return {
    ...row,
    stage: jobStages[row.position - 1] ?? 'assigned',
    driverLocation: lat == null || lng == null ? null : { lat, lng },
  };
};

export const deliveryJobList = declareList({
  table: deliveryJobs,
  latest: deliveryJobs.eventId,
  name: 'deliveryJobs',
  tag: 'Delivery',
  summary: 'The delivery jobs, most recently changed first',
  view: JobView,
  show: showJob,
  one: {
    noun: 'delivery job',
    param: 'jobId',
    operationId: 'getDeliveryJob',
    summary: 'A delivery job',
    key: deliveryJobs.id,
  },
});
