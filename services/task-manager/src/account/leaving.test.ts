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
import { startErasure } from './leaving.ts';

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
const leave = ({ as }: User) => as('post', '/auth/me/delete');
const kindsOf = async (as: User['as']): Promise<string[]> =>
  (await as('get', '/auth/security-events')).body.events.map(({ kind }: { kind: string }) => kind);
/** Lets the 14 days pass. */
const passTime = ({ user }: User) => service.context.database.sql`
  update users set deletion_at = deletion_at - interval '14 days 1 minute' where id = ${user.id}`;

/** Runs the erasure of both replicas until a user is gone. */
const erase = async ({ user }: User): Promise<void> => {
  const { sql } = service.context.database;
  await using _one = startErasure(service.context);
  await using _two = startErasure(other.context);
  await expect.poll(() => sql`select from users where id = ${user.id}`).toHaveLength(0);
};

/** All rows of the database, and all keys of Redis with what they hold and for how many seconds. */
const everything = async () => {
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
    const held = (await redis?.type(key)) === 'hash' ? await redis?.hgetall(key) : await redis?.get(key);
    entries.push({ text: `${key} ${JSON.stringify(held)}`, seconds: (await redis?.ttl(key)) ?? 0 });
  }
  expect(tables.length).toBeGreaterThan(8);
  return { rows, entries };
};

test('leaving ends every session on every replica at once, and a login takes it back; there is a mail both times', async () => {
  const ada = await register(service.app);
  await service.lastMailTo(ada.email);
  const second = bearerOf(other.app, String((await login(ada.email)).body.accessToken));
  const { status, body } = await leave(ada);
  expect([status, Math.round((Date.parse(body.erasedAt) - Date.now()) / 86_400_000)]).toEqual([200, 14]);
  for (const as of [ada.as, second, bearerOf(other.app, ada.token)])
    expect((await as('get', '/tasks')).status).toBe(401);
  expect((await supertest(other.app).post(at('/auth/refresh')).set('Cookie', ada.cookies)).status).toBe(401);
  expect((await leave(ada)).status).toBe(401);
  expect((await service.lastMailTo(ada.email, 2)).subject).toBe('Your account will be deleted');
  const again = await login(ada.email);
  expect(again.status).toBe(200);
  expect((await service.lastMailTo(ada.email, 3)).subject).toBe('Your account stays');
  const kinds = await kindsOf(bearerOf(other.app, String(again.body.accessToken)));
  expect(kinds).toEqual(expect.arrayContaining(['deletion_requested', 'deletion_undone']));
  await passTime(ada);
  await using _erasure = startErasure(service.context);
  await login(ada.email).expect(200);
  expect(await service.settled('deletion_undone')).toHaveLength(1);
});

test('leaving needs a password of the last ten minutes', async () => {
  const ada = await register(service.app);
  await service.context.database.sql`
    update sessions set authenticated_at = now() - interval '11 minutes' where user_id = ${ada.user.id}`;
  const { status, body } = await leave(ada);
  expect([status, body.code]).toEqual([403, 'reauthentication_required']);
  expect((await ada.as('get', '/auth/check')).status).toBe(200);
});

