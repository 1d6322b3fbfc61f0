import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type JSONWebKeySet } from 'jose';

/** Differences from a default valid token. */
export interface TokenOptions {
  scope?: string;
  sub?: string;
  /** Seconds from `now` to expiry; default 900. */
  ttl?: number;
  now?: Date;
  /** Claims to replace or add. */
  claims?: Record<string, unknown>;
  /** Header parameters to add. */
  header?: Record<string, unknown>;
}

export interface TestKeys {
  issuer: string;
  audience: string;
  jwks: JSONWebKeySet;
  token: (options?: TokenOptions) => Promise<string>;
}

/** An identity provider for tests: a new Ed25519 key that signs any token. */
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
      const defaults = { iss: issuer, aud: audience, sub, iat: issued, nbf: issued, exp: issued + ttl };
      return new SignJWT({ ...defaults, ...(scope === undefined ? {} : { scope }), ...claims })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid, ...header })
        .sign(privateKey);
    },
  };
};
