import { makeTestKeys } from '@platform/auth/testing';
import { createHarness, type StartOptions } from '@platform/service-kit/testing';
import request from 'supertest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { parseEnv } from '../src/env.ts';

export const tokens = await makeTestKeys();

const harness = createHarness({
  migrations,
  parseEnv,
  createContext,
  createApp,
  keys: tokens,
  // Long, because other tests may keep the machine busy.
  variables: { SEARCH_TIMEOUT_MS: '5000', SUBSCRIPTIONS_KEY: 'ab'.repeat(32) },
});

const reading = `Bearer ${await tokens.token({ scope: 'consignments:read' })}`;
const writing = `Bearer ${await tokens.token({ scope: 'consignments:write' })}`;

/** An instance of the service and requests to it; paths begin after /v1. */
export const startService = async (options: StartOptions<Context> = {}) => {
  const service = await harness.startService(options);
  const { app } = service;
  return {
    ...service,
    tokens,
    /** The value of an Authorization header that may write. */
    writing,
    /** Calls with a token that may write, and is limited to these clients. */
    limitedTo: async (...clients: string[]) => {
      const token = await tokens.token({ scope: 'consignments:write', claims: { clients } });
      return request.agent(`${service.url}/v1`).auth(token, { type: 'bearer' });
    },
    /** GETs with a token that may read. */
    read: (path: string) => request(app).get(`/v1${path}`).set('Authorization', reading),
    /** Calls with a token that may write. */
    get: (path: string) => request(app).get(`/v1${path}`).set('Authorization', writing),
    post: (path: string, body: object) =>
      request(app).post(`/v1${path}`).set('Authorization', writing).send(body),
    patch: (path: string, body: object) =>
      request(app).patch(`/v1${path}`).set('Authorization', writing).send(body),
    delete: (path: string) => request(app).delete(`/v1${path}`).set('Authorization', writing),
  };
};

export type Service = Awaited<ReturnType<typeof startService>>;
