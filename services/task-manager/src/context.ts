import { createTokenVerifier, type TokenVerifier } from '@platform/auth/bearer';
import { createPasswords, type Passwords } from '@platform/auth/password';
import { createRegistrationLimit, type RegistrationLimit } from './auth/registration-limit.ts';
import { createRevocation, type Revocation } from '@platform/auth/revocation';
import { createTokenSigner, type TokenSigner } from './sessions/token-signer.ts';
import { createThrottle, type Throttle } from './auth/throttle/throttle.ts';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import { validate as isUuid } from 'uuid';
import { createCredentialCookie, type CredentialCookie } from './auth/cookies.ts';
import type { Env } from './env.ts';
import { createInvitationCodes, type InvitationCodes } from './lists/invitation-codes.ts';
import { createRefreshTokens, type RefreshTokens } from './sessions/refresh-token.ts';
import {
  accessSeconds,
  clockToleranceSeconds,
  issuer,
  refreshSeconds,
  revocationId,
  sessionOfRevocation,
} from './sessions/settings.ts';
import { isLive } from './sessions/queries.ts';
import { createSearches, type Searches } from './tasks/searches.ts';
import { createKeyLimit, createTaskLimits, type RowLimit } from './tasks/task-limit.ts';

export const migrations = new URL('../migrations', import.meta.url).pathname;

export interface Context extends BaseContext {
  /** Logins and registrations have a hashing queue each, so that registrations never delay logins. */
  loginPasswords: Passwords;
  registrationPasswords: Passwords;
  throttle: Throttle;
  /** Undefined with RATE_LIMIT=off. */
  registrationLimit: RegistrationLimit | undefined;
  searches: Searches;
  limitTasks: ReturnType<typeof createTaskLimits>;
  limitKeys: RowLimit;
  signer: TokenSigner;
  /** Verifies users' access tokens. */
  tokens: TokenVerifier;
  refreshTokens: RefreshTokens;
  invitations: InvitationCodes;
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

/** Opens connections and builds everything the service uses; `overrides` replace parts in tests. */
export const createContext = async (
  env: Env,
  parts: LogAndMetrics,
  overrides: Partial<Context> = {},
): Promise<Context> => {
  const base = { ...openBaseContext(env, { name, migrations }, parts), ...overrides };
  const { database, redis, log, now } = base;
  const operators = createOperators(env, now);
  const revocation = createRevocation({
    redis,
    prefix: `${name}:ended`,
    ttlSeconds: accessSeconds + clockToleranceSeconds,
    isRevoked: async (id) => !(await isLive(database.sql, sessionOfRevocation(id))),
  });
  const cookies = {
    access: createCredentialCookie({ name: 'tasks_access', maxAgeSeconds: accessSeconds }),
    refresh: createCredentialCookie({ name: 'tasks_refresh', maxAgeSeconds: refreshSeconds }),
  };
  const signer = await createTokenSigner({ keys: env.AUTH_SIGNING_KEY, now });
  const tokens = createTokenVerifier({
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
  return {
    searches: createSearches(env, redis, base.resources),
    limitTasks: createTaskLimits(env.MAX_TASKS_PER_USER),
    limitKeys: createKeyLimit(env.MAX_TASKS_PER_USER),
    loginPasswords: createPasswords(),
    registrationPasswords: createPasswords({ concurrency: 1, waiting: 40, perSecond: 10 }),
    throttle: createThrottle({ name, redis, log }),
    registrationLimit:
      env.RATE_LIMIT === 'on'
        ? createRegistrationLimit({ name, redis, perNetwork: env.REGISTRATIONS_PER_NETWORK })
        : undefined,
    signer,
    tokens,
    refreshTokens: createRefreshTokens(env.AUTH_SIGNING_KEY),
    invitations: createInvitationCodes(env.AUTH_SIGNING_KEY),
    operators,
    ops: operators,
    revocation,
    cookies,
    ...base,
  };
};
