import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errors, jwtVerify, type JSONWebKeySet, type JWTVerifyResult } from 'jose';
import { createLru } from '@platform/service-kit/lru';
import {
  InsufficientScope,
  Problem,
  Unauthorized,
  type UnknownCredential,
} from '@platform/service-kit/problem';
import type { Guard, LookupLimit } from '@platform/service-kit/route';
import { hasScope } from '@platform/service-kit/scopes';
import { isStorable } from '@platform/service-kit/text';
import { singleHeader } from './header.ts';
import { createKeySource } from './key-source.ts';
import {
  idLimitsOf,
  isAccessToken,
  isIdToken,
  scopesOfRoles,
  type IdLimits,
  type RoleMapping,
} from './claims.ts';

export { allowsId, type IdLimits } from './claims.ts';

/** The holder of an access token. */
export interface Caller extends IdLimits {
  readonly subject: string;
  readonly scopes: ReadonlySet<string>;
  /** The claim `sid`, where the token belongs to a session. */
  readonly sessionId: string | undefined;
  readonly expiresAt: Date;
}

export interface TokenVerifierOptions {
  /** AUTH_JWKS: URL of a JWKS, path of a file, or the set itself. */
  jwks: string | JSONWebKeySet;
  issuer: string;
  audience: string;
  /** AUTH_ALGORITHMS: the algorithms that the issuer signs with; default EdDSA. */
  algorithms?: readonly string[];
  /** AUTH_ROLES: derives the scopes from a claim with roles and ignores the claim `scope`. */
  roles?: RoleMapping | undefined;
  /** Name of the security scheme in the OpenAPI document; default `bearer`. */
  scheme?: string;
  /** Tolerance for exp, nbf and iat; default 5 seconds. */
  toleranceSeconds?: number;
  /** A cookie that may carry the token where there is no Authorization header. */
  cookie?: { name: string; read(req: IncomingMessage): string | undefined };
  /**
   * Called for every request, even if the verified token is cached. It is called only once a minute for a revoked token,
   * because that never becomes valid again.
   */
  isRevoked?: (caller: Caller) => Promise<boolean>;
  now?: () => Date;
}

/** Return type of `createTokenVerifier`. */
export type TokenVerifier = ReturnType<typeof createTokenVerifier>;

/** In characters; longer tokens are refused without parsing. */
const maxTokenLength = 8192;
/** Verifying a signature takes some 100 µs, so the result is cached for this long. */
const cacheMs = 30_000;
const cachedTokens = 5000;
/** How long a revoked token is refused without asking again. */
const revokedMs = 60_000;

const tokenType = /^(?:jwt|at\+jwt|application\/at\+jwt)$/i;
const challenge = 'Bearer realm="platform"';

const missing = () => new Unauthorized('An access token is needed.', challenge);
const invalid = (detail = 'The access token is not valid.', unknown?: UnknownCredential) =>
  new Unauthorized(detail, `${challenge}, error="invalid_token"`, 'invalid_token', unknown);

/** For a valid token whose session has ended. */
export const sessionEnded = (): Unauthorized => invalid('The session of this access token has ended.');

/** Whether no key signed the token: it counts as a guess, because checking it costs a verification or a request for keys. */
const isForged = (error: unknown): boolean =>
  error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey;

const callerOf = (token: JWTVerifyResult, latestIssue: number, roles?: RoleMapping): Caller => {
  const { payload, protectedHeader } = token;
  // The issuer writes this header, so it may be missing or not a string.
  const { typ = 'JWT' } = protectedHeader;
  const { sub, exp, iat, scope, sid } = payload;
  const limits = idLimitsOf(payload);
  const isValid =
    limits !== undefined &&
    typeof typ === 'string' &&
    tokenType.test(typ) &&
    !isIdToken(payload) &&
    // Bound to a key of its holder (RFC 8705, RFC 9449), whose possession is not checked here.
    !('cnf' in payload) &&
    (roles === undefined || isAccessToken(token)) &&
    typeof sub === 'string' &&
    sub !== '' &&
    isStorable(sub) &&
    exp !== undefined &&
    // JSON may contain 1e400, which is parsed as Infinity.
    Number.isFinite(exp) &&
    (iat ?? 0) <= latestIssue &&
    (scope === undefined || typeof scope === 'string') &&
    (sid === undefined || typeof sid === 'string');
  if (!isValid) throw invalid();
  return Object.freeze({
    subject: sub,
    scopes: new Set(roles ? scopesOfRoles(payload, roles) : scope?.split(' ').filter((name) => name !== '')),
    sessionId: sid,
    expiresAt: new Date(exp * 1000),
    ...limits,
  });
};

