import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { createTokenVerifier } from '@platform/auth/bearer';
import { makeTestKeys } from '@platform/auth/testing';
import { createHarness, type StartOptions } from '@platform/service-kit/testing';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { parseEnv } from '../src/env.ts';
import { StoreBody } from '../src/stores/schema.ts';
import { startBackgroundWork } from '../src/processing/background-work.ts';
import { createStore } from '../src/stores/use-cases.ts';

interface Options extends StartOptions<Context> {
  /** Whether events are processed; default true. */
  work?: boolean;
}

const keys = await makeTestKeys();
// Uses the real clock: tests move the clock of the service by days, and their access tokens must stay valid.
const verifier = createTokenVerifier(keys);
const harness = createHarness({
  migrations,
  parseEnv,
  createContext,
  createApp,
  keys,
  variables: {
    SECRETS_KEY: 'ab'.repeat(32),
    SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
    RETRY_BASE_MS: '2',
    // Ten attempts.
    RETRY_FOR_HOURS: '0.0002',
    IDLE_POLL_MS: '20',
    PROVIDER_TIMEOUT_MS: '20000',
  },
});

/** Starts the service with its own database and spool folder. Dispose of it with `await using`. */
export const startService = async ({ work = true, variables, overrides, ...options }: Options = {}) => {
  await using stack = new AsyncDisposableStack();
  const spool = await mkdtemp(join(tmpdir(), 'spool-'));
  stack.defer(() => rm(spool, { recursive: true }));
  const instance = stack.use(
    await harness.startService({
      ...options,
      variables: { SPOOL_DIR: spool, ...variables },
      overrides: { verifier, ...overrides },
    }),
  );
  const { context, url } = instance;
  await context.inbox.spool.recover();
  await context.clock.start();
  context.rotations.start();
  if (work) stack.use(startBackgroundWork(context));
  const token = await keys.token({ scope: 'stores:admin' });
  const started = stack.move();

  return {
    ...instance,
    spool,
    token,
    tokenWith: (scope: string, claims: Record<string, unknown> = {}) => keys.token({ scope, claims }),
    /** Sends a request with a JSON body to the management interface. */
    admin: async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Json };
    },
    /** Sends a webhook and returns the response. */
    hook: (path: string, token: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${url}/api/v1/hooks/${path}/${token}`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
        redirect: 'manual',
      }),
    /** Resolves when no event is in a spool, also of another process, and no event or import is pending. */
    settled: async () => {
      const { sql } = context.database;
      for (;;) {
        // Events may be in the spool even without an outage, because a commit that takes seconds counts as one.
        const files = await readdir(spool, { recursive: true }).catch(() => ['.spool']);
        if (context.inbox.spool.active || files.some((name) => name.endsWith('.spool'))) {
          await sleep(10);
          continue;
        }
        const [row] = await sql<{ remaining: number }[]>`
          select (select count(*) from queue)::int
            + (select count(*) from import_jobs where state = 'pending')::int as remaining`;
        if (row?.remaining === 0) return;
        await sleep(10);
      }
    },
    /** Creates a store. Fields that are not in `input` are those of a shop with Blaze. */
    store: async (input: Record<string, unknown> = {}) => {
      const shop = { name: 'Test shop', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } };
      const { store } = await createStore(context, StoreBody.parse({ ...shop, ...input }));
      return store;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
};

/** A JSON body as tests read it. */
export interface Json {
  [name: string]: Json;
}
