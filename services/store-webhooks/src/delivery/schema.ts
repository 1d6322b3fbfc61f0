import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { JobRecord } from '../providers/records.ts';
import { isoOf, isoOrNull } from '../time.ts';

const stages = ['assigned', 'started', 'arrived', 'completed'] as const;

export const JobView = z
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

export interface JobRow extends Record<Times, string | null> {
  id: string;
  orderId: string | null;
  position: number;
  status: string | null;
  driverId: string | null;
  driver: JobRecord['driver'];
  updatedAt: string;
}

export const showJob = (row: JobRow): z.input<typeof JobView> => ({
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
