import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { makeTestKeys } from '@platform/auth/testing';
import type {} from '@platform/local/provided';
import { createMetrics } from '@platform/service-kit/metrics';
import { createHttpServer } from '@platform/service-kit/server';
import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';
import { StoreBody } from '../src/stores/schema.ts';
import { startWork } from '../src/worker/work.ts';
import { createStore } from '../src/stores/use-cases.ts';

interface Options {
  variables?: Record<string, string>;
  overrides?: Partial<Context>;
  /** A PostgreSQL of the test's own, instead of the one all tests share. */
  serverUrl?: string;
  /** Whether events are processed; true unless said otherwise. */
  work?: boolean;
}

const keys = await makeTestKeys();

/** The service on a database of its own, listening; disposed of with `await using`. */
export const startService = async ({
  variables = {},
  overrides = {},
  serverUrl,
  work = true,
}: Options = {}) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await cloneDatabase(serverUrl ?? inject('postgresUrl'), migrations));
  const spool = await mkdtemp(join(tmpdir(), 'spool-'));
  stack.defer(() => rm(spool, { recursive: true }));
  const { log, lines } = captureLog();
  const env = envOf({
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl') ?? '',
    AUTH_JWKS: 'replaced',
    AUTH_ISSUER: keys.issuer,
    AUTH_AUDIENCE: keys.audience,
    RATE_LIMIT: 'off',
    SECRETS_KEY: 'ab'.repeat(32),
    SPOOL_DIR: spool,
    RETRY_BASE_MS: '2',
    // Ten attempts.
    RETRY_FOR_HOURS: '0.0002',
    IDLE_POLL_MS: '20',
    PROVIDER_TIMEOUT_MS: '500',
    ...variables,
  });
  const { createTokenVerifier } = await import('@platform/auth/bearer');
  const verifier = createTokenVerifier({ jwks: keys.jwks, issuer: keys.issuer, audience: keys.audience });
  const parts = { log, metrics: createMetrics() };
  const context = stack.use(await createContext(env, parts, { verifier, ...overrides }));
  await context.inbox.spool.recover();
  await context.clock.start();
  if (work) stack.use(startWork(context));
  const { listener, document } = createApp(context);
  const server = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = await keys.token({ scope: 'stores:admin' });

  return {
    context,
    document,
    lines,
    url,
    spool,
    databaseUrl: database.url,
    token,
    tokenWith: (scope: string) => keys.token({ scope }),
    /** A request to the management interface; JSON in, JSON out. */
    admin: async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Json };
    },
    /** Sends a webhook; gives the answer. */
    hook: (path: string, token: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${url}/api/v1/hooks/${path}/${token}`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
        redirect: 'manual',
      }),
    /** Resolves when nothing is left to be processed. */
    settled: async () => {
      const { sql } = context.database;
      for (;;) {
        const [row] = await sql<{ left: number }[]>`
          select (select count(*) from inbox where state = 'pending')::int
            + (select count(*) from import_jobs where state = 'pending')::int as left`;
        if (row?.left === 0) return;
        await sleep(10);
      }
    },
    /** A store as a test wants it; the rest is as a shop with Blaze has it. */
    store: (input: Record<string, unknown> = {}) =>
      createStore(
        context,
        StoreBody.parse({
          name: 'Test shop',
          storeUrl: 'https://shop.example.test/',
          pos: { kind: 'blaze' },
          ...input,
        }),
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** What a test reads out of an answer. */
export interface Json {
  [name: string]: Json;
}
