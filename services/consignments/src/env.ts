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
  // There are two kinds of searches: for texts with a trigram, which an index finds, and for texts without one.
  ...searchEnv,
  /** Maximum number of records that a search without a trigram may scan. */
  SHORT_SEARCH_MAX_ROWS: z.coerce.number().int().min(1).default(2_000_000),
  /** Maximum number of lines of one import. */
  IMPORT_MAX_LINES: z.coerce.number().int().min(1).default(5_000_000),
  /** Maximum time an import may receive no data, in milliseconds. */
  IMPORT_IDLE_TIMEOUT_MS: z.coerce.number().int().min(1).default(30_000),
};

export const { parseEnv, processEnv } = defineEnv('consignments', shape);

export type Env = ReturnType<typeof parseEnv>;
