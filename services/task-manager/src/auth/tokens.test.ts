import { createHmac } from 'node:crypto';
import { makeTestKeys } from '@platform/auth/testing';
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from 'jose';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, register, signingKey, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let user: Awaited<ReturnType<typeof register>>;
beforeAll(async () => {
  service = await startService();
  user = await register(service.app);
});
afterAll(() => service[Symbol.asyncDispose]());

/** A valid token with some claims or header parameters changed. */
const resigned = async (claims: object, header: object = {}): Promise<string> =>
  new SignJWT({ ...decodeJwt(user.token), ...claims })
    .setProtectedHeader({ ...decodeProtectedHeader(user.token), alg: 'EdDSA', ...header })
    .sign(await importJWK(signingKey, 'EdDSA'));

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

const ask = (authorization: string | undefined) => {
  const request = supertest(service.app).get(at('/tasks'));
  return authorization === undefined ? request : request.set('Authorization', authorization);
};

const seconds = () => Math.floor(Date.now() / 1000);

describe('an access token', () => {
  test('is valid as issued, and when signed again with the same key', async () => {
    expect((await ask(`Bearer ${user.token}`)).status).toBe(200);
    expect((await ask(`bearer ${await resigned({})}`)).status).toBe(200);
  });

  test.each<[string, () => string | Promise<string>]>([
    ['without an algorithm', () => `${encoded({ alg: 'none', typ: 'JWT' })}.${user.token.split('.')[1]}.`],
    [
      'signed with the public key as a secret',
      () => {
        const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${user.token.split('.')[1]}`;
        const secret = Buffer.from(String(signingKey.x), 'base64url');
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      },
    ],
    [
      'of another key',
      async () => (await makeTestKeys('task-manager', 'task-manager')).token({ sub: user.user.id }),
    ],
    ['of the platform, with every scope', async () => (await makeTestKeys()).token({ scope: 'quests:read' })],
    ['for another audience', () => resigned({ aud: 'platform' })],
    ['of another issuer', () => resigned({ iss: 'platform-local' })],
    [
      'that has expired',
      () => resigned({ iat: seconds() - 1000, nbf: seconds() - 1000, exp: seconds() - 60 }),
    ],
    ['that never expires', () => resigned({ exp: undefined })],
    ['from the future', () => resigned({ nbf: seconds() + 600 })],
    ['without a session', () => resigned({ sid: undefined })],
    ['of a session there never was', () => resigned({ sid: '01900000-0000-7000-8000-000000000000' })],
    ['with a session that is not an id', () => resigned({ sid: "' or true --" })],
    [
      'with the session of somebody else',
      async () => resigned({ sub: (await register(service.app)).user.id }),
    ],
    ['with a user that is not an id', () => resigned({ sub: '1:2' })],
    ['with a byte changed', () => user.token.replace(/.{10}$/, 'AAAAAAAAAA')],
    ['cut short', () => user.token.slice(0, 40)],
    ['of 9,000 characters', () => 'a'.repeat(9000)],
    ['that is empty', () => ''],
  ])('%s is refused', async (_what, make) => {
    const { status, type, headers, body } = await ask(`Bearer ${await make()}`);
    expect([status, type]).toEqual([401, 'application/problem+json']);
    expect(headers['www-authenticate']).toMatch(/^Bearer realm=/);
    expect(JSON.stringify(body)).not.toContain('at ');
  });

  test('is required', async () => {
    const { status, headers } = await ask(undefined);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="platform"']);
    expect((await ask('Basic YTpi')).status).toBe(401);
  });

  test('is checked before the body is read', async () => {
    const answer = await supertest(service.app).post(at('/tasks')).send('x'.repeat(1_000_000));
    expect(answer.status).toBe(401);
  });
});
