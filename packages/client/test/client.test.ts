import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import {
  ApiError,
  apiKey,
  bearer,
  consignments,
  cookieSession,
  iterateChanges,
  iteratePageIndex,
  iteratePageLimit,
  iterateSkipTake,
  questService,
  requestSignature,
  taskManager,
  unwrap,
  verifyProjects,
  walletOperator,
  type StoreWebhooks,
  type StoreWebhooksOperations,
  type TaskManager,
  type TextBody,
  type VerifyProjects,
} from '../src/index.ts';
import type { ChangesQuery } from '../src/pages.ts';
import { startServices } from './services.ts';

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const names = [
  'task-manager',
  'quest-service',
  'verify-projects',
  'consignments',
  'wallet-operator',
] as const;
type Name = (typeof names)[number];
const urls = new Map<string, string>();
const urlOf = (name: Name): string => urls.get(name) ?? '';
const token = (scope: string) => bearer(() => services.keys.token({ scope }));
const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};

beforeAll(async () => {
  await Promise.all(names.map(async (name) => urls.set(name, await services.start(name))));
});

const clientId = '0198c5a0-7e57-7000-8a00-000000000000';

const ann = { email: 'ann@example.test', password: 'correct horse battery' };

test('a cookie session acts as the registered user until it logs out', async () => {
  const tasks = taskManager(urlOf('task-manager'), cookieSession());
  const { user } = await unwrap(tasks.POST('/auth/register', { body: { ...ann, name: 'Ann' } }));
  expect(user.email).toBe(ann.email);
  const created = await unwrap(tasks.POST('/tasks', { body: { title: 'Water the plants' } }));
  const task = await unwrap(tasks.GET('/tasks/{id}', { params: { path: { id: created.id } } }));
  expect(task).toEqual(created);
  await unwrap(tasks.GET('/auth/logout'));
  await expect(unwrap(tasks.GET('/auth/check'))).rejects.toMatchObject({ status: 401 });
});

test('a cookie session sends a cookie only to the host that set it and below its path', async () => {
  const requests: { url: string; cookies: string | null }[] = [];
  const setCookie = [
    'all=1; Path=/',
    'auth=2; Path=/auth; Max-Age=60',
    'own=3',
    'gone=4; Max-Age=0',
    'empty=',
  ];
  const recorded = (request: Request): Promise<Response> => {
    requests.push({ url: request.url, cookies: request.headers.get('Cookie') });
    const headers = new Headers({ 'Content-Type': 'application/json' });
    if (request.url.endsWith('/auth/check')) for (const line of setCookie) headers.append('Set-Cookie', line);
    return Promise.resolve(new Response('{}', { headers }));
  };
  const session = cookieSession();
  const client = createClient<Record<string, { get: { responses: object } }>>({ fetch: recorded });
  client.use(session);
  const addresses = ['/auth/check', '/auth/logout', '/auth', '/authors', '/tasks'].map(
    (path) => `http://a.test${path}`,
  );
  for (const url of [...addresses, 'http://b.test/auth/logout']) await client.GET(url);
  expect(requests.map(({ cookies }) => cookies)).toEqual([
    null,
    'all=1; auth=2; own=3',
    'all=1; auth=2; own=3',
    'all=1',
    'all=1',
    null,
  ]);
});

test('an access token works without cookies, and an error has status, code and body', async () => {
  const url = urlOf('task-manager');
  const { accessToken } = await unwrap(taskManager(url).POST('/auth/login', { body: ann }));
  const tasks = taskManager(url, bearer(accessToken));
  await expect(unwrap(tasks.GET('/auth/check'))).resolves.toMatchObject({ user: { email: ann.email } });
  const refusal = await unwrap(tasks.POST('/tasks', { body: { title: '' } })).catch(
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal).toMatchObject({
    status: 400,
    code: 'validation_failed',
    body: { errors: { title: expect.arrayContaining(['must not be blank']) } },
  });
});

test.each(['text/html', 'text/plain', 'application/x-ndjson', 'application/json'])(
  'an error response of a proxy whose body is %s becomes an ApiError with its status',
  async (type) => {
    const proxy = createServer((_, res) => res.writeHead(503, { 'Content-Type': type }).end('"busy"'));
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const tasks = taskManager(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    const error = await unwrap(tasks.GET('/tasks')).catch((caught: unknown) => caught);
    proxy.close();
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 503 });
  },
);

test('an invalid token is refused', async () => {
  const tasks = taskManager(urlOf('task-manager'), bearer('nobody'));
  await expect(unwrap(tasks.GET('/tasks'))).rejects.toMatchObject({ status: 401 });
});

