import { uniqueList } from '@platform/service-kit/bounded-list';
import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { idParams } from '@platform/service-kit/record';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { clientName } from '../projects/schema.ts';
import { timestamp } from '../timestamp.ts';

export const ApiKeyPath = idParams('0198c5a0-7e57-7100-8000-000000000001');

/** Keys can read and subscribe; changing data requires an access token. */
const scopes = ['verify:read', 'verify-projects:subscriptions'] as const;
const scope = z.enum(scopes, `must be one of the scopes that a key can have: ${scopes.join(', ')}`);

export const ApiKeyInput = z
  .strictObject({
    name: text(1, 100),
    scopes: uniqueList(scope, 0, 10, 'must not name a scope twice'),
    // At most 20, because a page of projects is looked up for each client.
    clients: uniqueList(clientName(), 1, 20, 'must not name a client twice')
      .nullable()
      .default(null)
      .meta({ description: 'The key reads the projects of these clients only; all if absent' }),
    expires_at: timestamp('When the key stops working; never if absent.').nullable().default(null),
  })
  .meta({ id: 'ApiKeyInput' });
export type ApiKeyInput = z.output<typeof ApiKeyInput>;

/** In seconds: 30 days. */
const maxGrace = 2_592_000;

export const Rotation = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(maxGrace)
      .meta({ description: 'How long the old key keeps working, in seconds' }),
  })
  .meta({ id: 'Rotation' });

export const ApiKey = z
  .object({
    id: z.guid(),
    name: z.string(),
    key_hint: z
      .string()
      .meta({ description: 'First and last letters of the key', example: 'vk_live_3fZ…9aQx' }),
    scopes: z.array(scope),
    clients: z.array(z.string()).nullable(),
    created_at: instant(),
    expires_at: instant().nullable(),
    revoked_at: instant().nullable(),
    last_used_at: instant().nullable().meta({ description: 'Updated at most once a minute' }),
  })
  .meta({ id: 'ApiKey' });

export const NewApiKey = ApiKey.extend({
  key: z.string().meta({ description: 'The key itself. It is not stored and cannot be shown again.' }),
}).meta({ id: 'NewApiKey' });

export const ApiKeyQuery = z.strictObject({
  ...pageLimitQuery,
  include: z
    .enum(['revoked'], 'must be revoked')
    .optional()
    .meta({ description: 'With `revoked`, the list has revoked and expired keys as well' }),
});

export const ApiKeyList = pageLimitBody('api_keys', ApiKey).meta({ id: 'ApiKeyList' });
