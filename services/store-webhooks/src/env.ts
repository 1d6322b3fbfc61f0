import { feedEnv } from '@platform/feed';
import { subscriptionEnv } from '@platform/outgoing-webhooks';
import { commonEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-pool';
import { z } from 'zod';

const whole = (min: number, preset: number) => z.coerce.number().int().min(min).default(preset);
/** A number of days, or `forever` (Infinity). */
const days = (preset: number | 'forever') =>
  z
    .union([z.literal('forever'), z.coerce.number().min(0)], {
      error: 'must be a number of days, or forever',
    })
    .transform((value) => (value === 'forever' ? Infinity : value))
    .default(preset === 'forever' ? Infinity : preset);
const milliseconds = (preset: number) => whole(1, preset);

const shape = {
  ...commonEnv,
  ...tokenEnv,
  ...feedEnv,
  ...subscriptionEnv,
  ...searchEnv,
  /** Requests in progress: fewer than in other services, because a webhook takes less time. */
  MAX_IN_PROGRESS: whole(1, 100),
  /** Encrypts credentials of providers and outcomes of payments. */
  SECRETS_KEY: z.string().min(1),
  /** Webhook addresses begin with it, too. */
  PUBLIC_URL: commonEnv.PUBLIC_URL.default('http://127.0.0.1:8080'),
  /** Folder for events that arrive while the database is unavailable. */
  SPOOL_DIR: z.string().min(1).default('.local/spool'),
  SPOOL_MAX_BYTES: whole(0, 1024 ** 3),
  /** How long a verified token is accepted while the database is unavailable. */
  TOKEN_MEMORY_MS: milliseconds(3_600_000),
  WORKERS: z.enum(['on', 'off']).default('on'),
  /** For how long a worker counts as alive after its last report, which it makes four times in this time. */
  LEASE_MS: milliseconds(3000),
  RETRY_BASE_MS: milliseconds(1000),
  /** How long an event, a mail or an import is tried again before it has failed. */
  RETRY_FOR_HOURS: z.coerce.number().min(0).default(24),
  /** A worker looks for work that is due at least this often. */
  IDLE_POLL_MS: milliseconds(1000),
  /** Events are kept this long after they were processed or have failed. */
  INBOX_RETENTION_DAYS: z.coerce.number().min(0).default(30),
  /** Records are kept this long after their last change, and at least as long as events. */
  ORDER_RETENTION_DAYS: days(730),
  MEMBER_RETENTION_DAYS: days('forever'),
  DELIVERY_JOB_RETENTION_DAYS: days(730),
  VERIFICATION_RETENTION_DAYS: days(730),
  IMPORT_JOB_RETENTION_DAYS: days(90),
  NOTIFICATION_RETENTION_DAYS: days(90),
  PAYMENT_RETENTION_DAYS: days(730),
  /** The records of who has read unmasked bodies. */
  REVEAL_RETENTION_DAYS: days(730),
  /** A deleted store can be restored for this long, then its data is erased. */
  STORE_ERASE_DAYS: z.coerce.number().min(1).default(30),
  /** After a start, and after a clock was set, nothing is deleted for this long. */
  PRUNE_PAUSE_MS: whole(0, 3_600_000),
  /** Not less than this, because a store or a network may have two thirds: two bodies of the largest size. */
  BODY_MEMORY_BYTES: whole(4 * 2 ** 20, 64 * 2 ** 20),
  /** Of the redirect that ends a 3DS challenge. */
  REDIRECT_STATUS: z.enum(['302', '303']).default('302').transform(Number),
  PROVIDER_TIMEOUT_MS: milliseconds(5000),
  /** Whether providers may have private addresses. Unset: only outside production. */
  PROVIDER_ADDRESSES: z.enum(['public', 'any']).optional(),
  SENTRY_DSN: z.url().optional(),
};

export const { parseEnv, processEnv } = defineEnv('store-webhooks', shape);

export type Env = ReturnType<typeof parseEnv>;
