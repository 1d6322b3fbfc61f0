import type { IncomingMessage } from 'node:http';
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { base64url, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { TooManyRequests } from '@platform/service-kit/problem';
import { noLookupLimit } from '@platform/service-kit/route';
import { hasScope } from '@platform/service-kit/scopes';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { expectStatus, getWith, guarded } from '../test/guarded.ts';
import { allowsId, createTokenVerifier, type Caller } from './bearer.ts';
import { makeTestKeys, type TokenOptions } from './testing/keys.ts';

const keys = await makeTestKeys();
const { issuer, audience, jwks } = keys;
const tokens = createTokenVerifier({ jwks, issuer, audience });
const show = ({ subject, scopes, sessionId }: Caller) => ({ subject, scopes: [...scopes], sessionId });
const app = guarded(tokens.guard('stores:admin'), show);

const send = (token: string, on = app) => request(on).get('/').set('Authorization', `Bearer ${token}`);
const expectRefused = async (token: string) => {
  const answer = await send(token);
  expect(answer.body).toMatchObject({ status: 401, code: 'invalid_token' });
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform", error="invalid_token"');
  return answer;
};

const encode = (value: unknown) => base64url.encode(JSON.stringify(value));
const now = () => Math.floor(Date.now() / 1000);
const goodClaims = (): JWTPayload => ({
  iss: issuer,
  aud: audience,
  sub: 'mallory',
  exp: now() + 900,
  scope: 'stores:admin',
});
const ownKey = (): KeyObject => createPublicKey({ key: { ...jwks.keys[0] }, format: 'jwk' });

test('a valid token with the scope is accepted and identifies the caller', async () => {
  const token = await keys.token({ sub: 'ann', scope: 'a stores:admin', claims: { sid: 's1' } });
  const answer = await send(token).expect(200);
  expect(answer.body).toEqual({ subject: 'ann', scopes: ['a', 'stores:admin'], sessionId: 's1' });
});

test('the scheme is case-insensitive', async () => {
  const token = await keys.token({ scope: 'stores:admin' });
  await expectStatus(request(app).get('/').set('Authorization', `bEARER ${token}`), 200);
});

test('without a credential the challenge names no error (RFC 6750 section 3.1)', async () => {
  const answer = await request(app).get('/').expect(401);
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform"');
  expect(answer.body.code).toBe('unauthorized');
});

test('a credential of another scheme counts as none', async () => {
  const answer = await request(app).get('/').auth('ann', 'secret').expect(401);
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform"');
});

test.each([
  ['quests:read', 'quests:write', true],
  ['quests:read', 'quests:admin', true],
  ['quests:write', 'quests:read', false],
  ['quests:write', 'quests:admin', false],
  ['quests:read', 'stores:write', false],
  ['events:reveal', 'events:write', false],
])('for %s the scope %s is enough: %s', (needed, granted, isEnough) => {
  expect(hasScope(new Set([granted]), needed)).toBe(isEnough);
});

test('a token without the scope gets 403, which names the scope', async () => {
  const answer = await send(await keys.token({ scope: 'stores:read stores:adminx' })).expect(403);
  expect(answer.body).toMatchObject({ code: 'insufficient_scope' });
  expect(answer.body.detail).toContain('stores:admin');
  expect(answer.headers['www-authenticate']).toBe(
    'Bearer realm="platform", error="insufficient_scope", scope="stores:admin"',
  );
});

test('a guard with alternatives accepts any of them, and names the first one', async () => {
  const either = guarded(tokens.guard('events:read', 'stores:admin'), show);
  for (const scope of ['events:read', 'events:write', 'stores:admin'])
    await expectStatus(send(await keys.token({ scope }), either), 200);
  const refused = await send(await keys.token({ scope: 'stores:write' }), either).expect(403);
  expect(refused.body.detail).toContain('events:read');
});

test('a guard without a scope accepts every valid token', async () => {
  await expectStatus(send(await keys.token(), guarded(tokens.guard(), show)), 200);
});

const someId = '01980000-0000-7000-8000-00000000abcd';
const otherId = '01980000-0000-7000-8000-00000000abce';

test.each(['stores', 'clients'] as const)(
  'the claim %s limits a token to its ids, in any case; an empty list allows none',
  async (claim) => {
    const limitOf = async (ids?: string[]) =>
      (await tokens.verify(await keys.token(ids && { claims: { [claim]: ids } })))[claim];
    const limit = await limitOf([someId.toUpperCase()]);
    expect([someId, someId.toUpperCase(), otherId, ''].map((id) => allowsId(limit, id))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(allowsId(await limitOf([]), someId)).toBe(false);
    expect(allowsId(await limitOf(), someId)).toBe(true);
  },
);

describe('a token is refused', () => {
  const options: Record<string, TokenOptions> = {
    'of another issuer': { claims: { iss: 'https://evil.test' } },
    'for another audience': { claims: { aud: 'other' } },
    'that has expired': { ttl: -60 },
    'that never expires': { claims: { exp: undefined } },
    'whose subject no database can store': { claims: { sub: 'a\0' } },
    'that is not valid yet': { claims: { nbf: now() + 60 } },
    'that was issued in the future': { claims: { iat: now() + 60 } },
    'without a subject': { claims: { sub: undefined } },
    'with an empty subject': { sub: '' },
    'that is an ID token or something else by its type': { header: { typ: 'logout+jwt' } },
    'whose type is not a string': { header: { typ: ['JWT'] as never } },
    'whose scope is a list': { claims: { scope: ['stores:admin'] } },
    'whose claim stores is a string': { claims: { stores: someId } },
    'whose claim stores is null': { claims: { stores: null } },
    'whose claim clients is an object': { claims: { clients: { ids: [someId] } } },
    'whose claim clients contains something that is not an id': { claims: { clients: [someId, '-'] } },
    'whose claim stores contains a list': { claims: { stores: [[someId]] } },
    'with an unknown key id': { header: { kid: 'nobody' } },
  };
  test.for(Object.entries(options))('%s', async ([, option]) => {
    await expectRefused(await keys.token({ scope: 'stores:admin', ...option }));
  });

  test('with alg none', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      await expectRefused(`${encode({ alg, typ: 'JWT' })}.${encode(goodClaims())}.`);
    }
  });

  test('with HS256 and our public key as secret, in any encoding', async () => {
    const key = ownKey();
    const spellings = [
      key.export({ type: 'spki', format: 'pem' }),
      key.export({ type: 'spki', format: 'der' }),
      String(jwks.keys[0]?.x),
      Buffer.from(String(jwks.keys[0]?.x), 'base64url'),
    ];
    for (const secret of spellings) {
      const body = `${encode({ alg: 'HS256', typ: 'JWT', kid: jwks.keys[0]?.kid })}.${encode(goodClaims())}`;
      await expectRefused(`${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`);
    }
  });

  test('with RS256 or ES256, even when the provider publishes such a key', async () => {
    for (const alg of ['RS256', 'ES256']) {
      const pair = await generateKeyPair(alg);
      const open = { ...(await exportJWK(pair.publicKey)), kid: alg, alg };
      const both = createTokenVerifier({ jwks: { keys: [...jwks.keys, open] }, issuer, audience });
      const token = await new SignJWT(goodClaims())
        .setProtectedHeader({ alg, kid: alg })
        .sign(pair.privateKey);
      await expect(both.verify(token)).rejects.toMatchObject({ status: 401 });
    }
  });

  test('signed with a key that the token itself contains or links (jwk, jku, x5c)', async () => {
    const pair = generateKeyPairSync('ed25519');
    const jwk = pair.publicKey.export({ format: 'jwk' });
    for (const header of [{ jwk }, { jwk, kid: jwks.keys[0]?.kid }, { jku: 'https://evil.test/jwks' }]) {
      const token = await new SignJWT(goodClaims())
        .setProtectedHeader({ alg: 'EdDSA', ...header } as { alg: string })
        .sign(pair.privateKey);
      await expectRefused(token);
    }
  });

  test('with an unknown critical header parameter', async () => {
    const body = `${encode({ alg: 'EdDSA', crit: ['x'], x: 1, kid: jwks.keys[0]?.kid })}.${encode(goodClaims())}`;
    await expectRefused(`${body}.${base64url.encode(new Uint8Array(64))}`);
  });

  test('with one changed character, wherever it is', async () => {
    const token = await keys.token({ scope: 'stores:admin' });
    for (let at = 0; at < token.length - 1; at += 7) {
      const changed = token[at] === 'A' ? 'B' : 'A';
      if (token[at] === '.') continue;
      await expect(tokens.verify(token.slice(0, at) + changed + token.slice(at + 1))).rejects.toMatchObject({
        status: 401,
      });
    }
  });

  test.for(['', 'x', '..', 'a.b.c', 'é.é.é', 'a b c', '{}', 'null.null.null'])(
    'that is not a token: %s',
    async (junk) => {
      await expect(tokens.verify(junk)).rejects.toMatchObject({ status: 401 });
    },
  );

  test('that is too long, although its signature is right', async () => {
    await expectRefused(await keys.token({ scope: 'stores:admin', claims: { more: 'x'.repeat(7000) } }));
  });

  test('sent twice', async () => {
    const token = `Bearer ${await keys.token({ scope: 'stores:admin' })}`;
    const answer = await getWith(app, [
      ['Authorization', token],
      ['Authorization', token],
    ]);
    expect(answer).toEqual({ status: 401, challenge: expect.stringContaining('invalid_token') });
  });

  test('followed by other text', async () => {
    const token = await keys.token({ scope: 'stores:admin' });
    for (const tail of [', Bearer x', ' x', ';']) await expectRefused(token + tail);
  });
});

