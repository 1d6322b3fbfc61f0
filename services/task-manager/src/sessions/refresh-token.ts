import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JWK } from 'jose';
import { parse, stringify } from 'uuid';
import type { SigningKeys } from './signing-keys.ts';

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
  /** This service made the token, under one of its keys. False for a forged one. */
  issued: boolean;
  /**
   * The token that replaces this one: the same at each call and in every instance (ADR 78). During a
   * rotation of keys an instance with another first key makes another one, so all are returned; the
   * first is this instance's own.
   */
  successors: () => [RefreshToken, ...RefreshToken[]];
}

/** What `createRefreshTokens` makes. */
export type RefreshTokens = ReturnType<typeof createRefreshTokens>;

const idBytes = 16;
const nonceBytes = 32;
const macBytes = 32;
const secretAt = 2 * idBytes;
const macAt = secretAt + nonceBytes;

/** The secret is random, so a fast hash is enough. */
const hashOf = (bytes: Buffer): Buffer => hash('sha256', bytes.subarray(secretAt), 'buffer');

/** HMAC-SHA256 under a key that is derived from the signing key for one purpose. */
export const macFor = ({ d = '' }: JWK, purpose: string) => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', purpose, macBytes));
  return (bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest();
};

/** The tokens of one signing key. */
const createMint = (signingKey: JWK) => {
  const seal = macFor(signingKey, 'refresh tokens');
  const nextNonce = macFor(signingKey, 'successors of refresh tokens');
  const make = (ids: Buffer, nonce: Buffer): RefreshToken => {
    const named = Buffer.concat([ids, nonce]);
    const bytes = Buffer.concat([named, seal(named)]);
    return { token: bytes.toString('base64url'), hash: hashOf(bytes) };
  };
  return {
    create: ({ userId, id }: SessionName) =>
      make(Buffer.concat([parse(userId), parse(id)]), randomBytes(nonceBytes)),
    hasIssued: (bytes: Buffer) => timingSafeEqual(bytes.subarray(macAt), seal(bytes.subarray(0, macAt))),
    successorOf: (bytes: Buffer) => make(bytes.subarray(0, secretAt), nextNonce(bytes.subarray(0, macAt))),
  };
};

/**
 * A refresh token is base64url of: user id, session id, 256 bits of nonce, and an HMAC-SHA256 over those
 * three, which tells a token that was issued and used before from one that somebody forged around the
 * ids. The nonce of a session's first token is random; each next one is an HMAC of the token before it.
 * The keys are derived from the signing keys, which all instances share (ADR 78, 79).
 */
export const createRefreshTokens = ([current, ...others]: SigningKeys) => {
  const own = createMint(current);
  const foreign = others.map(createMint);
  return {
    /** The first token of a session. */
    create: own.create,
    /** Undefined for anything that does not have the form of a refresh token. */
    read: (token: string): ReadToken | undefined => {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== macAt + macBytes || bytes.toString('base64url') !== token) return undefined;
      const idAt = (from: number) => stringify(bytes.subarray(from, from + idBytes));
      try {
        return {
          session: { userId: idAt(0), id: idAt(idBytes) },
          hash: hashOf(bytes),
          issued: [own, ...foreign].some(({ hasIssued }) => hasIssued(bytes)),
          successors: () => [own.successorOf(bytes), ...foreign.map((mint) => mint.successorOf(bytes))],
        };
      } catch {
        // The bytes in place of an id are not a UUID.
        return undefined;
      }
    },
  };
};
