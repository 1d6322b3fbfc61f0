import { emailAddress } from '@platform/mail/address';
import { uniqueList } from '@platform/service-kit/bounded-list';
import { webAddress } from '@platform/service-kit/outbound';
import { idParams } from '@platform/service-kit/record';
import { instant, text } from '@platform/service-kit/text';
import { integerParameter } from '@platform/pagination/list';
import { z } from 'zod';

export const SubscriptionPath = idParams('0198c5a0-7e57-7f00-8000-000000000001');

const action = z.enum(['created', 'updated', 'deleted']);
const unique = 'must not contain duplicates';
/** Ids are in lower case, as in the log. */
const owner = text(1, 100).overwrite((id) => (z.guid().safeParse(id).success ? id.toLowerCase() : id));

/** The schemas of the subscriptions to these lists. */
export const schemasOf = (lists: readonly string[]) => {
  const fields = {
    url: webAddress.meta({ description: 'The address that changes are sent to by POST' }),
    description: text(1, 200).nullable(),
    contact: emailAddress
      .nullable()
      .meta({ description: 'Receives a mail when the subscription is disabled, at most one per day' }),
    lists: uniqueList(z.enum(lists), 1, 20, unique),
    actions: uniqueList(action, 1, 3, unique),
    owners: uniqueList(owner, 1, 100, unique)
      .nullable()
      .meta({ description: 'Only records of these stores or clients; null: all that you may see' }),
    ordering: z.enum(['record', 'none']).meta({
      description: '`record`: a change waits until the previous change of the same record is delivered',
    }),
  };
  const Input = z
    .strictObject({
      ...fields,
      description: fields.description.default(null),
      contact: fields.contact.default(null),
      actions: fields.actions.default(['created', 'updated', 'deleted']),
      owners: fields.owners.default(null),
      ordering: fields.ordering.default('record'),
    })
    .meta({ id: 'SubscriptionInput' });
  const Subscription = z
    .object({
      id: z.guid(),
      subject: z.string().meta({ description: 'The creator' }),
      ...fields,
      url: z.string().meta({ format: 'uri' }),
      lists: z.array(z.string()),
      actions: z.array(action),
      owners: z.array(z.string()).nullable(),
      state: z.enum(['active', 'paused', 'disabled']),
      stateReason: z.enum(['failures', 'gone', 'rights', 'expired']).nullable().meta({
        description:
          'Why it was disabled: five days of failures, an answer 410, its creator may no longer read the lists, or the missed changes were deleted',
      }),
      failingSince: instant().nullable(),
      lastDeliveredAt: instant().nullable(),
      waiting: z.int().meta({ description: 'Changes that will be retried, or wait behind one of these' }),
      failed: z.int().meta({ description: 'Changes that are no longer retried' }),
      createdAt: instant(),
    })
    .meta({ id: 'Subscription' });
  const Patch = z
    .strictObject({
      url: fields.url,
      description: fields.description,
      contact: fields.contact,
      actions: fields.actions,
      owners: fields.owners,
      state: z.enum(['active', 'paused']),
    })
    .partial()
    .meta({ id: 'SubscriptionPatch' });
  const secret = z.string().meta({ description: 'Signs the requests. It cannot be shown again.' });
  const Created = Subscription.extend({ secret }).meta({ id: 'NewSubscription' });
  return { Input, Subscription, Patch, Created };
};

export type Schemas = ReturnType<typeof schemasOf>;

export const Rotated = z
  .object({
    secret: z.string().meta({ description: 'The new secret; the previous one signs for another day' }),
  })
  .meta({ id: 'RotatedSecret' });

export const Attempt = z
  .object({
    id: z.int(),
    sentAt: instant(),
    event: z.string().meta({ description: 'The header webhook-id' }),
    type: z.string(),
    record: z.string().nullable(),
    version: z.int().nullable().meta({ description: 'Version of the change; null for a test' }),
    attempt: z.int(),
    status: z.int().nullable().meta({ description: 'null if there was no answer' }),
    ms: z.int(),
    error: z.string().nullable().meta({ description: 'null if it was delivered' }),
    answer: z.string().nullable().meta({
      description: 'The first 1,024 bytes, if not delivered; deleted when a person is erased',
    }),
  })
  .meta({ id: 'DeliveryAttempt' });

export const AttemptQuery = z.strictObject({
  result: z.enum(['delivered', 'failed']).optional().meta({ description: 'Only attempts with this result' }),
  before: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be the id of an attempt')
    .optional()
    .meta({ description: 'Only attempts before this id' }),
  limit: integerParameter({ min: 1, max: 200, fallback: 50, description: 'Maximum number of attempts' }),
});

export const AttemptList = z
  .object({ attempts: z.array(Attempt), has_more: z.boolean() })
  .meta({ id: 'DeliveryAttemptList' });

export const Replay = z
  .union(
    [
      z.strictObject({
        failed: z.literal(true).meta({ description: 'All that are no longer retried' }),
      }),
      z.strictObject({
        from: instant().meta({ description: 'Changes from this time on' }),
        until: instant().meta({ description: 'Changes before this time' }),
      }),
      z.strictObject({ version: z.int().min(1).meta({ description: 'One change' }) }),
    ],
    {
      error:
        'must have "failed": true, or "from" and "until" (times), or "version" (a number), and nothing else',
    },
  )
  .meta({ id: 'ReplayOfChanges' });

export const Replayed = z
  .object({
    replayed: z.int().meta({ description: 'Number of changes that are sent again; at most 10,000' }),
    next: instant()
      .nullable()
      .meta({ description: '`from` of the next request, if there were too many changes for one' }),
  })
  .meta({ id: 'ReplayedChanges' });
