import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';
import type { Task } from './schema.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
let all: Task[];

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
  all = (await ada.as('get', '/tasks?limit=200')).body.tasks;
});
afterAll(() => service[Symbol.asyncDispose]());

const list = async (query: string) => {
  const { status, body } = await ada.as('get', `/tasks?${query}`);
  expect(status).toBe(200);
  return body as { tasks: Task[]; page: { number: number; limit: number; has_more: boolean } };
};
const ids = (tasks: Task[]) => tasks.map(({ id }) => id);

/** The documented order, implemented without SQL. */
const ordered = (tasks: Task[], field: keyof Task, sign: 1 | -1) => {
  const rank = (task: Task) => (field === 'priority' ? priorities.indexOf(task.priority) : task[field]);
  const compare = (a: Task, b: Task): number => {
    const [one, other] = [rank(a), rank(b)];
    if (one === other) return a.id < b.id ? -1 : 1;
    if (one === null || other === null) return one === null ? 1 : -1;
    const order = field === 'title' ? String(one).localeCompare(String(other), 'und') : one < other ? -1 : 1;
    return order * sign;
  };
  return ids(tasks.toSorted(compare));
};

describe('a list', () => {
  test('has the tasks of the user, newest first', () => {
    expect(all).toHaveLength(42);
    expect(ids(all)).toEqual(ordered(all, 'createdAt', -1));
  });

  test.each(['createdAt', 'updatedAt', 'dueDate', 'priority', 'title'] as const)(
    'by %s is in order both ways: equals by id, nothing due last',
    async (field) => {
      expect(ids((await list(`limit=200&sort=${field}`)).tasks)).toEqual(ordered(all, field, 1));
      expect(ids((await list(`limit=200&sort=-${field}`)).tasks)).toEqual(ordered(all, field, -1));
    },
  );

  test.each(['dueDate', '-priority', '-title'])(
    'by %s falls into pages without gap or overlap',
    async (sort) => {
      const found: string[] = [];
      for (let page = 1; page <= 5; page++) {
        const { tasks, page: shown } = await list(`sort=${sort}&limit=10&page=${page}`);
        expect(shown).toEqual({ number: page, limit: 10, has_more: page < 5 });
        found.push(...ids(tasks));
      }
      expect(found).toEqual(ids((await list(`sort=${sort}&limit=200`)).tasks));
    },
  );

  test('has has_more false on its last page, full or not, and nothing beyond', async () => {
    expect((await list('limit=42')).page).toEqual({ number: 1, limit: 42, has_more: false });
    expect((await list('limit=41')).page.has_more).toBe(true);
    expect(await list('limit=42&page=2')).toEqual({
      tasks: [],
      page: { number: 2, limit: 42, has_more: false },
    });
    expect((await list('page=100000&limit=200')).tasks).toEqual([]);
  });

  test('is not cached for other users', async () => {
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

  test('is 401 after logout although the request is invalid', async () => {
    const { as } = await register(service.app);
    await as('get', '/auth/logout');
    expect((await as('get', '/tasks?sort=owner')).body).toMatchObject({ status: 401, code: 'invalid_token' });
  });

  test('has 50 tasks a page by default', async () => {
    expect((await list('')).page).toEqual({ number: 1, limit: 50, has_more: false });
  });
});

describe('a filter', () => {
  const beginsWith =
    (start: string) =>
    ({ description }: Task): boolean =>
      description.split(/[^a-z0-9]+/).some((word) => word.startsWith(start));
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
    ['q=shop-3', beginsWith('3')],
    ['q=write+shop-2@example.test', beginsWith('2')],
    ['q=%25', () => false],
    ["q='%20or%2077=77", () => false],
    ['q=:*%20%26%20!%20()%20|%20%5C', () => false],
    [
      'status=todo&priority=low&tag=all&q=call',
      ({ status, priority }) => status === 'todo' && priority === 'low',
    ],
  ];

  test.each(filters)('%s returns exactly the matching tasks', async (query, fits) => {
    expect(ids((await list(`${query}&limit=200`)).tasks)).toEqual(ids(all.filter(fits)));
  });
});

describe('a list is refused by name for', () => {
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
