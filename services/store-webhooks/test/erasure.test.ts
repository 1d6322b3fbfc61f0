import { createHash, createHmac } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startBackgroundWork } from '../src/processing/background-work.ts';
import { searchEvents } from '../src/inbox/erase-events.ts';
import { createPersonFinder, type Person } from '../src/inbox/person-finder.ts';
import { allRows } from './all-rows.ts';
import { startService } from './harness.ts';
import { holdAt } from './hold.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());
const { reading, database } = service.context;
const { sql } = database;

const remove = async (storeId: string, memberId: string, token = service.token, url = service.url) => {
  const answer = await fetch(`${url}/v1/stores/${storeId}/members/${memberId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  });
  return [
    answer.status,
    answer.status === 204 ? undefined : ((await answer.json()) as { code: string }).code,
  ];
};

/** The content of all files below a folder. */
const filesIn = async (folder: string): Promise<string> => {
  const texts = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    if ((await stat(path).catch(() => undefined))?.isFile())
      texts.push(await readFile(path, 'latin1').catch(() => ''));
  }
  return texts.join('\n');
};

const member = (id: string, name: string) => ({
  id,
  email: `${name}@person.example`,
  firstName: name,
  lastName: `${name}sson`,
  phone: `+1555${name}`,
});

/** Creates a shop where each of these people has a member, user, order, delivery, verification and failed webhook. */
const shopWith = async (people: Record<string, string>) => {
  const store = await service.store();
  const send = (path: string, body: object) => service.hook(path, store.webhookToken, body);
  for (const [id, name] of Object.entries(people)) {
    const person = member(id, name);
    const order = {
      id: `o-${id}`,
      orderNo: `N-${id}`,
      status: 'A',
      consumerId: id,
      memo: `Ring at ${name}sson`,
    };
    const user = await fetch(`${service.url}/v1/stores/${store.id}/users`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.token}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify({ consumerUserId: id, email: person.email, firstName: name }),
    });
    expect(user.status).toBe(201);
    await send('new_member', person);
    await send('order_updated', { ...order, memberGroup: `${name}s`, cart: { total: 25, items: [] } });
    await send('job_started', { id: `j-${id}`, orderId: `o-${id}`, recipient: { name } });
    await send('identity-verification-updated/persona', {
      service: 'persona',
      transactionId: `t-${id}`,
      status: 'APPROVED',
      userId: id,
      name,
    });
    await send('order_updated', { customer: { email: person.email, note: name } });
  }
  await service.settled();
  return store;
};

test('an erased person is nowhere in the database or the spool; others and the order itself stay', async () => {
  const store = await shopWith({ 'm-1': 'Annabel', 'm-2': 'Bob' });
  const people = /annabel/i;
  const before = await allRows(sql);
  expect(before.filter((row) => people.test(row)).length).toBeGreaterThan(8);
  expect(await remove(store.id, 'm-1')).toEqual([204, undefined]);

  const after = await allRows(sql);
  expect(after.filter((row) => people.test(row))).toEqual([]);
  expect(await filesIn(service.spool)).not.toMatch(people);
  // Only the keys of events keep the id of the member.
  expect(after.filter((row) => /"m-1"/.test(row))).toEqual([]);
  const bobs = (rows: string[]) => rows.filter((row) => /bob/i.test(row));
  expect(bobs(after)).toEqual(bobs(before));
  const { body: order } = await service.admin('GET', `/v1/stores/${store.id}/orders/o-m-1`);
  expect(order).toMatchObject({ orderNo: 'N-m-1', consumerId: null, memo: null, cart: { total: 25 } });
  expect(await remove(store.id, 'm-1')).toEqual([404, 'not_found']);
});

test('an erasure also deletes the stored answers about a user who was deleted before', async () => {
  const store = await shopWith({ 'm-9': 'Desmond' });
  const [user] = await sql<{ id: string }[]>`select id from users where store_id = ${store.id}`;
  const deleted = await fetch(`${service.url}/v1/stores/${store.id}/users/${user?.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${service.token}` },
  });
  expect(deleted.status).toBe(204);
  expect(await remove(store.id, 'm-9')).toEqual([204, undefined]);
  expect((await allRows(sql)).filter((row) => /desmond/i.test(row))).toEqual([]);
});

test('an erasure reads only the stored answers and notifications about the person', async () => {
  // A single connection, so that its statistics can be flushed on request.
  await using instance = await startService({ work: false, variables: { DATABASE_POOL: '1' } });
  const { sql: db } = instance.context.database;
  const store = await instance.store();
  await db`
    insert into users (store_id, id, consumer_user_id, created_at) values (${store.id}, uuidv7(), 'm-1', now())`;
  await db`
    insert into idempotency_keys (owner, key, request_hash, created_at, answer)
    select 'someone', n, '', now(), json_build_object('id', gen_random_uuid(), 'json', '{}') from generate_series(1, 5000) n`;
  await db`
    insert into notifications (store_id, id, key, audience, kind, change, subject, reference, consumer_id, mail, due_at, created_at)
    select ${store.id}, uuidv7(), n, 'customer', 'order', 'A', '', 'o-' || n, 'm-2-' || n, 'sent', now(), now()
    from generate_series(1, 5000) n`;
  await db`analyze idempotency_keys, notifications`;
  const rowsRead = async (): Promise<number> => {
    await db`select pg_stat_force_next_flush()`;
    const [row] = await db<{ count: number }[]>`
      select sum(seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables
      where relname in ('idempotency_keys', 'notifications')`;
    return row?.count ?? Number.NaN;
  };
  const before = await rowsRead();
  expect(await remove(store.id, 'm-1', instance.token, instance.url)).toEqual([204, undefined]);
  expect((await rowsRead()) - before).toBeLessThan(20);
});

test('unprocessed orders of the person lose their bodies, whether the store was paused or they wait', async () => {
  const id = 'pos-member-1';
  await using idle = await startService({ work: false });
  const { sql: db } = idle.context.database;
  const store = await idle.store({ active: false });
  const order = (name: string, consumerId = id) =>
    idle.hook('order_updated', store.webhookToken, { id: `o-${name}`, status: 'A', consumerId, memo: name });
  await order('Hanna');
  await order('Ida', 'pos-member-10');
  await idle.admin('PATCH', `/v1/stores/${store.id}`, { active: true });
  await expect.poll(() => order('Hanna2').then(() => db`select from queue`)).toHaveLength(1);
  // The store has no member with this id.
  expect(await remove(store.id, id, idle.token, idle.url)).toEqual([204, undefined]);
  await using _work = startBackgroundWork(idle.context);
  await idle.settled();
  const rows = await allRows(db);
  expect(rows.filter((row) => /hanna|pos-member-1\b/i.test(row.replaceAll('order:o-Hanna', '')))).toEqual([]);
  expect(rows.filter((row) => row.includes('pos-member-10'))).not.toEqual([]);
});

test('an event keeps the hash of its erased body, so that a repeated webhook is a duplicate and is not processed', async () => {
  const store = await shopWith({ 'm-1': 'Carla' });
  await remove(store.id, 'm-1');
  const sent = JSON.stringify(member('m-1', 'Carla'));
  expect((await service.hook('new_member', store.webhookToken, sent)).status).toBe(200);
  await service.settled();
  expect((await service.admin('GET', `/v1/stores/${store.id}/members/m-1`)).status).toBe(404);
  const { body } = await service.admin('GET', `/v1/stores/${store.id}/events?entity=m-1`);
  const [event, ...others] = body['events'] as unknown as { id: string }[];
  expect(others).toEqual([]);
  const path = `/v1/stores/${store.id}/events/${event?.id}`;
  expect((await service.admin('GET', `${path}?reveal=true`)).body).toMatchObject({
    status: 'done',
    bytes: 0,
    body: '',
    erasedBodySha256: createHash('sha256').update(sent).digest('hex'),
  });
  expect(await service.admin('POST', `${path}/replay`)).toMatchObject({
    status: 409,
    body: { code: 'event_erased' },
  });
  const span = { from: '2020-01-01T00:00:00Z', to: '2120-01-01T00:00:00Z', status: 'done' };
  const replayed = await service.admin('POST', `/v1/stores/${store.id}/events/replay`, span);
  expect(replayed).toMatchObject({ status: 202, body: { replayed: 0 } });
});

test('waiting events, imports and mails about the person are cancelled', async () => {
  await using idle = await startService({ work: false });
  const { sql: db } = idle.context.database;
  const store = await idle.store({ customerImportsEnabled: true });
  await idle.hook('new_member', store.webhookToken, member('m-1', 'Dora'));
  await db`insert into members (store_id, id, email, event_id, updated_at)
    values (${store.id}, 'm-1', 'Dora@person.example', uuidv7(), now())`;
  await db`insert into import_jobs (store_id, member_id, id, due_at, created_at)
    values (${store.id}, 'm-1', uuidv7(), now(), now())`;
  await db`insert into notifications
      (store_id, id, key, kind, audience, change, subject, consumer_id, mail, due_at, created_at)
    values (${store.id}, uuidv7(), 'k', 'order', 'customer', 'A', 's', 'm-1', 'no_address', now(), now())`;
  await idle.hook('order_updated', store.webhookToken, { id: 'o-9', contact: 'Dora@person.example' });
  expect(await remove(store.id, 'm-1', idle.token, idle.url)).toEqual([204, undefined]);
  await using _work = startBackgroundWork(idle.context);
  await idle.settled();
  expect(await db`select distinct state, error from results`).toEqual([
    { state: 'ignored', error: 'erased' },
  ]);
  expect(await db`select mail from notifications`).toEqual([{ mail: 'off' }]);
  expect((await allRows(db)).filter((row) => /dora/i.test(row))).toEqual([]);
  for (const table of ['members', 'users', 'import_jobs', 'queue'])
    expect(await db`select from ${db(table)}`).toHaveLength(0);
});

test('a person is found in more failed events than one statement reads, also in those that fail during the search', async () => {
  const store = await service.store();
  const fail = (from: number, to: number) => sql`
    with failed as (
      insert into events (store_id, id, event, dedup, body, headers, received_at)
      select ${store.id}, uuidv7(), 'order_updated', sha256(n::text::bytea), convert_to('["Jutta", "member-jutta"]', 'UTF8'),
        '{}', now() from generate_series(${from}::int, ${to}::int) n
      returning store_id, id)
    insert into results (store_id, id, state, attempts, finished_at)
    select store_id, id, 'failed', 1, now() from failed`;
  await fail(1, 6000);
  const jutta: Person = { memberId: 'member-jutta', contacts: [], consumerPointer: '/consumerId' };
  const search = await searchEvents(sql, reading, store.id, jutta);
  expect(search.found.size).toBe(6000);
  await fail(6001, 6010);
  expect((await searchEvents(sql, reading, store.id, jutta, search)).found.size).toBe(6010);
  const others = await searchEvents(sql, reading, store.id, { ...jutta, contacts: ['jutta@x.test'] }, search);
  expect(others.found.size).toBe(6010);
  expect(await remove(store.id, 'member-jutta')).toEqual([204, undefined]);
  expect((await allRows(sql)).filter((row) => /jutta/i.test(row))).toEqual([]);
});

test('one statement reads at most 8 MiB of bodies, so that it meets its time limit on a slow machine', async () => {
  const store = await service.store();
  await sql`
    with failed as (
      insert into events (store_id, id, event, dedup, body, headers, received_at)
      select ${store.id}, uuidv7(), 'order_updated', sha256(n::text::bytea),
        convert_to(repeat('x', 1000000), 'UTF8'), '{}', now() from generate_series(1, 20) n
      returning store_id, id)
    insert into results (store_id, id, state, attempts, finished_at)
    select store_id, id, 'failed', 1, now() from failed`;
  let statements = 0;
  const counted = ((...args: Parameters<typeof sql>) => {
    const [text] = args as unknown as [readonly string[]];
    if (/^\s*select/.test(text[0] ?? '')) statements++;
    return sql(...args);
  }) as typeof sql;
  const person: Person = { memberId: 'member-kira', contacts: [], consumerPointer: '/consumerId' };
  expect((await searchEvents(counted, reading, store.id, person)).searched).toHaveLength(20);
  // The first two list the events.
  expect(statements).toBe(2 + 3);
});

test('a person is found in failed events with ids that are numbers, in forms, and in JSON with any escapes', async () => {
  const store = await service.store();
  const bodies: [id: string, body: string, type: string][] = [
    ['700788312162', '{"status":17,"consumerId":700788312162,"memo":"Karla 1"}', 'application/json'],
    ['9007199254740993', '{"status":17,"consumerId":9007199254740993,"memo":"Karla 2"}', 'application/json'],
    ['karla@x.test', 'status=17&email=karla%40x.test&memo=Karla+3', 'application/x-www-form-urlencoded'],
    [
      'karla-wrapped',
      'payload=%7B%22consumerId%22%3A%22karla-wrapped%22%2C%22memo%22%3A%22Karla+4%22%7D',
      'application/x-www-form-urlencoded',
    ],
    [
      'kunde/äö/7',
      String.raw`{"status":17,"consumerId":"kunde\/\u00e4\u00f6\/7","memo":"Karla 5"}`,
      'application/json',
    ],
    ['karla-broken', '{"consumerId":"karla-broken","memo":"Karla 6"', 'application/json'],
  ];
  for (const [, body, type] of bodies)
    await service.hook('order_updated', store.webhookToken, body, { 'content-type': type });
  const other = '{"status":17,"consumerId":7007883121620,"memo":"Lena"}';
  await service.hook('order_updated', store.webhookToken, other);
  await service.settled();
  const countKarla = async () => (await allRows(sql)).filter((row) => /karla/i.test(row)).length;
  expect(await countKarla()).toBe(6);
  for (const [id] of bodies)
    expect([id, await remove(store.id, encodeURIComponent(id))]).toEqual([id, [204, undefined]]);
  expect(await countKarla()).toBe(0);
  expect((await allRows(sql)).filter((row) => row.includes('Lena'))).toHaveLength(1);
});

test('a person is found for any spelling of the mail address and phone number; a person with a longer address is not', async () => {
  const store = await service.store();
  const person = { ...member('nora-1', 'Nora'), email: 'Nora.Oe+1@Post.test', phone: '+49 170 1234567' };
  await service.hook('new_member', store.webhookToken, person);
  await service.hook('order_updated', store.webhookToken, {
    id: 'o-olga',
    status: 'A',
    consumerId: 'olga-123',
  });
  await service.hook('job_started', store.webhookToken, { id: 'j-olga', orderId: 'o-olga' });
  await service.settled();
  const json = [
    { email: 'nora.Oe+1@post.test' },
    { email: ' NORA.Oe+1@POST.test\n' },
    { email: 'mailto:nora.Oe+1@post.test?subject=x' },
    { memo: 'Call\nnora.Oe+1@post.test, please.' },
    { payload: JSON.stringify({ email: 'nora.Oe+1@post.test' }) },
    { phone: '+491701234567' },
    { phone: '0170 / 12 34 567' },
    { phone: '(0170) 123-45-67.' },
    { phone: '+49 170 1234567', worker: { phone: '0171 7654321' }, dasher_phone_number: '0171 7654321' },
  ].map((body) => [JSON.stringify({ status: 17, ...body, note: 'Nora' }), 'application/json']);
  const form = 'application/x-www-form-urlencoded';
  const bodies = [
    ...json,
    [String.raw`{"status":17,"note":"Nora","email":"nora.Oe\u002B1\u0040post.test"}`, 'application/json'],
    [
      '{"status":17,"note":"Nora","consumerId":"nora-1","userId":"77","email":"nora.Oe+1@post.test"}',
      'application/json',
    ],
    ['status=17&note=Nora&email=+nora.Oe%2B1%40Post%2Etest', form],
    ['status=17&note=Nora&phone=%2B49+170+1234567', form],
    ['status=17&note=Nora&phone=%2B49%20170%20123%204567', form],
    [
      'payload=%7B%22status%22%3A17%2C%22note%22%3A%22Nora%22%2C%22e%22%3A%22nora.Oe%2B1%40post.test%22%7D',
      form,
    ],
  ] as [string, string][];
  const others = [
    { email: 'eleonora.oe+1@post.test' },
    { email: 'x.nora.Oe+1@post.test' },
    { email: 'nora.Oe+1@post.test.example' },
    { email: 'nora.Oe@post.test' },
    { phone: '+49 170 12345678' },
    { orderNo: '9991701234567' },
    { orderNo: '4917012345670' },
    { slots: [1, 7, 0, 1, 2, 3, 4, 5, 6, 7] },
    { at: 'T17:01:23.4567Z', id: '0170123e-4567-7000-8000-000000001701' },
    { sku: '1701234567', ean: 491701234567, image: 'https://cdn.test/1701234567.jpg' },
    { cancelledOn: '1701-23-45-67', tellerNo: '01701234567', telemetryId: 1701234567 },
    {
      consumerId: 'olga-123',
      email: 'nora.Oe+1@post.test',
      phone: '+49 170 1234567',
      cashierUserId: 'nora-1',
    },
    { customer: { id: 42, phone: '+49 170 1234567' }, email: 'nora.Oe+1@post.test' },
    {
      merchant: { email: 'nora.Oe+1@post.test' },
      pickup_phone: '+49 170 1234567',
      soldBy: { userId: 'nora-1' },
    },
    { contact: 'nora.Oe+1@post.test', email: 'olga@post.test' },
    { phone: '+49 170 1234567', recipient: { mobile: '0171 7654321' } },
    { id: 'o-olga', contact: 'nora.Oe+1@post.test' },
  ].map((body) => [JSON.stringify({ status: 17, ...body, note: 'Olga' }), 'application/json'] as const);
  for (const [body, type] of [...bodies, ...others])
    await service.hook('order_updated', store.webhookToken, body, { 'content-type': type });
  const job = { id: 'j-olga', completedAt: 'never', phone: '+49 170 1234567', note: 'Olga' };
  await service.hook('job_completed', store.webhookToken, job);
  await service.settled();
  const unfinished = async (name: string) =>
    (await sql`select from events where position(${name}::text::bytea in body) > 0`).length;
  expect([await unfinished('Nora'), await unfinished('Olga')]).toEqual([
    bodies.length + 1,
    others.length + 1,
  ]);
  expect(await remove(store.id, 'nora-1')).toEqual([204, undefined]);
  expect([await unfinished('Nora'), await unfinished('Olga')]).toEqual([0, others.length + 1]);
});

test.each([
  [
    'a placeholder phone number',
    { phone: '0000000000' },
    { at: '2026-01-01T00:00:00.000Z', time: 1700000000000 },
  ],
  ['the most common placeholder', { phone: '12345678' }, { phone: '12345678' }],
  [
    'a contact that another member has too',
    { phone: '+49 170 7654321', email: 'no@shop.test' },
    { phone: '+49 170 7654321', email: 'no@shop.test' },
  ],
])('%s does not match events of other persons', async (_name, contact, body) => {
  const store = await service.store();
  for (const id of ['person-1', 'person-2'])
    await service.hook('new_member', store.webhookToken, { ...member(id, id), ...contact });
  await service.hook('order_updated', store.webhookToken, { status: 17, ...body, note: 'Petra' });
  await service.settled();
  expect(await remove(store.id, 'person-1')).toEqual([204, undefined]);
  expect((await allRows(sql)).filter((row) => row.includes('Petra'))).toHaveLength(1);
  await sql`delete from events where store_id = ${store.id}`;
});

test('a short or numeric id matches only in fields for the id of a person', async () => {
  const store = await service.store();
  const form = 'application/x-www-form-urlencoded';
  for (const id of ['17', '10000017'])
    await service.hook('new_member', store.webhookToken, { ...member(id, 'Quirin'), email: `q${id}@a.bc` });
  const ofPersons = [
    { consumerId: 10_000_017, cashierUserId: 'staff-7' },
    { customer: { id: '10000017' }, soldBy: { userId: 'staff-7' } },
    { consumerId: 17, email: 'Q17@a.bc' },
  ];
  const others = [
    { total: 10_000_017 },
    { sku: '10000017' },
    { quantity: 17, email: 'aq17@a.bc' },
    { 17: 'a', 10000017: 'b' },
  ];
  for (const body of ofPersons)
    await service.hook('order_updated', store.webhookToken, { status: 17, ...body, note: 'Quirin' });
  for (const body of others)
    await service.hook('order_updated', store.webhookToken, { status: 17, ...body, note: 'Rosa' });
  await service.hook('order_updated', store.webhookToken, 'status=17&size=17&note=Rosa', {
    'content-type': form,
  });
  await service.settled();
  for (const id of ['17', '10000017']) expect(await remove(store.id, id)).toEqual([204, undefined]);
  const rows = await allRows(sql);
  expect(rows.filter((row) => row.includes('Quirin'))).toEqual([]);
  expect(rows.filter((row) => row.includes('Rosa'))).toHaveLength(others.length + 1);
});

test('a long text without spaces is searched in linear time', () => {
  const isAbout = createPersonFinder({
    memberId: 'member-1',
    contacts: ['nora@post.test'],
    consumerPointer: '/consumerId',
  });
  const picture = 'nora@post.testx'.repeat(60_000);
  expect(isAbout(Buffer.from(JSON.stringify({ picture })), 'application/json', false)).toBe(false);
  expect(isAbout(Buffer.from(picture), 'text/plain', false)).toBe(false);
  const phone = ' '.repeat(500_000);
  const small = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [at, 'x']));
  let deep: object = { phone, small };
  for (let depth = 0; depth < 60; depth++) deep = { ['n'.repeat(8000)]: deep };
  expect(isAbout(Buffer.from(JSON.stringify(deep)), 'application/json', false)).toBe(false);
});

test.each([
  ['values inside of texts', Array(50).fill(JSON.stringify(Array(9000).fill(1)))],
  [
    'words in field names',
    Object.fromEntries(Array.from({ length: 5000 }, (_, at) => ['Aa'.repeat(40) + at, 1])),
  ],
  ['texts that begin like JSON', Array(9000).fill('[x')],
])(
  'the rest of a body with too many %s is searched as text, unless it names somebody else before',
  (_name, content) => {
    const isAbout = createPersonFinder({
      memberId: 'member-1',
      contacts: [],
      consumerPointer: '/consumerId',
    });
    const isFound = (items: unknown) =>
      isAbout(Buffer.from(JSON.stringify({ items, note: 'member-1, member-2' })), 'application/json', false);
    expect(isFound(content)).toBe(true);
    expect(isFound([{ consumerEmail: 'eve@post.test' }, content])).toBe(false);
    expect(isFound([JSON.stringify(Array(9000).fill(1)), '[x', { AaAa: 1 }])).toBe(false);
  },
);

test('a person is found in the events of orders that no longer name the person', async () => {
  const store = await shopWith({ 'm-1': 'Mona' });
  await service.hook('order_updated', store.webhookToken, { id: 'o-m-1', status: 'B', consumerId: null });
  await service.settled();
  expect(await remove(store.id, 'm-1')).toEqual([204, undefined]);
  expect((await allRows(sql)).filter((row) => /mona/i.test(row))).toEqual([]);
});

test('a person is found by mail in processed orders whose mapping does not name the consumer, and in their deliveries', async () => {
  const mapping = {
    order: { status: '/state', orderNo: '/number', memo: '/note' },
    member: { email: '/email' },
  };
  const store = await service.store({ pos: { kind: 'generic', mapping } });
  const send = (path: string, body: object) => service.hook(path, store.webhookToken, body);
  const customer = { name: 'Nelly Nellysson', email: 'Nelly@person.example' };
  await send('new_member', member('m-1', 'Nelly'));
  await send('order_updated', { id: 'o-1', state: 'A', number: 'N-1', note: 'Nelly rings twice', customer });
  await send('job_started', { id: 'j-1', orderId: 'o-1', recipient: customer });
  await send('order_updated', {
    id: 'o-2',
    state: 'A',
    number: 'N-2',
    note: 'Otto',
    customer: { email: 'otto@person.example' },
  });
  await service.settled();
  expect(await remove(store.id, 'm-1')).toEqual([204, undefined]);
  const rows = await allRows(sql);
  expect(rows.filter((row) => /nelly/i.test(row))).toEqual([]);
  expect(rows.filter((row) => /otto/i.test(row)).length).toBeGreaterThan(1);
});

test('an erasure needs stores:admin and affects only its store', async () => {
  const [store, other] = [await shopWith({ 'm-1': 'Edda' }), await shopWith({ 'm-1': 'Fay' })];
  const before = (await allRows(sql)).filter((row) => /fay/i.test(row));
  expect(await remove(store.id, 'm-1', await service.tokenWith('stores:write'))).toEqual([
    403,
    'insufficient_scope',
  ]);
  const limited = await service.tokenWith('stores:admin', { stores: [other.id] });
  expect(await remove(store.id, 'm-1', limited)).toEqual([404, 'not_found']);
  expect(await remove(store.id, '%00')).toEqual([400, 'validation_failed']);
  expect(await remove(store.id, 'nobody')).toEqual([404, 'not_found']);
  expect(await remove(crypto.randomUUID(), 'm-1')).toEqual([404, 'not_found']);
  const answers = await Promise.all(Array.from({ length: 50 }, () => remove(store.id, 'm-1')));
  // Requests that arrive during the erasure wait for the same one.
  expect(answers.filter(([status]) => status === 204)).not.toHaveLength(0);
  expect(answers.filter(([status]) => status !== 204 && status !== 404)).toEqual([]);
  expect((await allRows(sql)).filter((row) => /fay/i.test(row))).toEqual(before);
});

test('an erasure that takes longer than its request continues, and a repeated request waits for the same one', async () => {
  await using slow = await startService({ work: false, variables: { REQUEST_DEADLINE_MS: '1000' } });
  const { sql: db } = slow.context.database;
  const store = await slow.store();
  await db`
    insert into users (store_id, id, consumer_user_id, first_name, created_at)
    values (${store.id}, uuidv7(), 'm-1', 'Henrike', now())`;
  await using hold = await holdAt(slow.databaseUrl, { trigger: 'before delete on users for each row' });
  expect(await remove(store.id, 'm-1', slow.token, slow.url)).toEqual([503, 'deadline_exceeded']);
  await hold.reached();
  const repeated = remove(store.id, 'm-1', slow.token, slow.url);
  await hold.open();
  expect(await repeated).toEqual([204, undefined]);
  expect((await allRows(db)).filter((row) => /henrike/i.test(row))).toEqual([]);
});

test('many requests that wait for an erasure do not count as in progress, and are at most a hundred', async () => {
  await using slow = await startService({ work: false, variables: { MAX_IN_PROGRESS: '10' } });
  const { sql: db } = slow.context.database;
  const store = await slow.store();
  await db`insert into users (store_id, id, consumer_user_id, created_at) values (${store.id}, uuidv7(), 'm-1', now())`;
  await using hold = await holdAt(slow.databaseUrl, { trigger: 'before delete on users for each row' });
  const first = remove(store.id, 'm-1', slow.token, slow.url);
  await hold.reached();
  const repeated = Array.from({ length: 110 }, () => remove(store.id, 'm-1', slow.token, slow.url));
  const refused = await Promise.race(repeated);
  expect(refused).toEqual([503, 'too_busy']);
  const headers = { authorization: `Bearer ${slow.token}` };
  for (let count = 0; count < 20; count++) {
    const other = await fetch(`${slow.url}/v1/stores/${store.id}/orders`, { headers });
    expect(other.status).toBe(200);
  }
  await hold.open();
  const answers = await Promise.all([first, ...repeated]);
  expect(answers.filter(([status]) => status === 204)).toHaveLength(100);
});

test('a failed erasure erases nothing, and the next attempt erases everything', async () => {
  const store = await shopWith({ 'm-1': 'Gerda' });
  const before = (await allRows(sql)).filter((row) => /gerda/i.test(row));
  await sql`create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`;
  await sql`create trigger fail before update on verifications for each row execute function fail()`;
  expect((await remove(store.id, 'm-1'))[0]).toBe(500);
  expect((await allRows(sql)).filter((row) => /gerda/i.test(row))).toEqual(before);
  await sql`drop function fail cascade`;
  expect((await remove(store.id, 'm-1'))[0]).toBe(204);
  expect((await allRows(sql)).filter((row) => /gerda/i.test(row))).toEqual([]);
});

test('an erasure returns 503 while the spool has events, which may be about the person', async () => {
  const store = await service.store();
  const { spool } = service.context.inbox;
  const active = Object.getOwnPropertyDescriptor(spool, 'active') as PropertyDescriptor;
  onTestFinished(() => void Object.defineProperty(spool, 'active', active));
  Object.defineProperty(spool, 'active', { ...active, get: () => true });
  expect(await remove(store.id, 'm-1')).toEqual([503, 'spool_active']);
});

test('a person whose import finishes during the erasure does not remain as a user', async () => {
  await using idle = await startService({ work: false });
  const { sql: db } = idle.context.database;
  const store = await idle.store({ customerImportsEnabled: true });
  await idle.hook('new_member', store.webhookToken, member('m-1', 'Ilse'));
  await using hold = await holdAt(idle.databaseUrl, { trigger: 'after insert on users for each row' });
  await using _work = startBackgroundWork(idle.context);
  // The import holds the row of the member and has created the user, but has not committed.
  await hold.reached();
  const erased = remove(store.id, 'm-1', idle.token, idle.url);
  const waits = () =>
    db`select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
  await expect.poll(waits).not.toHaveLength(0);
  await hold.open();
  expect(await erased).toEqual([204, undefined]);
  expect((await allRows(db)).filter((row) => /ilse/i.test(row))).toEqual([]);
});

const rightSecret = 'right-key';
/** A person, as Square sends it. */
const customer = JSON.stringify({
  event_id: 'e-1',
  type: 'customer.updated',
  data: { object: { customer: { id: 'c-1', given_name: 'Jolanda', version: 1 } } },
});

test.each([
  ['refused', 'recheck', '/events/recheck', 200, { checked: 1, accepted: 0, failed: 0 }],
  ['refused', 'recheck of its event', '/events/{eventId}/recheck', 409, { code: 'event_erased' }],
  ['done', 'replay', '/events/replay', 202, { replayed: 0 }],
  ['done', 'replay of its event', '/events/{eventId}/replay', 409, { code: 'event_erased' }],
])(
  'a person with a %s event whose erasure has begun does not come back through a %s',
  async (state, _name, path, status, body) => {
    await using slow = await startService();
    const { sql: db } = slow.context.database;
    const pos = (webhookSecret: string) => ({ pos: { kind: 'square', credentials: { webhookSecret } } });
    const store = await slow.store(pos(state === 'refused' ? 'wrong-key' : rightSecret));
    const signature = createHmac('sha256', rightSecret)
      .update(`${store.webhookUrls['member_updated']}${customer}`)
      .digest('base64');
    await slow.hook('member_updated', store.webhookToken, customer, {
      'x-square-hmacsha256-signature': signature,
    });
    await slow.admin('PATCH', `/v1/stores/${store.id}`, pos(rightSecret));
    await slow.settled();
    const [event] = await db<{ id: string; state: string }[]>`select id, state from inbox`;
    expect(event).toMatchObject({ state });
    await db`insert into users (store_id, id, consumer_user_id, created_at) values (${store.id}, uuidv7(), 'c-1', now())`;
    await using hold = await holdAt(slow.databaseUrl, { trigger: 'before delete on users for each row' });
    const erased = remove(store.id, 'c-1', slow.token, slow.url);
    await hold.reached();
    const [from, to] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
    const span = { from, to, ...(state === 'done' && { status: state }) };
    const url = `/v1/stores/${store.id}${path.replace('{eventId}', event?.id ?? '')}`;
    const answer = slow.admin('POST', url, path.includes('{') ? undefined : span);
    const waits = () =>
      db`select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`;
    await expect.poll(waits).not.toHaveLength(0);
    await hold.open();
    expect(await erased).toEqual([204, undefined]);
    const answered = await answer;
    await slow.settled();
    expect((await allRows(db)).filter((row) => /jolanda/i.test(row))).toEqual([]);
    expect(answered).toMatchObject({ status, body });
    expect(await db`select state from inbox`).toEqual([{ state }]);
  },
);
