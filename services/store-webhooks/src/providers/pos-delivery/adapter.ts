import { z } from 'zod';
import type { DeliveryAdapter } from '../adapter.ts';
import { fieldOf, identifier, idIn, maybe, shaped, words } from '../shape.ts';

const milliseconds = z.int().min(0).max(8.64e15);

/** Seed 001 part A, delivery job payload. `updatedAt` and `modified` are not shown there but taken. */
const job = z.looseObject({
  id: identifier(),
  orderId: maybe(identifier()),
  driverId: maybe(identifier()),
  status: maybe(words()),
  estimatedArrival: maybe(milliseconds),
  driverLocation: maybe(z.looseObject({ lat: z.number(), lng: z.number() })),
  updatedAt: maybe(milliseconds),
});

/** Jobs as the POS itself sends them. */
export const posDelivery: DeliveryAdapter = {
  kind: 'pos',
  subject: (_event, body) => ({ id: idIn(fieldOf(body, 'id')) }),
  job: (event, body) => {
    const { id, orderId, driverId, status, estimatedArrival, driverLocation, updatedAt } = shaped(job, body);
    const driver = driverLocation && { lat: driverLocation.lat, lng: driverLocation.lng };
    return {
      event,
      job: { id, orderId, driverId, status, estimatedArrival, driver, at: updatedAt },
    };
  },
};
