import { generateKeyPairSync } from 'node:crypto';
import type { JWK } from 'jose';

/** Private Ed25519 JWKs; the first signs, all verify. */
export type SigningKeys = readonly [JWK, ...JWK[]];

/** Of one JWK, or of a set of them (RFC 7517): `{"keys": […]}`. Throws for a text that is neither. */
export const parseSigningKeys = (text: string): SigningKeys => {
  const parsed = JSON.parse(text) as JWK | { keys: JWK[] };
  const [first, ...others] = 'keys' in parsed ? parsed.keys : [parsed];
  if (first === undefined) throw new Error('the set has no key');
  return [first, ...others];
};

/** The steps of a rotation, in this order; all instances are restarted after each (ADR 79). */
export const rotationSteps: Record<string, (keys: SigningKeys) => SigningKeys> = {
  /** A new last key: it verifies, so that it may sign in other instances later. */
  add: (keys) => [...keys, generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })],
  /** The last key signs from now on; the others verify what they signed. */
  use: (keys) => [keys.at(-1) ?? keys[0], ...keys.slice(0, -1)],
  /** Only the key that signs is left. */
  retire: ([first]) => [first],
};
