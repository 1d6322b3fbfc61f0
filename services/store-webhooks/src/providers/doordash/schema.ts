import { z } from 'zod';
import { identifier, isoTime, orNull, location, storableText } from '../payload-parsing.ts';

const time = orNull(isoTime());

/**
 * A delivery event of DoorDash Drive, which omits empty fields.
 * https://developer.doordash.com/en-US/docs/drive/reference/webhooks
 */
export const webhook = z
  .object({
    event_name: orNull(storableText(100)),
    event_type: orNull(storableText(100)),
    external_delivery_id: identifier(),
    delivery_status: orNull(storableText(100)),
    order_external_reference_id: orNull(identifier()),
    dasher_id: orNull(identifier()),
    dasher_name: orNull(storableText(200)),
    dasher_dropoff_phone_number: orNull(storableText(100)),
    dasher_phone_number: orNull(storableText(100)),
    dasher_location: orNull(location()),
    dasher_location_lat: orNull(z.number()),
    dasher_location_lng: orNull(z.number()),
    dropoff_time_estimated: time,
    pickup_time_actual: time,
    dropoff_time_actual: time,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'DoorDashEvent', description: 'A delivery event of DoorDash Drive' });
