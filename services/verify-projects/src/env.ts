import { feedEnv } from '@platform/feed';
import { subscriptionEnv } from '@platform/outgoing-webhooks';
import { commonEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-pool';
import { z } from 'zod';

const shape = {
  ...commonEnv,
  ...tokenEnv,
  ...feedEnv,
  ...subscriptionEnv,
  ...searchEnv,
  /** How long a project must have been archived before it can be deleted. Clients that follow changes must read as often. */
  PROJECT_ARCHIVE_DAYS: z.coerce.number().int().min(0).max(3650).default(30),
};

export const { parseEnv, processEnv } = defineEnv('verify-projects', shape);

export type Env = ReturnType<typeof parseEnv>;
