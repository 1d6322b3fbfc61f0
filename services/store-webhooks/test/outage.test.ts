import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import connect from 'postgres';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { ReceivedEvent } from '../src/inbox/event.ts';
import { storeEvents } from '../src/inbox/insert-events.ts';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { startService } from './harness.ts';
import { fire, sendOrder, startProcess } from './process.ts';
import { startStandIn } from './simulate/stand-in.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

const order = (id: string, status: string) => ({ id, status, cart: { items: [] } });

const files = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.includes('.spool'));

test('while the database is down known tokens get 200, unknown ones 503, and all events are stored in order', async () => {
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

test('events that a crashed process left in the spool are stored once by the next process', async () => {
  await using service = await startService({ serverUrl: postgres.url });
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order('o-0', 'FIRST'));
  await service.settled();
  await postgres.kill9();
  for (const status of ['A', 'B', 'A'])
    expect((await service.hook('order_updated', webhookToken, order('o-1', status))).status).toBe(200);
  // A crash leaves the file with half a record at its end.
  const [spoolFile = ''] = await files(service.spool);
  await appendFile(join(service.spool, spoolFile), Buffer.from([0, 0, 1, 0, 9, 9]));
  await service.context.inbox.spool[Symbol.asyncDispose]();
  await postgres.restart();

  const { sql } = service.context.database;
  const next = createSpool({
    folder: join(service.spool, spoolFile, '../..'),
    maxBytes: 1e9,
    log: service.context.log,
    store: (events) => storeTwice(sql, events),
  });
  await next.recover();
  expect(next.active).toBe(true);
  while (next.active) await sleep(20);
  // Not `settled`, which would wait for the disposed spool.
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

/** Stores events twice, like a process that crashes after storing and before removing the file. */
const storeTwice = async (sql: Parameters<typeof storeEvents>[0], events: ReceivedEvent[]) => {
  await storeEvents(sql, events);
  return storeEvents(sql, events);
};

test('a database that accepts no connections counts as down: known tokens get 200, unknown ones 503', async () => {
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

test('payment events from one network during an outage are all settled afterwards', async () => {
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

test('an event whose result cannot be stored because the database is down is processed soon after the outage', async () => {
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
  // The POS is queried for the cart of an order without one.
  await service.hook('order_updated', webhookToken, { id: 'o-1', publicKey: 'o-1', status: 'A' });
  await expect.poll(() => standIn.requests.length).toBe(1);
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

/** Signals the server and its children, which are in other process groups. A stopped server starts and reaps none. */
const signalAll = async (name: NodeJS.Signals): Promise<void> => {
  process.kill(postgres.pid, 'SIGSTOP');
  const children = await readFile(`/proc/${postgres.pid}/task/${postgres.pid}/children`, 'utf8');
  for (const pid of [...children.trim().split(' ').map(Number), postgres.pid]) process.kill(pid, name);
};

const outages = [
  {
    name: 'stopped',
    begin: async () => void process.kill(postgres.pid, 'SIGINT'),
    finish: () => postgres.restart(),
  },
  {
    // Connections stay open without an answer, as when a machine swaps or a network drops packets.
    name: 'hanging',
    begin: () => signalAll('SIGSTOP'),
    finish: () => signalAll('SIGCONT'),
  },
];

test.each(outages)(
  'PostgreSQL $name under load: known tokens always get 200 and all their events are stored, unknown ones get 503',
  async ({ begin, finish }) => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const { id, webhookToken } = await service.store();
    await using running = await startProcess(service);
    using load = fire(running.url, webhookToken, 'o');
    while (load.acknowledged.length < 100) await sleep(20);
    await begin();
    const before = load.acknowledged.length;
    // More requests than a process may have in progress.
    using burst = fire(running.url, webhookToken, 'c', 1000, 300);
    const answered = () => burst.acknowledged.length + burst.unacknowledged.length;
    await expect.poll(answered).toBe(1000);
    // More events than can be in transit to the database, so that some are in the spool.
    await expect.poll(() => load.acknowledged.length).toBeGreaterThan(before + 50);
    const stranger = `${running.url}/api/v1/hooks/order_updated/${'U'.repeat(43)}`;
    const unknown = await fetch(stranger, { method: 'POST', body: '{}' });
    expect([unknown.status, Number(unknown.headers.get('retry-after')) > 0]).toEqual([503, true]);
    await finish();
    const after = load.acknowledged.length;
    while (load.acknowledged.length < after + 100) await sleep(20);
    await load.stop();
    expect(load.refused).toEqual([]);
    // 408 is allowed: on a busy machine this process may send the head of a request too slowly.
    expect(burst.refused.filter((status) => status !== 408)).toEqual([]);
    const spooled = async () =>
      (await readdir(service.spool, { recursive: true })).filter((name) => name.endsWith('.spool'));
    while ((await spooled()).length > 0) await sleep(100);
    await service.settled();
    const { sql } = service.context.database;
    const orders = await sql<{ id: string }[]>`select id from orders where store_id = ${id}`;
    const known = new Set(orders.map((order) => order.id));
    expect([...load.acknowledged, ...burst.acknowledged].filter((orderId) => !known.has(orderId))).toEqual(
      [],
    );
    const [{ twice } = {}] =
      await sql`select count(*) - count(distinct entity) as twice from inbox where store_id = ${id}`;
    expect(Number(twice)).toBe(0);
    // Connections that hung too long are replaced first.
    await expect.poll(async () => (await fetch(stranger, { method: 'POST', body: '{}' })).status).toBe(404);
    expect(await running.stop()).toBe(0);
  },
);

/** Stops the server first, so that it starts and reaps no process, and then its children. Returns their ids. */
const freeze = async (): Promise<number[]> => {
  process.kill(postgres.pid, 'SIGSTOP');
  const children = await readFile(`/proc/${postgres.pid}/task/${postgres.pid}/children`, 'utf8');
  const pids = children.trim().split(' ').map(Number);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return [...pids, postgres.pid];
};

const customerOrder = (id: string) => ({ id, status: 'PENDING', consumerId: 'c', cart: { items: [] } });

test('while PostgreSQL hangs, webhooks that pile up are spooled long before a single one times out', async () => {
  await using quiet = await startService({ serverUrl: postgres.url, work: false });
  await using busy = await startService({ serverUrl: postgres.url, work: false });
  const [quietStore, busyStore] = [await quiet.store(), await busy.store()];
  const send = async (service: typeof busy, token: string, id: string) =>
    (await service.hook('order_updated', token, customerOrder(id))).status;
  // Makes the tokens known before the outage.
  expect(await send(quiet, quietStore.webhookToken, 'first')).toBe(200);
  expect(await send(busy, busyStore.webhookToken, 'first')).toBe(200);
  const frozen = await freeze();
  const ends: string[] = [];
  try {
    const alone = send(quiet, quietStore.webhookToken, 'alone').finally(() => ends.push('alone'));
    const many = Array.from({ length: 40 }, (_, at) =>
      send(busy, busyStore.webhookToken, `o-${at}`).finally(() => ends.push('burst')),
    );
    expect(new Set(await Promise.all([alone, ...many]))).toEqual(new Set([200]));
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
  }
  // Only the majority, because some may be slow on a busy machine.
  expect(ends.indexOf('alone')).toBeGreaterThan(ends.length / 2);
  const events = async () => (await busy.context.database.sql`select from events`).length;
  await expect.poll(events).toBe(41);
});

/** The paths of the snapshots beside the spool. */
const savedSnapshots = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith('snapshot.json')).map((name) => join(folder, name));
};

test.each(['kill', 'stop'] as const)(
  'after a %s without a database the service accepts only the tokens that it knew',
  async (end) => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const [{ id, webhookToken }, other] = [await service.store(), await service.store()];
    await using before = await startProcess(service);
    expect(await sendOrder(before.url, webhookToken, 'before')).toBe(200);
    const hasToken = async () => {
      const files = await savedSnapshots(service.spool);
      return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).some((text) =>
        text.includes(id),
      );
    };
    await expect.poll(hasToken).toBe(true);
    await postgres.kill9();
    await before[end]();
    await using after = await startProcess(service);
    expect(await sendOrder(after.url, webhookToken, 'during')).toBe(200);
    expect(await sendOrder(after.url, other.webhookToken, 'unknown')).toBe(503);
    for (const file of await savedSnapshots(service.spool)) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
      expect(await readFile(file, 'utf8')).not.toContain(webhookToken);
    }
    await postgres.restart();
    const { sql } = service.context.database;
    const stored = () => sql`select entity from inbox where store_id = ${id} order by id`.catch(() => []);
    await expect.poll(stored).toMatchObject([{ entity: 'order:before' }, { entity: 'order:during' }]);
    expect(await after.stop()).toBe(0);
  },
);

test('a snapshot has each store once, and one that is too large for the memory is not read', async () => {
  await using service = await startService({ serverUrl: postgres.url, work: false });
  // A separate folder, because the service would take over the snapshot.
  const folder = await mkdtemp(join(tmpdir(), 'large-snapshot-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const start = () => startProcess(service, { SPOOL_DIR: folder });
  const { id, webhookToken } = await service.store();
  await using before = await start();
  expect(await sendOrder(before.url, webhookToken, 'first')).toBe(200);
  const path = `/v1/stores/${id}/webhook-token/rotate`;
  const { body } = await service.admin('POST', path, { graceSeconds: 3600 });
  const { webhookToken: second } = body as unknown as { webhookToken: string };
  expect(await sendOrder(before.url, second, 'second')).toBe(200);
  const saved = async () => {
    const [file = ''] = await savedSnapshots(folder);
    const text = file === '' ? '{}' : await readFile(file, 'utf8').catch(() => '{}');
    return { file, ...(JSON.parse(text) as { stores?: object[]; tokens?: object[] }) };
  };
  await expect.poll(async () => (await saved()).tokens).toHaveLength(2);
  const { file, stores } = await saved();
  expect(stores).toMatchObject([{ id }]);
  await postgres.kill9();
  await before.kill();
  await appendFile(file, ' '.repeat(33 * 2 ** 20));
  await using after = await start();
  expect(await sendOrder(after.url, webhookToken, 'third')).toBe(503);
  await postgres.restart();
});

test('a token that was revoked is not accepted after a restart without a database', async () => {
  await using service = await startService({ serverUrl: postgres.url, work: false });
  const { id, webhookToken } = await service.store();
  await using before = await startProcess(service);
  expect(await sendOrder(before.url, webhookToken, 'before')).toBe(200);
  const texts = async () =>
    Promise.all((await savedSnapshots(service.spool)).map((file) => readFile(file, 'utf8').catch(() => '')));
  await expect.poll(async () => (await texts()).join('').includes(id)).toBe(true);
  await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, { graceSeconds: 0 });
  await expect.poll(() => sendOrder(before.url, webhookToken, 'revoked')).toBe(404);
  await expect.poll(async () => (await texts()).join('')).toContain('"graceUntil":"');
  await postgres.kill9();
  await before.kill();
  await using after = await startProcess(service);
  expect(await sendOrder(after.url, webhookToken, 'during')).toBe(404);
  await postgres.restart();
});
