import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

/** Published examples have seconds in some places and milliseconds in others; no delivery is from 1973. */
const time = maybe(
  z
    .number()
    .positive()
    .max(8.64e15)
    .transform((value) => Math.round(value < 1e11 ? value * 1000 : value)),
);

/** What every task trigger carries. https://docs.onfleet.com/reference/webhooks */
export const webhook = z
  .object({
    taskId: identifier(),
    triggerId: z.int(),
    time,
    workerId: maybe(identifier()),
    data: maybe(
      z.object({
        task: maybe(
          z.object({
            state: maybe(z.int()),
            worker: maybe(identifier()),
            estimatedCompletionTime: time,
            completionDetails: maybe(z.object({ time })),
            metadata: maybe(z.array(z.object({ name: words(200), value: z.unknown() }))),
          }),
        ),
        worker: maybe(
          z.object({
            name: maybe(words(200)),
            phone: maybe(words(100)),
            location: maybe(z.array(z.number()).min(2).max(3)),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'OnfleetTrigger', description: 'A task trigger of Onfleet' });
