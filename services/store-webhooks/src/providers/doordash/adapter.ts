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
    const from = parsePayload(webhook, body);
    const name = from.event_name ?? from.event_type ?? '';
    const stage = Object.hasOwn(stages, name) ? stages[name] : undefined;
    if (stage === undefined) throw new Ignored('No stage of a job corresponds to this event.');
    const actual = { completed: from.dropoff_time_actual, started: from.pickup_time_actual };
    return {
      stage,
      job: {
        id: from.external_delivery_id,
        orderId: from.order_external_reference_id ?? from.external_delivery_id,
        status: from.delivery_status ?? name,
        driverId: from.dasher_id,
        driver: from.dasher_id === null ? null : driverOf(from),
        estimatedArrival: from.dropoff_time_estimated,
        at:
          (stage in actual ? actual[stage as keyof typeof actual] : null) ??
          from.updated_at ??
          from.created_at,
      },
    };
  },
};

const driverOf = (from: ReturnType<typeof parsePayload<typeof webhook>>) => ({
  name: from.dasher_name,
  phone: from.dasher_phone_number ?? from.dasher_dropoff_phone_number,
  lat: from.dasher_location?.lat ?? from.dasher_location_lat,
  lng: from.dasher_location?.lng ?? from.dasher_location_lng,
});
