import type { z } from 'zod';
import type { JobEvent, JobRecord } from '../records.ts';
import type { webhook } from './schema.ts';

const milliseconds = (time: string | null): number | null => (time === null ? null : Date.parse(time));

export const toJob = (event: JobEvent, from: z.output<typeof webhook>): JobRecord => {
  const actual =
    event === 'job_completed'
      ? from.dropoff_time_actual
      : event === 'job_started'
        ? from.pickup_time_actual
        : null;
  return {
    id: from.external_delivery_id,
    orderId: from.order_external_reference_id,
    status: from.delivery_status,
    driverId: from.dasher_id,
    driver:
      from.dasher_id === null
        ? null
        : {
            name: from.dasher_name,
            phone: from.dasher_phone_number ?? from.dasher_dropoff_phone_number,
            lat: from.dasher_location?.lat ?? from.dasher_location_lat,
            lng: from.dasher_location?.lng ?? from.dasher_location_lng,
          },
    estimatedArrival: milliseconds(from.dropoff_time_estimated),
    at: milliseconds(actual ?? from.updated_at),
  };
};
