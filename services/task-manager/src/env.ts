import { feedEnv } from '@platform/feed';
import { mailEnv } from '@platform/mail/address';
import { commonEnv, defineEnv, tokenEnv } from '@platform/service-kit/env';
import { searchEnv } from '@platform/service-kit/search-pool';
import { z } from 'zod';
import { parseSigningKeys } from './sessions/signing-keys.ts';

const signingKeys = z.string().transform((text, context) => {
  try {
    return parseSigningKeys(text);
  } catch {
    context.addIssue('is neither a JWK nor a set of them');
    return z.NEVER;
  }
});

const page = z.url({ protocol: /^https?$/ }).optional();

const shape = {
  ...commonEnv,
  ...searchEnv,
  ...tokenEnv,
  ...feedEnv,
  /** Time that the searches of one user may take in a minute, in milliseconds; not limited with RATE_LIMIT=off. */
  SEARCH_MS_PER_MINUTE: z.coerce.number().int().min(1).default(12_000),
  /** A task has up to 120 kB on disk, and usually 1.5. */
  MAX_TASKS_PER_USER: z.coerce.number().int().min(1).default(50_000),
  /** Tasks and kept answers that the accounts of one network store in six hours; not limited with RATE_LIMIT=off. */
  WRITTEN_MB_PER_NETWORK: z.coerce.number().int().min(1).default(64),
  /**
   * A private Ed25519 JWK, which signs the access tokens of this service's users. Or a set: the first key
   * signs, all verify, so that keys can be rotated (ADR 79).
   */
  AUTH_SIGNING_KEY: signingKeys,
  /**
   * Issuer of operators' tokens (scopes `ops:read`, `accounts:admin`); without these settings there
   * are no operations for them. Users have tokens that this service signs.
   */
  AUTH_JWKS: tokenEnv.AUTH_JWKS.optional(),
  AUTH_ISSUER: tokenEnv.AUTH_ISSUER.optional(),
  AUTH_AUDIENCE: tokenEnv.AUTH_AUDIENCE.optional(),
  // Without a mail server, what needs one is refused.
  ...mailEnv,
  /**
   * Pages that take the code of a mail from behind `#`; without one the mail has the code itself. That of a deletion has
   * none: a login takes it back.
   */
  APP_INVITATION_URL: page,
  APP_RESET_URL: page,
  APP_EMAIL_URL: page,
  APP_DELETION_URL: page,
  /** `login`: users log in and refresh their sessions only with a confirmed address. */
  REQUIRE_VERIFIED_EMAIL: z.enum(['off', 'login']).default('off'),
  /** A session ends this long after its login, however often it is refreshed, and after 30 days in which it is not. */
  SESSION_MAX_DAYS: z.coerce.number().int().min(1).max(3650).default(90),
  /** SHA-1 hashes of passwords that are known from leaks, in ascending order (auth/pwned-passwords.ts). */
  PWNED_PASSWORDS_FILE: z.string().min(1).optional(),
  /** Registrations from one network (IPv6: /64; 4 times as many of a /56, 16 of a /48) in ten minutes; not limited with RATE_LIMIT=off. */
  REGISTRATIONS_PER_NETWORK: z.coerce.number().int().min(1).default(100),
};

export const { parseEnv, processEnv } = defineEnv('task-manager', shape);

export type Env = ReturnType<typeof parseEnv>;

/** Address in the demo's commands: the gateway, or else the service itself. */
export const gatewayUrl = (): string =>
  process.env['GATEWAY_URL'] ?? `http://127.0.0.1:${process.env['PORT'] ?? 4101}`;
