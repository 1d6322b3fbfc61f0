import type {} from '@platform/local/provided';
import { createMetrics } from '@platform/service-kit/metrics';
import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import { exportJWK, generateKeyPair } from 'jose';
import supertest from 'supertest';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';

const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });

/** The settings of a service with these databases. */
export const variablesFor = async (databaseUrl: string, redisUrl: string | null) => ({
  PORT: '0',
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl ?? '',
  RATE_LIMIT: 'off',
  AUTH_SIGNING_KEY: JSON.stringify({ ...(await exportJWK(privateKey)), alg: 'EdDSA' }),
});

/** A separate database with the tables of the service. */
export const ownDatabase = (serverUrl = inject('postgresUrl')) => cloneDatabase(serverUrl, migrations);

/** One instance of the service; disposed of with `await using`. */
export const startInstance = async (variables: Record<string, string>, overrides: Partial<Context> = {}) => {
  const { log, lines } = captureLog();
  const parts = { log, metrics: createMetrics() };
  const context = await createContext(envOf(variables), parts, overrides);
  return {
    app: createApp(context).listener,
    context,
    lines,
    [Symbol.asyncDispose]: () => context[Symbol.asyncDispose](),
  };
};

/** The service with a separate database. */
export const startService = async (
  variables: Record<string, string> = {},
  overrides: Partial<Context> = {},
) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await ownDatabase());
  const given = { ...(await variablesFor(database.url, inject('redisUrl'))), ...variables };
  const instance = stack.use(await startInstance(given, overrides));
  return { ...instance, variables: given, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

type App = Awaited<ReturnType<typeof startInstance>>['app'] | string;

/** The path of an endpoint. */
export const at = (path: string): string => `/api/v1${path}`;

export const goodPassword = 'correct horse battery';

let count = 0;
/** An email that was not used before. */
export const newEmail = (): string => `user-${++count}-${process.pid}@example.test`;

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A function that sends requests to an instance with an access token. */
export const bearerOf = (app: App, token: string) => (method: Method, path: string) =>
  supertest(app)[method](at(path)).auth(token, { type: 'bearer' });

/** Registers a user; returns their credentials and a function that sends requests with their token. */
export const register = async (app: App, email = newEmail()) => {
  const answer = await supertest(app).post(at('/auth/register')).send({ email, password: goodPassword });
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
