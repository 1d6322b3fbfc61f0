import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errors, jwtVerify, type JSONWebKeySet, type JWTVerifyResult } from 'jose';
import { LRUCache } from 'lru-cache';
import { InsufficientScope, Problem, Unauthorized } from '@platform/service-kit/problem';
import type { Guard } from '@platform/service-kit/route';
import type { Cookie } from './cookies.ts';
import { onlyHeader } from './header.ts';
import { createKeySource } from './key-source.ts';

/** Who an access token speaks for. */
export interface Caller {
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
  /** For exp, nbf and iat; 5 seconds unless said otherwise. */
  toleranceSeconds?: number;
  /** A cookie that may carry the token where there is no Authorization header. */
  cookie?: Pick<Cookie, 'name' | 'read'>;
  /** Asked at each use, however short ago the token was verified. */
  isRevoked?: (caller: Caller) => Promise<boolean>;
  now?: () => Date;
}

export interface TokenVerifier {
  /** Throws Unauthorized for a token that is not valid, Unavailable when that can't be found out. */
  verify: (token: string) => Promise<Caller>;
  /** Lets callers with this scope in; without one, every valid token. */
  guard: (scope?: string) => Guard<Caller>;
}

/** In characters; longer ones are refused unread. */
const maxToken = 8192;
/** A signature costs some 100 µs to check; the same token is believed for this long without. */
const rememberMs = 30_000;
const rememberTokens = 5000;

const types = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);
const challenge = 'Bearer realm="platform"';

const missing = () => new Unauthorized('An access token is needed.', challenge);
const invalid = (detail = 'The access token is not valid.', unknownToken?: string) =>
  new Unauthorized(detail, `${challenge}, error="invalid_token"`, 'invalid_token', unknownToken);

/** Errors of a token that none of the keys signed; checking it cost a signature or a look at the provider. */
const isForged = (error: unknown): boolean =>
  error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey;

const callerOf = ({ payload, protectedHeader }: JWTVerifyResult, latestIssue: number): Caller => {
  const { sub, exp, iat, scope, sid } = payload;
  const sound =
    types.has(protectedHeader.typ?.toLowerCase()) &&
    typeof sub === 'string' &&
    sub !== '' &&
    exp !== undefined &&
    (iat ?? 0) <= latestIssue &&
    (scope === undefined || typeof scope === 'string') &&
    (sid === undefined || typeof sid === 'string');
  if (!sound) throw invalid();
  return Object.freeze({
    subject: sub,
    scopes: new Set(scope?.split(' ').filter((name) => name !== '')),
    sessionId: sid,
    expiresAt: new Date(exp * 1000),
  });
};

/** The token of a request (RFC 6750 section 2.1); undefined when no credential of this kind was sent. */
const tokenOf = (req: IncomingMessage, cookie: TokenVerifierOptions['cookie']): string | undefined => {
  const { value, repeated } = onlyHeader(req, 'authorization');
  if (repeated) throw invalid('Exactly one Authorization header may be sent.');
  if (value === undefined) return cookie?.read(req);
  if (!/^bearer(?: |$)/i.test(value)) return undefined;
  return value.slice('bearer '.length);
};

/**
 * Verifies JWT access tokens (RFC 7519, RFC 9068, EdDSA only). A service makes one and takes its
 * guards from it: the keys and the tokens verified lately are shared.
 */
export const createTokenVerifier = (options: TokenVerifierOptions): TokenVerifier => {
  const { issuer, audience, toleranceSeconds = 5, cookie, isRevoked, now = () => new Date() } = options;
  const keys = createKeySource({ jwks: options.jwks });
  const seen = new LRUCache<string, Caller>({ max: rememberTokens, ttl: rememberMs });
  const toleranceMs = toleranceSeconds * 1000;

  const check = async (token: string, tokenHash: string): Promise<Caller> => {
    const currentDate = now();
    try {
      const result = await jwtVerify(token, keys, {
        algorithms: ['EdDSA'],
        issuer,
        audience,
        clockTolerance: toleranceSeconds,
        requiredClaims: ['exp', 'sub'],
        currentDate,
      });
      return callerOf(result, currentDate.getTime() / 1000 + toleranceSeconds);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (error instanceof errors.JWTExpired) throw invalid('The access token has expired.');
      if (error instanceof errors.JOSEError)
        throw invalid(undefined, isForged(error) ? tokenHash : undefined);
      throw error;
    }
  };

  const verify = async (token: string): Promise<Caller> => {
    if (token.length > maxToken || !/^[\w.-]+$/.test(token)) throw invalid();
    const name = hash('sha256', token, 'base64url');
    const known = seen.get(name);
    const fresh = known !== undefined && now().getTime() < known.expiresAt.getTime() + toleranceMs;
    const caller = fresh ? known : await check(token, name);
    if (!fresh) seen.set(name, caller);
    if (await isRevoked?.(caller)) throw invalid('The session of this access token has ended.');
    return caller;
  };

  const guard = (scope?: string): Guard<Caller> => {
    const needs = scope === undefined ? [] : [scope];
    return {
      security: [{ bearer: needs }, ...(cookie ? [{ cookie: needs }] : [])],
      schemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        ...(cookie ? { cookie: { type: 'apiKey', in: 'cookie', name: cookie.name } } : {}),
      },
      identify: async (req) => {
        const token = tokenOf(req, cookie);
        if (token === undefined) throw missing();
        const caller = await verify(token);
        if (scope !== undefined && !caller.scopes.has(scope)) {
          throw new InsufficientScope(scope, `${challenge}, error="insufficient_scope", scope="${scope}"`);
        }
        return caller;
      },
      keyOf: ({ subject }) => subject,
    };
  };

  return { verify, guard };
};
