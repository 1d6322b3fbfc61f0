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
const pageOf = async (user: Registered, query: string): Promise<Page> =>
  (await read(user, query).expect(200)).body as Page;
const shown = ({ changes }: Page) => changes.map(({ action, item }) => [action, item?.title]);
const createTask = async ({ as }: Registered, title: string, listId: string | null = null): Promise<string> =>
  (await as('post', '/tasks').send({ title, listId }).expect(201)).body.id as string;
const remove = ({ as }: Registered, list: { path: string }, { email }: Registered) =>
  as('patch', list.path)
    .send({ members: { [email]: null } })
    .expect(200);

/** The cursor of an export, and the titles in it. */
const exportOf = async (user: Registered) => {
  const { text } = await read(user, '/export').buffer(true).expect(200);
  const [first, ...items] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { cursor: string; title: string });
  return { cursor: first?.cursor ?? '', titles: items.map(({ title }) => title).toSorted() };
};

const family = async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const list = await createList(ada);
  await list.join(ben);
  return { ada, ben, list };
};

/** Does something while a read waits for the mover: it has been admitted, and no change has its position yet. */
const whileWaiting = async <T>(ask: () => PromiseLike<T>, work: () => Promise<unknown>): Promise<T> => {
  const other = postgres(service.databaseUrl, { max: 2 });
  onTestFinished(() => other.end());
  const { answer } = await other.begin(async (tx) => {
    await tx`select from feed_state for update`;
    await createTask(await register(service.app), 'Of somebody else');
    const asked = Promise.resolve(ask());
    const waiting = () => other`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(waiting).toHaveLength(1);
    await work();
    return { answer: asked };
  });
  return answer;
};

// These are first, because after a stream a process moves changes for another second.
test.each([
  ['that ends before the loss', 1, 200],
  ['that comes to the loss', 100, 410],
])('a page %s, and is read meanwhile, shows no task of the lost list', async (_, limit, expected) => {
  const { ada, ben, list } = await family();
  const { next } = await pageOf(ben, '');
  const { status, text } = await whileWaiting(
    () => read(ben, `?after=${next}&limit=${limit}`),
    async () => {
      await createTask(ada, 'Before', list.id);
      await remove(ada, list, ben);
      await createTask(ada, 'After', list.id);
    },
  );
  expect(status).toBe(expected);
  expect(text).not.toMatch(/Before|After/);
});

test('a stream that begins while its user gains a list has what is written to it afterwards', async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const list = await createList(ada);
  using stream = await whileWaiting(
    () => openStream(`${service.url}${path}`, { Cookie: ben.cookies }),
    () => list.join(ben),
  );
  await createTask(ada, 'Bread', list.id);
  expect(JSON.parse((await stream.next()).data)).toMatchObject({ item: { title: 'Bread' } });
});

test('who is in many lists gets smaller pages, because each list is read for the first changes of all', async () => {
  const ada = await register(service.app);
  for (let n = 0; n < 6; n++) await createList(ada);
  const { next } = await pageOf(ada, '');
  const { sql } = service.context.database;
  await sql`
    with moved as (update feed_state set position = position + 1000, stamp = 1 returning position)
    insert into feed_log (position, stamp, list, record, owner, action, changed_at)
    select position - n, 1, 'tasks', uuidv7()::text, ${ada.user.id}, 'deleted', now()
    from moved, generate_series(0, 999) n`;
  const sizes = [];
  for (let [after, isMore] = [next, true]; isMore;) {
    const page = (await read(ada, `?limit=1000&after=${after}`).expect(200)).body as Page & {
      has_more: boolean;
    };
    sizes.push(page.changes.length);
    [after, isMore] = [page.next, page.has_more];
  }
  expect(sizes).toEqual([715, 285]);
});

describe('a user follows', () => {
  test('the own tasks and those of the lists that they are in, with the items of the list, and no others', async () => {
    const { ada, ben, list } = await family();
    const { next } = await pageOf(ben, '');
    const own = await createTask(ben, 'Own');
    const shared = await createTask(ada, 'Shared', list.id);
    await createTask(ada, 'Of Ada');
    const page = await pageOf(ben, `?after=${next}`);
    expect(page.changes).toMatchObject([
      { id: own, action: 'created' },
      { id: shared, action: 'created' },
    ]);
    expect(page.changes[1]?.item).toEqual((await ben.as('get', `/tasks?list=${list.id}`)).body.tasks[0]);
    expect(shown(await pageOf(ada, `?after=${next}`))).toEqual([
      ['created', 'Shared'],
      ['created', 'Of Ada'],
    ]);
    await ada.as('patch', `/tasks/${shared}`).send({ title: 'Changed' }).expect(200);
    await ada.as('delete', `/tasks/${shared}`).expect(204);
    await ben.as('patch', `/tasks/${own}`).send({ status: 'done' }).expect(200);
    expect(shown(await pageOf(ben, `?after=${page.next}`))).toEqual([
      ['updated', undefined],
      ['deleted', undefined],
      ['updated', 'Own'],
    ]);
  });

  test('each operation of a batch, and nothing of one that was refused', async () => {
    const { ada, ben, list } = await family();
    const id = await createTask(ada, 'Old', list.id);
    const { next } = await pageOf(ben, '');
    const operations = [
      { op: 'create', task: { title: 'New', listId: list.id } },
      { op: 'patch', id, task: { title: 'Changed' } },
      { op: 'create', task: { title: 'Own' } },
    ];
    const refused = { atomic: true, operations: [...operations, { op: 'delete', id: ada.user.id }] };
    await ada.as('post', '/tasks/batch').send(refused).expect(409);
    await ada.as('post', '/tasks/batch').send({ operations, atomic: true }).expect(200);
    expect(shown(await pageOf(ben, `?after=${next}`))).toEqual([
      ['created', 'New'],
      ['updated', 'Changed'],
    ]);
  });

  test('by waiting and as a stream, also with the cookie; both end with the session', async () => {
    const { ada, ben, list } = await family();
    const { next } = await pageOf(ben, '');
    const headers = { Cookie: ben.cookies };
    using stream = await openStream(`${service.url}${path}?after=${next}`, headers);
    const waiting = fetch(`${service.url}${path}?after=${next}&wait=25`, { headers });
    await createTask(ada, 'Bread', list.id);
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ item: { title: 'Bread' } });
    const page = (await (await waiting).json()) as Page;
    expect(shown(page)).toEqual([['created', 'Bread']]);
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
    const at = { databaseUrl: service.databaseUrl, overrides: { now: () => new Date(now) } };
    await using other = await startService(at);
    const ada = await register(other.app);
    using stream = await openStream(`${other.url}${path}`, { Cookie: ada.cookies });
    await expect.poll(() => stream.all.length).toBeGreaterThan(0);
    now += 17 * 60_000;
    await stream.ended;
    expect(stream.all.at(-1)?.retry).toBeDefined();
  });
});

test('an export has all tasks of the user and of their lists, as NDJSON and CSV, and more of them than a piece of it', async () => {
  const { ada, ben, list } = await family();
  await service.context.database.sql`
    insert into tasks (owner_id, id, list_id, title, description, status, priority, tags, created_at, updated_at, version)
    select owner, uuidv7(), nullif(owner, ${ben.user.id}::uuid), 'Many', '', 'todo', 'medium', '{}', now(), now(), 1
    from unnest(${[ben.user.id, list.id]}::uuid[]) owner, generate_series(1, 1234)`;
  await createTask(ada, 'Of Ada');
  await createTask(ada, 'Shared', list.id);
  const { cursor, titles } = await exportOf(ben);
  expect(titles).toEqual([...Array.from({ length: 2468 }, () => 'Many'), 'Shared']);
  await createTask(ada, 'Later', list.id);
  expect(shown(await pageOf(ben, `?after=${cursor}`))).toEqual([['created', 'Later']]);
  const { text } = await read(ben, '/export?format=csv').expect(200);
  expect(text.trim().split('\n')).toHaveLength(2471);
});

describe('who gains or loses a list', () => {
  const gone = { status: 410, body: { code: 'cursor_unknown' } };

  test('begins again with an export, which is complete', async () => {
    const { ada, ben, list } = await family();
    await createTask(ben, 'Own');
    const { cursor } = await exportOf(ben);
    const other = await createList(ada);
    await createTask(ada, 'Before', other.id);
    expect(shown(await pageOf(ben, `?after=${cursor}`))).toEqual([]);
    await other.join(ben, 'viewer');
    expect(await read(ben, `?after=${cursor}`)).toMatchObject(gone);
    const joined = await exportOf(ben);
    expect(joined.titles).toEqual(['Before', 'Own']);
    await createTask(ada, 'After', other.id);
    expect(shown(await pageOf(ben, `?after=${joined.cursor}`))).toEqual([['created', 'After']]);
    await ben
      .as('patch', other.path)
      .send({ members: { [ben.email]: null } })
      .expect(200);
    expect(await read(ben, `?after=${joined.cursor}`)).toMatchObject(gone);
    const left = await exportOf(ben);
    expect(left.titles).toEqual(['Own']);
    await ada.as('delete', list.path).expect(204);
    expect(await read(ben, `?after=${left.cursor}`)).toMatchObject(gone);
  });

  test('has streams and waits ended without a change of a list that is lost', async () => {
    const { ada, ben, list } = await family();
    const { next } = await pageOf(ben, '');
    using stream = await openStream(`${service.url}${path}?after=${next}`, { Cookie: ben.cookies });
    await createTask(ada, 'Seen', list.id);
    const { id } = await stream.next();
    const waiting = fetch(`${service.url}${path}?after=${id}&wait=25`, { headers: { Cookie: ben.cookies } });
    await remove(ada, list, ben);
    await createTask(ada, 'Hidden', list.id);
    await stream.ended;
    expect((await waiting).status).toBe(410);
    expect(stream.all.filter(({ data }) => data !== undefined)).toHaveLength(1);
    using again = await openStream(`${service.url}${path}`, { Cookie: ben.cookies, 'Last-Event-ID': id });
    expect(again.answer.status).toBe(410);
  });

  test('is not who gets another role or address, or sees others come and go', async () => {
    const { ada, ben, list } = await family();
    const { next } = await pageOf(ben, '');
    await list.invite(ben.email, 'viewer').expect(200);
    await service.context.database.sql`
      update list_members set email = 'other-' || email where user_id = ${ben.user.id}`;
    await list.join(await register(service.app));
    await createTask(ada, 'Bread', list.id);
    expect(shown(await pageOf(ben, `?after=${next}`))).toEqual([['created', 'Bread']]);
  });
});
