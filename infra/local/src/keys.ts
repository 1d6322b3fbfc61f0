import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';
import { readJson, writeJson } from './files.ts';

export const ISSUER = 'platform-local';
export const AUDIENCE = 'platform';

/** The private Ed25519 key of this name as a JWK (RFC 8037): created once and kept in the folder. */
export const privateKey = async (folder: string, name: string): Promise<JWK> => {
  const path = join(folder, `${name}.json`);
  const known = await readJson<JWK>(path);
  if (known) return known;
  const { privateKey: made } = await generateKeyPair('EdDSA', {
    crv: 'Ed25519',
    extractable: true,
  });
  const jwk = await exportJWK(made);
  const key = { ...jwk, alg: 'EdDSA', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
  writeJson(path, key);
  return key;
};

/** Signs access tokens in place of an identity provider. */
export interface Signer {
  /** Path of the public keys (RFC 7517), for AUTH_JWKS. */
  jwksFile: string;
  /** @param ttl such as "15m", "12h", "30d" */
  sign: (claims: { scope: string; subject: string; ttl: string }) => Promise<string>;
}

export const openSigner = async (folder: string): Promise<Signer> => {
  const { d: _private, ...open } = await privateKey(folder, 'platform');
  const jwksFile = join(folder, 'jwks.json');
  writeJson(jwksFile, { keys: [open] });
  const key = await importJWK(await privateKey(folder, 'platform'), 'EdDSA');
  return {
    jwksFile,
    sign: ({ scope, subject, ttl }) =>
      new SignJWT({ scope })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', ...(open.kid && { kid: open.kid }) })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(subject)
        .setJti(randomUUID())
        .setIssuedAt()
        .setNotBefore('0s')
        .setExpirationTime(ttl)
        .sign(key),
  };
};
