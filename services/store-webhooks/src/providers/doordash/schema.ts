import { z } from 'zod';
import { identifier, isoTime, maybe, place, words } from '../shape.ts';

const time = maybe(isoTime());

/**
 * A delivery event of DoorDash Drive; it leaves empty fields out.
 * https://developer.doordash.com/en-US/docs/drive/reference/webhooks
 */
export const webhook = z
  .object({
    event_name: maybe(words(100)),
    event_type: maybe(words(100)),
    external_delivery_id: identifier(),
    delivery_status: maybe(words(100)),
    order_external_reference_id: maybe(identifier()),
    dasher_id: maybe(identifier()),
    dasher_name: maybe(words(200)),
    dasher_dropoff_phone_number: maybe(words(100)),
    dasher_phone_number: maybe(words(100)),
    dasher_location: maybe(place()),
    dasher_location_lat: maybe(z.number()),
    dasher_location_lng: maybe(z.number()),
    dropoff_time_estimated: time,
    pickup_time_actual: time,
    dropoff_time_actual: time,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'DoorDashEvent', description: 'A delivery event of DoorDash Drive' });
