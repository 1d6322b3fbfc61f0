import { createHash } from 'node:crypto';
import supertest from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  at,
  bearerOf,
  createList,
  goodPassword,
  newEmail,
  register,
  startService,
} from '../../test/harness.ts';
import { startWithMail } from '../../test/mail-harness.ts';
import { startErasure } from './deletion.ts';

let service: Awaited<ReturnType<typeof startWithMail>>;
/** Another replica. */
let other: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startWithMail();
  const { databaseUrl, variables } = service;
  other = await startService({ databaseUrl, variables: { SMTP_URL: variables['SMTP_URL'] ?? '' } });
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const login = (email: string, app = other.app) =>
  supertest(app).post(at('/auth/login')).send({ email, password: goodPassword });
type User = Awaited<ReturnType<typeof register>>;
const deleteAccount = ({ as }: User) => as('post', '/auth/me/delete');
const eventKinds = async (as: User['as']): Promise<string[]> =>
  (await as('get', '/auth/security-events')).body.events.map(({ kind }: { kind: string }) => kind);
/** Moves the deletion 14 days into the past, so that the erasure is due. */
const makeErasureDue = ({ user }: User) => service.context.database.sql`
  update users set deletion_at = deletion_at - interval '14 days 1 minute' where id = ${user.id}`;

/** Runs the erasure of both replicas until the user is erased. */
const erase = async ({ user }: User): Promise<void> => {
  const { sql } = service.context.database;
  await using _first = startErasure(service.context);
  await using _second = startErasure(other.context);
  await expect.poll(() => sql`select from users where id = ${user.id}`).toHaveLength(0);
};

/** All rows of the database, and all keys of Redis with their values and remaining seconds. */
const readEverything = async () => {
  const { database, redis } = service.context;
  const tables = await database.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = current_schema()`;
  const rows = [];
  for (const { name } of tables)
    for (const { row } of await database.sql<
      { row: string }[]
    >`select t::text as row from ${database.sql(name)} t`)
      rows.push(`${name} ${row}`);
  const entries = [];
  for (const key of (await redis?.keys('task-manager:*')) ?? []) {
    const value = (await redis?.type(key)) === 'hash' ? await redis?.hgetall(key) : await redis?.get(key);
    entries.push({ text: `${key} ${JSON.stringify(value)}`, seconds: (await redis?.ttl(key)) ?? 0 });
  }
  expect(tables.length).toBeGreaterThan(8);
  return { rows, entries };
};

test('a deletion ends every session on every replica at once, and a login cancels it; both send a mail', async () => {
  const ada = await register(service.app);
  await service.lastMailTo(ada.email);
  const second = bearerOf(other.app, String((await login(ada.email)).body.accessToken));
  const { status, body } = await deleteAccount(ada);
  expect([status, Math.round((Date.parse(body.erasedAt) - Date.now()) / 86_400_000)]).toEqual([200, 14]);
  for (const as of [ada.as, second, bearerOf(other.app, ada.token)])
    expect((await as('get', '/tasks')).status).toBe(401);
  expect((await supertest(other.app).post(at('/auth/refresh')).set('Cookie', ada.cookies)).status).toBe(401);
  expect((await deleteAccount(ada)).status).toBe(401);
  expect((await service.lastMailTo(ada.email, 2)).subject).toBe('Your account will be deleted');
  const again = await login(ada.email);
  expect(again.status).toBe(200);
  expect((await service.lastMailTo(ada.email, 3)).subject).toBe('Your account stays');
  const kinds = await eventKinds(bearerOf(other.app, String(again.body.accessToken)));
  expect(kinds).toEqual(expect.arrayContaining(['deletion_requested', 'deletion_undone']));
  await makeErasureDue(ada);
  await using _erasure = startErasure(service.context);
  await login(ada.email).expect(200);
  expect(await service.settled('deletion_undone')).toHaveLength(1);
});

test('a deletion needs a password entered within ten minutes', async () => {
  const ada = await register(service.app);
  await service.context.database.sql`
    update sessions set authenticated_at = now() - interval '11 minutes' where user_id = ${ada.user.id}`;
  const { status, body } = await deleteAccount(ada);
  expect([status, body.code]).toEqual([403, 'reauthentication_required']);
  expect((await ada.as('get', '/auth/check')).status).toBe(200);
});

test('after 14 days no data of the user is left in the database, and in Redis none that stays longer than a day', async () => {
  const { sql } = service.context.database;
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const name = `Ada-${ada.user.id.slice(-8)}`;
  await ada.as('patch', '/auth/me').send({ name }).expect(200);
  const title = `Secret of ${name}`;
  await ada.as('post', '/tasks').set('Idempotency-Key', 'k').send({ title }).expect(201);
  const [list, invited] = [await createList(ada, `Of ${name}`), await createList(ben)];
  await ada.as('post', '/tasks').send({ title, listId: list.id }).expect(201);
  await list.invite(newEmail());
  await invited.invite(ada.email).expect(200);
  await ada.as('post', '/auth/email').send({ newEmail: newEmail() }).expect(202);
  await login(ada.email).expect(200);
  const md5 = createHash('md5').update(ada.email).digest('hex');
  const mailOwner = [8, 4, 4, 4, 12].reduce<[string[], number]>(
    ([groups, from], length) => [[...groups, md5.slice(from, from + length)], from + length],
    [[], 0],
  )[0];
  const ids = [ada.user.id, list.id];
  const values = [...ids, ada.email, name, title, mailOwner.join('-')];
  const before = (await readEverything()).rows.join('\n');
  for (const value of values) expect(before).toContain(value);
  await deleteAccount(ada).expect(200);
  await service.settled('deletion_requested');
  await makeErasureDue(ada);
  await erase(ada);
  const { rows, entries } = await readEverything();
  for (const value of values) {
    // The change log of the feed keeps the ids of deleted records and of their owner until consumers have read them.
    const isLogged = (row: string) => ids.includes(value) && row.startsWith('feed_');
    expect(rows.filter((row) => row.includes(value) && !isLogged(row))).toEqual([]);
    const kept = entries.filter(
      ({ text, seconds }) => text.includes(value) && (seconds < 0 || seconds > 86_400),
    );
    expect(kept).toEqual([]);
  }
  expect(await sql`select from users where id = ${ben.user.id}`).toHaveLength(1);
  expect((await ben.as('get', '/lists')).body.lists).toHaveLength(1);
  // The address is free again.
  expect((await register(service.app, ada.email)).answer.status).toBe(201);
});

test('a shared list stays with another owner, or passes to the editor who was invited first; without an editor it is erased', async () => {
  const [ada, ben, cleo, dan] = [
    await register(service.app),
    await register(service.app),
    await register(service.app),
    await register(service.app),
  ];
  const [passed, owned, erased] = [await createList(ada), await createList(ada), await createList(ada)];
  await passed.join(dan, 'viewer');
  await passed.join(cleo, 'editor');
  await passed.join(ben, 'editor');
  await owned.join(ben, 'owner');
  await owned.join(cleo, 'editor');
  await erased.join(dan, 'viewer');
  const task = { title: 'Water the plants', listId: passed.id, assigneeId: ada.user.id };
  const { body } = await ada.as('post', '/tasks').send(task).expect(201);
  await deleteAccount(ada).expect(200);
  await makeErasureDue(ada);
  await erase(ada);
  const rolesIn = async ({ path }: { path: string }, reader: User) => {
    const answer = await reader.as('get', path);
    const members = Object.entries((answer.body.members ?? {}) as Record<string, { role: string }>);
    return [answer.status, Object.fromEntries(members.map(([email, { role }]) => [email, role]))];
  };
  expect(await rolesIn(passed, cleo)).toEqual([
    200,
    { [dan.email]: 'viewer', [cleo.email]: 'owner', [ben.email]: 'editor' },
  ]);
  expect(await rolesIn(owned, cleo)).toEqual([200, { [ben.email]: 'owner', [cleo.email]: 'editor' }]);
  expect(await rolesIn(erased, dan)).toEqual([404, {}]);
  expect((await cleo.as('get', `/tasks/${body.id}`)).body).toMatchObject({ assigneeId: null, version: 2 });
});

test('two replicas erase a user with more rows than one transaction deletes, and no rows of others', async () => {
  const { sql } = service.context.database;
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const list = await createList(ada);
  for (const [owner, listId] of [
    [ada.user.id, null],
    [list.id, list.id],
    [ben.user.id, null],
  ] as const)
    await sql`
      insert into tasks (owner_id, id, list_id, title, description, status, priority, tags, created_at, updated_at, version)
      select ${owner}, uuidv7(), ${listId}, 'x', '', 'todo', 'medium', '{}', now(), now(), 1 from generate_series(1, 2100)`;
  await deleteAccount(ada).expect(200);
  await makeErasureDue(ada);
  await erase(ada);
  const counts = await sql`select owner_id, count(*)::int from tasks where title = 'x' group by owner_id`;
  expect(counts.map((row) => ({ ...row }))).toEqual([{ owner_id: ben.user.id, count: 2100 }]);
});

test('a failing erasure of one user does not block the erasure of others', async () => {
  const { sql } = service.context.database;
  const failing = [await register(service.app), await register(service.app)];
  const ada = await register(service.app);
  for (const user of [...failing, ada]) {
    await deleteAccount(user).expect(200);
    await makeErasureDue(user);
  }
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger refused before delete on users for each row
      when (old.id in ('${failing.map(({ user }) => user.id).join("','")}')) execute function refuse()`);
  await erase(ada);
  await sql`drop trigger refused on users`;
  for (const user of failing) await erase(user);
});

