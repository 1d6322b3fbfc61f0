import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createList, newEmail, register, startService } from '../../test/harness.ts';
import { startLeftovers } from './leftovers.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const nobody = '01900000-0000-7000-8000-0000000000ff';
const family = async () => {
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

/** Status and code of an answer. */
const outcome = async (answer: PromiseLike<{ status: number; body: { code?: string } }>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

describe('a list', () => {
  test('is read by its members with role and state of all, by their addresses', async () => {
    const { ada, ben, cleo, list } = await family();
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

  test('of somebody else is 404 in every operation, also for who is invited only', async () => {
    const { ada, list, create } = await family();
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
        as('get', `/lists/${nobody}`),
      ];
      for (const answer of answers) expect(await outcome(answer)).toEqual([404, 'not_found']);
      expect((await as('get', '/lists')).body.lists).toEqual([]);
      expect((await as('get', '/tasks')).body.tasks).toEqual([]);
    }
    expect((await ada.as('get', `/tasks/${id}`)).status).toBe(200);
  });

  test('lets a viewer read, an editor change tasks, and an owner do everything', async () => {
    const { ada, ben, cleo, list, create } = await family();
    const { id } = await create();
    const asked = ({ as }: typeof ada) => [
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
      const all = [];
      for (const answer of asked(user)) all.push((await answer).status);
      return all;
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

  test('is deleted with its tasks, invitations and members, and no other task', async () => {
    const { ada, ben, list, create } = await family();
    const { id } = await create();
    const code = await list.invite(newEmail()).then(() => register(service.app));
    await list.invite(code.email).expect(200);
    const secret = await list.codeFor(code.email);
    await ada.as('post', '/tasks').send({ title: 'My own' }).expect(201);
    await ada.as('delete', list.path).expect(204);
    for (const { as } of [ada, ben])
      for (const path of [list.path, `/tasks/${id}`, `/tasks?list=${list.id}`])
        expect((await as('get', path)).status).toBe(404);
    expect(await outcome(code.as('post', '/lists/join').send({ code: secret }))).toEqual([404, 'not_found']);
    expect((await ada.as('get', '/tasks')).body.tasks).toHaveLength(1);
    const { sql } = service.context.database;
    expect(await sql`select from tasks where owner_id = ${list.id}`).toHaveLength(0);
    expect(await sql`select from list_members where list_id = ${list.id}`).toHaveLength(0);
  });

  test('refuses bad input by name', async () => {
    const { ada, list } = await family();
    const refusals: [object, string][] = [
      [{ name: '' }, 'name'],
      [{ name: ' ' }, 'name'],
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ name: 'nul\0' }, 'name'],
      [{ name: null }, 'name'],
      [{ id: nobody }, 'id'],
      [{ members: [] }, 'members'],
      [{ members: { 'no address': { role: 'viewer' } } }, 'members.no address'],
      [{ members: { 'a@example.test\0': { role: 'viewer' } } }, 'members.a@example.test\0'],
      [{ members: { 'a@example.test': { role: 'admin' } } }, 'members.a@example.test.role'],
      [{ members: { 'a@example.test': {} } }, 'members.a@example.test.role'],
      [
        { members: { 'a@example.test': { role: 'viewer', userId: nobody } } },
        'members.a@example.test.userId',
      ],
      [
        {
          members: Object.fromEntries(
            Array.from({ length: 51 }, (_, n) => [`m${n}@example.test`, { role: 'viewer' }]),
          ),
        },
        'members',
      ],
    ];
    for (const [patch, name] of refusals) {
      const { status, body } = await ada.as('patch', list.path).send(patch);
      expect([patch, status, Object.keys(body.errors ?? {})]).toEqual([patch, 400, [name]]);
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
  test('lists of a user is 50, also when 60 are created and accepted at once', async () => {
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

  test('members and invitations of a list is 50, also when two owners invite at once', async () => {
    const { ada, ben, list } = await family();
    await ada
      .as('patch', list.path)
      .send({ members: { [ben.email]: { role: 'owner' } } })
      .expect(200);
    const some = (who: string) =>
      Object.fromEntries(
        Array.from({ length: 24 }, (_, n) => [`${who}${n}@example.test`, { role: 'viewer' }]),
      );
    const answers = await Promise.all(
      [ada, ben].map(({ as }, n) => as('patch', list.path).send({ members: some(`side${n}-`) })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect(answers.flatMap(({ body }) => body.code ?? [])).toEqual(['too_many_members']);
    const { body } = await ada.as('get', list.path);
    expect(Object.keys(body.members)).toHaveLength(27);
  });

  test('tasks of all lists of a user together is that of a user', async () => {
    await using small = await startService({ variables: { MAX_TASKS_PER_USER: '2' } });
    const [ada, ben] = [await register(small.app), await register(small.app)];
    const [list, other, bens] = [await createList(ada), await createList(ada), await createList(ben)];
    await list.join(ben, 'editor');
    const create = (listId: string | null, { as } = ada) => as('post', '/tasks').send({ title: 'x', listId });
    for (const listId of [list.id, null, other.id, null]) await create(listId).expect(201);
    for (const listId of [list.id, other.id, null])
      expect(await outcome(create(listId))).toEqual([409, 'too_many_tasks']);
    await create(bens.id, ben).expect(201);
    expect(await outcome(create(list.id, ben))).toEqual([409, 'too_many_tasks']);
  });
});

/** Adds tasks to a list. */
const fill = (listId: string, count: number, assigneeId: string | null = null) => service.context.database
  .sql`
  insert into tasks (owner_id, id, list_id, title, description, status, priority, tags, assignee_id, created_at, updated_at, version)
  select ${listId}, uuidv7(), ${listId}, 'x', '', 'todo', 'low', '{}', ${assigneeId}, now(), now(), 1
  from generate_series(1, ${count})`;

test('a member who is removed has no task any more, however many there were, and no statement changes all of them', async () => {
  const { ada, ben, list } = await family();
  const { sql } = service.context.database;
  const assigned = 702;
  await fill(list.id, assigned, ben.user.id);
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
    .toHaveLength(assigned);
  const changed = await sql<{ changed: number }[]>`select changed from statements`;
  await sql`drop trigger counted on tasks`;
  expect(Math.max(...changed.map((row) => row.changed))).toBe(200);
  await expect.poll(() => sql`select from list_leftovers`).toHaveLength(0);
});

test('a member who joins again before all their tasks are unassigned keeps those that they have', async () => {
  const { ada, ben, list } = await family();
  const { sql } = service.context.database;
  await fill(list.id, 250, ben.user.id);
  await ada
    .as('patch', list.path)
    .send({ members: { [ben.email]: null } })
    .expect(200);
  await list.join(ben, 'editor');
  await using _background = startLeftovers(service.context);
  await expect.poll(() => sql`select from list_leftovers`).toHaveLength(0);
  expect(await sql`select from tasks where assignee_id = ${ben.user.id}`).toHaveLength(50);
});

test('a list that is deleted is gone at once, and its tasks however many they are', async () => {
  const { ada, list } = await family();
  const { sql } = service.context.database;
  await fill(list.id, 2100);
  await ada.as('delete', list.path).expect(204);
  expect((await ada.as('get', `/tasks?list=${list.id}`)).status).toBe(404);
  expect((await ada.as('get', '/tasks')).body.tasks).toEqual([]);
  await using _background = startLeftovers(service.context);
  await expect.poll(() => sql`select from tasks where owner_id = ${list.id}`).toHaveLength(0);
});

describe('an owner', () => {
  test('cannot be the last one to leave or to become an editor, also when two do so at once', async () => {
    const { ada, ben, list } = await family();
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

  test('hands the list over and leaves, and cannot come back', async () => {
    const { ada, ben, list } = await family();
    const members = { [ben.email]: { role: 'owner' }, [ada.email]: null };
    const { body } = await ada.as('patch', list.path).send({ members }).expect(200);
    expect(Object.keys(body.members)).not.toContain(ada.email);
    expect((await ada.as('get', list.path)).status).toBe(404);
    expect((await ben.as('patch', list.path).send({ name: 'Ours' })).status).toBe(200);
  });
});

describe('a member', () => {
  test('leaves, and may not remove others on the way', async () => {
    const { ben, cleo, list } = await family();
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

  test('who is removed is nobody’s assignee any more, which is a new version of the tasks', async () => {
    const { ada, ben, list, create } = await family();
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
  test('belongs to a list or to its user, and no other list shows it', async () => {
    const { ada, ben, list, create } = await family();
    const task = await create({ assigneeId: ben.user.id, tags: ['market'] });
    expect(task).toMatchObject({ listId: list.id, assigneeId: ben.user.id, version: 1 });
    const { body: own } = await ada.as('post', '/tasks').send({ title: 'My own' }).expect(201);
    expect(own).toMatchObject({ listId: null, assigneeId: null });
    const second = await createList(ada);
    const tasks = async (query: string) => (await ada.as('get', `/tasks${query}`).expect(200)).body.tasks;
    expect(await tasks('')).toEqual([own]);
    for (const filter of ['', '&status=todo,done', '&q=bre', '&tag=market', `&assignee=${ben.user.id}`])
      expect(await tasks(`?list=${list.id}${filter}`)).toEqual([task]);
    expect(await tasks(`?list=${list.id}&assignee=${ada.user.id}`)).toEqual([]);
    expect(await tasks(`?list=${second.id}`)).toEqual([]);
    const { status } = await ben.as('patch', `/tasks/${task.id}`).send({ listId: second.id });
    expect(status).toBe(400);
    await ben.as('delete', `/tasks/${task.id}`).expect(204);
    expect(await tasks(`?list=${list.id}`)).toEqual([]);
  });

  test('is assigned to members only', async () => {
    const { ada, ben, list, create } = await family();
    const eve = await register(service.app);
    await list.invite(eve.email).expect(200);
    const { id } = await create();
    const { body: own } = await ada.as('post', '/tasks').send({ title: 'My own' });
    const answers = [
      ...[eve.user.id, nobody].flatMap((assigneeId) => [
        ada.as('patch', `/tasks/${id}`).send({ assigneeId }),
        ada.as('post', '/tasks').send({ title: 'x', listId: list.id, assigneeId }),
      ]),
      ada.as('post', '/tasks').send({ title: 'x', assigneeId: ada.user.id }),
      ada.as('patch', `/tasks/${own.id}`).send({ assigneeId: ada.user.id }),
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
    const { ben, list } = await family();
    await ben.as('get', '/auth/logout');
    for (const query of [`list=${list.id}`, `list=${nobody}`, `list=${list.id}&q=x`])
      expect(await outcome(ben.as('get', `/tasks?${query}`))).toEqual([401, 'invalid_token']);
  });
});
