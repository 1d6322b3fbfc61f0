import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';
import type { Task } from './schema.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
let allTasks: Task[];

const titles = ['pear', 'Apple', 'apple', 'Zebra', 'émile', 'Eve', 'pear'];
const priorities = ['low', 'medium', 'high', 'urgent'] as const;
const statuses = ['todo', 'in_progress', 'done'] as const;

beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
  const eve = await register(service.app);
  const { sql } = service.context.database;
  for (let n = 0; n < 42; n++) {
    for (const { user } of [ada, eve]) {
      await sql`
        insert into tasks (owner_id, id, title, description, status, priority, due_date, tags, created_at, updated_at, version)
        values (${user.id}, ${uuidv7()}, ${titles[n % 7] ?? ''}, ${`Call +49 30 ${n} or write to shop-${n % 5}@example.test`},
          ${statuses[n % 3] ?? ''}, ${priorities[n % 4] ?? ''}, ${n % 6 === 0 ? null : `2027-01-${10 + (n % 9)}`},
          ${[`tag${n % 4}`, 'all']}, ${new Date(1.8e12 - (n % 10) * 1000).toISOString()}, ${new Date(1.8e12 + (n % 5) * 1000).toISOString()}, 1)`;
    }
  }
  allTasks = (await ada.as('get', '/tasks?limit=200')).body.tasks;
});
afterAll(() => service[Symbol.asyncDispose]());

const list = async (query: string) => {
  const { status, body } = await ada.as('get', `/tasks?${query}`);
  expect(status).toBe(200);
  return body as { tasks: Task[]; page: { number: number; limit: number; has_more: boolean } };
};
const ids = (tasks: Task[]) => tasks.map(({ id }) => id);

/** Ids in the documented order, which is implemented here without SQL. */
const idsInOrder = (tasks: Task[], field: keyof Task, sign: 1 | -1) => {
  const rank = (task: Task) => (field === 'priority' ? priorities.indexOf(task.priority) : task[field]);
  const compare = (a: Task, b: Task): number => {
    const [rankA, rankB] = [rank(a), rank(b)];
    if (rankA === rankB) return a.id < b.id ? -1 : 1;
    if (rankA === null || rankB === null) return rankA === null ? 1 : -1;
    const order =
      field === 'title' ? String(rankA).localeCompare(String(rankB), 'und') : rankA < rankB ? -1 : 1;
    return order * sign;
  };
  return ids(tasks.toSorted(compare));
};

describe('a list', () => {
  test('contains the tasks of the user, newest first', () => {
    expect(allTasks).toHaveLength(42);
    expect(ids(allTasks)).toEqual(idsInOrder(allTasks, 'createdAt', -1));
  });

  test.each(['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'] as const)(
    'sorted by %s is in order in both directions: equal tasks by id, tasks without a due date last',
    async (field) => {
      expect(ids((await list(`limit=200&sort=${field}`)).tasks)).toEqual(idsInOrder(allTasks, field, 1));
      expect(ids((await list(`limit=200&sort=-${field}`)).tasks)).toEqual(idsInOrder(allTasks, field, -1));
    },
  );

  test.each(['dueDate', '-priority', '-title'])(
    'sorted by %s has pages without gaps or overlaps',
    async (sort) => {
      const pagedIds: string[] = [];
      for (let page = 1; page <= 5; page++) {
        const { tasks, page: pageInfo } = await list(`sort=${sort}&limit=10&page=${page}`);
        expect(pageInfo).toEqual({ number: page, limit: 10, has_more: page < 5 });
        pagedIds.push(...ids(tasks));
      }
      expect(pagedIds).toEqual(ids((await list(`sort=${sort}&limit=200`)).tasks));
    },
  );

  test('has has_more false on its last page, full or not, and no tasks after it', async () => {
    expect((await list('limit=42')).page).toEqual({ number: 1, limit: 42, has_more: false });
    expect((await list('limit=41')).page.has_more).toBe(true);
    expect(await list('limit=42&page=2')).toEqual({
      tasks: [],
      page: { number: 2, limit: 42, has_more: false },
    });
    expect((await list('page=100000&limit=200')).tasks).toEqual([]);
  });

  test('is not cached', async () => {
    const answer = await ada.as('get', '/tasks');
    expect(answer.headers['cache-control']).toBe('private, no-store');
  });

  test.each(['/tasks', '/tasks?page=2&status=done&q=x'])(
    'of a user without tasks is empty, and 401 after logout: %s',
    async (path) => {
      const { as } = await register(service.app);
      expect((await as('get', path)).body).toMatchObject({ tasks: [], page: { has_more: false } });
      await as('get', '/auth/logout');
      expect((await as('get', path)).body).toMatchObject({ status: 401, code: 'invalid_token' });
    },
  );

  test('is 401 after logout even if the request is invalid', async () => {
    const { as } = await register(service.app);
    await as('get', '/auth/logout');
    expect((await as('get', '/tasks?sort=owner')).body).toMatchObject({ status: 401, code: 'invalid_token' });
  });

  test('has 50 tasks a page by default', async () => {
    expect((await list('')).page).toEqual({ number: 1, limit: 50, has_more: false });
  });
});

