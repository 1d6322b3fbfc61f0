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
    context.addIssue('must be a private Ed25519 JWK or a set of them');
    return z.NEVER;
  }
});

const page = z.url({ protocol: /^https?$/ }).optional();

const shape = {
  ...commonEnv,
  ...searchEnv,
  ...tokenEnv,
  ...feedEnv,
  /** Time that the searches of one user may take per minute, in milliseconds; not limited with RATE_LIMIT=off. */
  SEARCH_MS_PER_MINUTE: z.coerce.number().int().min(1).default(12_000),
  /** Tasks of one user, and of one list. A task usually takes 1.5 kB on disk, at most 120 kB. */
  MAX_TASKS_PER_USER: z.coerce.number().int().min(1).default(50_000),
  /** MB of tasks and stored responses that the accounts of one network may write in six hours; not limited with RATE_LIMIT=off. */
  WRITTEN_MB_PER_NETWORK: z.coerce.number().int().min(1).default(64),
  /**
   * A private Ed25519 JWK that signs the access tokens of this service's users, or a set of them: the first key signs, all keys
   * verify, so that keys can be rotated (ADR 79).
   */
  AUTH_SIGNING_KEY: signingKeys,
  /**
   * Issuer of operators' tokens (scopes `ops:read`, `accounts:admin`); without these settings the operations for operators do not
   * exist. Users have tokens that this service signs.
   */
  AUTH_JWKS: tokenEnv.AUTH_JWKS.optional(),
  AUTH_ISSUER: tokenEnv.AUTH_ISSUER.optional(),
  AUTH_AUDIENCE: tokenEnv.AUTH_AUDIENCE.optional(),
  // Without a mail server, requests that need one are refused.
  ...mailEnv,
  /**
   * Pages that read the code of a mail from the URL fragment (after `#`); without a page the mail contains the code itself. The
   * page of a deletion gets no code: a login cancels the deletion.
   */
  APP_INVITATION_URL: page,
  APP_RESET_URL: page,
  APP_EMAIL_URL: page,
  APP_DELETION_URL: page,
  /** `login`: users can log in and refresh their sessions only with a confirmed address. */
  REQUIRE_VERIFIED_EMAIL: z.enum(['off', 'login']).default('off'),
  /** Days from the login to the end of a session, no matter how often it is refreshed. It also ends after 30 days without refresh. */
  SESSION_MAX_DAYS: z.coerce.number().int().min(1).max(3650).default(90),
  /** File of SHA-1 hashes of leaked passwords, in ascending order (auth/pwned-passwords.ts). */
  PWNED_PASSWORDS_FILE: z.string().min(1).optional(),
  /** Registrations in ten minutes from one network (IPv6: /64; 4 times as many from a /56, 16 times from a /48); not limited with RATE_LIMIT=off. */
  REGISTRATIONS_PER_NETWORK: z.coerce.number().int().min(1).default(100),
};

export const { parseEnv, processEnv } = defineEnv('task-manager', shape);

export type Env = ReturnType<typeof parseEnv>;

/** URL in the demo's commands: the gateway, or without one the service itself. */
export const gatewayUrl = (): string =>
  process.env['GATEWAY_URL'] ?? `http://127.0.0.1:${process.env['PORT'] ?? 4101}`;