test('after 14 days a login is answered like that of an unknown address, although the rows still exist', async () => {
  const ada = await register(service.app);
  await deleteAccount(ada).expect(200);
  await makeErasureDue(ada);
  const [late, unknown] = [await login(ada.email), await login(newEmail())];
  const comparable = ({ status, body }: supertest.Response) => [status, { ...body, requestId: '' }];
  expect(comparable(late)).toEqual(comparable(unknown));
  expect(await service.context.database.sql`select from users where id = ${ada.user.id}`).toHaveLength(1);
  await erase(ada);
});

test('a reset code does not set the password of a user whose 14 days are over', async () => {
  const ada = await register(service.app);
  await supertest(service.app).post(at('/auth/password/reset')).send({ email: ada.email }).expect(202);
  const { code } = await service.lastMailTo(ada.email, 2);
  await deleteAccount(ada).expect(200);
  await makeErasureDue(ada);
  const reset = { token: code, newPassword: 'a much better phrase' };
  await supertest(service.app).post(at('/auth/password/reset/confirm')).send(reset).expect(404);
});

test('a login concurrent with the deletion either cancels it or is ended by it', async () => {
  const { sql } = service.context.database;
  for (let round = 0; round < 8; round++) {
    const ada = await register(service.app);
    const [deletion, relogin] = await Promise.all([deleteAccount(ada), login(ada.email)]);
    expect([deletion.status, relogin.status]).toEqual([200, 200]);
    const [user] = await sql<{ isLeaving: boolean; sessions: number }[]>`
      select deletion_at is not null as "isLeaving",
        (select count(*)::int from sessions where user_id = users.id) as sessions from users where id = ${ada.user.id}`;
    expect([0, 1]).toContain(user?.sessions);
    expect(user?.isLeaving).toBe(user?.sessions === 0);
  }
});