describe('a filter', () => {
  const hasWordWithPrefix =
    (prefix: string) =>
    ({ description }: Task): boolean =>
      description.split(/[^a-z0-9]+/).some((word) => word.startsWith(prefix));
  const filters: [string, (task: Task) => boolean][] = [
    ['status=done', ({ status }) => status === 'done'],
    ['priority=urgent', ({ priority }) => priority === 'urgent'],
    ['tag=tag2', ({ tags }) => tags.includes('tag2')],
    ['tag=tag', () => false],
    ['dueBefore=2027-01-13', ({ dueDate }) => dueDate !== null && dueDate < '2027-01-13'],
    ['dueAfter=2027-01-13', ({ dueDate }) => dueDate !== null && dueDate > '2027-01-13'],
    ['dueAfter=2027-01-11&dueBefore=2027-01-13', ({ dueDate }) => dueDate === '2027-01-12'],
    ['q=apple', ({ title }) => title.toLowerCase() === 'apple'],
    ['q=PEAR+call', ({ title }) => title === 'pear'],
    ['status=done,todo', ({ status }) => status !== 'in_progress'],
    ['status=todo,in_progress,done', () => true],
    ['q=appl', ({ title }) => title.toLowerCase() === 'apple'],
    ['q=pple', () => false],
    ['q=pea+cal+shop-', ({ title }) => title === 'pear'],
    ["q='pea'+%5C%5C'", ({ title }) => title === 'pear'],
    ['q=%C3%A9mile', ({ title }) => title === 'émile'],
    ['q=shop', () => true],
    ['q=shop-3', hasWordWithPrefix('3')],
    ['q=write+shop-2@example.test', hasWordWithPrefix('2')],
    ['q=%25', () => false],
    ["q='%20or%2077=77", () => false],
    ['q=:*%20%26%20!%20()%20|%20%5C', () => false],
    [
      'status=todo&priority=low&tag=all&q=call',
      ({ status, priority }) => status === 'todo' && priority === 'low',
    ],
  ];

  test.each(filters)('%s returns exactly the matching tasks', async (query, matches) => {
    expect(ids((await list(`${query}&limit=200`)).tasks)).toEqual(ids(allTasks.filter(matches)));
  });
});

describe('a list request is refused and the parameter named for', () => {
  const numbers = [
    '-1',
    '01',
    '+1',
    '1.0',
    '1e2',
    '0x1',
    '',
    '%201',
    '1%00',
    'NaN',
    '2147483648',
    '9'.repeat(400),
  ];
  const refusals: [string, string][] = [
    ...numbers.flatMap((number): [string, string][] => [
      ['page', `page=${number}`],
      ['limit', `limit=${number}`],
    ]),
    ['page', 'page=0'],
    ['page', 'page=100001'],
    ['limit', 'limit=0'],
    ['limit', 'limit=201'],
    ['page', 'page=1&page=1'],
    ['status', 'status=todo&status=done'],
    ['status', 'status=,todo'],
    ['status', 'status=todo,todo'],
    ['status', 'status=todo,done,in_progress,todo'],
    ['due', 'due=tomorrow'],
    ['due', 'due=today,week'],
    ['tz', 'due=today&tz=Europe/Atlantis'],
    ['tz', 'due=today&tz=%2B01:00'],
    ['tz', 'tz=europe%00'],
    ['tz', `tz=${'x'.repeat(65)}`],
    ['status', 'status='],
    ['priority', 'priority=LOW'],
    ['tag', 'tag='],
    ['tag', `tag=${'x'.repeat(41)}`],
    ['tag', 'tag=a%00'],
    ['q', 'q='],
    ['q', `q=${'x'.repeat(201)}`],
    ['q', 'q=nul%00'],
    ['dueBefore', 'dueBefore=2027-02-30'],
    ['dueBefore', 'dueBefore=tomorrow'],
    ['dueAfter', 'dueAfter=2027-01-01T00:00:00Z'],
    ['dueAfter', 'dueAfter=0000-12-31'],
    ['sort', 'sort=owner'],
    ['sort', 'sort=--title'],
    ['sort', 'sort=%2Btitle'],
    ['sort', 'sort=title,id'],
    ['sort', 'sort=title;drop%20table%20tasks'],
    ['page[]', 'page[]=1'],
    ['page[]', 'page%5B%5D=1'],
    ['page[x]', 'page[x]=1'],
    ['Page', 'Page=1'],
    ['cursor', 'cursor=x'],
    ['userId', 'userId=01900000-0000-7000-8000-000000000001'],
    ['__proto__', '__proto__=1'],
    ['constructor', 'constructor=1'],
    ['', '=1'],
  ];

  test.each(refusals)('%s: ?%s', async (name, query) => {
    const { status, type, body } = await ada.as('get', `/tasks?${query}`);
    expect([status, type, body.code]).toEqual([400, 'application/problem+json', 'validation_failed']);
    expect(Object.keys(body.errors)).toEqual([name]);
  });

  test.each(['q=%ff', 'q=%ed%a0%80', 'q=%', '%c0%af=1'])('invalid percent-encoding: ?%s', async (query) => {
    const { status, body } = await ada.as('get', `/tasks?${query}`);
    expect([status, body.code]).toEqual([400, 'bad_encoding']);
  });

  test('a URI that is too long', async () => {
    const { status, type } = await ada.as('get', `/tasks?q=${'x'.repeat(9000)}`);
    expect([status, type]).toEqual([414, 'application/problem+json']);
  });
});
