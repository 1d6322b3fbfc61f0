/** The examples of README.md, so that they are compiled; readme.test.ts compares the two. */
import type { FileHandle } from 'node:fs/promises';
import {
  apiKey,
  bearer,
  consignments,
  cookieSession,
  exportList,
  followChanges,
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
  type Consignments,
} from '../src/index.ts';

export const createTask = async () => {
  const tasks = taskManager('http://127.0.0.1:8080', cookieSession());
  await unwrap(
    tasks.POST('/auth/register', { body: { email: 'ada@example.test', password: 'correct horse battery' } }),
  );
  const task = await unwrap(tasks.POST('/tasks', { body: { title: 'Water the plants', tags: ['home'] } }));
  await unwrap(tasks.PATCH('/tasks/{id}', { params: { path: { id: task.id } }, body: { status: 'done' } }));
  const { data, error, response } = await tasks.GET('/tasks/{id}', { params: { path: { id: task.id } } });
  if (response.status === 404) throw new Error('another request deleted the task', { cause: error });
  return data?.title;
};

export const readBalance = async (url: string, secret: string) => {
  const wallet = walletOperator(url, requestSignature(secret));
  const { balance } = await unwrap(
    wallet.POST('/callback/balance', { body: { requestId: 'r-1', playerId: 'demo-1' } }),
  );
  return balance;
};

export const lists = async (url: string, questId: string, key: string, token: string, userToken: string) => {
  const titles: (string | undefined)[] = [];
  const names = new Map<string, string>();
  const todo: string[] = [];
  const numbers: string[] = [];
  const quests = questService(url);
  for await (const question of iterateSkipTake((query) =>
    quests.GET('/quests/{questId}/questions', { params: { path: { questId }, query } }),
  ))
    titles.push(question.titles[0]?.title);
  const projects = verifyProjects(url, apiKey(key));
  for await (const project of iterateChanges('projects', (query) =>
    projects.GET('/projects', { params: { query: { ...query, status: 'active' } } }),
  ))
    names.set(project.id, project.name);
  const tasks = taskManager(url, bearer(userToken));
  for await (const task of iteratePageLimit('tasks', (query) => tasks.GET('/tasks', { params: { query } })))
    todo.push(task.title);
  const shipping = consignments(url, bearer(token));
  for await (const consignment of iteratePageIndex('consignments', (query) =>
    shipping.GET('/consignments', { params: { query: { ...query, SearchText: 'bremen' } } }),
  ))
    numbers.push(consignment.consignmentNumber);
  return [titles, names, todo, numbers];
};

type StockItem = Consignments['schemas']['InventoryItem'];

/** Keeps a copy of the stock until `signal` aborts; `store` is called with the copy and the cursor. */
export const copyStock = async (
  url: string,
  token: string,
  store: (stock: ReadonlyMap<string, number>, next: string) => Promise<void>,
  signal: AbortSignal,
) => {
  const shipping = consignments(url, bearer(token));
  const stock = new Map<string, number>();
  const { cursor, items } = await exportList<StockItem>(
    shipping.GET('/feeds/consignments/inventory/export', { parseAs: 'stream' }),
  );
  for await (const item of items) stock.set(item.id, item.quantity);
  const pages = followChanges(
    (query, end) => shipping.GET('/feeds/consignments/inventory', { params: { query }, signal: end }),
    { after: cursor, signal },
  );
  for await (const { changes, next } of pages) {
    for (const { id, item } of changes)
      if (item) stock.set(id, item.quantity);
      else stock.delete(id);
    await store(stock, next);
  }
  return stock;
};

export const texts = async (url: string, token: string, lines: string[], file: Blob, output: FileHandle) => {
  const shipping = consignments(url, bearer(token));
  const wallet = walletOperator(url, bearer(token));
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const results = await unwrap(shipping.POST('/consignments/import', { body: lines.join('\n'), headers }));
  const outcomes = results
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  const imported = shipping.POST('/consignments/import', { body: file.stream(), headers, parseAs: 'stream' });
  for await (const chunk of (await unwrap(imported)) ?? []) await output.write(chunk);
  const csv = await unwrap(
    wallet.GET('/v1/audit/summary.csv', { params: { query: { from: '2026-11-01', to: '2026-11-30' } } }),
  );
  return [outcomes, csv];
};
