import { randomUUID } from 'node:crypto';
import {
  calculateJwkThumbprint,
  compactVerify,
  createLocalJWKSet,
  decodeJwt,
  importJWK,
  SignJWT,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import { accessSeconds, issuer } from './settings.ts';

export interface TokenSignerOptions {
  /** Private Ed25519 keys (RFC 8037): the first signs, all verify. Further keys exist only during a rotation (ADR 79). */
  keys: readonly JWK[];
  now?: () => Date;
}

/** The claims of a token. */
export interface Grant {
  subject: string;
  /** Value of the claim `sid`. */
  sessionId: string;
}

/** Signer created by `createTokenSigner`. */
export type TokenSigner = Awaited<ReturnType<typeof createTokenSigner>>;

/** Imports a key. Its id is its thumbprint (RFC 7638), so that all processes with the key use the same id. */
const readKey = async ({ kty, crv, x, d }: JWK) => {
  if (kty !== 'OKP' || crv !== 'Ed25519' || x === undefined || d === undefined) {
    throw new Error('The signing key is not a private Ed25519 JWK.');
  }
  const publicKey = { kty, crv, x };
  const kid = await calculateJwkThumbprint(publicKey);
  const secret = await importJWK({ ...publicKey, d }, 'EdDSA').catch(() => {
    throw new Error('The signing key cannot be imported.');
  });
  return { kid, secret, jwk: { ...publicKey, kid, alg: 'EdDSA', use: 'sig' } };
};

/** Creates a signer of access tokens. Rejects if a key is invalid; the error does not contain the key. */
export const createTokenSigner = async ({
  keys: signingKeys,
  now = () => new Date(),
}: TokenSignerOptions) => {
  const importedKeys = await Promise.all(signingKeys.map(readKey));
  const [current] = importedKeys;
  if (current === undefined) throw new Error('There is no signing key.');
  const { kid, secret } = current;
  // Removes duplicates: verification fails when two keys match.
  const jwks: JSONWebKeySet = { keys: [...new Map(importedKeys.map(({ jwk }) => [jwk.kid, jwk])).values()] };
  const keys = createLocalJWKSet(jwks);
  return {
    /** The public keys, for a verifier (RFC 7517). */
    jwks,
    /** The session of a token that one of these keys signed, even if it has expired. Undefined for any other text. */
    sessionOf: async (token: string): Promise<string | undefined> => {
      try {
        await compactVerify(token, keys, { algorithms: ['EdDSA'] });
      } catch {
        return undefined;
      }
      const { sid } = decodeJwt(token);
      return typeof sid === 'string' ? sid : undefined;
    },
    /** Signs an access token; `expiresAt` has whole seconds, as in the token. */
    sign: async ({ subject, sessionId }: Grant): Promise<{ token: string; expiresAt: Date }> => {
      const issuedAt = Math.floor(now().getTime() / 1000);
      const expiresAt = issuedAt + accessSeconds;
      const token = await new SignJWT({ sid: sessionId, scope: '' })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid })
        .setIssuer(issuer)
        .setAudience(issuer)
        .setSubject(subject)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setNotBefore(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(secret);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },
  };
};
