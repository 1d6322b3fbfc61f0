import type { DeliveryAdapter } from '../adapter.ts';
import { job } from '../pos-payloads.ts';
import { fieldOf, hasNoField, identifierIn, parsePayload, pointersTo } from '../payload-parsing.ts';

/** Delivery jobs that the POS itself sends. */
export const posDelivery: DeliveryAdapter = {
  kind: 'pos',
  payload: job,
  unmaskedFields: pointersTo('', 'id orderId driverId status estimatedArrival updatedAt'),
  subject: (body) => ({ id: identifierIn(fieldOf(body, 'id')) }),
  isTest: (body) => hasNoField(body, Object.keys(job.shape)),
  job: (stage, body) => {
    const { driverLocation: driver, updatedAt: at, ...fields } = parsePayload(job, body);
    return { stage, job: { ...fields, driver, at } };
  },
};
