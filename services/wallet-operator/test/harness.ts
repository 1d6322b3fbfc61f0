import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { makeTestKeys } from '@platform/auth/testing';
import { createHarness, type TestInstance } from '@platform/service-kit/testing';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { parseEnv } from '../src/env.ts';

export const secret = 'a secret for tests';

export const keys = await makeTestKeys();

export const { createTestDatabase, startService } = createHarness({
  migrations,
  parseEnv,
  createContext,
  createApp,
  keys,
  // A busy machine must not fail a test; those of the time limits set their own.
  variables: {
    HMAC_SECRET: secret,
    MAX_WAIT_MS: '20000',
    DATABASE_WAIT_MS: '20000',
    MAX_IN_PROGRESS: '4000',
  },
});

export type Running = TestInstance<Context>;

export interface Answer {
  http: number;
  requestId: string;
  status: string;
  balance?: string;
  [more: string]: unknown;
}

const signatures = createRequestSignatures({ secrets: { current: secret } });

/** Signs and sends one callback; `body` may be bytes that are not JSON. */
export const call = async (
  url: string,
  callback: string,
  body: object | string | Buffer,
): Promise<Answer> => {
  const path = `/callback/${callback}`;
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...signatures.headers(path, bytes) },
    body: bytes as string,
  });
  return { http: answer.status, ...((await answer.json()) as { requestId: string; status: string }) };
};