test('after the 14 days nothing is left of a user, in the database or for longer in Redis', async () => {
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
  const owner = createHash('md5').update(ada.email).digest('hex');
  const mails = [8, 4, 4, 4, 12].reduce<[string[], number]>(
    ([parts, from], length) => [[...parts, owner.slice(from, from + length)], from + length],
    [[], 0],
  )[0];
  const ids = [ada.user.id, list.id];
  const values = [...ids, ada.email, name, title, mails.join('-')];
  const before = (await everything()).rows.join('\n');
  for (const value of values) expect(before).toContain(value);
  await leave(ada).expect(200);
  await service.settled('deletion_requested');
  await passTime(ada);
  await erase(ada);
  const { rows, entries } = await everything();
  for (const value of values) {
    // For as long as others follow it, the log says which records of which owner were deleted.
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

test('a shared list stays with another owner, or passes to the editor who was invited first, or else goes', async () => {
  const [ada, ben, cleo, dan] = [
    await register(service.app),
    await register(service.app),
    await register(service.app),
    await register(service.app),
  ];
  const [passed, owned, gone] = [await createList(ada), await createList(ada), await createList(ada)];
  await passed.join(dan, 'viewer');
  await passed.join(cleo, 'editor');
  await passed.join(ben, 'editor');
  await owned.join(ben, 'owner');
  await owned.join(cleo, 'editor');
  await gone.join(dan, 'viewer');
  const task = { title: 'Water the plants', listId: passed.id, assigneeId: ada.user.id };
  const { body } = await ada.as('post', '/tasks').send(task).expect(201);
  await leave(ada).expect(200);
  await passTime(ada);
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
  expect(await rolesIn(gone, dan)).toEqual([404, {}]);
  expect((await cleo.as('get', `/tasks/${body.id}`)).body).toMatchObject({ assigneeId: null, version: 2 });
});

test('a user with more rows than a transaction deletes is erased by two replicas, and nobody else is', async () => {
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
  await leave(ada).expect(200);
  await passTime(ada);
  await erase(ada);
  const counts = await sql`select owner_id, count(*)::int from tasks where title = 'x' group by owner_id`;
  expect(counts.map((row) => ({ ...row }))).toEqual([{ owner_id: ben.user.id, count: 2100 }]);
});

test('a user whose erasure fails keeps no other from theirs', async () => {
  const { sql } = service.context.database;
  const [ada, ben] = [await register(service.app), await register(service.app)];
  for (const user of [ada, ben]) {
    await leave(user).expect(200);
    await passTime(user);
  }
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger refused before delete on users for each row when (old.id = '${ada.user.id}') execute function refuse()`);
  await expect
    .poll(async () => {
      await using _one = startErasure(service.context);
      return sql`select from users where id = ${ben.user.id}`;
    })
    .toHaveLength(0);
  await sql`drop trigger refused on users`;
  await erase(ada);
});

test('whoever logs in when the 14 days are over is unknown, although the rows are still there', async () => {
  const ada = await register(service.app);
  await leave(ada).expect(200);
  await passTime(ada);
  const [late, unknown] = [await login(ada.email), await login(newEmail())];
  const seen = ({ status, body }: supertest.Response) => [status, { ...body, requestId: '' }];
  expect(seen(late)).toEqual(seen(unknown));
  expect(await service.context.database.sql`select from users where id = ${ada.user.id}`).toHaveLength(1);
  await erase(ada);
});

test('no code of a mail sets the password of a user whose 14 days are over', async () => {
  const ada = await register(service.app);
  await supertest(service.app).post(at('/auth/password/reset')).send({ email: ada.email }).expect(202);
  const { code } = await service.lastMailTo(ada.email, 2);
  await leave(ada).expect(200);
  await passTime(ada);
  const reset = { token: code, newPassword: 'a much better phrase' };
  await supertest(service.app).post(at('/auth/password/reset/confirm')).send(reset).expect(404);
});

test('a login beside the deletion either takes it back or is ended by it', async () => {
  const { sql } = service.context.database;
  for (let round = 0; round < 8; round++) {
    const ada = await register(service.app);
    const [left, back] = await Promise.all([leave(ada), login(ada.email)]);
    expect([left.status, back.status]).toEqual([200, 200]);
    const [user] = await sql<{ leaving: boolean; sessions: number }[]>`
      select deletion_at is not null as leaving,
        (select count(*)::int from sessions where user_id = users.id) as sessions from users where id = ${ada.user.id}`;
    expect([0, 1]).toContain(user?.sessions);
    expect(user?.leaving).toBe(user?.sessions === 0);
  }
});
