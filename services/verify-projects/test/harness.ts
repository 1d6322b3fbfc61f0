import { makeApiKey } from '@platform/auth/api-keys';
import { makeTestKeys } from '@platform/auth/testing';
import { createMetrics } from '@platform/service-kit/metrics';
import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import type {} from '@platform/local/provided';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { v7 } from 'uuid';
import { inject } from 'vitest';
import { insertApiKey, type ApiKeyRow } from '../src/api-keys/store.ts';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';

interface Wish {
  /** Environment beside the usual. */
  variables?: Record<string, string>;
  overrides?: Partial<Context>;
}

/** The service on a database of its own; disposed of with `await using`. */
export const startService = async ({ variables = {}, overrides = {} }: Wish = {}) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  const tokens = await makeTestKeys();
  const folder = await mkdtemp(join(tmpdir(), 'verify-projects-'));
  stack.defer(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'jwks.json'), JSON.stringify(tokens.jwks));
  const { log, lines } = captureLog();
  const env = {
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl') ?? '',
    AUTH_JWKS: join(folder, 'jwks.json'),
    AUTH_ISSUER: tokens.issuer,
    AUTH_AUDIENCE: tokens.audience,
    RATE_LIMIT: 'off',
    ...variables,
  };

  /** Another process of the same service, as far as that matters: own pool, own memory. */
  const startInstance = (extra: Record<string, string> = {}, replaced: Partial<Context> = overrides) => {
    const settings = envOf({ ...env, ...extra });
    const context = stack.use(createContext(settings, { log, metrics: createMetrics() }, replaced));
    return { context, app: createApp(context).listener };
  };
  const { context, app } = startInstance();

  /** Stores a key as good as any; `changes` make it worse. */
  const storeKey = async (changes: Partial<ApiKeyRow> = {}) => {
    const { key, hash, display } = makeApiKey();
    const row: ApiKeyRow = {
      id: v7(),
      name: 'a test',
      hash,
      key_hint: display,
      scopes: ['verify:read'],
      created_at: new Date().toISOString(),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      ...changes,
    };
    await insertApiKey(context.database.orm, row);
    return { ...row, key };
  };
  const { key } = await storeKey();
  const token = await tokens.token({ scope: 'verify:admin' });
  const call = (method: 'post' | 'patch' | 'put' | 'delete', path: string, body?: object) => {
    const asked = request(app)[method](`/v1${path}`).set('Authorization', `Bearer ${token}`);
    return body === undefined ? asked : asked.send(body);
  };

  return {
    app,
    context,
    lines,
    tokens,
    databaseUrl: database.url,
    /** The environment of the service. */
    variables: env,
    startInstance,
    storeKey,
    key,
    /** GETs with a key that may read; `path` begins after /v1. */
    read: (path: string) => request(app).get(`/v1${path}`).set('X-API-Key', key),
    /** Calls with a token that may do everything. */
    admin: {
      get: (path: string) => request(app).get(`/v1${path}`).set('Authorization', `Bearer ${token}`),
      post: (path: string, body: object) => call('post', path, body),
      patch: (path: string, body: object) => call('patch', path, body),
      put: (path: string, body: object) => call('put', path, body),
      delete: (path: string) => call('delete', path),
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

export type Service = Awaited<ReturnType<typeof startService>>;

/** What a project is made from, with `changes`. */
export const projectInput = (changes: object = {}) => ({
  name: 'Degrees of 2025',
  source_language: 'en',
  target_languages: ['de', 'fr'],
  ...changes,
});
