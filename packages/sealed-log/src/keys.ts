import { createPrivateKey, createPublicKey, hash, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** An Ed25519 public key as a JWK (RFC 8037). */
export const PublicJwk = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  use: z.literal('sig'),
  alg: z.literal('EdDSA'),
});

export type PublicJwk = z.output<typeof PublicJwk>;

const thumbprint = (x: string): string =>
  hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');

/** A private key that signs checkpoints and evidence. Throws when `jwk` is not a private Ed25519 key. */
export const sealingKeyOf = (jwk: JsonWebKey) => {
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  // Derives `x` from the private part, because the `x` in `jwk` could belong to another key.
  const { crv, x = '' } = createPublicKey(key).export({ format: 'jwk' });
  if (crv !== 'Ed25519') throw new Error('is not an Ed25519 key');
  return {
    /** RFC 7638 thumbprint of the public key. */
    keyId: thumbprint(x),
    /** The public key: `x` of its JWK (RFC 8037). */
    x,
    /** Ed25519 signature, base64url. */
    sign: (text: string): string => sign(null, Buffer.from(text), key).toString('base64url'),
  };
};

export type SealingKey = ReturnType<typeof sealingKeyOf>;

export const publicJwk = (x: string): PublicJwk => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x,
  kid: thumbprint(x),
  use: 'sig',
  alg: 'EdDSA',
});

/** Public keys by thumbprint, from a JWK or a JWKS. Ignores the `kid` fields. */
export const publicKeysOf = (set: JsonWebKey | { keys: JsonWebKey[] }): Map<string, KeyObject> => {
  const keys = 'keys' in set && Array.isArray(set.keys) ? set.keys : [set as JsonWebKey];
  return new Map(
    keys.map(({ kty = '', crv = '', x = '' }) => [
      thumbprint(x),
      createPublicKey({ key: { kty, crv, x }, format: 'jwk' }),
    ]),
  );
};
