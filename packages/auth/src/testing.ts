import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type JSONWebKeySet } from 'jose';

/** What a test may ask of a token; the rest is as a good token has it. */
export interface TokenWish {
  scope?: string;
  sub?: string;
  /** Seconds from `now` to expiry; 900 unless said otherwise. */
  ttl?: number;
  now?: Date;
  /** Claims that replace or join the usual ones. */
  claims?: Record<string, unknown>;
  /** Header parameters that join the usual ones. */
  header?: Record<string, unknown>;
}

export interface TestKeys {
  issuer: string;
  audience: string;
  jwks: JSONWebKeySet;
  token: (wish?: TokenWish) => Promise<string>;
}

/** An identity provider for tests: a fresh Ed25519 key that signs whatever is asked for. */
export const makeTestKeys = async (
  issuer = 'https://issuer.test',
  audience = 'platform-test',
): Promise<TestKeys> => {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
  const kid = randomUUID();
  return {
    issuer,
    audience,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' }] },
    token: ({ scope, sub = randomUUID(), ttl = 900, now = new Date(), claims, header } = {}) => {
      const issued = Math.floor(now.getTime() / 1000);
      const usual = { iss: issuer, aud: audience, sub, iat: issued, nbf: issued, exp: issued + ttl };
      return new SignJWT({ ...usual, ...(scope === undefined ? {} : { scope }), ...claims })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid, ...header })
        .sign(privateKey);
    },
  };
};
