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

/** A test identity provider, as `makeTestKeys` of `@platform/auth/testing` creates it. */
interface TestKeys {
  issuer: string;
  audience: string;
  jwks: object;
  token: (claims?: { scope?: string; sub?: string }) => Promise<string>;
}

interface ServiceUnderTest<Env, Context> {
  migrations: Migrations;
  parseEnv: (variables: Record<string, string | undefined>) => Env;
  createContext: (
    env: Env,
    logAndMetrics: LogAndMetrics,
    overrides?: Partial<Context>,
  ) => Context | Promise<Context>;
  createApp: (context: Context) => HttpApp;
  /** Signs access tokens; absent if the service signs its own. */
  keys?: TestKeys;
  /** Settings of every instance, in addition to the usual ones. */
  variables?: Record<string, string>;
}

export interface StartOptions<Context> {
  /** Settings that replace the usual ones or are added to them. */
  variables?: Record<string, string>;
  /** Fields of the context that the test replaces. */
  overrides?: Partial<Context>;
  /** Superuser URL of a PostgreSQL server other than the shared one. */
  serverUrl?: string;
  /** The database of another instance, to run a second instance on it. */
  databaseUrl?: string;
}

/** A running instance of the service. */
export interface TestInstance<Context> extends RunningServer {
  /** The request listener, for supertest; `url` is the same service listening. */
  app: RequestListener;
  context: Context;
  document: HttpApp['document'];
  /** The log lines so far, each a JSON object. */
  lines: string[];
  databaseUrl: string;
  /** The settings it was started with. */
  variables: Record<string, string>;
  /** A supertest agent that sends an access token with this scope; without one, no token. */
  agent: (scope?: string) => Promise<ReturnType<typeof supertest.agent>>;
}

export interface Harness<Context> {
  /** Creates a database with the service's tables, which is dropped on disposal. */
  createTestDatabase: (serverUrl?: string) => Promise<TestDatabase>;
  /** Starts an instance. It has its own database unless `databaseUrl` is set. Use `await using`. */
  startService: (options?: StartOptions<Context>) => Promise<TestInstance<Context>>;
  /** Creates an access token of the test identity provider. */
  tokenWith: (scope?: string) => Promise<string>;
}

/** URLs from the global set-up. vitest is imported here, because it cannot be loaded outside of a test. */
const readServerUrls = async (): Promise<{ postgresUrl: string; redisUrl: string }> => {
  const { inject } = await import('vitest');
  return { postgresUrl: inject('postgresUrl'), redisUrl: inject('redisUrl') ?? '' };
};

/** Creates the databases, instances and tokens for the tests of a service. Called once, in its test/harness.ts. */
export const createHarness = <Env, Context extends BaseContext>(
  service: ServiceUnderTest<Env, Context>,
): Harness<Context> => {
  const { migrations, parseEnv, createContext, createApp, keys } = service;

  const createTestDatabase: Harness<Context>['createTestDatabase'] = async (serverUrl) =>
    cloneDatabase(serverUrl ?? (await readServerUrls()).postgresUrl, migrations);

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
      REDIS_URL: (await readServerUrls()).redisUrl,
      RATE_LIMIT: 'off',
      // On a slow machine the requests of a race test wait longer than the default second.
      DATABASE_WAIT_MS: '60000',
      REDIS_TIMEOUT_MS: '5000',
      ...(await tokenSettings(stack)),
      ...service.variables,
      ...options.variables,
    };
    const { log, lines } = captureLog();
    const logAndMetrics = { log, metrics: createMetrics() };
    const context = stack.use(await createContext(parseEnv(variables), logAndMetrics, options.overrides));
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
