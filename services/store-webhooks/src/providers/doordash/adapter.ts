import type { DeliveryAdapter } from '../adapter.ts';
import type { JobEvent } from '../records.ts';
import { fieldOf, idIn, shaped } from '../shape.ts';
import { Ignored } from '../../worker/unprocessable.ts';
import { toJob } from './mapping.ts';
import { webhook } from './schema.ts';

/** DoorDash Drive sends all events to one address; its own name of the event decides. */
const events: Readonly<Record<string, JobEvent>> = {
  DASHER_CONFIRMED: 'job_assigned',
  DASHER_PICKED_UP: 'job_started',
  DASHER_CONFIRMED_CONSUMER_ARRIVAL: 'job_arrived',
  DASHER_CONFIRMED_DROPOFF_ARRIVAL: 'job_arrived',
  DASHER_DROPPED_OFF: 'job_completed',
};

export const doordash: DeliveryAdapter = {
  kind: 'doordash',
  subject: (_event, body) => ({ id: idIn(fieldOf(body, 'external_delivery_id')) }),
  job: (_event, body) => {
    const payload = shaped(webhook, body);
    const name = payload.event_name ?? payload.event_type ?? '';
    const event = Object.hasOwn(events, name) ? events[name] : undefined;
    if (event === undefined) throw new Ignored('The event is none of those we take.');
    return { event, job: toJob(event, payload) };
  },
};
