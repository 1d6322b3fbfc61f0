import { openStream } from '@platform/feed/testing';
import postgres from 'postgres';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createList, register, startService, type Registered } from './harness.ts';

interface Page {
  changes: { id: string; action: string; item?: { title: string } }[];
  next: string;
}

const path = '/v1/feeds/task-manager/tasks';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const read = ({ token }: Registered, query: string) =>
  supertest(service.app).get(`${path}${query}`).auth(token, { type: 'bearer' });
const readPage = async (user: Registered, query: string): Promise<Page> =>
  (await read(user, query).expect(200)).body as Page;
const actionsAndTitles = ({ changes }: Page) => changes.map(({ action, item }) => [action, item?.title]);
const createTask = async ({ as }: Registered, title: string, listId: string | null = null): Promise<string> =>
  (await as('post', '/tasks').send({ title, listId }).expect(201)).body.id as string;
const removeMember = ({ as }: Registered, list: { path: string }, { email }: Registered) =>
  as('patch', list.path)
    .send({ members: { [email]: null } })
    .expect(200);

/** Exports the tasks of a user and returns the cursor and the titles. */
const exportTasks = async (user: Registered) => {
  const { text } = await read(user, '/export').buffer(true).expect(200);
  const [first, ...items] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { cursor: string; title: string });
  return { cursor: first?.cursor ?? '', titles: items.map(({ title }) => title).toSorted() };
};

const createFamily = async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const list = await createList(ada);
  await list.join(ben);
  return { ada, ben, list };
};

