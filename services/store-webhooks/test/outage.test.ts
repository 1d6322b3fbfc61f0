import { randomUUID } from 'node:crypto';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import connect from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { storeEvents } from '../src/inbox/insert-events.ts';
import type { ReceivedEvent } from '../src/inbox/event.ts';
import { startService } from './harness.ts';
import { sendOrder, startProcess } from './process.ts';
import { startStandIn } from './simulate/stand-in.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

const order = (id: string, status: string) => ({ id, status, cart: { items: [] } });

const files = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.includes('.spool'));

test('while the database is away known tokens get 200, unknown ones 503, and everything arrives in order', async () => {
  await using service = await startService({ serverUrl: postgres.url });
  const { id, webhookToken } = await service.store();
  expect((await service.hook('order_updated', webhookToken, order('o-0', 'FIRST'))).status).toBe(200);
  await service.settled();
  await postgres.kill9();

  const statuses = ['A', 'B', 'A', 'C', 'A'];
  for (const status of statuses) {
    const answer = await service.hook('order_updated', webhookToken, order('o-1', status));
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  }
  const many = Array.from({ length: 100 }, (_, at) =>
    service.hook('order_updated', webhookToken, order(`m-${at}`, 'X')),
  );
  expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
  const unknown = await service.hook('order_updated', 'U'.repeat(43), order('o-2', 'A'));
  expect([unknown.status, Number(unknown.headers.get('retry-after')) > 0]).toEqual([503, true]);
  expect(await files(service.spool)).toHaveLength(1);

  await postgres.restart();
  while (service.context.inbox.spool.active) await sleep(20);
  await service.settled();
  const { sql } = service.context.database;
  const rows = await sql`select body from inbox where store_id = ${id} and entity = 'order:o-1' order by id`;
  expect(rows.map(({ body }) => (JSON.parse(String(body)) as { status: string }).status)).toEqual(statuses);
  const [{ count } = {}] =
    await sql`select count(*)::int from orders where store_id = ${id} and id like 'm-%'`;
  expect(count).toBe(100);
  expect(await files(service.spool)).toEqual([]);
  expect((await service.admin('GET', `/v1/stores/${id}/orders/o-1`)).body).toMatchObject({ status: 'A' });
});

test('what a process that died left in the spool is replayed by the next one, once', async () => {
  await using service = await startService({ serverUrl: postgres.url });
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order('o-0', 'FIRST'));
  await service.settled();
  await postgres.kill9();
  for (const status of ['A', 'B', 'A'])
    expect((await service.hook('order_updated', webhookToken, order('o-1', status))).status).toBe(200);
  // What a crash leaves: the file as it is, with half a record at its end.
  const [left = ''] = await files(service.spool);
  await appendFile(join(service.spool, left), Buffer.from([0, 0, 1, 0, 9, 9]));
  await service.context.inbox.spool[Symbol.asyncDispose]();
  await postgres.restart();

  const { sql } = service.context.database;
  const next = createSpool({
    folder: join(service.spool, left, '../..'),
    maxBytes: 1e9,
    log: service.context.log,
    store: (events) => storeTwice(sql, events),
  });
  await next.recover();
  expect(next.active).toBe(true);
  while (next.active) await sleep(20);
  // Not `settled`, which would wait for the spool that ended.
  await expect.poll(async () => (await sql`select from queue`).length).toBe(0);
  const rows = await sql`select body from inbox where store_id = ${id} and entity = 'order:o-1' order by id`;
  expect(rows.map(({ body }) => (JSON.parse(String(body)) as { status: string }).status)).toEqual([
    'A',
    'B',
    'A',
  ]);
  expect(await files(service.spool)).toEqual([]);
  await next[Symbol.asyncDispose]();
});

/** A process that dies after storing and before removing the file stores everything again. */
const storeTwice = async (sql: Parameters<typeof storeEvents>[0], events: ReceivedEvent[]) => {
  await storeEvents(sql, events);
  return storeEvents(sql, events);
};

