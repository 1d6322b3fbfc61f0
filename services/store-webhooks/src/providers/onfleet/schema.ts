import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

/** Seconds or milliseconds since the epoch, of an instant that a Date can hold (ECMA-262, 21.4.1.1). */
const time = z.number().positive().max(8.64e15);

const pair = z.looseObject({ name: words(200), value: z.unknown() });

/** https://docs.onfleet.com/reference/webhooks: what every task trigger carries. */
export const webhook = z.looseObject({
  taskId: identifier(),
  triggerId: z.int(),
  time: maybe(time),
  workerId: maybe(identifier()),
  data: maybe(
    z.looseObject({
      task: maybe(
        z.looseObject({
          state: maybe(z.int()),
          worker: maybe(identifier()),
          estimatedCompletionTime: maybe(time),
          metadata: maybe(z.array(pair)),
        }),
      ),
      worker: maybe(
        z.looseObject({
          name: maybe(words(200)),
          phone: maybe(words(100)),
          location: maybe(z.tuple([z.number(), z.number()])),
        }),
      ),
    }),
  ),
});
