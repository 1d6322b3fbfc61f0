import { createHmac, createPublicKey } from 'node:crypto';
import { base64url, exportJWK, exportSPKI, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import { createTokenVerifier } from './bearer.ts';

const [issuer, audience] = ['https://id.example.test', 'platform'];
const refused = { status: 401, code: 'invalid_token' };

/** A key of a provider, and a function that signs with it. */
const makeKey = async (alg: string) => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const header = { alg, kid: `key-${alg}`, typ: 'at+jwt' };
  const sign = (claims: JWTPayload = {}, more: object = {}) =>
    new SignJWT({ iss: issuer, aud: audience, sub: 'ann', exp: Date.now() / 1000 + 600, ...claims })
      .setProtectedHeader({ ...header, ...more })
      .sign(privateKey);
  return { publicKey, jwk: { ...(await exportJWK(publicKey)), alg, kid: header.kid }, sign };
};

const [rsa, elliptic, edwards] = await Promise.all(['RS256', 'ES256', 'EdDSA'].map(makeKey));
if (!rsa || !elliptic || !edwards) throw new Error('three keys must exist');
const jwks = { keys: [rsa.jwk, elliptic.jwk, edwards.jwk] };
const provider = { jwks, issuer, audience, algorithms: ['RS256', 'ES256'] };
const tokens = createTokenVerifier(provider);

describe('the algorithms of an issuer', () => {
  test('tokens of a provider that signs RS256 and ES256 are accepted', async () => {
    for (const key of [rsa, elliptic])
      expect(await tokens.verify(await key.sign({ scope: 'stores:read' }))).toMatchObject({
        subject: 'ann',
        scopes: new Set(['stores:read']),
      });
  });

  test('an algorithm that is not listed is refused, also when the issuer has a key for it', async () => {
    await expect(tokens.verify(await edwards.sign())).rejects.toMatchObject(refused);
    const byDefault = createTokenVerifier({ jwks, issuer, audience });
    await expect(byDefault.verify(await rsa.sign())).rejects.toMatchObject(refused);
    await expect(byDefault.verify(await edwards.sign())).resolves.toMatchObject({ subject: 'ann' });
  });

  test('a public RSA key is no shared secret: HS256 is refused, whatever form of the key signs', async () => {
    const claims = { iss: issuer, aud: audience, sub: 'mallory', exp: Date.now() / 1000 + 600 };
    const forms = [
      await exportSPKI(rsa.publicKey),
      JSON.stringify(rsa.jwk),
      createPublicKey({ key: rsa.jwk, format: 'jwk' }).export({ type: 'pkcs1', format: 'pem' }).toString(),
    ];
    for (const form of forms) {
      const text = [{ alg: 'HS256', kid: rsa.jwk.kid, typ: 'at+jwt' }, claims]
        .map((value) => base64url.encode(JSON.stringify(value)))
        .join('.');
      const signature = createHmac('sha256', form).update(text).digest('base64url');
      await expect(tokens.verify(`${text}.${signature}`)).rejects.toMatchObject(refused);
    }
  });

  test('a token that claims another algorithm than its key has is refused', async () => {
    const strict = createTokenVerifier({ ...provider, algorithms: ['RS256', 'PS256'] });
    const [, payload = '', signature = ''] = (await rsa.sign()).split('.');
    const header = base64url.encode(JSON.stringify({ alg: 'PS256', kid: rsa.jwk.kid, typ: 'at+jwt' }));
    await expect(strict.verify(`${header}.${payload}.${signature}`)).rejects.toMatchObject(refused);
  });
});

const scopes = new Map([
  ['support', 'stores:admin events:read'],
  ['on call', 'ops:read'],
  ['constructor', 'ops:read'],
]);
const scopesBy = async (claim: string, claims: JWTPayload) =>
  [
    ...(await createTokenVerifier({ ...provider, roles: { claim, scopes } }).verify(await rsa.sign(claims)))
      .scopes,
  ].toSorted();

describe('roles', () => {
  test('the values of a claim become scopes, one or several of them', async () => {
    expect(await scopesBy('groups', { groups: 'on call' })).toEqual(['ops:read']);
    const groups = ['support', 'on call', 'support'];
    expect(await scopesBy('groups', { groups })).toEqual(['events:read', 'ops:read', 'stores:admin']);
  });

  test('the claim may be inside of others, and its name may contain dots', async () => {
    expect(await scopesBy('realm_access.roles', { realm_access: { roles: ['on call'] } })).toEqual([
      'ops:read',
    ]);
    const name = 'https://example.test/roles';
    expect(await scopesBy(name, { [name]: ['on call'] })).toEqual(['ops:read']);
  });

  test.each([
    ['a role that is not listed', 'groups', { groups: ['cleaning', 'toString', '__proto__', 'Support'] }],
    ['a list inside of a list', 'groups', { groups: [['support']] }],
    ['an object', 'groups', { groups: { support: true } }],
    ['a number', 'groups', { groups: 1 }],
    ['no claim', 'groups', {}],
    ['a part of a name', 'groups', { groups: ['support on call'] }],
    ['a name that every object has', 'constructor.name', {}],
    ['a path through a text', 'groups.length', { groups: 'support' }],
  ])('%s gives no scope', async (_, claim, claims) => {
    expect(await scopesBy(claim, claims)).toEqual([]);
  });

  test('with roles the claim `scope` is ignored: a browser may request any scope', async () => {
    expect(await scopesBy('groups', { groups: ['on call'], scope: 'wallet:admin' })).toEqual(['ops:read']);
  });
});

test('a token that is bound to a key of its holder is refused, because possession of the key is not checked', async () => {
  for (const cnf of [{ jkt: 'x' }, { 'x5t#S256': 'x' }])
    await expect(tokens.verify(await rsa.sign({ cnf, scope: 'stores:read' }))).rejects.toMatchObject(refused);
});

describe('an ID token is no access token', () => {
  const roles = { claim: 'groups', scopes };
  const withRoles = createTokenVerifier({ ...provider, roles });

  test.each(['nonce', 'at_hash', 'c_hash'])(
    'it is recognised by %s, with roles and without',
    async (name) => {
      const token = await rsa.sign({ [name]: 'x', scope: 'stores:read', groups: ['support'] });
      for (const verifier of [tokens, withRoles])
        await expect(verifier.verify(token)).rejects.toMatchObject(refused);
    },
  );

  test('with roles, a token that is not marked as an access token is refused', async () => {
    const groups = ['support'];
    await expect(withRoles.verify(await rsa.sign({ groups }, { typ: 'JWT' }))).rejects.toMatchObject(refused);
    for (const mark of [{ scope: 'openid' }, { scp: 'access' }, { idtyp: 'app' }])
      await expect(
        withRoles.verify(await rsa.sign({ groups, ...mark }, { typ: 'JWT' })),
      ).resolves.toBeDefined();
  });
});
