import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createList, newEmail, register, startService } from '../../test/harness.ts';
import { startLeftovers } from './leftovers.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const unknownId = '01900000-0000-7000-8000-0000000000ff';
/** A list with an owner, an editor and a viewer. */
const createFamily = async () => {
  const [ada, ben, cleo] = [
    await register(service.app),
    await register(service.app),
    await register(service.app),
  ];
  const list = await createList(ada);
  await list.join(ben, 'editor');
  await list.join(cleo, 'viewer');
  const create = async (task: object = {}) =>
    (
      await ada
        .as('post', '/tasks')
        .send({ title: 'Buy bread', listId: list.id, ...task })
        .expect(201)
    ).body;
  return { ada, ben, cleo, list, create };
};

/** Status and error code of a response. */
const outcome = async (answer: PromiseLike<{ status: number; body: { code?: string } }>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

describe('a list', () => {
  test('shows its members the role and status of all members, keyed by email address', async () => {
    const { ada, ben, cleo, list } = await createFamily();
    const guest = newEmail();
    await list.invite(guest, 'viewer').expect(200);
    for (const { as } of [ada, ben, cleo]) {
      const { body } = await as('get', list.path).expect(200);
      expect(body).toMatchObject({ id: list.id, name: 'Household' });
      expect(body.members).toEqual({
        [ada.email]: { role: 'owner', status: 'joined', userId: ada.user.id, name: null },
        [ben.email]: { role: 'editor', status: 'joined', userId: ben.user.id, name: null },
        [cleo.email]: { role: 'viewer', status: 'joined', userId: cleo.user.id, name: null },
        [guest]: { role: 'viewer', status: 'invited', userId: null, name: null },
      });
      expect((await as('get', '/lists').expect(200)).body).toEqual({
        lists: [body],
        page: { number: 1, limit: 50, has_more: false },
      });
    }
  });

  test('is 404 in every operation for users who are not members, even if they are invited', async () => {
    const { ada, list, create } = await createFamily();
    const { id } = await create();
    const eve = await register(service.app);
    const guest = await register(service.app);
    await list.invite(guest.email, 'editor').expect(200);
    for (const { as, user } of [eve, guest]) {
      const answers = [
        as('get', list.path),
        as('get', `${list.path}/invitations`),
        as('patch', list.path).send({ name: 'Mine' }),
        as('patch', list.path).send({ members: { [eve.email]: { role: 'owner' } } }),
        as('patch', list.path).send({ members: { [guest.email]: null } }),
        as('delete', list.path),
        as('get', `/tasks?list=${list.id}`),
        as('get', `/tasks?list=${list.id}&q=bread&page=3`),
        as('post', '/tasks').send({ title: 'Mine', listId: list.id }),
        as('get', `/tasks/${id}`),
        as('patch', `/tasks/${id}`).send({ assigneeId: user.id }),
        as('delete', `/tasks/${id}`),
        as('get', `/lists/${unknownId}`),
      ];
      for (const answer of answers) expect(await outcome(answer)).toEqual([404, 'not_found']);
      expect((await as('get', '/lists')).body.lists).toEqual([]);
      expect((await as('get', '/tasks')).body.tasks).toEqual([]);
    }
    expect((await ada.as('get', `/tasks/${id}`)).status).toBe(200);
  });

  test('lets a viewer read, an editor change tasks, and an owner do everything', async () => {
    const { ada, ben, cleo, list, create } = await createFamily();
    const { id } = await create();
    const sendRequests = ({ as }: typeof ada) => [
      as('get', `/tasks?list=${list.id}`),
      as('get', `/tasks/${id}`),
      as('post', '/tasks').send({ title: 'More', listId: list.id }),
      as('patch', `/tasks/${id}`).send({ title: `${Math.random()}` }),
      as('delete', `/tasks/${id}`).set('If-Match', '"0"'),
      as('patch', list.path).send({ name: `${Math.random()}` }),
      as('patch', list.path).send({ members: { [newEmail()]: { role: 'viewer' } } }),
      as('get', `${list.path}/invitations`),
      as('delete', list.path).set('If-Match', '"0"'),
    ];
    const statuses = async (user: typeof ada) => {
      const collected = [];
      for (const answer of sendRequests(user)) collected.push((await answer).status);
      return collected;
    };
    expect(await statuses(cleo)).toEqual([200, 200, 403, 403, 403, 403, 403, 403, 412]);
    expect(await statuses(ben)).toEqual([200, 200, 201, 200, 412, 403, 403, 403, 412]);
    expect(await statuses(ada)).toEqual([200, 200, 201, 200, 412, 200, 200, 200, 412]);
    expect(await outcome(ben.as('delete', list.path))).toEqual([403, 'role_required']);
    expect(await outcome(cleo.as('post', '/tasks').send({ title: 'x', listId: list.id }))).toEqual([
      403,
      'role_required',
    ]);
  });

  test('is deleted with its tasks, invitations and members, and other tasks stay', async () => {
    const { ada, ben, list, create } = await createFamily();
    const { id } = await create();
    const guest = await list.invite(newEmail()).then(() => register(service.app));
    await list.invite(guest.email).expect(200);
    const code = await list.codeFor(guest.email);
    await ada.as('post', '/tasks').send({ title: 'My own' }).expect(201);
    await ada.as('delete', list.path).expect(204);
    for (const { as } of [ada, ben])
      for (const path of [list.path, `/tasks/${id}`, `/tasks?list=${list.id}`])
        expect((await as('get', path)).status).toBe(404);
    expect(await outcome(guest.as('post', '/lists/join').send({ code }))).toEqual([404, 'not_found']);
    expect((await ada.as('get', '/tasks')).body.tasks).toHaveLength(1);
    const { sql } = service.context.database;
    expect(await sql`select from tasks where owner_id = ${list.id}`).toHaveLength(0);
    expect(await sql`select from list_members where list_id = ${list.id}`).toHaveLength(0);
  });

  test('refuses invalid input and names the field', async () => {
    const { ada, list } = await createFamily();
    const refusals: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ name: 'nul\0' }, 'name'],
      [{ name: null }, 'name'],
      [{ id: unknownId }, 'id'],
      [{ members: [] }, 'members'],
      [{ members: { 'no address': { role: 'viewer' } } }, 'members.no address'],
      [{ members: { 'a@example.test\0': { role: 'viewer' } } }, 'members.a@example.test\0'],
      [{ members: { 'a@example.test': { role: 'admin' } } }, 'members.a@example.test.role'],
      [{ members: { 'a@example.test': {} } }, 'members.a@example.test.role'],
      [
        { members: { 'a@example.test': { role: 'viewer', userId: unknownId } } },
        'members.a@example.test.userId',
      ],
      // Too many are refused without validating each.
      ...['@example.test', ' is no address'].map((rest): [object, string] => [
        {
          members: Object.fromEntries(
            Array.from({ length: 51 }, (_, n) => [`m${n}${rest}`, { role: 'viewer' }]),
          ),
        },
        'members',
      ]),
    ];
    for (const [patch, field] of refusals) {
      const { status, body } = await ada.as('patch', list.path).send(patch);
      expect([patch, status, Object.keys(body.errors ?? {})]).toEqual([patch, 400, [field]]);
    }
    for (const name of ['', undefined, 5])
      expect((await ada.as('post', '/lists').send({ name })).status).toBe(400);
  });

  test('is created once for an Idempotency-Key, and changed only with its ETag in If-Match', async () => {
    const ada = await register(service.app);
    const create = () => ada.as('post', '/lists').set('Idempotency-Key', 'k').send({ name: 'Once' });
    const first = await create().expect(201);
    expect((await create().expect(201)).body).toEqual(first.body);
    expect((await ada.as('get', '/lists')).body.lists).toHaveLength(1);
    const path = `/lists/${first.body.id}`;
    const etag = String(first.headers['etag']);
    await ada.as('get', path).set('If-None-Match', etag).expect(304);
    await ada.as('patch', path).set('If-Match', etag).send({ name: 'Twice' }).expect(200);
    expect(await outcome(ada.as('patch', path).set('If-Match', etag).send({ name: 'No' }))).toEqual([
      412,
      'stale',
    ]);
    const { body } = await ada.as('get', path);
    expect((await ada.as('patch', path).send({ name: 'Twice', members: {} })).body).toEqual(body);
  });
});

