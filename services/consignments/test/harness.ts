import { makeTestKeys } from '@platform/auth/testing';
import { createMetrics } from '@platform/service-kit/metrics';
import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import type {} from '@platform/local/provided';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';

interface Wish {
  /** Environment beside the usual. */
  variables?: Record<string, string>;
  overrides?: Partial<Context>;
  /** Another PostgreSQL than the one all tests share. */
  postgresUrl?: string;
  /** The database of another instance. */
  databaseUrl?: string;
}

/** The service on a database of its own; disposed of with `await using`. */
export const startService = async ({
  variables = {},
  overrides = {},
  postgresUrl = inject('postgresUrl'),
  databaseUrl,
}: Wish = {}) => {
  const stack = new AsyncDisposableStack();
  const url = databaseUrl ?? stack.use(await cloneDatabase(postgresUrl, migrations)).url;
  const tokens = await makeTestKeys();
  const folder = await mkdtemp(join(tmpdir(), 'consignments-'));
  stack.defer(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'jwks.json'), JSON.stringify(tokens.jwks));
  const { log, lines } = captureLog();
  const env = envOf({
    PORT: '0',
    DATABASE_URL: url,
    REDIS_URL: inject('redisUrl') ?? '',
    AUTH_JWKS: join(folder, 'jwks.json'),
    AUTH_ISSUER: tokens.issuer,
    AUTH_AUDIENCE: tokens.audience,
    RATE_LIMIT: 'off',
    // A machine that is busy with other tests is no reason to give up.
    SEARCH_TIMEOUT_MS: '5000',
    SHORT_SEARCH_TIMEOUT_MS: '5000',
    ...variables,
  });
  const context = stack.use(createContext(env, { log, metrics: createMetrics() }, overrides));
  const { listener: app } = createApp(context);
  const reading = `Bearer ${await tokens.token({ scope: 'consignments:read' })}`;
  const writing = `Bearer ${await tokens.token({ scope: 'consignments:write' })}`;
  return {
    app,
    context,
    lines,
    tokens,
    databaseUrl: url,
    /** The value of an Authorization header that may write. */
    writing,
    /** GETs with a token that may read; `path` begins after /v1. */
    read: (path: string) => request(app).get(`/v1${path}`).set('Authorization', reading),
    /** Calls with a token that may write. */
    get: (path: string) => request(app).get(`/v1${path}`).set('Authorization', writing),
    post: (path: string, body: object) =>
      request(app).post(`/v1${path}`).set('Authorization', writing).send(body),
    patch: (path: string, body: object) =>
      request(app).patch(`/v1${path}`).set('Authorization', writing).send(body),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

export type Service = Awaited<ReturnType<typeof startService>>;
