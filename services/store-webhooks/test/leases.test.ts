import { randomUUID } from 'node:crypto';
import { startMailServer } from '@platform/mail/testing';
import type { Sql } from 'postgres';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { holdAt } from './hold.ts';
import { sendOrder, startProcess } from './process.ts';
import { startStandIn } from './simulate/stand-in.ts';

const standIn = await startStandIn();
afterAll(() => standIn[Symbol.asyncDispose]());
beforeEach(() => {
  standIn.release();
  standIn.behaviour = 'normal';
  standIn.requests.length = 0;
});

type Service = Awaited<ReturnType<typeof startService>>;
const pos = { kind: 'blaze', baseUrl: standIn.url, credentials: { apiKey: 'k', authorization: 'a' } };
const owner = { notifications: { email: 'owner@example.test' } };
/** The work of a killed process is claimed within 5 s; the limit is longer for busy machines. */
const soon = { timeout: 12_000 };

const mailOf = ({ context }: Service) =>
  context.database.sql`select mail, attempts from notifications order by id`;
const importsOf = ({ context }: Service) => context.database.sql`
  select state, count(*)::int from import_jobs group by 1 order by 1`;
/** Makes all pending mails overdue. */
const makeOverdue = ({ context }: Service) => context.database.sql`
  update notifications set due_at = now() - interval '1 day' where mail = 'pending'`;

test('a mail is sent once, even if the server takes long to accept it', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { databaseUrl } = service;
  await using _other = await startService({ databaseUrl, variables: { SMTP_URL: server.url } });
  const [slow, other] = [await service.store(owner), await service.store(owner)];
  const open = server.hold();
  await service.hook('new_member', slow.webhookToken, { id: 'm-1' });
  await expect.poll(server.received).toBe(1);
  await makeOverdue(service);
  // When the mail of another store has arrived as well, everything that is due has been claimed.
  await service.hook('new_member', other.webhookToken, { id: 'm-1' });
  await expect.poll(server.received).toBeGreaterThan(1);
  open(true);
  await expect.poll(() => mailOf(service)).toMatchObject([{ mail: 'sent' }, { mail: 'sent' }]);
  expect(server.mails).toHaveLength(2);
});

test('a failure that is reported after another worker has sent the mail does not send it again', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { sql } = service.context.database;
  const { webhookToken } = await service.store(owner);
  const open = server.hold();
  await service.hook('new_member', webhookToken, { id: 'm-1' });
  await expect.poll(server.received).toBe(1);
  await sql`update notifications set mail = 'sent', attempts = attempts + 1`;
  open(false);
  await expect.poll(() => service.lines.join('')).toContain('"event":"notification"');
  // The statement that records the failure is sent with that line; this one follows it.
  await service.hook('new_member', webhookToken, { id: 'm-2' });
  await expect.poll(() => mailOf(service)).toMatchObject([{ mail: 'sent' }, { mail: 'sent' }]);
  expect(server.mails).toHaveLength(1);
});

test('a mail that another worker claims during the look-up of its address is left to that worker', async () => {
  await using server = await startMailServer();
  await using watcher = await startService({ work: false });
  const { sql } = watcher.context.database;
  const { webhookToken } = await watcher.store({ notifications: { customers: { enabled: true } } });
  const { databaseUrl } = watcher;
  const slow = await startService({ databaseUrl, variables: { SMTP_URL: server.url } });
  await watcher.hook('order_updated', webhookToken, { id: 'o-1', status: 'A', consumerId: 'c-1' });
  await expect.poll(() => mailOf(watcher)).toMatchObject([{ mail: 'no_address' }]);
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`lock table users in access exclusive mode`;
  await sql`update notifications set mail = 'pending', due_at = now()`;
  await expect.poll(() => sql`select from notifications where worker is not null`).toHaveLength(1);
  const worker = randomUUID();
  await sql`update notifications set worker = ${worker}, attempts = attempts + 1`;
  await connection`commit`;
  connection.release();
  await slow[Symbol.asyncDispose]();
  expect(await sql`select mail, worker from notifications`).toEqual([{ mail: 'pending', worker }]);
});

test('a resent mail does not count as sent when only the first attempt is accepted late', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { sql } = service.context.database;
  const { id, webhookToken } = await service.store(owner);
  const openFirst = server.hold();
  await service.hook('new_member', webhookToken, { id: 'm-1' });
  await expect.poll(server.received).toBe(1);
  // As if another worker had sent the mail after the lease of the first one expired.
  const [mail] = await sql`
    update notifications set mail = 'sent', worker = null, attempts = attempts + 1, sent_at = now() returning id`;
  const openSecond = server.hold();
  await service.admin('POST', `/v1/stores/${id}/notifications/${mail?.['id']}/resend`);
  await expect.poll(server.received).toBe(2);
  openFirst(true);
  await expect.poll(() => server.mails.length).toBe(1);
  openSecond(false);
  await expect.poll(() => server.mails.length, soon).toBe(2);
  await expect.poll(() => mailOf(service)).toMatchObject([{ mail: 'sent' }]);
});

