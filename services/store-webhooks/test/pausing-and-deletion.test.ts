import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '@platform/local/redis';
import { startProxy } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startBackgroundWork } from '../src/processing/background-work.ts';
import { eraseStores } from '../src/store-erasure.ts';
import { allRows } from './all-rows.ts';
import { startService, type Json } from './harness.ts';
import { startMailServer } from '@platform/mail/testing';
import { sendOrder, startProcess } from './process.ts';
import { receivedEventOf } from './received-event.ts';
import { startStandIn } from './simulate/stand-in.ts';

const redis = await startRedis();
const standIn = await startStandIn();
const service = await startService({ variables: { REDIS_URL: redis.url } });
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
  await redis.stop();
});
const { sql } = service.context.database;

const order = (id: string, status = 'A') => ({ id, status, consumerId: 'm-1', cart: { items: [] } });
const pathOf = ({ id }: { id: string }) => `/v1/stores/${id}`;
const pause = (store: { id: string }, active = false) => service.admin('PATCH', pathOf(store), { active });
const del = (
  store: { id: string },
  headers: Record<string, string> = {},
  token = service.token,
  url = service.url,
) =>
  fetch(url + pathOf(store), {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
const restore = (store: { id: string }) => service.admin('POST', `${pathOf(store)}/restore`);
const eventsOf = async (store: { id: string }) =>
  (await service.admin('GET', `${pathOf(store)}/events`)).body['events'] as unknown as {
    id: string;
    status: string;
    error: string | null;
  }[];
const statesOf = async (store: { id: string }) =>
  (await eventsOf(store)).map(({ status, error }) => [status, error]);

test('webhooks of a paused store are answered and recorded, but not processed; later they can be replayed', async () => {
  const store = await service.store();
  expect((await pause(store)).body['active']).toBe(false);
  const answer = await service.hook('order_updated', store.webhookToken, order('o-1'));
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  await service.hook('order_updated', store.webhookToken, 'no JSON');
  expect(await statesOf(store)).toEqual([
    ['ignored', 'store_paused'],
    ['ignored', 'store_paused'],
  ]);
  expect((await service.admin('GET', `${pathOf(store)}/orders/o-1`)).status).toBe(404);

  await pause(store, true);
  const [, event] = await eventsOf(store);
  await service.admin('POST', `${pathOf(store)}/events/${event?.id}/replay`);
  await service.hook('order_updated', store.webhookToken, order('o-2'));
  await service.settled();
  for (const id of ['o-1', 'o-2'])
    expect((await service.admin('GET', `${pathOf(store)}/orders/${id}`)).status).toBe(200);
});

test('events that were received before the pause are still processed', async () => {
  const store = await service.store();
  await service.hook('order_updated', store.webhookToken, order('o-1'));
  await pause(store);
  await service.settled();
  expect(await statesOf(store)).toEqual([['done', null]]);
});

test('a webhook with an invalid signature is refused by a paused store too, so that no replay accepts it', async () => {
  const store = await service.store({
    delivery: { kind: 'onfleet', credentials: { webhookSecret: 'ab12' } },
  });
  await pause(store);
  await service.hook('job_started', store.webhookToken, { taskId: 't' }, { 'x-onfleet-signature': '00' });
  expect(await statesOf(store)).toEqual([['refused', 'The signature is not valid.']]);
});

test('a challenge leads to the failure page while the store is paused, and to its result afterwards', async () => {
  const store = await service.store({
    payments: { kind: 'threedsecureio', baseUrl: standIn.url, credentials: { apiKey: 'key-3ds-0123456789' } },
  });
  const id = '8a880dc0-d2d2-4067-bcb1-000000000001';
  const payment = { service: 'threedsecureio', transactionId: 't-1', orderId: 'o-1' };
  await service.admin('POST', `${pathOf(store)}/payments`, payment);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: 'AJkBBw==', eci: '05' });
  const cres = Buffer.from(JSON.stringify({ threeDSServerTransID: id })).toString('base64url');
  const complete = async (body: object) => {
    const token = new URL(String(store.webhookUrls['payment-auth-completed'])).pathname.split('/').at(-1);
    const answer = await service.hook('payment-auth-completed/threedsecureio', String(token), body);
    return [answer.status, answer.headers.get('location')?.split('?')[0] ?? (await answer.text())];
  };
  const page = 'https://shop.example.test/checkout/payment-verification';
  await pause(store);
  const challenge = { service: 'threedsecureio', cres, transactionId: 't-1' };
  await expect.poll(() => complete(challenge)).toEqual([302, `${page}/failure`]);
  expect(await complete({ cres, transactionId: 't-1' })).toEqual([200, '{}']);
  expect(standIn.requests).toEqual([]);
  await pause(store, true);
  await expect.poll(() => complete(challenge)).toEqual([302, `${page}/success`]);
});