test.each([1, 2, 3, 100])('iterateSkipTake returns every question in order, %i per page', async (take) => {
  const quests = questService(urlOf('quest-service'), token('quests:write'));
  const { questId } = await unwrap(quests.POST('/quests', { body: { title: 'Breakfast' } }));
  const path = { questId };
  const question = (title: string) => ({
    type: 'OPEN_TEXT' as const,
    presentation: 'VERTICAL' as const,
    titles: [{ languageCode: 'en-US', title }],
  });
  const titles = ['Tea?', 'Toast?', 'Jam?', 'Seconds?'];
  await unwrap(quests.PUT('/quests/{questId}/questions', { params: { path }, body: titles.map(question) }));
  const pages = iterateSkipTake(
    (query) => quests.GET('/quests/{questId}/questions', { params: { path, query } }),
    take,
  );
  expect((await collect(pages)).map((question) => question.titles[0]?.title)).toEqual(titles);
});

test('iterateChanges with an API key returns every project, also those that change meanwhile; an unknown key is refused', async () => {
  const admin = verifyProjects(urlOf('verify-projects'), token('verify:admin'));
  for (const name of ['One', 'Two', 'Three']) {
    const body = { name, source_language: 'en', target_languages: ['de'] };
    await unwrap(admin.POST('/projects', { body }));
  }
  const { key } = await unwrap(
    admin.POST('/api-keys', { body: { name: 'reader', scopes: ['verify:read'] } }),
  );
  const reader = verifyProjects(urlOf('verify-projects'), apiKey(key));
  const walk = (limit: number, since?: string) =>
    iterateChanges('projects', (query) => reader.GET('/projects', { params: { query } }), since, limit);
  const projects = await collect(walk(50));
  expect(projects.map(({ name }) => name)).toEqual(['One', 'Two', 'Three']);
  for (const limit of [1, 2, 3]) expect(await collect(walk(limit))).toEqual(projects);
  expect(await collect(walk(1, projects[1]?.updated_at))).toEqual(projects.slice(1));

  const names: string[] = [];
  for await (const { id, name } of walk(1)) {
    names.push(name);
    if (names.length > 1) continue;
    // A reader by page number would miss the second project, which is now on the page that was read.
    await unwrap(admin.PATCH('/projects/{id}', { params: { path: { id } }, body: { name: 'Changed' } }));
  }
  expect(names).toEqual(['One', 'Two', 'Three', 'Changed']);
  const stranger = verifyProjects(urlOf('verify-projects'), apiKey('vk_live_nothing'));
  const refused = iterateChanges('projects', (query) => stranger.GET('/projects', { params: { query } }));
  await expect(collect(refused)).rejects.toMatchObject({ status: 401 });
});

test('iterateChanges returns all items when many have the same time', async () => {
  const items = Array.from({ length: 7 }, (_, n) => ({ id: String(n), updated_at: n < 6 ? 'a' : 'b' }));
  const fetchPage = ({ page, limit, modified_after: after = '' }: ChangesQuery) => {
    const matching = items.filter(({ updated_at: at }) => at >= after);
    const end = page * limit;
    const data = { items: matching.slice(end - limit, end), page: { has_more: end < matching.length } };
    return Promise.resolve({ data, response: new Response() });
  };
  for (const limit of [1, 2, 3, 6, 7, 10])
    expect(await collect(iterateChanges('items', fetchPage, undefined, limit))).toEqual(items);
});

test('iterateChanges misses no item when one of many items with the same time changes meanwhile', async () => {
  let items = Array.from({ length: 7 }, (_, n) => ({ id: String(n), updated_at: 'a' }));
  const fetchPage = ({ page, limit, modified_after: after = '' }: ChangesQuery) => {
    const matching = items.filter(({ updated_at: at }) => at >= after);
    const end = page * limit;
    const data = { items: matching.slice(end - limit, end), page: { has_more: end < matching.length } };
    // Item 0 moves to the end, so item 4 moves to page 2, which has been read.
    if (page === 2) items = [...items.filter(({ id }) => id !== '0'), { id: '0', updated_at: 'b' }];
    return Promise.resolve({ data, response: new Response() });
  };
  const read = await collect(iterateChanges('items', fetchPage, undefined, 2));
  expect(new Set(read.map(({ id, updated_at: at }) => id + at))).toEqual(
    new Set(['0a', '1a', '2a', '3a', '4a', '5a', '6a', '0b']),
  );
});

test('iteratePageLimit returns every task of a user', async () => {
  const { accessToken } = await unwrap(
    taskManager(urlOf('task-manager')).POST('/auth/register', {
      body: { ...ann, email: 'bob@example.test' },
    }),
  );
  const tasks = taskManager(urlOf('task-manager'), bearer(accessToken));
  for (const title of ['A', 'B', 'C']) await unwrap(tasks.POST('/tasks', { body: { title } }));
  for (const limit of [1, 2, 3]) {
    const query = (page: object) => ({ params: { query: { ...page, sort: 'title' as const } } });
    const pages = iteratePageLimit('tasks', (page) => tasks.GET('/tasks', query(page)), limit);
    expect((await collect(pages)).map(({ title }) => title)).toEqual(['A', 'B', 'C']);
  }
});

