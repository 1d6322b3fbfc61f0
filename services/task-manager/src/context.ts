import { createTokenVerifier, type TokenVerifier } from '@platform/auth/bearer';
import { createPasswords, type Passwords } from '@platform/auth/password';
import { createRevocation, type Revocation } from '@platform/auth/revocation';
import { createTokenSigner, type TokenSigner } from '@platform/auth/signing';
import { createThrottle, type Throttle } from '@platform/auth/throttle';
import { openBaseContext, type BaseContext, type Parts } from '@platform/service-kit/context';
import { validate as isUuid } from 'uuid';
import { createCredentialCookie, type CredentialCookie } from './auth/credential-cookie.ts';
import type { Env } from './env.ts';
import {
  accessSeconds,
  issuer,
  refreshSeconds,
  revocationId,
  sessionOfRevocation,
} from './sessions/settings.ts';
import { isLive } from './sessions/store.ts';
import { createPages, type Pages } from './tasks/pages.ts';

export const migrations = new URL('../migrations', import.meta.url).pathname;

export interface Context extends BaseContext {
  passwords: Passwords;
  throttle: Throttle;
  signer: TokenSigner;
  /** Recognises users by their access tokens. */
  tokens: TokenVerifier;
  revocation: Revocation;
  cookies: { access: CredentialCookie; refresh: CredentialCookie };
  pages: Pages;
}

const name = 'task-manager';

/** The service speaks for nobody but itself, so its issuer is its audience too. */
const whose = { issuer, audience: issuer };

/** Who may read the summary: tokens of the platform, which know nothing of this service's users. */
const operators = ({ AUTH_JWKS: jwks, AUTH_ISSUER, AUTH_AUDIENCE: audience }: Env, now: () => Date) =>
  jwks && AUTH_ISSUER && audience
    ? createTokenVerifier({ jwks, issuer: AUTH_ISSUER, audience, now }).guard('ops:read')
    : undefined;

/** Opens everything the service holds on to; `overrides` replace parts in tests. */
export const createContext = async (
  env: Env,
  parts: Parts,
  overrides: Partial<Context> = {},
): Promise<Context> => {
  const base = { ...openBaseContext(env, { name, migrations }, parts), ...overrides };
  const { database, redis, now } = base;
  const revocation = createRevocation({
    redis,
    prefix: `${name}:ended`,
    // No access token outlives this, however the clocks of two machines differ.
    ttlSeconds: accessSeconds + 60,
    isRevoked: async (id) => !(await isLive(database.sql, sessionOfRevocation(id), now().toISOString())),
  });
  const cookies = {
    access: createCredentialCookie({ name: 'tasks_access', maxAgeSeconds: accessSeconds }),
    refresh: createCredentialCookie({
      name: 'tasks_refresh',
      path: '/api/v1/auth',
      maxAgeSeconds: refreshSeconds,
    }),
  };
  const signer = await createTokenSigner({
    key: env.AUTH_SIGNING_KEY,
    ...whose,
    ttlSeconds: accessSeconds,
    now,
  });
  const tokens = createTokenVerifier({
    jwks: signer.jwks,
    ...whose,
    cookie: cookies.access,
    now,
    isRevoked: async ({ subject, sessionId = '' }) =>
      !isUuid(subject) ||
      !isUuid(sessionId) ||
      revocation.isRevoked(revocationId({ userId: subject, id: sessionId })),
  });
  return {
    passwords: createPasswords(),
    throttle: createThrottle({ name, redis }),
    signer,
    tokens,
    ops: operators(env, now),
    revocation,
    cookies,
    pages: createPages(database.sql, { bytes: env.TASK_ORDER_BYTES }),
    ...base,
  };
};