describe('the number of', () => {
  test('lists of a user is limited to 50, also when 60 are created and accepted at once', async () => {
    const [ada, ben] = [await register(service.app), await register(service.app)];
    const lists = [];
    for (let n = 0; n < 3; n++) lists.push(await createList(ben));
    const codes = [];
    for (const list of lists) {
      await list.invite(ada.email).expect(200);
      codes.push(await list.codeFor(ada.email));
    }
    const answers = await Promise.all([
      ...codes.map((code) => ada.as('post', '/lists/join').send({ code })),
      ...Array.from({ length: 57 }, (_, n) => ada.as('post', '/lists').send({ name: `List ${n}` })),
    ]);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.code)).toEqual(refused.map(() => 'too_many_lists'));
    expect(refused).toHaveLength(10);
    expect((await ada.as('get', '/lists?limit=200')).body.lists).toHaveLength(50);
  });

  test('members and invitations of a list is limited to 50, also when two owners invite at once', async () => {
    const { ada, ben, list } = await createFamily();
    await ada
      .as('patch', list.path)
      .send({ members: { [ben.email]: { role: 'owner' } } })
      .expect(200);
    const invitations = (prefix: string) =>
      Object.fromEntries(
        Array.from({ length: 24 }, (_, n) => [`${prefix}${n}@example.test`, { role: 'viewer' }]),
      );
    const answers = await Promise.all(
      [ada, ben].map(({ as }, n) => as('patch', list.path).send({ members: invitations(`side${n}-`) })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(answers.flatMap(({ body }) => body.code ?? [])).toEqual(['too_many_members']);
    const { body } = await ada.as('get', list.path);
    expect(Object.keys(body.members)).toHaveLength(27);
  });

  test('tasks in all lists that a user owns together has the limit of one user', async () => {
    await using small = await startService({ variables: { MAX_TASKS_PER_USER: '2' } });
    const [ada, ben] = [await register(small.app), await register(small.app)];
    const [list, other, bens] = [await createList(ada), await createList(ada), await createList(ben)];
    await list.join(ben, 'editor');
    const create = (listId: string | null, user = ada) =>
      user.as('post', '/tasks').send({ title: 'x', listId });
    for (const listId of [list.id, null, other.id, null]) await create(listId).expect(201);
    for (const listId of [list.id, other.id, null])
      expect(await outcome(create(listId))).toEqual([409, 'too_many_tasks']);
    await create(bens.id, ben).expect(201);
    expect(await outcome(create(list.id, ben))).toEqual([409, 'too_many_tasks']);
  });
});