test('pausing, deleting and restoring a store reach another process by Redis, a deletion even while that process has no database', async () => {
  await using database = await startProxy(service.databaseUrl);
  // Its own folder, so that no other process takes over its spool.
  const spool = await mkdtemp(join(tmpdir(), 'spool-'));
  onTestFinished(() => rm(spool, { recursive: true }));
  await using other = await startProcess({ databaseUrl: database.url, spool }, { REDIS_URL: redis.url });
  const store = await service.store();
  let sent = 0;
  const lastState = async () => {
    const id = `p-${sent++}`;
    const status = await sendOrder(other.url, store.webhookToken, id);
    const [row] = await sql<{ state: string }[]>`
      select state from inbox where store_id = ${store.id} and entity = ${`order:${id}`}`;
    return [status, row?.state === 'ignored'];
  };
  expect(await lastState()).toEqual([200, false]);
  await pause(store);
  await expect.poll(lastState).toEqual([200, true]);
  await pause(store, true);
  await expect.poll(lastState).toEqual([200, false]);
  await del(store);
  await expect.poll(lastState).toEqual([404, false]);
  await restore(store);
  await expect.poll(lastState).toEqual([200, false]);
  await database.cut();
  await del(store);
  await expect.poll(() => sendOrder(other.url, store.webhookToken, 'gone')).toBe(404);
});

test('the tokens of a deleted store are unknown at once, and it cannot be changed until it is restored', async () => {
  const store = await service.store();
  await service.hook('order_updated', store.webhookToken, order('o-1'));
  await service.settled();
  expect((await del(store)).status).toBe(204);
  const hook = () => service.hook('order_updated', store.webhookToken, order('o-2'));
  expect((await hook()).status).toBe(404);
  const { body } = await service.admin('GET', pathOf(store));
  expect(body['deletedAt']).toEqual(expect.any(String));
  const tokens = body['webhookTokens'] as unknown as Json[];
  expect(tokens.map(({ current, worksUntil }) => [current, worksUntil])).toEqual(
    tokens.map(() => [false, body['deletedAt']]),
  );
  for (const refused of [
    await service.admin('PATCH', pathOf(store), { name: 'Other' }),
    await service.admin('POST', `${pathOf(store)}/webhook-token/rotate`, { graceSeconds: 0 }),
    await service.admin('POST', `${pathOf(store)}/users`, { consumerUserId: 'm', email: 'm@example.test' }),
    await service.admin('POST', `${pathOf(store)}/payments`, {
      service: 'threedsecureio',
      transactionId: 't',
      orderId: 'o',
    }),
    await service.admin('POST', `${pathOf(store)}/events/replay`, {
      from: '2020-01-01T00:00:00Z',
      to: '2120-01-01T00:00:00Z',
      status: 'done',
    }),
  ])
    expect(refused).toMatchObject({ status: 409, body: { code: 'store_deleted' } });
  expect((await service.admin('GET', `${pathOf(store)}/orders/o-1`)).status).toBe(200);
  // A repeated deletion changes nothing.
  expect((await del(store)).status).toBe(204);
  expect((await service.admin('GET', pathOf(store))).body).toEqual(body);

  const restored = await restore(store);
  expect(restored).toMatchObject({ status: 200, body: { deletedAt: null } });
  expect((restored.body['webhookTokens'] as unknown as Json[]).map(({ current }) => current)).toEqual(
    tokens.map(() => true),
  );
  expect((await hook()).status).toBe(200);
  const changes = (await service.admin('GET', `${pathOf(store)}/changes`)).body['changes'];
  expect(changes).toMatchObject([
    { before: { deletedAt: body['deletedAt'] } },
    { after: { deletedAt: body['deletedAt'] } },
  ]);
});

test('a deletion needs stores:admin, an existing store and a matching If-Match', async () => {
  const store = await service.store();
  const writer = await service.tokenWith('stores:write');
  expect((await del(store, {}, writer)).status).toBe(403);
  expect((await del({ id: crypto.randomUUID() })).status).toBe(404);
  expect((await del({ id: '%00' })).status).toBe(400);
  expect((await del(store, { 'if-match': '"old"' })).status).toBe(412);
  expect((await service.admin('POST', `/v1/stores/${crypto.randomUUID()}/restore`)).status).toBe(404);
  const etag = (
    await fetch(service.url + pathOf(store), { headers: { authorization: `Bearer ${service.token}` } })
  ).headers.get('etag');
  expect((await del(store, { 'if-match': etag ?? '' })).status).toBe(204);
});

