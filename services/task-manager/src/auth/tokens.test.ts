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

/** Signs the token again with changed claims or header parameters. */
const resign = async (claims: object, header: object = {}): Promise<string> =>
  new SignJWT({ ...decodeJwt(user.token), ...claims })
    .setProtectedHeader({ ...decodeProtectedHeader(user.token), alg: 'EdDSA', ...header })
    .sign(await importJWK(signingKey, 'EdDSA'));

const encodePart = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

const listTasks = (authorization: string | undefined) => {
  const request = supertest(service.app).get(at('/tasks'));
  return authorization === undefined ? request : request.set('Authorization', authorization);
};

const nowInSeconds = () => Math.floor(Date.now() / 1000);

describe('an access token', () => {
  test('is valid as issued, and when signed again with the same key', async () => {
    expect((await listTasks(`Bearer ${user.token}`)).status).toBe(200);
    expect((await listTasks(`bearer ${await resign({})}`)).status).toBe(200);
  });

  test.each<[string, () => string | Promise<string>]>([
    ['without an algorithm', () => `${encodePart({ alg: 'none', typ: 'JWT' })}.${user.token.split('.')[1]}.`],
    [
      'signed with the public key as a secret',
      () => {
        const signed = `${encodePart({ alg: 'HS256', typ: 'JWT' })}.${user.token.split('.')[1]}`;
        const secret = Buffer.from(String(signingKey.x), 'base64url');
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      },
    ],
    [
      'signed with another key',
      async () => (await makeTestKeys('task-manager', 'task-manager')).token({ sub: user.user.id }),
    ],
    [
      "from the platform's identity provider",
      async () => (await makeTestKeys()).token({ scope: 'quests:read' }),
    ],
    ['for another audience', () => resign({ aud: 'platform' })],
    ['of another issuer', () => resign({ iss: 'platform-local' })],
    [
      'that has expired',
      () => resign({ iat: nowInSeconds() - 1000, nbf: nowInSeconds() - 1000, exp: nowInSeconds() - 60 }),
    ],
    ['that never expires', () => resign({ exp: undefined })],
    ['from the future', () => resign({ nbf: nowInSeconds() + 600 })],
    ['without a session', () => resign({ sid: undefined })],
    ['of a session that never existed', () => resign({ sid: '01900000-0000-7000-8000-000000000000' })],
    ['with a session that is not an id', () => resign({ sid: "' or true --" })],
    ['with the session of somebody else', async () => resign({ sub: (await register(service.app)).user.id })],
    ['with a user that is not an id', () => resign({ sub: '1:2' })],
    ['with a byte changed', () => user.token.replace(/.{10}$/, 'AAAAAAAAAA')],
    ['cut short', () => user.token.slice(0, 40)],
    ['of 9,000 characters', () => 'a'.repeat(9000)],
    ['that is empty', () => ''],
  ])('%s is refused', async (_description, createToken) => {
    const { status, type, headers, body } = await listTasks(`Bearer ${await createToken()}`);
    expect([status, type]).toEqual([401, 'application/problem+json']);
    expect(headers['www-authenticate']).toMatch(/^Bearer realm=/);
    expect(JSON.stringify(body)).not.toContain('at ');
  });

  test('is required', async () => {
    const { status, headers } = await listTasks(undefined);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="platform"']);
    expect((await listTasks('Basic YTpi')).status).toBe(401);
  });

  test('is checked before the body is read', async () => {
    const answer = await supertest(service.app).post(at('/tasks')).send('x'.repeat(1_000_000));
    expect(answer.status).toBe(401);
  });
});
