import { createTokenVerifier, type TokenVerifier } from '@platform/auth/bearer';
import { createPasswords, type Passwords } from '@platform/auth/password';
import { createFeed } from '@platform/feed';
import { byOwner, feedParts } from '@platform/feed/sql';
import type { Migrations } from '@platform/service-kit/migrate';
import { createAddressLimit, type AddressLimit, type AddressLimitOptions } from './auth/address-limit.ts';
import { createRevocation, type Revocation } from '@platform/auth/revocation';
import { createTokenSigner, type TokenSigner } from './sessions/token-signer.ts';
import { openPwnedPasswords, type PwnedPasswords } from './auth/pwned-passwords.ts';
import { createThrottle, type Throttle } from './auth/throttle/throttle.ts';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import { validate as isUuid } from 'uuid';
import { createCredentialCookie, type CredentialCookie } from './auth/cookies.ts';
import { followedTables } from './db/followed.ts';
import type { Env } from './env.ts';
import { createCodes, type Codes } from './codes.ts';
import { createMails, type Mails } from './mails/use-cases.ts';
import { createRefreshTokens, type RefreshTokens } from './sessions/refresh-token.ts';
import {
  accessSeconds,
  clockToleranceSeconds,
  issuer,
  refreshSeconds,
  revocationId,
  parseRevocationId,
} from './sessions/settings.ts';
import { createLastUse } from './sessions/last-use.ts';
import { isLive } from './sessions/queries.ts';
import { createSearches, type Searches } from './tasks/searches.ts';
import { createTaskLimits } from './tasks/task-limit.ts';
import { createWrittenLimit } from './tasks/written-limit.ts';

export const migrations: Migrations = {
  folder: new URL('../migrations', import.meta.url).pathname,
  parts: [...feedParts(followedTables), byOwner],
};

export interface Context extends BaseContext {
  env: Env;
  /** Logins and registrations have separate hashing queues, so that registrations never delay logins. */
  loginPasswords: Passwords;
  registrationPasswords: Passwords;
  /** Undefined without PWNED_PASSWORDS_FILE. */
  pwnedPasswords: PwnedPasswords | undefined;
  throttle: Throttle;
  /** Undefined with RATE_LIMIT=off. */
  registrationLimit: AddressLimit | undefined;
  /** Limits requests for mails, which anybody may send. Undefined with RATE_LIMIT=off. */
  mailLimit: AddressLimit | undefined;
  /** Creates the routes that export a list and stream its changes. */
  follow: ReturnType<typeof createFeed>;
  searches: Searches;
  limitTasks: ReturnType<typeof createTaskLimits>;
  /** Undefined with RATE_LIMIT=off. */
  limitWritten: ReturnType<typeof createWrittenLimit> | undefined;
  signer: TokenSigner;
  /** Verifies users' access tokens. */
  tokens: TokenVerifier;
  refreshTokens: RefreshTokens;
  invitations: Codes;
  /** Undefined without a mail server. */
  mails: Mails | undefined;
  /** Verifies operators' tokens, which the platform's identity provider signs; undefined without AUTH_JWKS. */
  operators: TokenVerifier | undefined;
  revocation: Revocation;
  cookies: { access: CredentialCookie; refresh: CredentialCookie };
}

const name = 'task-manager';

const createOperators = ({ AUTH_JWKS, AUTH_ISSUER, AUTH_AUDIENCE, ...env }: Env, now: () => Date) => {
  if (!AUTH_JWKS || !AUTH_ISSUER || !AUTH_AUDIENCE) return undefined;
  const options = tokenOptions({ ...env, AUTH_JWKS, AUTH_ISSUER, AUTH_AUDIENCE });
  return createTokenVerifier({ ...options, scheme: 'operator', now });
};

/** Opens connections and creates the context of the service; tests replace parts of it with `overrides`. */
export const createContext = async (
  env: Env,
  logAndMetrics: LogAndMetrics,
  overrides: Partial<Context> = {},
): Promise<Context> => {
  const base = { ...openBaseContext(env, { name, migrations }, logAndMetrics), ...overrides };
  const { database, redis, log, now } = base;
  const operators = createOperators(env, now);
  const invitations = createCodes(env.AUTH_SIGNING_KEY, 'invitations');
  const limitBy = (purpose: AddressLimitOptions['purpose']) =>
    createAddressLimit({ name, purpose, redis, perNetwork: env.REGISTRATIONS_PER_NETWORK });
  const revocation = createRevocation({
    redis,
    prefix: `${name}:ended`,
    ttlSeconds: accessSeconds + clockToleranceSeconds,
    isRevoked: async (id) => !(await isLive(database.sql, parseRevocationId(id))),
  });
  const cookies = {
    access: createCredentialCookie({ name: 'tasks_access', maxAgeSeconds: accessSeconds }),
    refresh: createCredentialCookie({ name: 'tasks_refresh', maxAgeSeconds: refreshSeconds }),
  };
  const pwnedPasswords =
    env.PWNED_PASSWORDS_FILE === undefined
      ? undefined
      : base.resources.use(await openPwnedPasswords(env.PWNED_PASSWORDS_FILE));
  const signer = await createTokenSigner({ keys: env.AUTH_SIGNING_KEY, now });
  const lastUse = base.resources.use(createLastUse(database.sql, log));
  const verifier = createTokenVerifier({
    jwks: signer.jwks,
    issuer,
    audience: issuer,
    cookie: cookies.access,
    toleranceSeconds: clockToleranceSeconds,
    now,
    isRevoked: async ({ subject, sessionId = '' }) =>
      !isUuid(subject) ||
      !isUuid(sessionId) ||
      revocation.isRevoked(revocationId({ userId: subject, id: sessionId })),
  });
  const tokens: TokenVerifier = {
    ...verifier,
    guard: (...scopes) => {
      const guard = verifier.guard(...scopes);
      return {
        ...guard,
        identify: async (req, limit) => {
          const caller = await guard.identify(req, limit);
          lastUse.note({ userId: caller.subject, id: caller.sessionId ?? '' }, base.clientAddress(req));
          return caller;
        },
      };
    },
  };
  return {
    env,
    follow: createFeed({
      ...base,
      service: name,
      days: env.FEED_DAYS,
      maxStreams: env.FEED_STREAMS,
      byOwner: true,
    }),
    searches: createSearches(env, redis, base.resources),
    limitTasks: createTaskLimits(env.MAX_TASKS_PER_USER),
    limitWritten: env.RATE_LIMIT === 'on' ? createWrittenLimit(redis, env.WRITTEN_MB_PER_NETWORK) : undefined,
    loginPasswords: createPasswords(),
    registrationPasswords: createPasswords({ concurrency: 1, waiting: 40, perSecond: 10 }),
    pwnedPasswords,
    throttle: createThrottle({ name, redis, log }),
    registrationLimit: env.RATE_LIMIT === 'on' ? limitBy('register') : undefined,
    mailLimit: env.RATE_LIMIT === 'on' ? limitBy('mail') : undefined,
    signer,
    tokens,
    refreshTokens: createRefreshTokens(env.AUTH_SIGNING_KEY),
    invitations,
    mails: createMails(env, invitations),
    operators,
    ops: operators,
    revocation,
    cookies,
    ...base,
  };
};
