import { makeTestKeys } from '@platform/auth/testing';
import type {} from '@platform/local/provided';
import { createMetrics } from '@platform/service-kit/metrics';
import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest, { type Test } from 'supertest';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';

const keys = await makeTestKeys();

/** A token of the tests' identity provider. */
export const tokenWith = (scope: string): Promise<string> => keys.token({ scope });

const readToken = await tokenWith('placeholder-service:read');
const writeToken = await tokenWith('placeholder-service:write');

/** The service on a database of its own; disposed of with `await using`. */
export const startService = async (
  variables: Record<string, string> = {},
  overrides: Partial<Context> = {},
) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  const jwks = join(tmpdir(), `placeholder-service-jwks-${randomUUID()}.json`);
  await writeFile(jwks, JSON.stringify(keys.jwks));
  stack.defer(() => rm(jwks));
  const { log, lines } = captureLog();
  const env = envOf({
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl') ?? '',
    AUTH_JWKS: jwks,
    AUTH_ISSUER: keys.issuer,
    AUTH_AUDIENCE: keys.audience,
    RATE_LIMIT: 'off',
    ...variables,
  });
  const context = stack.use(createContext(env, { log, metrics: createMetrics() }, overrides));
  const app = createApp(context).listener;
  return {
    app,
    context,
    lines,
    databaseUrl: database.url,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

export type Service = Awaited<ReturnType<typeof startService>>;

/** A read by somebody who may. */
export const get = ({ app }: Service, path: string): Test =>
  supertest(app).get(`/v1${path}`).auth(readToken, { type: 'bearer' });

/** A write by somebody who may. */
export const post = ({ app }: Service, path: string, body: object): Test =>
  supertest(app).post(`/v1${path}`).auth(writeToken, { type: 'bearer' }).send(body);
