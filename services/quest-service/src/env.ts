import { feedEnv } from '@platform/feed';
import { subscriptionEnv } from '@platform/outgoing-webhooks';
import { commonEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';
import { z } from 'zod';

const shape = {
  ...commonEnv,
  ...tokenEnv,
  ...feedEnv,
  ...subscriptionEnv,
  /** As in every service, but with room for the largest list of questions (32 MiB): one caller gets two thirds of it. */
  BODY_MEMORY_BYTES: commonEnv.BODY_MEMORY_BYTES.refine(
    (bytes) => bytes >= 67_108_864,
    'must be at least 67108864, so that a list of questions of 32 MiB fits beside other bodies',
  ),
  /** True: reading needs the scope `quests:read`. */
  QUESTS_REQUIRE_TOKEN: z.stringbool().default(false),
  /** Memory for serialised pages, in bytes; 0 turns the cache off. */
  QUESTS_CACHE_BYTES: z.coerce.number().int().min(0).default(33_554_432),
};

export const { parseEnv, processEnv } = defineEnv('quest-service', shape);

export type Env = ReturnType<typeof parseEnv>;
