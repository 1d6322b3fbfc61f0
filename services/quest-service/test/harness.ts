import { makeTestKeys } from '@platform/auth/testing';
import type {} from '@platform/local/provided';
import { createMetrics } from '@platform/service-kit/metrics';
import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest, { type Test } from 'supertest';
import { inject } from 'vitest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { envOf } from '../src/env.ts';

const keys = await makeTestKeys();

/** A token of the tests' identity provider. */
export const tokenWith = (scope: string): Promise<string> => keys.token({ scope });

const writeToken = await tokenWith('quests:write');

/** A database of its own with the tables of the service. */
export const ownDatabase = (serverUrl = inject('postgresUrl')) => cloneDatabase(serverUrl, migrations);

/** One instance of the service, on a database that is there; disposed of with `await using`. */
export const startInstance = async (
  databaseUrl: string,
  variables: Record<string, string> = {},
  overrides: Partial<Context> = {},
) => {
  const stack = new AsyncDisposableStack();
  const jwks = join(tmpdir(), `quest-jwks-${randomUUID()}.json`);
  await writeFile(jwks, JSON.stringify(keys.jwks));
  stack.defer(() => rm(jwks));
  const { log, lines } = captureLog();
  const env = envOf({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    REDIS_URL: inject('redisUrl') ?? '',
    AUTH_JWKS: jwks,
    AUTH_ISSUER: keys.issuer,
    AUTH_AUDIENCE: keys.audience,
    RATE_LIMIT: 'off',
    ...variables,
  });
  const context = stack.use(createContext(env, { log, metrics: createMetrics() }, overrides));
  const app = createApp(context).listener;
  return { app, context, lines, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

export type Instance = Awaited<ReturnType<typeof startInstance>>;

/** The service on a database of its own. */
export const startService = async (variables: Record<string, string> = {}) => {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await ownDatabase());
  const instance = stack.use(await startInstance(database.url, variables));
  return { ...instance, databaseUrl: database.url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};

type Verb = 'post' | 'put' | 'patch' | 'delete';

export const get = ({ app }: Pick<Instance, 'app'>, path: string): Test => supertest(app).get(`/v1${path}`);

/** A write by somebody who may. */
export const write = ({ app }: Pick<Instance, 'app'>, verb: Verb, path: string, body?: object): Test =>
  supertest(app)[verb](`/v1${path}`).auth(writeToken, { type: 'bearer' }).send(body);

/** A question as a client writes it; `more` replaces or joins the usual. */
export const question = (title: string, more: object = {}) => ({
  type: 'SINGLE_CHOICE',
  presentation: 'HORIZONTAL',
  titles: [{ languageCode: 'en-US', title }],
  alternatives: [{ titles: [{ languageCode: 'en-US', title: 'Yes' }] }],
  ...more,
});

/** Makes a quest with a question for each title; gives its id. */
export const makeQuest = async (service: Pick<Instance, 'app'>, titles: string[] = []): Promise<string> => {
  const { body } = await write(service, 'post', '/quests', { title: 'A quest' }).expect(201);
  const { questId } = body as { questId: string };
  const list = titles.map((title) => question(title));
  await write(service, 'put', `/quests/${questId}/questions`, list).expect(200);
  return questId;
};

interface Listed {
  questionId: string;
  orderNumber: number;
  titles: { title: string }[];
}

/** The questions of a page. */
export const listed = async (
  service: Pick<Instance, 'app'>,
  questId: string,
  query = '',
): Promise<Listed[]> => {
  const answer = await get(service, `/quests/${questId}/questions${query}`).expect(200);
  return answer.body as Listed[];
};

/** The first title of each question of a page. */
export const titlesOf = async (service: Pick<Instance, 'app'>, questId: string, query = '') =>
  (await listed(service, questId, query)).map(({ titles }) => titles[0]?.title);
