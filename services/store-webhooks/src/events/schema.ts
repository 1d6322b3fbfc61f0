import { pageLimitQuery } from '@platform/pagination/page-limit';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { hookEventNames } from '../hooks/events.ts';

export const eventStates = ['pending', 'done', 'failed', 'refused', 'ignored'] as const;

const state = z.enum(eventStates).meta({
  description:
    'pending: to be processed, or tried again; failed: given up; refused: bad signature; ignored: not ours',
});
const at = z.iso.datetime({ offset: true });

export const EventQuery = z.strictObject({
  ...pageLimitQuery,
  status: state.optional(),
  event: z.enum(hookEventNames).optional(),
  from: at.optional().meta({ description: 'Received then or later' }),
  to: at.optional().meta({ description: 'Received before' }),
});

export type EventFilter = z.output<typeof EventQuery>;

export const EventView = z
  .object({
    id: z.uuid(),
    event: z.string(),
    service: z.string().nullable(),
    entity: z
      .string()
      .nullable()
      .meta({ description: 'What it is about; such events go one after the other' }),
    status: state,
    attempts: z.int(),
    error: z.string().nullable(),
    receivedAt: instant(),
    nextAttemptAt: instant().nullable(),
    finishedAt: instant().nullable(),
  })
  .meta({ id: 'Event' });

export const EventDetail = z
  .object({
    ...EventView.shape,
    headers: z.record(z.string(), z.string()),
    bytes: z.int(),
    body: z.unknown().meta({
      description:
        'The body; fields are masked unless the provider is known to send nothing personal or secret in them. Null: it can not be parsed',
    }),
    revealed: z.boolean().meta({ description: 'Whether the body is shown without masking' }),
  })
  .meta({ id: 'EventDetail' });

export const DetailQuery = z.strictObject({
  reveal: z.enum(['true', 'false']).default('false').meta({
    type: 'boolean',
    default: false,
    description: 'true: the body without masking. Who asked for it and when is recorded first',
  }),
});

export const ReplayBody = z.strictObject({
  from: at,
  to: at,
  status: z.enum(['failed', 'done', 'ignored']).default('failed'),
});

export const Replayed = z.object({ replayed: z.int() }).meta({ id: 'Replayed' });

export const ReplayView = z
  .object({
    eventId: z.uuid(),
    dryRun: z.boolean(),
    changes: z
      .array(
        z.object({
          record: z.string().meta({ description: 'Such as order/o-1' }),
          before: z.unknown(),
          after: z.unknown(),
        }),
      )
      .optional()
      .meta({ description: 'Only of a dry run: what would change, without personal data' }),
    notifications: z.array(z.string()).optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'Replay' });
