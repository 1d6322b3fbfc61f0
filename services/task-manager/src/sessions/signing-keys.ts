import { generateKeyPairSync } from 'node:crypto';
import type { JWK } from 'jose';

/** Private Ed25519 JWKs: the first signs, all verify. */
export type SigningKeys = readonly [JWK, ...JWK[]];

/** Parses one JWK or a set of JWKs (RFC 7517): `{"keys": […]}`. Throws for text that is neither. */
export const parseSigningKeys = (text: string): SigningKeys => {
  const parsed = JSON.parse(text) as JWK | { keys: JWK[] };
  const [first, ...others] = 'keys' in parsed ? parsed.keys : [parsed];
  if (first === undefined) throw new Error('the set has no key');
  return [first, ...others];
};

/** The steps of a rotation, in this order. Restart all instances after each step (ADR 79). */
export const rotationSteps: Record<string, (keys: SigningKeys) => SigningKeys> = {
  /** Adds a new last key, which only verifies: so every instance knows it before one signs with it. */
  add: (keys) => [...keys, generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })],
  /** Makes the last key the signing key; the others still verify tokens that they signed. */
  use: (keys) => [keys.at(-1) ?? keys[0], ...keys.slice(0, -1)],
  /** Removes all keys except the signing key. */
  retire: ([first]) => [first],
};
