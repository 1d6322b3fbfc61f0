import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JWK } from 'jose';
import { parse, stringify } from 'uuid';

export interface SessionName {
  userId: string;
  id: string;
}

/** What a refresh token says. */
export interface ReadToken {
  session: SessionName;
  /** SHA-256 of the secret part; the session's row stores the one that is valid. */
  hash: Buffer;
  /** This service made the token, under its current key. False for a forged one. */
  issued: boolean;
}

export interface RefreshTokens {
  create: (session: SessionName) => { token: string; hash: Buffer };
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

/**
 * A refresh token is base64url of: user id, session id, 256 random bits, and an HMAC-SHA256 over those
 * three. The HMAC key is derived from the signing key, which all instances share. It tells a token
 * that was issued and used before from one that somebody forged around the ids (ADR 17).
 */
export const createRefreshTokens = ({ d = '' }: JWK): RefreshTokens => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', 'refresh tokens', macBytes));
  const macOf = (bytes: Buffer): Buffer =>
    createHmac('sha256', key).update(bytes.subarray(0, macAt)).digest();

  return {
    create: ({ userId, id }) => {
      const named = Buffer.concat([parse(userId), parse(id), randomBytes(nonceBytes)]);
      const bytes = Buffer.concat([named, macOf(named)]);
      return { token: bytes.toString('base64url'), hash: hashOf(bytes) };
    },
    read: (token) => {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== macAt + macBytes || bytes.toString('base64url') !== token) return undefined;
      const idAt = (from: number) => stringify(bytes.subarray(from, from + idBytes));
      try {
        const session = { userId: idAt(0), id: idAt(idBytes) };
        return { session, hash: hashOf(bytes), issued: timingSafeEqual(bytes.subarray(macAt), macOf(bytes)) };
      } catch {
        // The bytes in place of an id are not a UUID.
        return undefined;
      }
    },
  };
};
