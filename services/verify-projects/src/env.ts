import { feedEnv } from '@platform/feed';
import { subscriptionEnv } from '@platform/outgoing-webhooks';
import { commonEnv, settingsOf, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-lane';
import { z } from 'zod';

const shape = {
  ...commonEnv,
  ...tokenEnv,
  ...feedEnv,
  ...subscriptionEnv,
  ...searchEnv,
  /** How long a project must have been archived before it can be deleted. Whoever follows changes must read as often. */
  PROJECT_ARCHIVE_DAYS: z.coerce.number().int().min(0).max(3650).default(30),
};

export const { envOf, processEnv } = settingsOf('verify-projects', shape);

export type Env = ReturnType<typeof envOf>;
