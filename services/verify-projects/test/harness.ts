import { makeApiKey } from '@platform/auth/api-keys';
import { makeTestKeys } from '@platform/auth/testing';
import { createHarness, type StartOptions } from '@platform/service-kit/testing';
import request from 'supertest';
import { v7 } from 'uuid';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { apiKeys } from '../src/db/tables.ts';
import { parseEnv } from '../src/env.ts';

type ApiKeyRow = typeof apiKeys.$inferSelect;

const tokens = await makeTestKeys();
const settings = { SUBSCRIPTIONS_KEY: 'ab'.repeat(32) };
const harness = createHarness({
  migrations,
  parseEnv,
  createContext,
  createApp,
  keys: tokens,
  variables: settings,
});
const adminToken = await tokens.token({ scope: 'verify:admin' });

/** An instance of the service on a database of its own, and requests to it; paths begin after /v1. */
export const startService = async (options: StartOptions<Context> = {}) => {
  const stack = new AsyncDisposableStack();
  const service = stack.use(await harness.startService(options));
  const { app, context, databaseUrl, variables } = service;

  /** Starts another instance of the service, with its own pool and memory. */
  const startInstance = async (extra: Record<string, string> = {}, overrides = options.overrides ?? {}) =>
    stack.use(await harness.startService({ databaseUrl, variables: { ...variables, ...extra }, overrides }));

  /** Stores a valid key, with changes. */
  const storeKey = async (changes: Partial<ApiKeyRow> = {}) => {
    const { key, hash, display } = makeApiKey();
    const row: ApiKeyRow = {
      id: v7(),
      name: 'a test',
      key_hash: hash,
      key_hint: display,
      scopes: ['verify:read'],
      clients: null,
      created_at: new Date().toISOString(),
      granted_until: null,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      ...changes,
    };
    await context.database.orm.insert(apiKeys).values(row);
    return { ...row, key };
  };
  const { key } = await storeKey();
  const call = (method: 'post' | 'patch' | 'put' | 'delete', path: string, body?: object) => {
    const asked = request(app)[method](`/v1${path}`).set('Authorization', `Bearer ${adminToken}`);
    return body === undefined ? asked : asked.send(body);
  };

  return {
    ...service,
    tokens,
    startInstance,
    storeKey,
    key,
    /** GETs with a key that may read. */
    read: (path: string) => request(app).get(`/v1${path}`).set('X-API-Key', key),
    /** Calls with a token that may do everything. */
    admin: {
      get: (path: string) => request(app).get(`/v1${path}`).set('Authorization', `Bearer ${adminToken}`),
      post: (path: string, body: object) => call('post', path, body),
      patch: (path: string, body: object) => call('patch', path, body),
      put: (path: string, body: object) => call('put', path, body),
      delete: (path: string) => call('delete', path),
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

export type Service = Awaited<ReturnType<typeof startService>>;

/** The body that creates a project, with `changes`. */
export const projectInput = (changes: object = {}) => ({
  name: 'Degrees of 2025',
  source_language: 'en',
  target_languages: ['de', 'fr'],
  ...changes,
});

/** By how many minutes the time in a UUIDv7 differs from the present. (Within a process v7() never goes back.) */
export const minutesOff = (id: string): number =>
  Math.abs(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) - Date.now()) / 60_000;
