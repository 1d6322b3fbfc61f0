import { hash, randomBytes } from 'node:crypto';
import { parse, stringify } from 'uuid';

export interface SessionName {
  userId: string;
  id: string;
}

const secretBytes = 32;
const idBytes = 16;
const length = 2 * idBytes + secretBytes;

/** Of a random secret, which no dictionary holds: a fast hash is enough. */
const hashOf = (secret: Uint8Array): Buffer => hash('sha256', secret, 'buffer');

/** A refresh token: whose session it refreshes, and 256 random bits of which only the hash is kept. */
export const makeRefreshToken = ({ userId, id }: SessionName): { token: string; hash: Buffer } => {
  const secret = randomBytes(secretBytes);
  const token = Buffer.concat([parse(userId), parse(id), secret]).toString('base64url');
  return { token, hash: hashOf(secret) };
};

/** Undefined for what can't be a refresh token. */
export const readRefreshToken = (token: string): { session: SessionName; hash: Buffer } | undefined => {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== length || bytes.toString('base64url') !== token) return undefined;
  const idAt = (from: number) => stringify(bytes.subarray(from, from + idBytes));
  try {
    return { session: { userId: idAt(0), id: idAt(idBytes) }, hash: hashOf(bytes.subarray(2 * idBytes)) };
  } catch {
    return undefined;
  }
};
