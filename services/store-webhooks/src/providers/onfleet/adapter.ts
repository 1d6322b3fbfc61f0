import { hmacMatches } from '@platform/auth/provider-signatures';
import { z } from 'zod';
import type { DeliveryAdapter } from '../adapter.ts';
import { hexSecret } from '../credentials.ts';
import type { JobEvent } from '../records.ts';
import { fieldOf, idIn, shaped } from '../shape.ts';
import { Ignored } from '../../worker/unprocessable.ts';
import { toJob } from './mapping.ts';
import { webhook } from './schema.ts';

/** Onfleet's triggers that are one of the seed's events. */
const events: Readonly<Record<number, JobEvent>> = {
  9: 'job_assigned',
  0: 'job_started',
  2: 'job_arrived',
  3: 'job_completed',
};

export const onfleet: DeliveryAdapter = {
  kind: 'onfleet',
  // The secret is the key of an HMAC after decoding it from hexadecimal.
  credentials: z.strictObject({ webhookSecret: hexSecret().optional() }),
  headers: ['x-onfleet-signature'],
  subject: (_event, body) => ({ id: idIn(fieldOf(body, 'taskId')) }),
  job: (_event, body) => {
    const payload = shaped(webhook, body);
    const event = events[payload.triggerId];
    if (event === undefined) throw new Ignored('The trigger is none of those we take.');
    return { event, job: toJob(payload) };
  },
  signed: ({ headers, body }, { credentials: { webhookSecret } }) =>
    webhookSecret === undefined
      ? undefined
      : hmacMatches(
          { algorithm: 'sha512', encoding: 'hex' },
          Buffer.from(webhookSecret, 'hex'),
          [body],
          headers['x-onfleet-signature'],
        ),
};
