import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  ApiError,
  bearer,
  consignments,
  cookieSession,
  CursorGoneError,
  exportList,
  followChanges,
  taskManager,
  unwrap,
  type FeedQuery,
} from '../src/index.ts';
import { copyStock } from './examples.ts';
import { startServices } from './services.ts';

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
let url = '';
beforeAll(async () => {
  url = await services.start('consignments');
});
beforeEach(() => void vi.useRealTimers());

const client = async () =>
  consignments(url, bearer(await services.keys.token({ scope: 'consignments:write' })));
const item = (quantity: number) => ({
  partnerId: '0198c5a0-7e57-7000-8a00-000000000001',
  partnerProductId: 'tulip-1',
  productCode: 'TULIP',
  description: 'Tulips',
  warehouseId: '0198c5a0-7e57-7000-8b00-000000000001',
  quantity,
  reserved: 0,
});

test('the example in the README copies a list and keeps the copy up to date', async () => {
  const shipping = await client();
  const create = async (quantity: number) =>
    (await unwrap(shipping.POST('/inventory', { body: item(quantity) }))).id;
  const path = (id: string) => ({ params: { path: { id } } });
  const [changed, deleted] = [await create(1), await create(2)];
  const end = new AbortController();
  const token = await services.keys.token({ scope: 'consignments:read' });
  let created = '';
  let stored = '';
  const change = (quantity: number) =>
    unwrap(shipping.PATCH('/inventory/{id}', { ...path(changed), body: { quantity } }));
  // Changes the item until the first followed change is stored: earlier changes are in the export.
  const changeUntilFollowed = async () => {
    for (let quantity = 100; stored === ''; quantity++) await change(quantity);
  };
  const changing = changeUntilFollowed();
  const steps = [
    () => changing.then(() => change(99)),
    async () => (created = await create(3)),
    () => change(10),
    () => unwrap(shipping.DELETE('/inventory/{id}', path(deleted))),
  ];
  const copying = copyStock(
    url,
    token,
    async (stock, next) => {
      stored = next;
      await steps.shift()?.();
      if (stock.get(changed) === 10 && stock.has(created) && !stock.has(deleted)) end.abort();
    },
    end.signal,
  );
  expect(await copying).toEqual(
    new Map([
      [changed, 10],
      [created, 3],
    ]),
  );
  const after = await unwrap(
    shipping.GET('/feeds/consignments/inventory', { params: { query: { after: stored } } }),
  );
  expect(after.changes).toEqual([]);
});

test('an export can be read while it arrives', async () => {
  const call = (await client()).GET('/feeds/consignments/warehouses/export', { parseAs: 'stream' });
  const { cursor, items } = await exportList<{ id: string }>(call);
  expect(cursor).toMatch(/^[\w-]{43}$/);
  const ids = [];
  for await (const { id } of items) ids.push(id);
  expect(ids).toEqual([]);
});

test('a user exports and follows tasks below another base path than that of the other operations', async () => {
  const tasks = taskManager(await services.start('task-manager'), cookieSession());
  const create = (title: string) => unwrap(tasks.POST('/tasks', { body: { title } }));
  const user = { email: 'ann@example.test', password: 'correct horse battery' };
  await unwrap(tasks.POST('/auth/register', { body: user }));
  const first = await create('Water the plants');
  const { cursor, items } = await exportList(
    tasks.GET('/feeds/task-manager/tasks/export', { parseAs: 'stream' }),
  );
  expect(await items.next()).toEqual({ value: first, done: false });
  const second = await create('Cook');
  const pages = followChanges(
    (query, signal) => tasks.GET('/feeds/task-manager/tasks', { params: { query }, signal }),
    { after: cursor },
  );
  expect((await pages.next()).value).toMatchObject({ changes: [{ action: 'created', item: second }] });
});

test('an unknown cursor throws an error with the address of the export to start again from', async () => {
  const shipping = await client();
  const pages = followChanges(
    (query, signal) => shipping.GET('/feeds/consignments/partners', { params: { query }, signal }),
    { after: 'A'.repeat(43) },
  );
  const error = await pages.next().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CursorGoneError);
  expect(error).toMatchObject({
    status: 410,
    code: 'cursor_unknown',
    exportUrl: `${url}/v1/feeds/consignments/partners/export`,
  });
});

const answer = (status: number, data: object, headers: Record<string, string> = {}) => {
  const response = new Response(null, { status, headers });
  Object.defineProperty(response, 'url', { value: 'http://a.test/v1/feeds/a/b' });
  return response.ok ? { data: data as never, response } : { error: data, response };
};

test('a transient failure is retried with the same cursor, with growing pauses and not before Retry-After', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  // The shortest pauses: half of 1, 2 and 4 s.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const queries: FeedQuery[] = [];
  const retried: unknown[] = [];
  const answers = [
    () => answer(200, { changes: [1], next: 'b', has_more: false }),
    () => Promise.reject(new TypeError('fetch failed')),
    () => answer(503, { code: 'too_busy' }, { 'Retry-After': '7' }),
    () => answer(429, {}),
    () => answer(200, { changes: [2], next: 'c', has_more: false }),
    () => answer(403, { code: 'insufficient_scope' }),
  ];
  const pages = followChanges<number>(
    async (query) => {
      queries.push(query);
      return (await answers.shift()?.()) ?? answer(500, {});
    },
    { after: 'a', onRetry: (error) => retried.push(error) },
  );
  expect((await pages.next()).value).toEqual({ changes: [1], next: 'b' });
  const second = pages.next();
  for (const [ms, requests] of [
    [499, 2],
    [1, 3],
    [6999, 3],
    [1, 4],
    [1999, 4],
    [1, 5],
  ] as const) {
    await vi.advanceTimersByTimeAsync(ms);
    expect(queries).toHaveLength(requests);
  }
  expect((await second).value).toEqual({ changes: [2], next: 'c' });
  expect(queries.map(({ after }) => after)).toEqual(['a', 'b', 'b', 'b', 'b']);
  expect(retried).toMatchObject([{ message: 'fetch failed' }, { status: 503 }, { status: 429 }]);
  await expect(pages.next()).rejects.toThrow(ApiError);
});

test('an abort ends the iteration while it waits for a response and during a pause', async () => {
  for (const fetchPage of [
    (_: FeedQuery, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      ),
    () => Promise.reject(new TypeError('fetch failed')),
  ]) {
    const end = new AbortController();
    const next = followChanges(fetchPage, { signal: end.signal }).next();
    await Promise.resolve();
    end.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  }
});
