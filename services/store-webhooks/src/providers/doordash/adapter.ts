import { Ignored } from '../../errors.ts';
import type { DeliveryAdapter } from '../adapter.ts';
import type { JobStage } from '../records.ts';
import { pointersTo, fieldOf, identifierIn, parsePayload } from '../payload-parsing.ts';
import { webhook } from './schema.ts';

/** DoorDash Drive sends all events to one address; its own name of the event decides. */
const stages: Readonly<Record<string, JobStage>> = {
  DASHER_CONFIRMED: 'assigned',
  DASHER_PICKED_UP: 'started',
  DASHER_CONFIRMED_DROPOFF_ARRIVAL: 'arrived',
  DASHER_CONFIRMED_CONSUMER_ARRIVAL: 'arrived',
  DASHER_DROPPED_OFF: 'completed',
  DELIVERY_CANCELLED: 'cancelled',
  DELIVERY_RETURNED: 'failed',
};

export const doordash: DeliveryAdapter = {
  kind: 'doordash',
  payload: webhook,
  unmaskedFields: [
    ...pointersTo('', 'event_name event_type external_delivery_id order_external_reference_id dasher_id'),
    ...pointersTo('', 'delivery_status cancellation_reason reason created_at updated_at contactless'),
    ...pointersTo('', 'pickup_time_estimated pickup_time_actual dropoff_time_estimated dropoff_time_actual'),
    ...pointersTo('', 'currency order_value fee tip'),
  ],
  subject: (body) => ({ id: identifierIn(fieldOf(body, 'external_delivery_id')) }),
  job: (_stage, body) => {
    const payload = parsePayload(webhook, body);
    const name = payload.event_name ?? payload.event_type ?? '';
    const stage = Object.hasOwn(stages, name) ? stages[name] : undefined;
    if (stage === undefined) throw new Ignored('No stage of a job corresponds to this event.');
    const actualTimes: Partial<Record<JobStage, number | null>> = {
      completed: payload.dropoff_time_actual,
      started: payload.pickup_time_actual,
    };
    return {
      stage,
      job: {
        id: payload.external_delivery_id,
        orderId: payload.order_external_reference_id ?? payload.external_delivery_id,
        status: payload.delivery_status ?? name,
        driverId: payload.dasher_id,
        driver: payload.dasher_id === null ? null : driverOf(payload),
        estimatedArrival: payload.dropoff_time_estimated,
        at: actualTimes[stage] ?? payload.updated_at ?? payload.created_at,
      },
    };
  },
};

const driverOf = (payload: ReturnType<typeof parsePayload<typeof webhook>>) => ({
  name: payload.dasher_name,
  phone: payload.dasher_phone_number ?? payload.dasher_dropoff_phone_number,
  lat: payload.dasher_location?.lat ?? payload.dasher_location_lat,
  lng: payload.dasher_location?.lng ?? payload.dasher_location_lng,
});
