import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

const time = maybe(z.iso.datetime({ offset: true }));

/** DoorDash Drive delivery webhook; fields that are empty are left out by the sender. */
export const webhook = z.looseObject({
  event_name: maybe(words(100)),
  event_type: maybe(words(100)),
  external_delivery_id: identifier(),
  delivery_status: maybe(words(100)),
  order_external_reference_id: maybe(identifier()),
  dasher_id: maybe(identifier()),
  dasher_name: maybe(words(200)),
  dasher_dropoff_phone_number: maybe(words(100)),
  dasher_phone_number: maybe(words(100)),
  dasher_location: maybe(z.looseObject({ lat: z.number(), lng: z.number() })),
  dasher_location_lat: maybe(z.number()),
  dasher_location_lng: maybe(z.number()),
  dropoff_time_estimated: time,
  pickup_time_actual: time,
  dropoff_time_actual: time,
  created_at: time,
  updated_at: time,
});
