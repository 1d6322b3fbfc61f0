import { feedEnv } from '@platform/feed';
import { subscriptionEnv } from '@platform/outgoing-webhooks';
import { commonEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-pool';
import { z } from 'zod';

const wholeNumber = (min: number, defaultValue: number) =>
  z.coerce.number().int().min(min).default(defaultValue);
/** A number of days, or `forever` (Infinity). */
const days = (defaultValue: number | 'forever') =>
  z
    .union([z.literal('forever'), z.coerce.number().min(0)], {
      error: 'must be a number of days, or forever',
    })
    .transform((value) => (value === 'forever' ? Infinity : value))
    .default(defaultValue === 'forever' ? Infinity : defaultValue);
const milliseconds = (defaultValue: number) => wholeNumber(1, defaultValue);

const shape = {
  ...commonEnv,
  ...tokenEnv,
  ...feedEnv,
  ...subscriptionEnv,
  ...searchEnv,
  /** Lower than in other services, because a webhook takes less time. */
  MAX_IN_PROGRESS: wholeNumber(1, 100),
  /** Encrypts credentials of providers and outcomes of payments. */
  SECRETS_KEY: z.string().min(1),
  /** Webhook addresses also start with it. */
  PUBLIC_URL: commonEnv.PUBLIC_URL.default('http://127.0.0.1:8080'),
  /** Folder for events that arrive while the database is unavailable. */
  SPOOL_DIR: z.string().min(1).default('.local/spool'),
  SPOOL_MAX_BYTES: wholeNumber(0, 1024 ** 3),
  /** Megabytes of webhooks that are stored for one token in a day. */
  STORED_MB_PER_TOKEN: wholeNumber(1, 2048),
  /** How long a verified token is accepted while the database is unavailable. */
  TOKEN_MEMORY_MS: milliseconds(3_600_000),
  WORKERS: z.enum(['on', 'off']).default('on'),
  /** How long a worker counts as alive after its last heartbeat; it sends four in this time. */
  LEASE_MS: milliseconds(3000),
  RETRY_BASE_MS: milliseconds(1000),
  /** How long an event, a mail or an import is retried before it fails. */
  RETRY_FOR_HOURS: z.coerce.number().min(0).default(24),
  /** A worker looks for work that is due at least this often. */
  IDLE_POLL_MS: milliseconds(1000),
  /** Finished events are kept this long. */
  INBOX_RETENTION_DAYS: z.coerce.number().min(0).default(30),
  /** Records are kept this long after their last change, and at least as long as events. */
  ORDER_RETENTION_DAYS: days(730),
  MEMBER_RETENTION_DAYS: days('forever'),
  DELIVERY_JOB_RETENTION_DAYS: days(730),
  VERIFICATION_RETENTION_DAYS: days(730),
  IMPORT_JOB_RETENTION_DAYS: days(90),
  NOTIFICATION_RETENTION_DAYS: days(90),
  PAYMENT_RETENTION_DAYS: days(730),
  /** Audit records of callers who read unmasked data, and of changes of stores. */
  REVEAL_RETENTION_DAYS: days(730),
  /** A deleted store can be restored for this long, then its data is erased. */
  STORE_ERASE_DAYS: z.coerce.number().min(1).default(30),
  /** Nothing is deleted for this long after a start and after a clock was set. */
  PRUNE_PAUSE_MS: wholeNumber(0, 3_600_000),
  /** At least 4 MiB: one store or network may use two thirds, which must hold two bodies of the maximum size. */
  BODY_MEMORY_BYTES: wholeNumber(4 * 2 ** 20, 64 * 2 ** 20),
  /** Status code of the redirect after a 3DS challenge. */
  REDIRECT_STATUS: z.enum(['302', '303']).default('302').transform(Number),
  PROVIDER_TIMEOUT_MS: milliseconds(5000),
  /** Whether providers may have private addresses. Unset: only outside production. */
  PROVIDER_ADDRESSES: z.enum(['public', 'any']).optional(),
  SENTRY_DSN: z.url().optional(),
};

export const { parseEnv, processEnv } = defineEnv('store-webhooks', shape);

export type Env = ReturnType<typeof parseEnv>;