/** The token of a request (RFC 6750 section 2.1); undefined when the request has none. */
const tokenOf = (req: IncomingMessage, cookie: TokenVerifierOptions['cookie']): string | undefined => {
  const { value, repeated } = singleHeader(req, 'authorization');
  if (repeated) throw invalid('Exactly one Authorization header may be sent.');
  if (value === undefined) return cookie?.read(req);
  if (!/^bearer(?: |$)/i.test(value)) return undefined;
  return value.slice('bearer '.length);
};

/**
 * Verifies JWT access tokens (RFC 7519, RFC 9068). A service creates one verifier for each issuer and takes all its guards
 * from it, so that they share the keys and the cache of verified tokens.
 */
export const createTokenVerifier = (options: TokenVerifierOptions) => {
  const { issuer, audience, scheme = 'bearer', toleranceSeconds = 5, cookie, isRevoked, roles } = options;
  const algorithms = [...(options.algorithms ?? ['EdDSA'])];
  const now = options.now ?? (() => new Date());
  const keys = createKeySource({ jwks: options.jwks });
  const verified = createLru<string, Caller>(cachedTokens, cacheMs);
  const revokedTokens = createLru<string, true>(cachedTokens, revokedMs);
  const toleranceMs = toleranceSeconds * 1000;

  const check = async (token: string, tokenHash: string): Promise<Caller> => {
    const currentDate = now();
    try {
      const result = await jwtVerify(token, keys, {
        algorithms,
        issuer,
        audience,
        clockTolerance: toleranceSeconds,
        requiredClaims: ['exp', 'sub'],
        currentDate,
      });
      return callerOf(result, currentDate.getTime() / 1000 + toleranceSeconds, roles);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (error instanceof errors.JWTExpired) throw invalid('The access token has expired.');
      if (error instanceof errors.JOSEError)
        throw invalid(undefined, isForged(error) ? { kind: 'bearer', hash: tokenHash } : undefined);
      throw error;
    }
  };

  /** Throws Unauthorized for an invalid token, Unavailable when the keys or `isRevoked` can't answer. */
  const verify = async (token: string, limit?: LookupLimit): Promise<Caller> => {
    if (token.length > maxTokenLength || !/^[\w.-]+$/.test(token)) throw invalid();
    const digest = hash('sha256', token, 'base64url');
    if (revokedTokens.has(digest)) throw sessionEnded();
    const cached = verified.get(digest);
    const isFresh = cached !== undefined && now().getTime() < cached.expiresAt.getTime() + toleranceMs;
    const caller = isFresh ? cached : await check(token, digest);
    if (!isFresh) verified.set(digest, caller);
    if (isRevoked === undefined) return caller;
    const confirm = async (): Promise<void> => {
      limit?.checkCaller(caller.subject);
      if (!(await isRevoked(caller))) return;
      revokedTokens.set(digest, true);
      throw sessionEnded();
    };
    if (limit?.deferConfirmation) limit.deferConfirmation(confirm);
    else await confirm();
    return caller;
  };

  /**
   * Admits callers with `scope`, with a scope that includes it (`hasScope`) or with one of `others`. Without `scope`, it
   * admits every valid token.
   */
  const guard = (scope?: string, ...others: string[]): Guard<Caller> => {
    const alternatives = scope === undefined ? [[]] : [scope, ...others].map((name) => [name]);
    return {
      security: [
        ...alternatives.map((scopes) => ({ [scheme]: scopes })),
        ...(cookie ? alternatives.map((scopes) => ({ cookie: scopes })) : []),
      ],
      schemes: {
        [scheme]: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        ...(cookie
          ? {
              cookie: {
                type: 'apiKey',
                in: 'cookie',
                name: cookie.name,
                description: `On localhost it is \`${cookie.name.replace('__Host-', '')}\`.`,
              },
            }
          : {}),
      },
      identify: async (req, limit) => {
        const token = tokenOf(req, cookie);
        if (token === undefined) throw missing();
        const caller = await verify(token, limit).catch((error: unknown) => {
          // The signature is verified first, so a valid token is never refused for the guesses of others.
          if (error instanceof Problem && error.unknownCredential) limit.checkGuesses('bearer');
          throw error;
        });
        if (scope !== undefined && ![scope, ...others].some((name) => hasScope(caller.scopes, name))) {
          throw new InsufficientScope(scope, `${challenge}, error="insufficient_scope", scope="${scope}"`);
        }
        return caller;
      },
      keyOf: ({ subject }) => subject,
    };
  };

  return { verify, guard };
};