test('the mails and imports of a killed process are completed soon by another one', async () => {
  await using server = await startMailServer();
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store({ ...owner, pos, customerImportsEnabled: true });
  const settings = { SMTP_URL: server.url, PROVIDER_TIMEOUT_MS: '600000' };
  await using first = await startProcess(service, settings);
  const open = server.hold();
  standIn.behaviour = 'hang';
  await service.hook('new_member', webhookToken, { id: 'm-1', email: 'ann@example.test' });
  await expect.poll(() => [server.received(), standIn.requests.length]).toEqual([1, 1]);
  await using second = await startProcess(service, settings);
  await first.kill();
  standIn.behaviour = 'normal';
  open(false);
  await expect.poll(() => mailOf(service), soon).toMatchObject([{ mail: 'sent' }]);
  await expect.poll(() => importsOf(service), soon).toEqual([{ state: 'done', count: 1 }]);
  expect(await second.stop()).toBe(0);
});

test('while one POS hangs, members of other stores are imported, and that POS gets few concurrent requests', async () => {
  await using service = await startService({ variables: { PROVIDER_TIMEOUT_MS: '600000' } });
  const slow = await service.store({ pos, customerImportsEnabled: true });
  const other = await service.store({ customerImportsEnabled: true });
  standIn.behaviour = 'hang';
  await Promise.all(
    Array.from({ length: 40 }, (_, at) => service.hook('new_member', slow.webhookToken, { id: `m-${at}` })),
  );
  await expect.poll(() => importsOf(service)).toEqual([{ state: 'pending', count: 40 }]);
  for (const id of ['a', 'b', 'c']) await service.hook('new_member', other.webhookToken, { id });
  const states = [
    { state: 'done', count: 3 },
    { state: 'pending', count: 40 },
  ];
  await expect.poll(() => importsOf(service)).toEqual(states);
  await expect.poll(() => standIn.requests.length).toBe(4);
  standIn.behaviour = 'normal';
  standIn.release();
  await expect.poll(() => importsOf(service)).toEqual([{ state: 'done', count: 43 }]);
});

test('an import that failed is started again by a replay, and by another webhook of the member', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const { id, webhookToken } = await service.store({ customerImportsEnabled: true });
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`;
  await sql`create trigger refuse before insert on users for each row execute function refuse()`;
  for (const member of ['m-1', 'm-2']) await service.hook('new_member', webhookToken, { id: member });
  await expect.poll(() => importsOf(service)).toEqual([{ state: 'failed', count: 2 }]);
  await sql`drop trigger refuse on users`;
  const { body } = await service.admin('GET', `/v1/stores/${id}/events?entity=m-1`);
  const [event] = body['events'] as unknown as { id: string }[];
  await service.admin('POST', `/v1/stores/${id}/events/${event?.id}/replay`);
  await service.hook('new_member', webhookToken, { id: 'm-2', firstName: 'Ann' });
  await expect.poll(() => importsOf(service)).toEqual([{ state: 'done', count: 2 }]);
  expect(await sql`select id from users`).toHaveLength(2);
});

test('SIGTERM while a POS, a 3DS provider and a mail server hang: the customer gets an answer, all leases are released, exit 0', async () => {
  await using server = await startMailServer();
  await using service = await startService({ work: false });
  const store = await service.store({
    ...owner,
    pos,
    customerImportsEnabled: true,
    payments: { kind: 'threedsecureio', baseUrl: standIn.url, credentials: { apiKey: 'key-3ds-0123456789' } },
  });
  const { id, webhookToken } = store;
  const payment = { service: 'threedsecureio', transactionId: 't-1', orderId: 'o-1' };
  expect((await service.admin('POST', `/v1/stores/${id}/payments`, payment)).status).toBe(201);
  const settings = { SMTP_URL: server.url, PROVIDER_TIMEOUT_MS: '600000' };
  await using process = await startProcess(service, settings);
  const open = server.hold();
  standIn.behaviour = 'hang';
  await service.hook('new_member', webhookToken, { id: 'm-1' });
  const order = { id: 'o-1', publicKey: 'o-1', status: 'A' };
  await service.hook('order_updated', webhookToken, order);
  const cres = Buffer.from(JSON.stringify({ threeDSServerTransID: 't-1' })).toString('base64url');
  const customer = fetch(
    `${process.url}/api/v1/hooks/payment-auth-completed/threedsecureio/${webhookToken}`,
    {
      method: 'POST',
      body: JSON.stringify({ service: 'threedsecureio', cres, transactionId: 't-1' }),
      headers: { 'content-type': 'application/json' },
      redirect: 'manual',
    },
  );
  await expect.poll(() => [server.received(), standIn.requests.length]).toEqual([1, 3]);
  process.signal('SIGTERM');
  expect((await customer).headers.get('location')).toContain('/failure?');
  expect(await process.exited()).toBe(0);
  const { sql } = service.context.database;
  expect(await sql`select entity, worker, attempts from queue where entity = 'order:o-1'`).toMatchObject([
    { worker: null, attempts: 0 },
  ]);
  expect(await sql`select attempts, worker from import_jobs`).toEqual([{ attempts: 0, worker: null }]);
  open(true);
  standIn.behaviour = 'normal';
  standIn.carts.set('o-1', { items: [] });
  await using next = await startProcess(service, settings);
  await expect.poll(() => mailOf(service)).toMatchObject([{ mail: 'sent' }, { mail: 'off' }]);
  await expect.poll(() => importsOf(service)).toEqual([{ state: 'done', count: 1 }]);
  await expect.poll(() => sql`select status from orders`).toEqual([{ status: 'A' }]);
  expect(await sendOrder(next.url, webhookToken, 'after')).toBe(200);
});

const replayedCount = 3000;

/** Queues events of a store, each for another order, as the replay of a time span does. */
const replay = (sql: Sql, storeId: string) => sql`
  with replayed as (
    insert into events (store_id, id, event, entity, dedup, body, headers, received_at)
    select ${storeId}, uuidv7(), 'order_updated', 'order:' || n, decode(md5(n::text), 'hex'),
      convert_to('{"id":"' || n || '","status":"A","cart":{"items":[]}}', 'UTF8'), '{}', now()
    from generate_series(1, ${replayedCount}) as n returning store_id, entity, id)
  insert into queue (store_id, entity, id, queued_at, due_at, attempts)
  select store_id, entity, id, now(), now(), 0 from replayed`;

test('while a replay of one store keeps the worker busy, a new event of another store is claimed when it is stored', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const replayed = await service.store();
  const other = await service.store();
  await using point = await holdAt(service.databaseUrl, { trigger: 'before insert on orders for each row' });
  await replay(sql, replayed.id);
  await point.reached();
  const claimed = async (storeId: string): Promise<number> => {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count from queue where store_id = ${storeId} and worker is not null`;
    return row.count;
  };

  await expect.poll(() => claimed(replayed.id)).toBeGreaterThanOrEqual(512);
  await service.hook('order_updated', other.webhookToken, { id: 'o-1', status: 'A', cart: { items: [] } });
  expect(await claimed(other.id)).toBe(1);
  expect(await claimed(replayed.id)).toBeLessThan(replayedCount);
  await point.open();
  await service.settled();
  expect(await sql`select id from orders where store_id = ${other.id}`).toEqual([{ id: 'o-1' }]);
});