test('iteratePageIndex returns every warehouse', async () => {
  const client = consignments(urlOf('consignments'), token('consignments:read consignments:write'));
  for (const code of ['A', 'B', 'C']) {
    await unwrap(
      client.POST('/warehouses', {
        body: { code, name: `Warehouse ${code}`, city: 'Bremen', countryCode: 'DE' },
      }),
    );
  }
  for (const size of [1, 2, 3, 500]) {
    const warehouses = await collect(
      iteratePageIndex('warehouses', (query) => client.GET('/warehouses', { params: { query } }), size),
    );
    expect(warehouses.map(({ code }) => code)).toEqual(['C', 'B', 'A']);
  }
});

test('an import sends NDJSON as text or as a stream, and its result lines are read as either', async () => {
  const client = consignments(urlOf('consignments'), token('consignments:read consignments:write'));
  const lines = ['CN-1', 'CN-2', ''].map(
    (consignmentNumber) => `${JSON.stringify({ consignmentNumber, clientId, clientName: 'Van Dijk' })}\n`,
  );
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const post = (body: TextBody) => client.POST('/consignments/import', { body, headers });
  const results = async (text: Promise<string>) =>
    (await text)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { line: number; id?: string; error?: string })
      .map(({ line, error = 'stored' }) => [line, error]);

  const outcomes = [
    [1, 'stored'],
    [2, 'stored'],
    [3, 'validation_failed'],
  ];
  expect(await results(unwrap(post(lines.join(''))))).toEqual(outcomes);
  expect((await post('')).response.headers.get('Import-Id')).toMatch(/^[\w-]{36}$/);
  const stream = ReadableStream.from(lines.map((line) => new TextEncoder().encode(line)));
  const imported = unwrap(client.POST('/consignments/import', { body: stream, headers, parseAs: 'stream' }));
  expect(await results(new Response(await imported).text())).toEqual(outcomes);
  await expect(
    unwrap(client.POST('/consignments/import', { body: 'no JSON', headers: {} })),
  ).rejects.toMatchObject({
    status: 415,
    code: 'unsupported_media_type',
  });
});

test('a statement is sent as CSV, and a summary is read as CSV', async () => {
  const wallet = walletOperator(urlOf('wallet-operator'), token('wallet:admin wallet:read'));
  const period = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z' };
  const columns = 'transactionId,playerId,operation,amount,currency';
  const { lines } = await unwrap(
    wallet.POST('/v1/reconciliations', {
      params: { query: period },
      headers: { 'Content-Type': 'text/csv' },
      body: `${columns}\nt-9,demo-1,debit,1.00,EUR\n`,
    }),
  );
  expect(lines).toBe(1);
  const query = { from: '2026-11-01', to: '2026-11-01' };
  const summary = await unwrap(wallet.GET('/v1/audit/summary.csv', { params: { query } }));
  expect(summary).toMatch(/^day,currency,.*\r\n$/);
  const tooLong = { from: '2026-01-01', to: '2026-11-01' };
  await expect(
    unwrap(wallet.GET('/v1/audit/summary.csv', { params: { query: tooLong } })),
  ).rejects.toMatchObject({ status: 400, code: 'validation_failed' });
});

test('wallet-operator accepts a signed callback, and refuses one signed with another secret', async () => {
  const admin = walletOperator(urlOf('wallet-operator'), token('wallet:admin'));
  const playerId = 'Zoë/1';
  await unwrap(admin.POST('/v1/players', { body: { playerId, currency: 'EUR' } }));
  const path = { playerId };
  await unwrap(
    admin.POST('/v1/players/{playerId}/deposits', {
      params: { path },
      body: { transactionId: 't-1', amount: '5.00' },
    }),
  );
  const body = { requestId: 'r-1', playerId };
  const game = walletOperator(urlOf('wallet-operator'), requestSignature(services.secret));
  expect(await unwrap(game.POST('/callback/balance', { body }))).toEqual({
    requestId: 'r-1',
    status: 'OK',
    balance: '5.00',
  });
  const forger = walletOperator(urlOf('wallet-operator'), requestSignature('a guess'));
  await expect(unwrap(forger.POST('/callback/balance', { body }))).rejects.toMatchObject({
    status: 401,
    body: { status: 'ERROR_INVALID_SIGNATURE' },
  });
});

test('the types let a caller send back what it read, and leave out fields with a default', () => {
  type Webhooks = StoreWebhooks['schemas'];
  type Verify = VerifyProjects['schemas'];
  type Filters = NonNullable<StoreWebhooksOperations['listEvents']['parameters']['query']>;
  expectTypeOf<Webhooks['Store']['pos']['kind']>().toExtend<Webhooks['PosProvider']['kind']>();
  expectTypeOf<Webhooks['Store']['identity'][number]['kind']>().toExtend<
    Webhooks['IdentityProvider']['kind']
  >();
  expectTypeOf<Webhooks['RegisteredPayment']['service']>().toExtend<Webhooks['Payment']['service']>();
  expectTypeOf<Webhooks['Event']['event']>().toExtend<Filters['event']>();
  expectTypeOf<Verify['ApiKey']['scopes']>().toExtend<Verify['ApiKeyInput']['scopes']>();
  expectTypeOf<{ title: string }>().toExtend<TaskManager['schemas']['NewTask']>();
});