/** Adds tasks to a list. */
const insertTasks = (listId: string, count: number, assigneeId: string | null = null) => service.context
  .database.sql`
  insert into tasks (owner_id, id, list_id, title, description, status, priority, tags, assignee_id, created_at, updated_at, version)
  select ${listId}, uuidv7(), ${listId}, 'x', '', 'todo', 'low', '{}', ${assigneeId}, now(), now(), 1
  from generate_series(1, ${count})`;

test('removing a member unassigns all their tasks, however many, in statements of at most 200 rows', async () => {
  const { ada, ben, list } = await createFamily();
  const { sql } = service.context.database;
  const assignedTasks = 702;
  await insertTasks(list.id, assignedTasks, ben.user.id);
  await sql.unsafe(`
    create table statements (changed int);
    create function count_changed() returns trigger language plpgsql as
      'begin insert into statements select count(*) from changed; return null; end';
    create trigger counted after update on tasks referencing new table as changed
      for each statement execute function count_changed()`);
  await using _background = startLeftovers(service.context);
  await ada
    .as('patch', list.path)
    .send({ members: { [ben.email]: null } })
    .expect(200);
  await expect
    .poll(() => sql`select from tasks where owner_id = ${list.id} and assignee_id is null and version = 2`)
    .toHaveLength(assignedTasks);
  const changed = await sql<{ changed: number }[]>`select changed from statements`;
  await sql`drop trigger counted on tasks`;
  expect(Math.max(...changed.map((row) => row.changed))).toBe(200);
  await expect.poll(() => sql`select from list_leftovers`).toHaveLength(0);
});