test('a replay of one store does not delay waiting events of another store', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const [replayed, other] = [await service.store(), await service.store()];
  await using point = await holdAt(service.databaseUrl, { trigger: 'before insert on orders for each row' });
  await replay(sql, replayed.id);
  await point.reached();
  // The second event of the order waits for the first one.
  for (const status of ['A', 'B'])
    await service.hook('order_updated', other.webhookToken, { id: 'o-1', status, cart: { items: [] } });
  await point.open();
  await service.settled();
  const [row] = await sql<[{ later: number }]>`
    select count(*)::int as later from results
    where store_id = ${replayed.id}
      and finished_at > (select max(finished_at) from results where store_id = ${other.id})`;
  expect(row.later).toBeGreaterThan(0);
  expect(await sql`select status from orders where store_id = ${other.id}`).toEqual([{ status: 'B' }]);
});

const line = 'events were not processed or their results not written';

test('an event that always breaks its connection is retried alone and fails; the others of its batch are processed', async () => {
  await using receiver = await startService({ work: false });
  const { databaseUrl } = receiver;
  const { sql } = receiver.context.database;
  await sql.unsafe(`
    create function end_connection() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
    create trigger end_connection before insert on orders for each row when (new.id = 'bad')
      execute function end_connection()`);
  const { webhookToken } = await receiver.store();
  const ids = ['a', 'b', 'bad', 'c', 'd'];
  for (const id of ids) await receiver.hook('order_updated', webhookToken, { id, status: 'A' });
  const variables = { RETRY_BASE_MS: '10', RETRY_FOR_HOURS: '0.00001' };
  await using service = await startService({ databaseUrl, variables });
  const results = () => sql`
    select state, error, count(*)::int from results where state is not null group by 1, 2 order by 1`;
  await expect.poll(results).toEqual([
    { state: 'done', error: null, count: 4 },
    {
      state: 'failed',
      error: 'The connection to the database was lost while the event was processed.',
      count: 1,
    },
  ]);
  const [bad] = await sql<{ attempts: number }[]>`select attempts from results where state = 'failed'`;
  // The first connection ended with the five events, each later one with this event alone.
  expect(service.lines.filter((text) => text.includes(line))).toHaveLength(bad?.attempts ?? 0);
  expect(bad?.attempts).toBeGreaterThan(1);
});

test('an event whose connection was lost waits for a pause before it is tried again', async () => {
  await using service = await startService({ variables: { RETRY_BASE_MS: '60000' } });
  const { sql } = service.context.database;
  await sql.unsafe(`
    create function end_connection() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
    create trigger end_connection before insert on orders for each row execute function end_connection()`);
  const { webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, { id: 'bad', status: 'A' });
  const replayedCount = () => sql`
    select attempts, crashes, due_at > now() + interval '20 s' as paused from queue where worker is null`;
  await expect.poll(replayedCount).toEqual([{ attempts: 1, crashes: 3, paused: true }]);
});