test('a store that was changed 500 times within a day cannot be changed or restored, but deleted', async () => {
  const store = await service.store();
  const rename = async (name: string) => (await service.admin('PATCH', pathOf(store), { name })).status;
  expect(await rename('Second shop')).toBe(200);
  await service.context.database.sql`
    insert into store_changes
    select store_id, uuidv7(), changed_by, changed_at, before, after
    from store_changes, generate_series(1, 499) where store_id = ${store.id}`;
  expect(await rename('Third shop')).toBe(429);
  expect(await rename('Second shop')).toBe(200);
  expect((await del(store)).status).toBe(204);
  expect((await restore(store)).status).toBe(429);
  await service.context.database.sql`
    update store_changes set changed_at = now() - interval '25 hours' where store_id = ${store.id}`;
  expect((await restore(store)).status).toBe(200);
});

test('after fifty concurrent deletions and restorations, a store and its tokens are both deleted or both in use', async () => {
  const store = await service.store();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? del(store) : restore(store))),
  );
  expect(answers.filter(({ status }) => ![200, 204, 503].includes(status))).toEqual([]);
  const { body } = await service.admin('GET', pathOf(store));
  const expected = body['deletedAt'] === null ? 200 : 404;
  await expect
    .poll(async () => (await service.hook('order_updated', store.webhookToken, order('o'))).status)
    .toBe(expected);
});

test('a deleted store sends no mail, imports no member and processes no waiting event', async () => {
  await using server = await startMailServer();
  await using idle = await startService({ work: false, variables: { SMTP_URL: server.url } });
  const store = await idle.store({
    customerImportsEnabled: true,
    notifications: { staff: { email: 'owner@example.test' } },
  });
  const { sql: db } = idle.context.database;
  await idle.hook('new_member', store.webhookToken, { id: 'm-1' });
  await db`
    insert into import_jobs (store_id, member_id, id, due_at, created_at)
    values (${store.id}, 'm-2', uuidv7(), now(), now())`;
  await db`
    insert into notifications (store_id, id, key, kind, audience, change, subject, mail, due_at, created_at)
    values (${store.id}, uuidv7(), 'k', 'member', 'store', 'created', 's', 'pending', now(), now())`;
  await db`
    insert into members (store_id, id, event_id, updated_at) values (${store.id}, 'm-2', uuidv7(), now())`;
  expect((await del(store, {}, idle.token, idle.url)).status).toBe(204);
  await using _work = startBackgroundWork(idle.context);
  await idle.settled();
  await expect
    .poll(async () => (await db`select mail from notifications`).map(({ mail }) => mail))
    .toEqual(['off']);
  expect(await db`select state, error from results`).toMatchObject([
    { state: 'ignored', error: 'store_deleted' },
  ]);
  expect(await db`select state from import_jobs`).toMatchObject([{ state: 'failed' }]);
  expect([await db`select from users`, server.mails].map(({ length }) => length)).toEqual([0, 0]);
});

/**
 * The rows that contain the id of a store, except two kinds: the change feed keeps ids, so that its readers delete their copies,
 * and subscription_erasures keeps them for a minute, so that answers on their way are not stored.
 */
const remainsOf = (storeId: string, rows: readonly string[]): string[] =>
  rows.filter((row) => row.includes(storeId) && !/^(?:feed_|subscription_erasures:)/.test(row));

test('after STORE_ERASE_DAYS a store is erased from the database in slices, and other stores keep everything', async () => {
  await using instance = await startService({
    variables: { STORE_ERASE_DAYS: '10' },
  });
  const { sql: db } = instance.context.database;
  const [kept, erased] = [await instance.store(), await instance.store({ name: 'Teahouse of Annabel' })];
  for (const store of [kept, erased]) {
    const member = { id: 'm-1', email: `ann@${store.id}.example` };
    await instance.hook('new_member', store.webhookToken, member);
    await instance.hook('order_updated', store.webhookToken, order('o-1'));
    await instance.hook('job_started', store.webhookToken, { id: 'j-1', orderId: 'o-1' });
    await instance.hook('order_updated', store.webhookToken, { id: 'o-2' });
    await instance.admin('POST', `/v1/stores/${store.id}/users`, {
      consumerUserId: 'm-1',
      email: member.email,
    });
    const payment = { service: 'threedsecureio', transactionId: store.id, orderId: 'o-1' };
    const challenge = { threeDSServerTransId: store.id };
    await instance.admin('POST', `/v1/stores/${store.id}/payments`, { ...payment, ...challenge });
    await instance.admin('PATCH', `/v1/stores/${store.id}`, { requestsPerMinute: 100_000 });
    await instance.settled();
  }
  await db`
    insert into orders (store_id, id, status, details, event_id, updated_at)
    select ${erased.id}, 'many-' || n, 'A', '{}', uuidv7(), now() from generate_series(1, 1500) n`;
  const before = (await allRows(db)).filter((row) => row.includes(kept.id));
  expect(before.length).toBeGreaterThan(12);
  expect((await del(erased, {}, instance.token, instance.url)).status).toBe(204);

  const tenDays = new Date(Date.now() - 10 * 86_400_000);
  expect(await eraseStores(db, tenDays)).toBe(false);
  await db`update stores set deleted_at = now() - interval '11 days' where id = ${erased.id}`;
  expect(await instance.admin('POST', `/v1/stores/${erased.id}/restore`)).toMatchObject({
    status: 409,
    body: { code: 'store_erased' },
  });
  let slices = 0;
  while (await eraseStores(db, tenDays)) slices++;
  expect(slices).toBeGreaterThan(1);
  const after = await allRows(db);
  expect(after.filter((row) => /Annabel/.test(row))).toEqual([]);
  expect(remainsOf(erased.id, after)).toEqual([]);
  expect(after.filter((row) => row.includes(kept.id))).toEqual(before);
  expect((await instance.admin('GET', `/v1/stores/${erased.id}`)).status).toBe(404);
});

