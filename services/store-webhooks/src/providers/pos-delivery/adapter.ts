import type { DeliveryAdapter } from '../adapter.ts';
import { job } from '../pos-payloads.ts';
import { fieldOf, hasNoneOf, identifierIn, parsePayload, pointersTo } from '../payload-parsing.ts';

/** Jobs as the POS itself sends them. */
export const posDelivery: DeliveryAdapter = {
  kind: 'pos',
  payload: job,
  unmaskedFields: pointersTo('', 'id orderId driverId status estimatedArrival updatedAt'),
  subject: (body) => ({ id: identifierIn(fieldOf(body, 'id')) }),
  isTest: (body) => hasNoneOf(body, Object.keys(job.shape)),
  job: (stage, body) => {
    const { driverLocation: driver, updatedAt: at, ...rest } = parsePayload(job, body);
    return { stage, job: { ...rest, driver, at } };
  },
};
