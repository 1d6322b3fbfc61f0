import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { deliveryJobs } from '../db/tables.ts';

const stages = ['assigned', 'started', 'arrived', 'completed'] as const;

export const JobView = z
  .object({
    id: z.string().meta({ description: 'The id that the POS gave' }),
    orderId: z.string().nullable(),
    stage: z.enum(stages).meta({ description: 'The last step of the delivery; never moves back' }),
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

/** A job as the interface shows it. */
export const showJob = (row: typeof deliveryJobs.$inferSelect): z.input<typeof JobView> => {
  const { lat, lng } = row.driver ?? {};
  return {
    ...row,
    stage: stages[row.position - 1] ?? 'assigned',
    driverLocation: lat == null || lng == null ? null : { lat, lng },
  };
};