test('records that are added to a store during its erasure are erased before the store', async () => {
  const store = await service.store();
  const user = { consumerUserId: 'm-1', email: 'm@example.test' };
  await service.admin('POST', `${pathOf(store)}/users`, user);
  await sql`update stores set deleted_at = now() - interval '40 days' where id = ${store.id}`;
  await sql`
    create function add_user() returns trigger language plpgsql as $$ begin
      insert into users (store_id, id, consumer_user_id, created_at)
      values (old.store_id, uuidv7(), 'late', now());
      return null;
    end $$`;
  onTestFinished(async () => void (await sql`drop function add_user cascade`));
  await sql`
    create trigger late after delete on users for each row when (old.consumer_user_id = 'm-1')
    execute function add_user()`;
  const before = new Date(Date.now() - 30 * 86_400_000);
  while (await eraseStores(sql, before));
  expect(remainsOf(store.id, await allRows(sql))).toEqual([]);
});

test('two instances that erase a store at the same time leave nothing of it', async () => {
  const store = await service.store();
  await sql`update stores set deleted_at = now() - interval '40 days' where id = ${store.id}`;
  for (const table of ['webhook_tokens', 'store_changes'])
    await sql`delete from ${sql(table)} where store_id = ${store.id}`;
  await sql`
    insert into results (store_id, id, state, attempts, finished_at)
    select ${store.id}, uuidv7(), 'done', 1, now() from generate_series(1, 1500)`;
  await sql`
    create function wait_for_test() returns trigger language plpgsql as $$ begin
      perform pg_advisory_xact_lock(1);
      return null;
    end $$`;
  onTestFinished(async () => void (await sql`drop function wait_for_test cascade`));
  await sql`create trigger held after delete on results execute function wait_for_test()`;
  const waiting = async () =>
    (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      .length;
  const erase = () => eraseStores(sql, new Date(Date.now() - 30 * 86_400_000));
  const other = postgres(service.databaseUrl, { max: 1 });
  onTestFinished(() => other.end());
  const both = await other.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`;
    const first = erase();
    await expect.poll(waiting).toBe(1);
    let isDone = false;
    const second = erase().finally(() => (isDone = true));
    await expect.poll(async () => isDone || (await waiting()) === 2).toBe(true);
    return { erasures: [first, second] };
  });
  await Promise.all(both.erasures);
  while (await erase());
  expect(remainsOf(store.id, await allRows(sql))).toEqual([]);
});

test('every table has an index by store, so that an erasure reads no other store', async () => {
  const tables = await sql<{ name: string; hasIndex: boolean }[]>`
    select c.relname as name, exists (
      select from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum and i.indpred is null) as "hasIndex"
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'store_id'
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace`;
  expect(tables.length).toBeGreaterThan(10);
  expect(tables.filter(({ hasIndex }) => !hasIndex)).toEqual([]);
});

test('an event from the spool is not stored for an erased store, and is ignored for a paused store', async () => {
  const [erased, paused] = [await service.store(), await service.store()];
  await pause(paused);
  await sql`delete from stores where id = ${erased.id}`;
  for (const { id: storeId } of [erased, paused])
    await service.context.inbox.spool.add(receivedEventOf({ storeId, entity: 'order:o-1' }));
  await service.settled();
  expect(await sql`select from events where store_id = ${erased.id}`).toHaveLength(0);
  expect(await statesOf(paused)).toEqual([['ignored', 'store_paused']]);
});
