import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JWK } from 'jose';
import { parse, stringify } from 'uuid';

export interface SessionName {
  userId: string;
  id: string;
}

export interface RefreshToken {
  token: string;
  /** SHA-256 of the secret part; the session's row stores the one that is valid. */
  hash: Buffer;
}

/** What a refresh token says. */
export interface ReadToken {
  session: SessionName;
  hash: Buffer;
  /** This service made the token, under its current key. False for a forged one. */
  issued: boolean;
  /** The token that replaces this one: the same at each call and in every instance (ADR 78). */
  successor: () => RefreshToken;
}

export interface RefreshTokens {
  /** The first token of a session. */
  create: (session: SessionName) => RefreshToken;
  /** Undefined for anything that does not have the form of a refresh token. */
  read: (token: string) => ReadToken | undefined;
}

const idBytes = 16;
const nonceBytes = 32;
const macBytes = 32;
const secretAt = 2 * idBytes;
const macAt = secretAt + nonceBytes;

/** The secret is random, so a fast hash is enough. */
const hashOf = (bytes: Buffer): Buffer => hash('sha256', bytes.subarray(secretAt), 'buffer');

/** HMAC-SHA256 under a key that is derived from the signing key for one purpose. */
const macFor = ({ d = '' }: JWK, purpose: string) => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', purpose, macBytes));
  return (bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest();
};

/**
 * A refresh token is base64url of: user id, session id, 256 bits of nonce, and an HMAC-SHA256 over those
 * three, which tells a token that was issued and used before from one that somebody forged around the
 * ids. The nonce of a session's first token is random; each next one is an HMAC of the token before it.
 * The keys are derived from the signing key, which all instances share (ADR 78).
 */
export const createRefreshTokens = (signingKey: JWK): RefreshTokens => {
  const seal = macFor(signingKey, 'refresh tokens');
  const nextNonce = macFor(signingKey, 'successors of refresh tokens');

  const make = (ids: Buffer, nonce: Buffer): RefreshToken => {
    const named = Buffer.concat([ids, nonce]);
    const bytes = Buffer.concat([named, seal(named)]);
    return { token: bytes.toString('base64url'), hash: hashOf(bytes) };
  };

  return {
    create: ({ userId, id }) => make(Buffer.concat([parse(userId), parse(id)]), randomBytes(nonceBytes)),
    read: (token) => {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== macAt + macBytes || bytes.toString('base64url') !== token) return undefined;
      const idAt = (from: number) => stringify(bytes.subarray(from, from + idBytes));
      const named = bytes.subarray(0, macAt);
      try {
        return {
          session: { userId: idAt(0), id: idAt(idBytes) },
          hash: hashOf(bytes),
          issued: timingSafeEqual(bytes.subarray(macAt), seal(named)),
          successor: () => make(bytes.subarray(0, secretAt), nextNonce(named)),
        };
      } catch {
        // The bytes in place of an id are not a UUID.
        return undefined;
      }
    },
  };
};
