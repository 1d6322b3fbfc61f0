import { makeTestKeys } from '@platform/auth/testing';
import { createHarness, type TestInstance } from '@platform/service-kit/testing';
import supertest, { type Test } from 'supertest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { parseEnv } from '../src/env.ts';

export const { startService, tokenWith } = createHarness({
  migrations,
  parseEnv,
  createContext,
  createApp,
  keys: await makeTestKeys(),
});

type Instance = Pick<TestInstance<Context>, 'app'>;

const readToken = await tokenWith('placeholder-service:read');
const writeToken = await tokenWith('placeholder-service:write');

/** A GET request with a token that can read. */
export const get = ({ app }: Instance, path: string): Test =>
  supertest(app).get(`/v1${path}`).auth(readToken, { type: 'bearer' });

/** Creates a function that sends requests with a token that can write. */
const write =
  (method: 'post' | 'patch' | 'delete') =>
  ({ app }: Instance, path: string, body?: object): Test =>
    supertest(app)[method](`/v1${path}`).auth(writeToken, { type: 'bearer' }).send(body);

export const post = write('post');
export const patch = write('patch');
export const remove = write('delete');