/** Runs `work` while a read waits for the feed mover: the read was admitted, and no new change has a position yet. */
const whileReadWaits = async <T>(read: () => PromiseLike<T>, work: () => Promise<unknown>): Promise<T> => {
  const other = postgres(service.databaseUrl, { max: 2 });
  onTestFinished(() => other.end());
  const { answer } = await other.begin(async (tx) => {
    await tx`select from feed_state for update`;
    await createTask(await register(service.app), 'Of somebody else');
    const pendingRead = Promise.resolve(read());
    const waiting = () => other`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(waiting).toHaveLength(1);
    await work();
    return { answer: pendingRead };
  });
  return answer;
};

// These tests come first, because a process moves changes for another second after a stream.
test.each([
  ['that ends before the removal', 1, 200],
  ['that reaches the removal', 100, 410],
])(
  'a page %s, read while its user is removed from a list, contains no task of this list',
  async (_, limit, expected) => {
    const { ada, ben, list } = await createFamily();
    const { next } = await readPage(ben, '');
    const { status, text } = await whileReadWaits(
      () => read(ben, `?after=${next}&limit=${limit}`),
      async () => {
        await createTask(ada, 'Before', list.id);
        await removeMember(ada, list, ben);
        await createTask(ada, 'After', list.id);
      },
    );
    expect(status).toBe(expected);
    expect(text).not.toMatch(/Before|After/);
  },
);

test('a stream that starts while its user joins a list contains later changes of this list', async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const list = await createList(ada);
  using stream = await whileReadWaits(
    () => openStream(`${service.url}${path}`, { Cookie: ben.cookies }),
    () => list.join(ben),
  );
  await createTask(ada, 'Bread', list.id);
  expect(JSON.parse((await stream.next()).data)).toMatchObject({ item: { title: 'Bread' } });
});

test('a user with many lists gets smaller pages, because a page reads its first changes from each list', async () => {
  const ada = await register(service.app);
  for (let n = 0; n < 6; n++) await createList(ada);
  const { next } = await readPage(ada, '');
  const { sql } = service.context.database;
  await sql`
    with moved as (update feed_state set position = position + 1000, stamp = 1 returning position)
    insert into feed_log (position, stamp, list, record, owner, action, changed_at)
    select position - n, 1, 'tasks', uuidv7()::text, ${ada.user.id}, 'deleted', now()
    from moved, generate_series(0, 999) n`;
  const sizes = [];
  for (let [after, hasMore] = [next, true]; hasMore;) {
    const page = (await read(ada, `?limit=1000&after=${after}`).expect(200)).body as Page & {
      has_more: boolean;
    };
    sizes.push(page.changes.length);
    [after, hasMore] = [page.next, page.has_more];
  }
  expect(sizes).toEqual([715, 285]);
});

describe('a user follows', () => {
  test('their own tasks and the tasks of their lists, and no others', async () => {
    const { ada, ben, list } = await createFamily();
    const { next } = await readPage(ben, '');
    const ownTask = await createTask(ben, 'Own');
    const shared = await createTask(ada, 'Shared', list.id);
    await createTask(ada, 'Of Ada');
    const page = await readPage(ben, `?after=${next}`);
    expect(page.changes).toMatchObject([
      { id: ownTask, action: 'created' },
      { id: shared, action: 'created' },
    ]);
    expect(page.changes[1]?.item).toEqual((await ben.as('get', `/tasks?list=${list.id}`)).body.tasks[0]);
    expect(actionsAndTitles(await readPage(ada, `?after=${next}`))).toEqual([
      ['created', 'Shared'],
      ['created', 'Of Ada'],
    ]);
    await ada.as('patch', `/tasks/${shared}`).send({ title: 'Changed' }).expect(200);
    await ada.as('delete', `/tasks/${shared}`).expect(204);
    await ben.as('patch', `/tasks/${ownTask}`).send({ status: 'done' }).expect(200);
    expect(actionsAndTitles(await readPage(ben, `?after=${page.next}`))).toEqual([
      ['updated', undefined],
      ['deleted', undefined],
      ['updated', 'Own'],
    ]);
  });

  test('each operation of a batch, but none of a refused batch', async () => {
    const { ada, ben, list } = await createFamily();
    const id = await createTask(ada, 'Old', list.id);
    const { next } = await readPage(ben, '');
    const operations = [
      { op: 'create', task: { title: 'New', listId: list.id } },
      { op: 'patch', id, task: { title: 'Changed' } },
      { op: 'create', task: { title: 'Own' } },
    ];
    const refused = { atomic: true, operations: [...operations, { op: 'delete', id: ada.user.id }] };
    await ada.as('post', '/tasks/batch').send(refused).expect(409);
    await ada.as('post', '/tasks/batch').send({ operations, atomic: true }).expect(200);
    expect(actionsAndTitles(await readPage(ben, `?after=${next}`))).toEqual([
      ['created', 'New'],
      ['updated', 'Changed'],
    ]);
  });

  test('with long polling and as a stream, also with the cookie; both end with the session', async () => {
    const { ada, ben, list } = await createFamily();
    const { next } = await readPage(ben, '');
    const headers = { Cookie: ben.cookies };
    using stream = await openStream(`${service.url}${path}?after=${next}`, headers);
    const waiting = fetch(`${service.url}${path}?after=${next}&wait=25`, { headers });
    await createTask(ada, 'Bread', list.id);
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ item: { title: 'Bread' } });
    const page = (await (await waiting).json()) as Page;
    expect(actionsAndTitles(page)).toEqual([['created', 'Bread']]);
    const refused = fetch(`${service.url}${path}?after=${page.next}&wait=25`, { headers });
    await ben.as('get', '/auth/logout').expect(204);
    await stream.ended;
    await createTask(ada, 'After', list.id);
    expect((await refused).status).toBe(401);
    await read(ben, '').expect(401);
    await read(ben, '/export').expect(401);
  });

  test('until the access token expires', async () => {
    let now = Date.now();
    const options = { databaseUrl: service.databaseUrl, overrides: { now: () => new Date(now) } };
    await using other = await startService(options);
    const ada = await register(other.app);
    using stream = await openStream(`${other.url}${path}`, { Cookie: ada.cookies });
    await expect.poll(() => stream.events.length).toBeGreaterThan(0);
    now += 17 * 60_000;
    await stream.ended;
    expect(stream.events.at(-1)?.retry).toBeDefined();
  });
});

test('an export in several batches has all tasks of the user and of their lists, as NDJSON and CSV', async () => {
  const { ada, ben, list } = await createFamily();
  await service.context.database.sql`
    insert into tasks (owner_id, id, list_id, title, description, status, priority, tags, created_at, updated_at, version)
    select owner, uuidv7(), nullif(owner, ${ben.user.id}::uuid), 'Many', '', 'todo', 'medium', '{}', now(), now(), 1
    from unnest(${[ben.user.id, list.id]}::uuid[]) owner, generate_series(1, 1234)`;
  await createTask(ada, 'Of Ada');
  await createTask(ada, 'Shared', list.id);
  const { cursor, titles } = await exportTasks(ben);
  expect(titles).toEqual([...Array.from({ length: 2468 }, () => 'Many'), 'Shared']);
  await createTask(ada, 'Later', list.id);
  expect(actionsAndTitles(await readPage(ben, `?after=${cursor}`))).toEqual([['created', 'Later']]);
  const { text } = await read(ben, '/export?format=csv').expect(200);
  expect(text.trim().split('\n')).toHaveLength(2471);
});

describe('a user who gains or loses a list', () => {
  const cursorUnknown = { status: 410, body: { code: 'cursor_unknown' } };

  test('must start again with an export, which is complete', async () => {
    const { ada, ben, list } = await createFamily();
    await createTask(ben, 'Own');
    const { cursor } = await exportTasks(ben);
    const other = await createList(ada);
    await createTask(ada, 'Before', other.id);
    expect(actionsAndTitles(await readPage(ben, `?after=${cursor}`))).toEqual([]);
    await other.join(ben, 'viewer');
    expect(await read(ben, `?after=${cursor}`)).toMatchObject(cursorUnknown);
    const joined = await exportTasks(ben);
    expect(joined.titles).toEqual(['Before', 'Own']);
    await createTask(ada, 'After', other.id);
    expect(actionsAndTitles(await readPage(ben, `?after=${joined.cursor}`))).toEqual([['created', 'After']]);
    await ben
      .as('patch', other.path)
      .send({ members: { [ben.email]: null } })
      .expect(200);
    expect(await read(ben, `?after=${joined.cursor}`)).toMatchObject(cursorUnknown);
    const left = await exportTasks(ben);
    expect(left.titles).toEqual(['Own']);
    await ada.as('delete', list.path).expect(204);
    expect(await read(ben, `?after=${left.cursor}`)).toMatchObject(cursorUnknown);
  });

  test('loses streams and long polls without seeing later changes of the lost list', async () => {
    const { ada, ben, list } = await createFamily();
    const { next } = await readPage(ben, '');
    using stream = await openStream(`${service.url}${path}?after=${next}`, { Cookie: ben.cookies });
    await createTask(ada, 'Seen', list.id);
    const { id } = await stream.next();
    const waiting = fetch(`${service.url}${path}?after=${id}&wait=25`, { headers: { Cookie: ben.cookies } });
    await removeMember(ada, list, ben);
    await createTask(ada, 'Hidden', list.id);
    await stream.ended;
    expect((await waiting).status).toBe(410);
    expect(stream.events.filter(({ data }) => data !== undefined)).toHaveLength(1);
    using again = await openStream(`${service.url}${path}`, { Cookie: ben.cookies, 'Last-Event-ID': id });
    expect(again.response.status).toBe(410);
  });

  test('does not include a user whose role or address changes, or whose fellow members change', async () => {
    const { ada, ben, list } = await createFamily();
    const { next } = await readPage(ben, '');
    await list.invite(ben.email, 'viewer').expect(200);
    await service.context.database.sql`
      update list_members set email = 'other-' || email where user_id = ${ben.user.id}`;
    await list.join(await register(service.app));
    await createTask(ada, 'Bread', list.id);
    expect(actionsAndTitles(await readPage(ben, `?after=${next}`))).toEqual([['created', 'Bread']]);
  });
});
