import type {} from '@platform/local/provided';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest from 'supertest';
import type { HttpApp } from '../http/app.ts';
import type { BaseContext, LogAndMetrics } from '../process/context.ts';
import { createMetrics } from '../process/metrics.ts';
import type { Migrations } from '../database/migrate.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { captureLog } from './log.ts';
import { serve, type RunningServer } from './server.ts';

/** A test identity provider: what `makeTestKeys` of `@platform/auth/testing` gives. */
interface TestKeys {
  issuer: string;
  audience: string;
  jwks: object;
  token: (claims?: { scope?: string; sub?: string }) => Promise<string>;
}

interface ServiceUnderTest<Env, Context> {
  migrations: Migrations;
  parseEnv: (variables: Record<string, string | undefined>) => Env;
  createContext: (env: Env, parts: LogAndMetrics, overrides?: Partial<Context>) => Context | Promise<Context>;
  createApp: (context: Context) => HttpApp;
  /** Signs the access tokens; left out where the service signs its own. */
  keys?: TestKeys;
  /** Settings of every instance, in addition to the usual ones. */
  variables?: Record<string, string>;
}

export interface StartOptions<Context> {
  /** Settings that replace or join the usual ones. */
  variables?: Record<string, string>;
  /** LogAndMetrics of the context that a test replaces. */
  overrides?: Partial<Context>;
  /** Superuser URL of another PostgreSQL than the one that all tests share. */
  serverUrl?: string;
  /** Database of another instance, to run a second one on it. */
  databaseUrl?: string;
}

/** One running instance of the service. */
export interface TestInstance<Context> extends RunningServer {
  /** The request listener, for supertest; `url` is the same service listening. */
  app: RequestListener;
  context: Context;
  document: HttpApp['document'];
  /** The log so far, one JSON object a line. */
  lines: string[];
  databaseUrl: string;
  /** The settings it was started with. */
  variables: Record<string, string>;
  /** A supertest agent that sends an access token with this scope; without one, no token. */
  agent: (scope?: string) => Promise<ReturnType<typeof supertest.agent>>;
}

export interface Harness<Context> {
  /** A database of its own with the service's tables; dropped on disposal. */
  createTestDatabase: (serverUrl?: string) => Promise<TestDatabase>;
  /** Starts an instance, on a database of its own unless `databaseUrl` is given. Use `await using`. */
  startService: (options?: StartOptions<Context>) => Promise<TestInstance<Context>>;
  /** An access token of the tests' identity provider. */
  tokenWith: (scope?: string) => Promise<string>;
}

/** URLs that the global set-up gives; vitest is loaded late, since it cannot be loaded outside of a test. */
const provided = async (): Promise<{ postgresUrl: string; redisUrl: string }> => {
  const { inject } = await import('vitest');
  return { postgresUrl: inject('postgresUrl'), redisUrl: inject('redisUrl') ?? '' };
};

/** What the tests of a service need: databases, instances and tokens. One call in its test/harness.ts. */
export const createHarness = <Env, Context extends BaseContext>(
  service: ServiceUnderTest<Env, Context>,
): Harness<Context> => {
  const { migrations, parseEnv, createContext, createApp, keys } = service;

  const createTestDatabase: Harness<Context>['createTestDatabase'] = async (serverUrl) =>
    cloneDatabase(serverUrl ?? (await provided()).postgresUrl, migrations);

  const tokenWith: Harness<Context>['tokenWith'] = async (scope) => {
    if (keys === undefined) throw new Error('this service signs its own tokens');
    return keys.token(scope === undefined ? {} : { scope });
  };

  const tokenSettings = async (stack: AsyncDisposableStack): Promise<Record<string, string>> => {
    if (keys === undefined) return {};
    const jwks = join(tmpdir(), `jwks-${randomUUID()}.json`);
    await writeFile(jwks, JSON.stringify(keys.jwks));
    stack.defer(() => rm(jwks));
    return { AUTH_JWKS: jwks, AUTH_ISSUER: keys.issuer, AUTH_AUDIENCE: keys.audience };
  };

  const startService: Harness<Context>['startService'] = async (options = {}) => {
    await using stack = new AsyncDisposableStack();
    const databaseUrl = options.databaseUrl ?? stack.use(await createTestDatabase(options.serverUrl)).url;
    const variables: Record<string, string> = {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      REDIS_URL: (await provided()).redisUrl,
      RATE_LIMIT: 'off',
      // On a slow machine requests of a test that races wait longer than the second that clients are given.
      DATABASE_WAIT_MS: '60000',
      REDIS_TIMEOUT_MS: '5000',
      ...(await tokenSettings(stack)),
      ...service.variables,
      ...options.variables,
    };
    const { log, lines } = captureLog();
    const parts = { log, metrics: createMetrics() };
    const context = stack.use(await createContext(parseEnv(variables), parts, options.overrides));
    const { listener: app, document } = createApp(context);
    const { url, port, server } = stack.use(await serve(app));
    const agent = async (scope?: string) => {
      const agent = supertest.agent(url);
      return scope === undefined ? agent : agent.auth(await tokenWith(scope), { type: 'bearer' });
    };
    const started = stack.move();
    return {
      app,
      url,
      port,
      server,
      context,
      document,
      lines,
      databaseUrl,
      variables,
      agent,
      [Symbol.asyncDispose]: () => started.disposeAsync(),
    };
  };
  return { createTestDatabase, startService, tokenWith };
};
