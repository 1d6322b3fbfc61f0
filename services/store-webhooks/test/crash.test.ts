import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import { afterAll, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { fire, startProcess } from './process.ts';
import { createRandom } from './simulate/random.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

const seed = randomInt(2 ** 32);
const random = createRandom(seed);

test(`kill -9 under load at any moment: every acknowledged event is processed and has its effect once (seed ${seed})`, async () => {
  await using service = await startService({ serverUrl: postgres.url, work: false });
  const { id, webhookToken } = await service.store();
  const acknowledged: string[] = [];
  for (let round = 0; round < 5; round++) {
    await using running = await startProcess(service);
    using load = fire(running.url, webhookToken, `r${round}`);
    const killAfter = 10 + random.below(100);
    await expect.poll(() => load.acknowledged.length, { interval: 1 }).toBeGreaterThan(killAfter);
    await running.kill();
    await load.stop();
    acknowledged.push(...load.acknowledged);
  }
  expect(acknowledged.length).toBeGreaterThan(50);
  await using last = await startProcess(service);
  await service.settled();
  expect(await last.stop()).toBe(0);
  const { sql } = service.context.database;
  const inbox = await sql<{ entity: string }[]>`select entity from inbox where store_id = ${id}`;
  const stored = inbox.map(({ entity }) => entity.slice('order:'.length));
  expect(new Set(stored).size).toBe(stored.length);
  const orders = await sql<{ id: string }[]>`select id from orders where store_id = ${id}`;
  const known = new Set(orders.map((order) => order.id));
  expect(acknowledged.filter((one) => !known.has(one))).toEqual([]);
  const repeated =
    await sql`select reference, count(*)::int from notifications where store_id = ${id} group by 1 having count(*) <> 1`;
  expect(repeated).toEqual([]);
  const [{ count } = {}] = await sql`select count(*)::int from notifications where store_id = ${id}`;
  expect(count).toBe(orders.length);
});

test('PostgreSQL killed under load, then the service too: nothing that was acknowledged is lost', async () => {
  await using service = await startService({ serverUrl: postgres.url, work: false });
  const { id, webhookToken } = await service.store();
  await using running = await startProcess(service);
  using load = fire(running.url, webhookToken, 'p');
  while (load.acknowledged.length < 20) await sleep(20);
  await postgres.kill9();
  const before = load.acknowledged.length;
  while (load.acknowledged.length < before + 20) await sleep(20);
  await running.kill();
  await load.stop();
  await postgres.restart();
  await using next = await startProcess(service);
  const { sql } = service.context.database;
  const spooled = async () =>
    (await readdir(service.spool, { recursive: true })).filter((name) => name.endsWith('.spool'));
  while ((await spooled()).length > 0) await sleep(100);
  await service.settled();
  const orders = await sql<{ id: string }[]>`select id from orders where store_id = ${id}`;
  const known = new Set(orders.map((row) => row.id));
  expect(load.acknowledged.filter((one) => !known.has(one))).toEqual([]);
  expect(await next.stop()).toBe(0);
  const [{ count } = {}] =
    await sql`select count(*) - count(distinct entity) as count from inbox where store_id = ${id}`;
  expect(Number(count)).toBe(0);
});
