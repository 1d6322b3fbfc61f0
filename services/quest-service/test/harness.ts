import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import { createMetrics } from '@platform/service-kit/metrics';
import type {} from '@platform/local/provided';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';

/** The service on a database of its own; disposed of with `await using`. */
export const startService = async (
  variables: Record<string, string> = {},
  overrides: Partial<Context> = {},
) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  const { log, lines } = captureLog();
  const env = envOf({
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl') ?? '',
    AUTH_JWKS: 'none',
    AUTH_ISSUER: 'test',
    AUTH_AUDIENCE: 'test',
    RATE_LIMIT: 'off',
    ...variables,
  });
  const context = stack.use(createContext(env, { log, metrics: createMetrics() }, overrides));
  return {
    app: createApp(context).express,
    context,
    lines,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};
