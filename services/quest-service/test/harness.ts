import { makeTestKeys } from '@platform/auth/testing';
import { createHarness, type TestInstance } from '@platform/service-kit/testing';
import supertest, { type Test } from 'supertest';
import { createApp } from '../src/app.ts';
import { createContext, migrations, type Context } from '../src/context.ts';
import { parseEnv } from '../src/env.ts';

export const { createTestDatabase, startService, tokenWith } = createHarness({
  migrations,
  parseEnv,
  createContext,
  createApp,
  variables: { SUBSCRIPTIONS_KEY: 'ab'.repeat(32) },
  keys: await makeTestKeys(),
});

export type Instance = TestInstance<Context>;

const writeToken = await tokenWith('quests:write');
const readToken = await tokenWith('quests:read');

type Verb = 'post' | 'put' | 'patch' | 'delete';

export const get = ({ app }: Pick<Instance, 'app'>, path: string): Test => supertest(app).get(`/v1${path}`);

/** A read with a token that may see drafts. */
export const getDraft = (service: Pick<Instance, 'app'>, path: string): Test =>
  get(service, path).auth(readToken, { type: 'bearer' });

/** A write with a token that has the scope. */
export const write = ({ app }: Pick<Instance, 'app'>, verb: Verb, path: string, body?: object): Test =>
  supertest(app)[verb](`/v1${path}`).auth(writeToken, { type: 'bearer' }).send(body);

/** A question as a client writes it; `more` adds or replaces fields. */
export const question = (title: string, more: object = {}) => ({
  type: 'SINGLE_CHOICE',
  presentation: 'HORIZONTAL',
  titles: [{ languageCode: 'en-US', title }],
  alternatives: [{ titles: [{ languageCode: 'en-US', title: 'Yes' }] }],
  ...more,
});

/** Creates a quest with a question for each title; returns its id. */
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
