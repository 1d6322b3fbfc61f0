import { booleanParameter } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { eventStates } from '../db/tables.ts';
import { storeOfRow } from '../records/view.ts';
import { mapping } from '../stores/provider-schema.ts';
import { hookEventNames } from '../webhooks.ts';

export const eventState = z.enum(eventStates).meta({
  description:
    'pending: to be processed, or to be retried; failed: not retried any more; refused: the signature is not valid; ignored: not processed by this service; dismissed: failed, and a caller recorded that no further action is needed',
});
export const time = z.iso.datetime({ offset: true });

const dismissal = {
  note: z.string().meta({ description: 'Why no further action is needed' }),
  dismissedBy: z.string().meta({ description: 'Subject of the access token' }),
  dismissedAt: instant(),
};

export const EventView = z
  .object({
    storeId: storeOfRow,
    id: z.uuid(),
    event: z.enum(hookEventNames),
    service: z.string().nullable(),
    entity: z.string().nullable().meta({
      description:
        'The entity that the event is about; events of one entity are processed one after the other',
    }),
    status: eventState,
    attempts: z.int(),
    error: z.string().nullable().meta({
      description: 'Why the event is not done; test_event: the POS sent it to test the address',
    }),
    receivedAt: instant(),
    nextAttemptAt: instant().nullable(),
    finishedAt: instant().nullable(),
    note: dismissal.note.nullable(),
    dismissedBy: dismissal.dismissedBy.nullable(),
    dismissedAt: dismissal.dismissedAt.nullable(),
  })
  .meta({ id: 'Event' });

export const EventLink = z.object({
  rel: z.enum(['order', 'member', 'delivery-job', 'verification', 'payment', 'notifications', 'events']),
  href: z.string(),
});

export const EventDetail = z
  .object({
    ...EventView.shape,
    headers: z.record(z.string(), z.string()),
    bytes: z.int(),
    erasedBodySha256: z.string().nullable().meta({
      description:
        'SHA-256 of the body in hex; set if the body was erased together with the person it was about',
    }),
    body: z.unknown().meta({
      description:
        'The body. Fields are masked unless the provider is known to send nothing personal or secret in them. Null if it cannot be parsed',
    }),
    links: z.array(EventLink).meta({
      description:
        'The records that the event changed, once it is done, and the notifications and events of the same entity',
    }),
    revealed: z.boolean().meta({ description: 'Whether the body is shown without masking' }),
  })
  .meta({ id: 'EventDetail' });

export const DetailQuery = z.strictObject({
  reveal: booleanParameter(
    'true: shows the body without masking. The caller and the time are recorded first',
  ),
});

const timeRange = {
  from: time,
  to: time,
  after: z
    .uuid()
    .optional()
    .meta({ description: '`next` of the previous answer: the request continues after this event' }),
};
const next = z.uuid().nullable().meta({
  description:
    'Null: all events of the time range were visited. Otherwise repeat the request with this value as `after`',
});

export const ReplayBody = z.strictObject({
  ...timeRange,
  status: z.enum(['failed', 'done', 'ignored']).default('failed'),
});

export const Replayed = z
  .object({ replayed: z.int().meta({ description: 'Events that will be processed again' }), next })
  .meta({ id: 'Replayed' });

export const RecheckBody = z.strictObject(timeRange);

export const RecheckView = z
  .object({
    eventId: z.uuid(),
    status: z.enum(['pending', 'failed', 'refused', 'ignored']).meta({
      description:
        'pending: the signature is valid now, the event will be processed; failed: it is valid, but the body is not readable; ignored: the same event was already accepted; refused: it is still not valid',
    }),
  })
  .meta({ id: 'Recheck' });

export const DismissBody = z.strictObject({ note: text(1, 1000) });

export const DismissView = z
  .object({ eventId: z.uuid(), status: z.literal('dismissed'), ...dismissal })
  .meta({ id: 'Dismissal' });

export const Rechecked = z
  .object({
    checked: z.int().meta({ description: 'Refused events whose signatures were verified again' }),
    accepted: z.int().meta({ description: 'Events that passed and will be processed' }),
    failed: z.int().meta({
      description: 'Events that cannot be verified, because no key of SECRETS_KEY decrypts their addresses',
    }),
    next,
  })
  .meta({ id: 'Rechecked' });

export const ReplayQuery = z.strictObject({
  dryRun: booleanParameter('true: change nothing'),
});

export const ReplayView = z
  .object({
    eventId: z.uuid(),
    dryRun: z.boolean(),
    changes: z
      .array(
        z.object({
          record: z.string().meta({ description: 'The record, such as order/o-1' }),
          before: z.unknown(),
          after: z.unknown(),
        }),
      )
      .optional()
      .meta({
        description:
          'Only in a dry run: the records that would change, as GET shows them, without personal data. before is null if the record does not exist yet',
      }),
    notifications: z.array(z.string()).optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'Replay' });

export const MappingTrialBody = z.strictObject({ mapping });

export const MappingTrialsBody = z.strictObject({ mapping, after: timeRange.after });

export const MappingTrials = z
  .object({
    tried: z.int().meta({ description: 'Failed events of the POS that were tried' }),
    changed: z.int().meta({ description: 'How many of these would change records' }),
    unchanged: z.int().meta({ description: 'How many of these would change nothing' }),
    errors: z
      .array(z.object({ error: z.string(), count: z.int() }))
      .meta({ description: 'The errors of the events that would fail again' }),
    next: z.uuid().nullable().meta({
      description:
        'Null: all failed events were tried. Otherwise repeat the request with this value as `after`',
    }),
  })
  .meta({ id: 'MappingTrials' });
