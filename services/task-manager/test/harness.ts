import { generateKeyPairSync } from 'node:crypto';
import { makeTestKeys } from '@platform/auth/testing';
import { createHarness, type TestInstance } from '@platform/service-kit/testing';
import supertest from 'supertest';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { parseEnv } from '../src/env.ts';

/** The private JWK that signs users' tokens in tests. */
export const signingKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
const variables = { AUTH_SIGNING_KEY: JSON.stringify(signingKey) };

/** The identity provider of operators. */
export const operatorKeys = await makeTestKeys();

/** `tokenWith` creates operators' tokens; the service creates those of users. */
export const { createTestDatabase, startService, tokenWith } = createHarness({
  migrations,
  parseEnv,
  createContext,
  createApp,
  keys: operatorKeys,
  variables,
});

/** The settings of the service as a separate process. */
export const variablesFor = (databaseUrl: string) => ({
  PORT: '0',
  DATABASE_URL: databaseUrl,
  REDIS_URL: inject('redisUrl') ?? '',
  RATE_LIMIT: 'off',
  ...variables,
});

type App = TestInstance<Context>['app'] | string;

/** Adds the base path of the API to a path. */
export const at = (path: string): string => `/api/v1${path}`;

export const goodPassword = 'correct horse battery';

let count = 0;
/** A new email address. */
export const newEmail = (): string => `user-${++count}-${process.pid}@example.test`;

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Creates a function that sends requests to an instance with an access token. */
export const bearerOf = (app: App, token: string) => (method: Method, path: string) =>
  supertest(app)[method](at(path)).auth(token, { type: 'bearer' });

/** Registers a user; returns their credentials and a function that sends requests with their token. */
export const register = async (app: App, email = newEmail(), password = goodPassword) => {
  const answer = await supertest(app).post(at('/auth/register')).send({ email, password });
  const token = String(answer.body.accessToken);
  const cookies = (answer.get('Set-Cookie') ?? []).map((line) => line.split(';', 1)[0]).join('; ');
  return {
    email,
    token,
    cookies,
    user: answer.body.user as { id: string },
    as: bearerOf(app, token),
    answer,
  };
};

/** Ends the 30 seconds in which an exchanged refresh token still works. */
export const endOverlap = async ({ context }: TestInstance<Context>): Promise<void> => {
  await context.database.sql`update sessions set rotated_at = rotated_at - interval '31 seconds'`;
};

/** A registered user, as `register` returns it. */
export type Registered = Awaited<ReturnType<typeof register>>;

/** Creates a list. `join` invites a user and accepts the invitation. */
export const createList = async (owner: Registered, name = 'Household') => {
  const { body } = await owner.as('post', '/lists').send({ name }).expect(201);
  const path = `/lists/${body.id}`;
  const invite = (email: string, role = 'editor') =>
    owner.as('patch', path).send({ members: { [email]: { role } } });
  const codeFor = async (email: string): Promise<string> =>
    (await owner.as('get', `${path}/invitations`).expect(200)).body.codes[email];
  const join = async (guest: Registered, role = 'editor'): Promise<void> => {
    await invite(guest.email, role).expect(200);
    await guest
      .as('post', '/lists/join')
      .send({ code: await codeFor(guest.email) })
      .expect(200);
  };
  return { id: String(body.id), path, invite, codeFor, join };
};
