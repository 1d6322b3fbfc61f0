import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JWK } from 'jose';
import { parse, stringify } from 'uuid';
import type { SigningKeys } from './signing-keys.ts';

/** The ids that identify a session. */
export interface SessionIds {
  userId: string;
  id: string;
}

export interface RefreshToken {
  token: string;
  /** SHA-256 of the secret part. The row of the session stores the hash of the valid token. */
  hash: Buffer;
}

/** The content of a refresh token. */
export interface ParsedToken {
  session: SessionIds;
  hash: Buffer;
  /** Whether this service created the token with one of its keys. False for a forged token. */
  issued: boolean;
  /**
   * Derives the token that replaces this one: always the same, in every instance (ADR 78). While keys are rotated, instances may
   * have different current keys and derive different tokens, so this returns one per key: first that of the current key.
   */
  successors: () => [RefreshToken, ...RefreshToken[]];
}

/** Writer and reader of refresh tokens created by `createRefreshTokens`. */
export type RefreshTokens = ReturnType<typeof createRefreshTokens>;

const idBytes = 16;
const nonceBytes = 32;
const macBytes = 32;
const nonceOffset = 2 * idBytes;
const macOffset = nonceOffset + nonceBytes;

/** A fast hash is enough, because the secret part (nonce and MAC) is random. */
const hashOf = (bytes: Buffer): Buffer => hash('sha256', bytes.subarray(nonceOffset), 'buffer');

/** HMAC-SHA256 with a key that is derived from the signing key for one purpose. */
export const macFor = ({ d = '' }: JWK, purpose: string) => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', purpose, macBytes));
  return (bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest();
};

/** Creates and checks tokens with one signing key. */
const createIssuer = (signingKey: JWK) => {
  const macOf = macFor(signingKey, 'refresh tokens');
  const nextNonce = macFor(signingKey, 'successors of refresh tokens');
  const build = (ids: Buffer, nonce: Buffer): RefreshToken => {
    const content = Buffer.concat([ids, nonce]);
    const bytes = Buffer.concat([content, macOf(content)]);
    return { token: bytes.toString('base64url'), hash: hashOf(bytes) };
  };
  return {
    create: ({ userId, id }: SessionIds) =>
      build(Buffer.concat([parse(userId), parse(id)]), randomBytes(nonceBytes)),
    hasIssued: (bytes: Buffer) =>
      timingSafeEqual(bytes.subarray(macOffset), macOf(bytes.subarray(0, macOffset))),
    successorOf: (bytes: Buffer) =>
      build(bytes.subarray(0, nonceOffset), nextNonce(bytes.subarray(0, macOffset))),
  };
};

/**
 * Creates and reads refresh tokens. A refresh token is the base64url of: user id, session id, a nonce of 256 bits, and an
 * HMAC-SHA256 over these three. The HMAC distinguishes a token that was issued and used before from a token forged with known ids.
 * The nonce of the first token of a session is random; each further nonce is an HMAC of the previous token. The keys are derived
 * from the signing keys, which all instances share (ADR 78, 79).
 */
export const createRefreshTokens = ([currentKey, ...otherKeys]: SigningKeys) => {
  const currentIssuer = createIssuer(currentKey);
  const otherIssuers = otherKeys.map(createIssuer);
  return {
    /** Creates the first token of a session. */
    create: currentIssuer.create,
    /** Parses a token. Undefined for text that does not have the format of a refresh token. */
    read: (token: string): ParsedToken | undefined => {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== macOffset + macBytes || bytes.toString('base64url') !== token) return undefined;
      const idAt = (offset: number) => stringify(bytes.subarray(offset, offset + idBytes));
      try {
        return {
          session: { userId: idAt(0), id: idAt(idBytes) },
          hash: hashOf(bytes),
          issued: [currentIssuer, ...otherIssuers].some(({ hasIssued }) => hasIssued(bytes)),
          successors: () => [
            currentIssuer.successorOf(bytes),
            ...otherIssuers.map((issuer) => issuer.successorOf(bytes)),
          ],
        };
      } catch {
        // An id is not a UUID.
        return undefined;
      }
    },
  };
};
