import postgres from 'postgres';
import supertest from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { at, createList, register, startService } from '../../test/harness.ts';
import { startWithMail } from '../../test/mail-harness.ts';
import { streamExport } from './export.ts';

let service: Awaited<ReturnType<typeof startWithMail>>;
beforeAll(async () => {
  service = await startWithMail();
});
afterAll(() => service[Symbol.asyncDispose]());

type User = Awaited<ReturnType<typeof register>>;
const download = ({ as }: User) => as('get', '/auth/me/export');
const insertTasks = (ownerId: string, number: number) => service.context.database.sql`
  insert into tasks (owner_id, id, title, description, status, priority, tags, created_at, updated_at, version)
  select ${ownerId}, uuidv7(), 'x', '', 'todo', 'medium', '{}', now(), now(), 1 from generate_series(1, ${number})`;

test('an export is one file with everything that is stored about the user, and nothing about others', async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const list = await createList(ada);
  await ben.as('post', '/tasks').send({ title: 'Of Ben' }).expect(201);
  const { body: task } = await ada.as('post', '/tasks').set('Idempotency-Key', 'k').send({ title: 'Mine' });
  await service.lastMailTo(ada.email);
  const answer = await download(ada).expect(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-disposition': 'attachment; filename="account.json"',
    'cache-control': 'private, no-store',
  });
  const { profile, sessions, securityEvents, ...file } = answer.body;
  expect(profile).toEqual(ada.user);
  expect(sessions).toMatchObject([{ network: '127.0.0.1' }]);
  expect(securityEvents.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
    'exported',
    'registered',
  ]);
  expect(file).toMatchObject({
    knownNetworks: [{ network: '127.0.0.1' }],
    lists: [{ listId: list.id, role: 'owner', name: 'Household' }],
    tasks: [task],
    keptAnswers: [{ answer: expect.stringContaining(task.id) }],
    mails: [{ kind: 'email_verification', recipient: ada.email }],
  });
  expect(answer.text).not.toMatch(/Of Ben|argon2|hash/);
  expect(answer.text).not.toContain(ben.email);
});

test('stored responses are read into memory one at a time, because the response of a batch may have megabytes', async () => {
  const cleo = await register(service.app);
  for (const key of ['a', 'b', 'c'])
    await cleo
      .as('post', '/tasks')
      .set('Idempotency-Key', key)
      .send({ title: `Kept ${key}` })
      .expect(201);
  const pieces: number[] = [];
  for await (const piece of streamExport(service.context.database.sql, cleo.user.id))
    pieces.push(piece.split('"answer":').length - 1);
  expect(pieces.filter((answers) => answers > 0)).toEqual([1, 1, 1]);
});

test('every table that refers to a user is known here, so that a new one is added to the export', async () => {
  const rows = await service.context.database.sql<{ name: string }[]>`
    select distinct table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name in ('user_id', 'owner', 'owner_id', 'recipient')
      -- Users read the feed tables, which have only ids and times of changes, through the feed.
      and not starts_with(table_name, 'feed_') order by 1`;
  expect(rows.map(({ name }) => name)).toEqual([
    'idempotency_keys',
    'known_networks',
    'list_members',
    'mails',
    'security_events',
    'sessions',
    'tasks',
  ]);
});

test('an export of many rows contains each row once, and reads the next rows only when the previous were consumed', async () => {
  const { sql } = service.context.database;
  const ada = await register(service.app);
  await insertTasks(ada.user.id, 350);
  const { tasks } = (await download(ada).expect(200)).body;
  expect(new Set(tasks.map(({ id }: { id: string }) => id)).size).toBe(350);
  let text = '';
  for await (const piece of streamExport(sql, ada.user.id)) {
    text += piece;
    // After the first twenty, the other rows are not read yet.
    if (piece.includes('"title"')) await sql`delete from tasks where owner_id = ${ada.user.id}`;
  }
  expect(JSON.parse(text).tasks).toHaveLength(20);
});

test('a network may run two exports at a time, and does not block other networks', async () => {
  // A connection of its own: the pool of the service refuses queries outside the current transaction.
  await using sql = Object.assign(postgres(service.databaseUrl, { max: 1 }), {
    [Symbol.asyncDispose]: () => sql.end(),
  });
  const [ada, ben, cleo, dora] = [
    await register(service.app),
    await register(service.app),
    await register(service.app),
    await register(service.app),
  ];
  const from = (address: string, { token }: typeof ada) =>
    supertest(service.app)
      .get(at('/auth/me/export'))
      .auth(token, { type: 'bearer' })
      .set('X-Forwarded-For', address)
      .then(({ status }) => status);
  const running = await sql.begin(async (tx) => {
    await tx`lock table tasks in access exclusive mode`;
    const waiting = async () =>
      (await tx`select from pg_locks where not granted and relation = 'tasks'::regclass`).length;
    const exports = [from('192.0.2.1', ada), from('192.0.2.1', ben)];
    await expect.poll(waiting).toBe(2);
    expect(await from('192.0.2.1', cleo)).toBe(503);
    exports.push(from('198.51.100.1', dora));
    await expect.poll(waiting).toBe(3);
    return { exports };
  });
  expect(await Promise.all(running.exports)).toEqual([200, 200, 200]);
});

test('an export needs a password entered within ten minutes, and is allowed ten times an hour', async () => {
  await using limited = await startService({
    databaseUrl: service.databaseUrl,
    variables: { RATE_LIMIT: 'on' },
  });
  const ada = await register(service.app);
  const get = () => supertest(limited.app).get(at('/auth/me/export')).auth(ada.token, { type: 'bearer' });
  const statuses = [];
  for (let n = 0; n < 11; n++) statuses.push((await get()).status);
  expect([statuses.slice(0, 10), statuses.at(-1)]).toEqual([Array.from({ length: 10 }, () => 200), 429]);
  await service.context.database.sql`
    update sessions set authenticated_at = now() - interval '11 minutes' where user_id = ${ada.user.id}`;
  const { status, body } = await download(ada);
  expect([status, body.code]).toEqual([403, 'reauthentication_required']);
  expect((await supertest(service.app).get(at('/auth/me/export'))).status).toBe(401);
});
