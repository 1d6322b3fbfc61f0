import type { Server } from 'node:http';
import { makeTestKeys, type TestKeys } from '@platform/auth/testing';
import { createTokenVerifier } from '@platform/auth/bearer';
import { createRequestSignatures } from '@platform/auth/hmac';
import type {} from '@platform/local/provided';
import { createMetrics } from '@platform/service-kit/metrics';
import { createHttpServer } from '@platform/service-kit/server';
import { listen } from '@platform/service-kit/service';
import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';

export const secret = 'a secret for tests';

export interface Running extends AsyncDisposable {
  server: Server;
  url: string;
  context: Context;
  keys: TestKeys;
  lines: string[];
  databaseUrl: string;
}

/** The service on a database of its own, listening; disposed of with `await using`. */
export const startService = async (
  variables: Record<string, string> = {},
  overrides: Partial<Context> = {},
): Promise<Running> => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  const keys = await makeTestKeys();
  const { log, lines } = captureLog();
  const tokens = createTokenVerifier(keys);
  const env = envOf({
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl') ?? '',
    AUTH_JWKS: 'none',
    AUTH_ISSUER: keys.issuer,
    AUTH_AUDIENCE: keys.audience,
    RATE_LIMIT: 'off',
    HMAC_SECRET: secret,
    ...variables,
  });
  const context = stack.use(createContext(env, { log, metrics: createMetrics() }, { tokens, ...overrides }));
  const { listener } = createApp(context);
  const server = createHttpServer(listener);
  const { port } = await listen(server, '127.0.0.1', 0);
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    context,
    keys,
    lines,
    databaseUrl: database.url,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

export interface Answer {
  http: number;
  requestId: string;
  status: string;
  balance?: string;
  [more: string]: unknown;
}

const signatures = createRequestSignatures({ secrets: { current: secret } });

/** Signs and sends one callback; `body` may be bytes that are no JSON. */
export const call = async (
  url: string,
  callback: string,
  body: object | string | Buffer,
): Promise<Answer> => {
  const path = `/callback/${callback}`;
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const { timestamp, signature } = signatures.sign(path, bytes);
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Timestamp': timestamp, 'X-HMAC-SHA256': signature },
    body: bytes as string,
  });
  return { http: answer.status, ...((await answer.json()) as { requestId: string; status: string }) };
};