test('an expired token stops working although it was verified a moment ago', async () => {
  let clock = new Date();
  const timed = createTokenVerifier({ jwks, issuer, audience, now: () => clock });
  const token = await keys.token({ ttl: 60, now: clock });
  await timed.verify(token);
  clock = new Date(clock.getTime() + 64_000);
  await expect(timed.verify(token)).resolves.toBeDefined();
  clock = new Date(clock.getTime() + 2000);
  await expect(timed.verify(token)).rejects.toMatchObject({ message: 'The access token has expired.' });
});

test('a revoked token is refused although it was verified a moment ago', async () => {
  let revoked = false;
  const checks: (string | undefined)[] = [];
  const isRevoked = ({ sessionId }: Caller) => {
    checks.push(sessionId);
    return Promise.resolve(revoked);
  };
  const strict = createTokenVerifier({ jwks, issuer, audience, isRevoked });
  const token = await keys.token({ claims: { sid: 'session-1' } });
  await strict.verify(token);
  revoked = true;
  await expect(strict.verify(token)).rejects.toMatchObject({ status: 401 });
  expect(checks).toEqual(['session-1', 'session-1']);
});

test('the revocation of a revoked token is checked once a minute', async () => {
  let checks = 0;
  const isRevoked = () => {
    checks += 1;
    return Promise.resolve(true);
  };
  const strict = createTokenVerifier({ jwks, issuer, audience, isRevoked });
  const token = await keys.token({ claims: { sid: 'session-1' } });
  for (let count = 0; count < 20; count += 1)
    await expect(strict.verify(token)).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
  expect(checks).toBe(1);
});

