import { boundedList } from '@platform/service-kit/bounded-list';
import { z } from 'zod';
import { epoch, identifier, orNull, storableText } from '../payload-parsing.ts';

/** Published examples have seconds in some places and milliseconds in others; no delivery is from 1973. */
const time = orNull(
  z
    .number()
    .positive()
    .transform((value) => Math.round(value < 1e11 ? value * 1000 : value))
    .pipe(epoch()),
);

/** The fields of every task trigger. https://docs.onfleet.com/reference/webhooks */
export const webhook = z
  .object({
    taskId: identifier(),
    triggerId: z.int(),
    time,
    workerId: orNull(identifier()),
    data: orNull(
      z.object({
        task: orNull(
          z.object({
            state: orNull(z.int()),
            worker: orNull(identifier()),
            estimatedCompletionTime: time,
            completionDetails: orNull(z.object({ time })),
            metadata: orNull(boundedList(z.object({ name: storableText(200), value: z.unknown() }), 0, 1000)),
          }),
        ),
        worker: orNull(
          z.object({
            name: orNull(storableText(200)),
            phone: orNull(storableText(100)),
            location: orNull(boundedList(z.number(), 2, 3)),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'OnfleetTrigger', description: 'A task trigger of Onfleet' });