test('a member who joins again before all their tasks are unassigned keeps the remaining tasks', async () => {
  const { ada, ben, list } = await createFamily();
  const { sql } = service.context.database;
  await insertTasks(list.id, 250, ben.user.id);
  await ada
    .as('patch', list.path)
    .send({ members: { [ben.email]: null } })
    .expect(200);
  await list.join(ben, 'editor');
  await using _background = startLeftovers(service.context);
  await expect.poll(() => sql`select from list_leftovers`).toHaveLength(0);
  expect(await sql`select from tasks where assignee_id = ${ben.user.id}`).toHaveLength(50);
});

test('a deleted list disappears at once; its tasks are deleted in the background, however many', async () => {
  const { ada, list } = await createFamily();
  const { sql } = service.context.database;
  await insertTasks(list.id, 2100);
  await ada.as('delete', list.path).expect(204);
  expect((await ada.as('get', `/tasks?list=${list.id}`)).status).toBe(404);
  expect((await ada.as('get', '/tasks')).body.tasks).toEqual([]);
  await using _background = startLeftovers(service.context);
  await expect.poll(() => sql`select from tasks where owner_id = ${list.id}`).toHaveLength(0);
});

describe('an owner', () => {
  test('cannot leave or become an editor as the last owner, also when two owners try at once', async () => {
    const { ada, ben, list } = await createFamily();
    const change = ({ as, email }: typeof ada, member: object | null) =>
      as('patch', list.path).send({ members: { [email]: member } });
    for (const member of [null, { role: 'editor' }])
      expect(await outcome(change(ada, member))).toEqual([409, 'last_owner']);
    await list.invite(newEmail(), 'owner').expect(200);
    expect(await outcome(change(ada, null))).toEqual([409, 'last_owner']);
    await ada
      .as('patch', list.path)
      .send({ members: { [ben.email]: { role: 'owner' } } })
      .expect(200);
    const answers = await Promise.all([change(ada, null), change(ben, null)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  test('can hand over the list and leave in one request, and then has no access', async () => {
    const { ada, ben, list } = await createFamily();
    const members = { [ben.email]: { role: 'owner' }, [ada.email]: null };
    const { body } = await ada.as('patch', list.path).send({ members }).expect(200);
    expect(Object.keys(body.members)).not.toContain(ada.email);
    expect((await ada.as('get', list.path)).status).toBe(404);
    expect((await ben.as('patch', list.path).send({ name: 'Ours' })).status).toBe(200);
  });
});

describe('a member', () => {
  test('can leave, but cannot remove others in the same request', async () => {
    const { ben, cleo, list } = await createFamily();
    const both = { [ben.email]: null, [cleo.email]: null };
    expect(await outcome(cleo.as('patch', list.path).send({ members: both }))).toEqual([
      403,
      'role_required',
    ]);
    expect(
      await outcome(cleo.as('patch', list.path).send({ name: 'x', members: { [cleo.email]: null } })),
    ).toEqual([403, 'role_required']);
    const leave = () => cleo.as('patch', list.path).send({ members: { [cleo.email.toUpperCase()]: null } });
    await leave().expect(200);
    expect(await outcome(leave())).toEqual([404, 'not_found']);
  });

  test('who is removed is unknownId’s assignee any more, which is a new version of the tasks', async () => {
    const { ada, ben, list, create } = await createFamily();
    const task = await create({ assigneeId: ben.user.id });
    const other = await create({ assigneeId: ada.user.id });
    await ada
      .as('patch', list.path)
      .send({ members: { [ben.email]: null } })
      .expect(200);
    expect((await ada.as('get', `/tasks/${task.id}`)).body).toMatchObject({ assigneeId: null, version: 2 });
    expect((await ada.as('get', `/tasks/${other.id}`)).body).toEqual(other);
    expect(await outcome(ben.as('get', `/tasks/${task.id}`))).toEqual([404, 'not_found']);
  });
});

describe('a task', () => {
  test('belongs either to a list or to its user, and appears nowhere else', async () => {
    const { ada, ben, list, create } = await createFamily();
    const task = await create({ assigneeId: ben.user.id, tags: ['market'] });
    expect(task).toMatchObject({ listId: list.id, assigneeId: ben.user.id, version: 1 });
    const { body: ownTask } = await ada.as('post', '/tasks').send({ title: 'My own' }).expect(201);
    expect(ownTask).toMatchObject({ listId: null, assigneeId: null });
    const second = await createList(ada);
    const tasks = async (query: string) => (await ada.as('get', `/tasks${query}`).expect(200)).body.tasks;
    expect(await tasks('')).toEqual([ownTask]);
    for (const filter of ['', '&status=todo,done', '&q=bre', '&tag=market', `&assignee=${ben.user.id}`])
      expect(await tasks(`?list=${list.id}${filter}`)).toEqual([task]);
    expect(await tasks(`?list=${list.id}&assignee=${ada.user.id}`)).toEqual([]);
    expect(await tasks(`?list=${second.id}`)).toEqual([]);
    const { status } = await ben.as('patch', `/tasks/${task.id}`).send({ listId: second.id });
    expect(status).toBe(400);
    await ben.as('delete', `/tasks/${task.id}`).expect(204);
    expect(await tasks(`?list=${list.id}`)).toEqual([]);
  });

  test('can be assigned only to members', async () => {
    const { ada, ben, list, create } = await createFamily();
    const eve = await register(service.app);
    await list.invite(eve.email).expect(200);
    const { id } = await create();
    const { body: ownTask } = await ada.as('post', '/tasks').send({ title: 'My own' });
    const answers = [
      ...[eve.user.id, unknownId].flatMap((assigneeId) => [
        ada.as('patch', `/tasks/${id}`).send({ assigneeId }),
        ada.as('post', '/tasks').send({ title: 'x', listId: list.id, assigneeId }),
      ]),
      ada.as('post', '/tasks').send({ title: 'x', assigneeId: ada.user.id }),
      ada.as('patch', `/tasks/${ownTask.id}`).send({ assigneeId: ada.user.id }),
      ada.as('patch', `/tasks/${id}`).send({ assigneeId: 'ben' }),
      ada.as('patch', `/tasks/${id}`).send({ assigneeId: 'nul\0' }),
    ];
    for (const answer of answers) {
      const { status, body } = await answer;
      expect([status, Object.keys(body.errors)]).toEqual([400, ['assigneeId']]);
    }
    const assign = (assigneeId: string | null) =>
      ada.as('patch', `/tasks/${id}`).send({ assigneeId }).expect(200);
    expect((await assign(ben.user.id.toUpperCase())).body.assigneeId).toBe(ben.user.id);
    expect((await assign(null)).body.assigneeId).toBeNull();
  });

  test('list of a member is 401 after logout, not 404', async () => {
    const { ben, list } = await createFamily();
    await ben.as('get', '/auth/logout');
    for (const query of [`list=${list.id}`, `list=${unknownId}`, `list=${list.id}&q=x`])
      expect(await outcome(ben.as('get', `/tasks?${query}`))).toEqual([401, 'invalid_token']);
  });
});
