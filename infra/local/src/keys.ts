import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
  type JWK,
} from 'jose';
import { readJson, writeJson } from './local-folder.ts';

export const ISSUER = 'platform-local';
export const AUDIENCE = 'platform';
/** The audience of the tokens for a service. Each cell has a separate one. */
export const audienceOf = ({ prefix }: { prefix: string }): string => AUDIENCE + prefix;

/** Creates a private Ed25519 key as a JWK (RFC 8037) with its thumbprint as `kid`. */
export const newKey = async (): Promise<JWK> => {
  const { privateKey: key } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(key);
  return { ...jwk, alg: 'EdDSA', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
};

/** The public part of a private key, as a key set (RFC 7517). */
export const publicKeys = ({ d: _private, ...publicKey }: JWK): { keys: JWK[] } => ({ keys: [publicKey] });

/** Claims of an access token. */
export interface Claims {
  issuer: string;
  /** Default: the audience of the services without a cell. */
  audience?: readonly string[];
  /** Scopes, separated by spaces. */
  scope: string;
  subject: string;
  /** Such as "15m", "12h", "30d". */
  ttl: string;
  /** Ids of the stores to which the token is limited. */
  stores?: string[] | undefined;
  /** Ids of the partners to whose consignments the token is limited. */
  clients?: string[] | undefined;
}

/** Signs an access token in place of an identity provider. */
export const signToken = async (
  key: JWK,
  { issuer, audience = [AUDIENCE], scope, subject, ttl, stores, clients }: Claims,
): Promise<string> =>
  new SignJWT({ scope, ...(stores && { stores }), ...(clients && { clients }) })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', ...(key.kid && { kid: key.kid }) })
    .setIssuer(issuer)
    .setAudience(audience.length === 1 ? (audience[0] ?? '') : [...audience])
    .setSubject(subject)
    .setJti(randomUUID())
    .setIssuedAt()
    .setNotBefore('0s')
    .setExpirationTime(ttl)
    .sign(await importJWK(key, 'EdDSA'));

/** Returns the private key with this name. The first call creates it and stores it in the folder. */
export const privateKey = async (folder: string, name: string): Promise<JWK> => {
  const path = join(folder, `${name}.json`);
  const stored = await readJson<JWK>(path);
  if (stored) return stored;
  const key = await newKey();
  writeJson(path, key);
  return key;
};

/** Signs access tokens of a stack. */
export interface Signer {
  /** Path of the public keys, for AUTH_JWKS. */
  jwksFile: string;
  sign: (claims: Omit<Claims, 'issuer'>) => Promise<string>;
  /** Returns whether this stack signed the token, the token is valid, and it has the scope. */
  allows: (token: string, scope: string) => Promise<boolean>;
}

export const openSigner = async (folder: string): Promise<Signer> => {
  const key = await privateKey(folder, 'platform');
  const jwksFile = join(folder, 'jwks.json');
  writeJson(jwksFile, publicKeys(key));
  const publicKey = await importJWK(publicKeys(key).keys[0] ?? {}, 'EdDSA');
  const expected = { issuer: ISSUER, audience: AUDIENCE, algorithms: ['EdDSA'] };
  return {
    jwksFile,
    sign: (claims) => signToken(key, { issuer: ISSUER, ...claims }),
    allows: (token, scope) =>
      jwtVerify(token, publicKey, expected).then(
        ({ payload }) => String(payload['scope']).split(' ').includes(scope),
        () => false,
      ),
  };
};