describe('a limit of look-ups', () => {
  const refuse = (reason: string) => {
    throw new TooManyRequests(1, reason);
  };
  const limit = {
    checkGuesses: (credential: string) => refuse(`guesses of ${credential}`),
    checkCaller: (key: string) => refuse(`requests of ${key}`),
  };

  test('refuses only tokens that no key signed', async () => {
    const limited = guarded(tokens.guard('stores:admin'), show, limit);
    const answer = await send(await (await makeTestKeys(issuer, audience)).token(), limited);
    expect(answer.body).toMatchObject({ status: 429, detail: 'guesses of bearer' });
    await expectStatus(send(await keys.token({ scope: 'stores:admin' }), limited), 200);
    await expectStatus(send(await keys.token({ ttl: -60 }), limited), 401);
    await expectStatus(request(limited).get('/'), 401);
  });

  test('refuses a caller over its own limit before revocation is checked', async () => {
    let checks = 0;
    const isRevoked = () => {
      checks += 1;
      return Promise.resolve(false);
    };
    const strict = createTokenVerifier({ jwks, issuer, audience, isRevoked });
    const limited = guarded(strict.guard(), show, limit);
    const answer = await send(await keys.token({ sub: 'ann' }), limited);
    expect(answer.body).toMatchObject({ status: 429, detail: 'requests of ann' });
    expect(checks).toBe(0);
  });
});

test('a route may defer the check whether a token was revoked; a revoked one is then refused for a minute', async () => {
  let checks = 0;
  const isRevoked = () => {
    checks += 1;
    return Promise.resolve(true);
  };
  const strict = createTokenVerifier({ jwks, issuer, audience, isRevoked });
  const deferred: (() => Promise<void>)[] = [];
  const limit = {
    ...noLookupLimit,
    deferConfirmation: (confirm: () => Promise<void>) => void deferred.push(confirm),
  };
  const token = await keys.token({ sub: 'ann' });
  expect((await strict.verify(token, limit)).subject).toBe('ann');
  expect(checks).toBe(0);
  await expect(deferred[0]?.()).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
  await expect(strict.verify(token, limit)).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
  expect([checks, deferred.length]).toEqual([1, 1]);
});

test('when revocation cannot be checked, the token is not accepted', async () => {
  const isRevoked = () => Promise.reject(new Error('database down'));
  const strict = createTokenVerifier({ jwks, issuer, audience, isRevoked });
  await expect(strict.verify(await keys.token())).rejects.toThrow('database down');
});

describe('a cookie', () => {
  const name = '__Host-access';
  const read = ({ headers }: IncomingMessage) => headers.cookie?.slice(name.length + 1);
  const cookie = { name, read };
  const withCookie = guarded(createTokenVerifier({ jwks, issuer, audience, cookie }).guard(), show);

  test('may carry the token', async () => {
    const token = await keys.token({ sub: 'ann' });
    const answer = await request(withCookie).get('/').set('Cookie', `__Host-access=${token}`).expect(200);
    expect(answer.body.subject).toBe('ann');
  });

  test('is ignored when there is an Authorization header, even an invalid one', async () => {
    const token = await keys.token();
    const sent = request(withCookie).get('/').set('Cookie', `__Host-access=${token}`);
    await expectStatus(sent.set('Authorization', 'Bearer junk'), 401);
  });

  test('is ignored by a verifier without the cookie option', async () => {
    const token = await keys.token({ scope: 'stores:admin' });
    await expectStatus(request(app).get('/').set('Cookie', `__Host-access=${token}`), 401);
  });
});

test('the guard declares its scheme and scope for OpenAPI', () => {
  const guard = tokens.guard('stores:admin');
  expect(guard.security).toEqual([{ bearer: ['stores:admin'] }]);
  expect(guard.schemes).toEqual({ bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } });
  const operators = createTokenVerifier({ jwks: keys.jwks, issuer, audience, scheme: 'operator' });
  expect(operators.guard('x').security).toEqual([{ operator: ['x'] }]);
});