test('a database that accepts no connections is away too: known tokens get 200, unknown ones 503', async () => {
  await using service = await startService({ serverUrl: postgres.url });
  const { webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order('o-0', 'FIRST'));
  await service.settled();
  const name = new URL(service.databaseUrl).pathname.slice(1);
  const server = connect(postgres.url, { max: 1 });
  await server`alter database ${server(name)} allow_connections false`;
  await server`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;

  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => service.hook('order_updated', webhookToken, order(`o-${at}`, 'A'))),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const unknown = await service.hook('order_updated', 'U'.repeat(43), order('o-2', 'A'));
  expect([unknown.status, unknown.headers.has('retry-after')]).toEqual([503, true]);
  expect((await service.admin('GET', '/v1/stores')).status).toBe(503);

  await server`alter database ${server(name)} allow_connections true`;
  await server.end();
  await expect.poll(() => service.context.inbox.spool.active).toBe(false);
  await service.settled();
  const { sql } = service.context.database;
  expect(await sql`select count(*)::int from orders where status = 'A'`).toMatchObject([{ count: 20 }]);
});

test('the events of payments that come from one network while the database is away are all settled afterwards', async () => {
  await using standIn = await startStandIn();
  await using service = await startService({ serverUrl: postgres.url });
  const store = await service.store({ payments: [{ kind: 'threedsecureio', baseUrl: standIn.url }] });
  const complete = (id: string) => {
    const cres = Buffer.from(JSON.stringify({ threeDSServerTransID: id, messageType: 'CRes' }));
    const body = { service: 'threedsecureio', cres: cres.toString('base64url'), transactionId: id };
    return service.hook('payment-auth-completed/threedsecureio', store.webhookToken, body);
  };
  const ids = Array.from({ length: 30 }, () => randomUUID());
  for (const transactionId of ids) {
    standIn.results.set(transactionId, { transStatus: 'Y', authenticationValue: 'cavv', eci: '05' });
    const payment = { service: 'threedsecureio', transactionId, orderId: 'o-1' };
    expect((await service.admin('POST', `/v1/stores/${store.id}/payments`, payment)).status).toBe(201);
  }
  await complete('unregistered');
  await service.settled();
  await postgres.kill9();
  const answers = await Promise.all(ids.map(complete));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
  await postgres.restart();
  while (service.context.inbox.spool.active) await sleep(20);
  await service.settled();
  const { sql } = service.context.database;
  expect(await sql`select from payment_challenges where outcome is not null`).toHaveLength(30);
});

test('a spool without room refuses with 503 and Retry-After', async () => {
  await using service = await startService({
    serverUrl: postgres.url,
    variables: { SPOOL_MAX_BYTES: '3000' },
  });
  const { webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order('o-0', 'FIRST'));
  await service.settled();
  await postgres.kill9();
  const sent = async (at: number) =>
    service.hook('order_updated', webhookToken, { ...order(`o-${at}`, 'A'), memo: 'x'.repeat(500) });
  const answers = [];
  for (let at = 1; at <= 6; at++) answers.push(await sent(at));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 503, 503, 503]);
  expect(answers[5]?.headers.get('retry-after')).toMatch(/^\d+$/);
  await postgres.restart();
  while (service.context.inbox.spool.active) await sleep(20);
  expect((await sent(7)).status).toBe(200);
});

test('a full disk refuses with 503 and Retry-After, and the service recovers with the database', async () => {
  await using service = await startService({ serverUrl: postgres.url, work: false });
  const { webhookToken } = await service.store();
  const fullDisk = `--import ${join(import.meta.dirname, 'full-disk.ts')}`;
  await using running = await startProcess(service, { NODE_OPTIONS: fullDisk });
  expect(await sendOrder(running.url, webhookToken, 'before')).toBe(200);
  await postgres.kill9();
  for (let at = 0; at < 3; at++) {
    const url = `${running.url}/api/v1/hooks/order_updated/${webhookToken}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(order('o', 'A')) });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    expect(await answer.json()).toMatchObject({ code: 'spool_full' });
  }
  await postgres.restart();
  const status = () => sendOrder(running.url, webhookToken, 'after').catch(() => undefined);
  await expect.poll(status).toBe(200);
});

test('an event whose result cannot be written because the database is away is processed soon after it is back', async () => {
  await using standIn = await startStandIn();
  await using service = await startService({
    serverUrl: postgres.url,
    variables: { PROVIDER_TIMEOUT_MS: '600000' },
  });
  const { webhookToken } = await service.store({ pos: { kind: 'blaze', baseUrl: standIn.url } });
  const { sql } = service.context.database;
  await expect.poll(() => sql`select from workers`).toHaveLength(1);
  standIn.behaviour = 'hang';
  standIn.carts.set('o-1', { items: [] });
  // The POS is asked for the cart of an order that comes without one.
  await service.hook('order_updated', webhookToken, { id: 'o-1', publicKey: 'o-1', status: 'A' });
  await expect.poll(() => standIn.asked.length).toBe(1);
  await postgres.kill9();
  standIn.behaviour = 'normal';
  standIn.release();
  await expect
    .poll(() => service.lines.join(''))
    .toContain('events were not processed or their results not written');
  await postgres.restart();
  const orders = () => sql`select id from orders`.catch(() => []);
  await expect.poll(orders).toEqual([{ id: 'o-1' }]);
});
