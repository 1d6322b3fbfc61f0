import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { expect, test } from 'vitest';
import { createTokenVerifier } from '@platform/auth/bearer';
import { createTokenSigner } from './token-signer.ts';
import { makeTestKeys } from '@platform/auth/testing';

const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
const key = await exportJWK(pair.privateKey);
const issuerAndAudience = { issuer: 'task-manager', audience: 'task-manager' };

test('a signed token verifies with the public key until it expires', async () => {
  let clock = new Date('2026-01-02T03:04:05.678Z');
  const now = () => clock;
  const signer = await createTokenSigner({ keys: [key], now });
  const tokens = createTokenVerifier({ jwks: signer.jwks, ...issuerAndAudience, now });
  const { token, expiresAt } = await signer.sign({ subject: 'ann', sessionId: 's1' });
  expect(expiresAt).toEqual(new Date('2026-01-02T03:19:05.000Z'));
  const caller = await tokens.verify(token);
  expect(caller).toEqual({ subject: 'ann', sessionId: 's1', scopes: new Set(), expiresAt });
  clock = new Date('2026-01-02T03:19:11.000Z');
  await expect(tokens.verify(token)).rejects.toMatchObject({ status: 401 });
});

test('the session of a token is readable after it has expired, but not from a token of another issuer', async () => {
  const past = () => new Date('2020-01-02T03:04:05.678Z');
  const signer = await createTokenSigner({ keys: [key], now: past });
  const { token } = await signer.sign({ subject: 'ann', sessionId: 's1' });
  expect(await signer.sessionOf(token)).toBe('s1');
  const foreignToken = await (await makeTestKeys()).token({ claims: { sid: 's1' } });
  for (const text of [foreignToken, `${token.slice(0, -6)}AAAAAA`, '', 'x', 'a.b.c'])
    expect(await signer.sessionOf(text)).toBeUndefined();
});

test('two tokens of one session differ even within the same second', async () => {
  const signer = await createTokenSigner({ keys: [key] });
  const grant = { subject: 'ann', sessionId: 's1' };
  expect((await signer.sign(grant)).token).not.toBe((await signer.sign(grant)).token);
});

test('the published key set contains each key once, without its private part', async () => {
  const next = await exportJWK(
    (await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })).privateKey,
  );
  const keys = [{ ...key, kid: 'k1' }, next, key];
  const { jwks } = await createTokenSigner({ keys });
  const publicKeyOf = async ({ x }: JWK) => {
    const publicKey = { kty: 'OKP', crv: 'Ed25519', ...(x !== undefined && { x }) };
    return { ...publicKey, kid: await calculateJwkThumbprint(publicKey), alg: 'EdDSA', use: 'sig' };
  };
  expect(jwks).toEqual({ keys: [await publicKeyOf(key), await publicKeyOf(next)] });
});

test('the first key signs, and tokens of every key verify', async () => {
  const next = await exportJWK(
    (await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })).privateKey,
  );
  const signers = await Promise.all(
    [
      [key, next],
      [next, key],
    ].map((keys) => createTokenSigner({ keys })),
  );
  const nextOnly = await createTokenSigner({ keys: [next] });
  for (const [index, signer] of signers.entries()) {
    const { token } = await signer.sign({ subject: 'ann', sessionId: 's1' });
    for (const { jwks, sessionOf } of signers) {
      await createTokenVerifier({ jwks, ...issuerAndAudience }).verify(token);
      expect(await sessionOf(token)).toBe('s1');
    }
    expect(await nextOnly.sessionOf(token)).toBe(index === 0 ? undefined : 's1');
  }
});

test('a key of another type, a public key and an invalid key are refused, and the error does not contain the key', async () => {
  const rsa = await exportJWK((await generateKeyPair('RS256', { extractable: true })).privateKey);
  const [publicKey = {}] = (await makeTestKeys()).jwks.keys;
  await expect(createTokenSigner({ keys: [] })).rejects.toThrow('no signing key');
  for (const invalidKey of [rsa, publicKey, {}, { ...key, d: 'AAAA' }]) {
    const error = await createTokenSigner({ keys: [key, invalidKey] }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String((error as Error).stack)).not.toContain(invalidKey.d ?? 'AAAA');
  }
});
