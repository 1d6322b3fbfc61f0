import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

const pair = z.looseObject({ name: words(200), value: z.unknown() });

/** https://docs.onfleet.com/reference/webhooks: what every task trigger carries. */
export const webhook = z.looseObject({
  taskId: identifier(),
  triggerId: z.int(),
  time: maybe(z.number().positive()),
  workerId: maybe(identifier()),
  data: maybe(
    z.looseObject({
      task: maybe(
        z.looseObject({
          state: maybe(z.int()),
          worker: maybe(identifier()),
          estimatedCompletionTime: maybe(z.number().positive()),
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
