import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import { startProxy } from '@platform/service-kit/testing';
import { afterAll, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { holdAt, type HoldPoint } from './hold.ts';
import { fire, sendOrder, startProcess } from './process.ts';
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
  const storedIds = inbox.map(({ entity }) => entity.slice('order:'.length));
  expect(new Set(storedIds).size).toBe(storedIds.length);
  const orders = await sql<{ id: string }[]>`select id from orders where store_id = ${id}`;
  const known = new Set(orders.map((order) => order.id));
  expect(acknowledged.filter((orderId) => !known.has(orderId))).toEqual([]);
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
  expect(load.acknowledged.filter((orderId) => !known.has(orderId))).toEqual([]);
  expect(await next.stop()).toBe(0);
  const [{ count } = {}] =
    await sql`select count(*) - count(distinct entity) as count from inbox where store_id = ${id}`;
  expect(Number(count)).toBe(0);
});

interface CrashPoint extends HoldPoint {
  between: string;
  answered: boolean;
  /** The database passes the point, but the process is killed before it gets the result. */
  committed?: boolean;
  /** The stored state of the probe after the process was killed. */
  stored: { state: string; attempts: number; effects: number } | undefined;
}

const forProbe = "for each row when (new.entity = 'order:probe')";
const onOrders = "on orders for each row when (new.id = 'probe')";
const forProbeNotification = "for each row when (new.reference = 'probe')";
const storing = `before insert on events ${forProbe}`;
const queueing = `before insert on queue ${forProbe}`;
const committing: HoldPoint = {
  kind: 'constraint trigger',
  trigger: `after insert on notifications deferrable initially deferred ${forProbeNotification}`,
};
const claimed = { state: 'pending', attempts: 1, effects: 0 };

const crashPoints: CrashPoint[] = [
  {
    between: 'received and stored',
    trigger: storing,
    answered: false,
    stored: undefined,
  },
  {
    between: 'stored and queued',
    trigger: queueing,
    answered: false,
    stored: undefined,
  },
  {
    between: 'stored and answered',
    trigger: queueing,
    answered: false,
    committed: true,
    // Storing an event also claims it.
    stored: claimed,
  },
  {
    between: 'planned and finished',
    trigger: "before delete on queue for each row when (old.entity = 'order:probe')",
    answered: true,
    stored: claimed,
  },
  {
    between: 'claimed and effect',
    trigger: `before insert ${onOrders}`,
    answered: true,
    stored: claimed,
  },
  {
    between: 'effect and its notification',
    trigger: `before insert on notifications ${forProbeNotification}`,
    answered: true,
    stored: claimed,
  },
  {
    between: 'effect and done',
    ...committing,
    answered: true,
    stored: claimed,
  },
  {
    between: 'done and known as done',
    ...committing,
    answered: true,
    committed: true,
    stored: { state: 'done', attempts: 1, effects: 1 },
  },
];

test.each(crashPoints)(
  'killed under load between $between: every acknowledged event has its effect, once',
  async ({ answered, committed = false, stored, ...point }) => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const { webhookToken } = await service.store();
    const { sql } = service.context.database;
    await sql`create table effects (id text not null)`;
    await sql`create function count_effect() returns trigger language plpgsql as
      $$ begin insert into effects values (new.id); return new; end $$`;
    await sql`create trigger count_effect after insert or update on orders
      for each row execute function count_effect()`;
    await using hold = await holdAt(service.databaseUrl, point);
    await using proxy = await startProxy(service.databaseUrl);
    // The spool has no room, so a webhook that the database does not confirm in time gets no 200.
    await using running = await startProcess(
      { databaseUrl: proxy.url, spool: service.spool },
      { SPOOL_MAX_BYTES: '0', LEASE_MS: '2000' },
    );
    using load = fire(running.url, webhookToken, 'load', 200);
    while (load.acknowledged.length < 40) await sleep(10);
    // Undefined if the process is killed before it answers, which is asserted below.
    const probe = sendOrder(running.url, webhookToken, 'probe').catch(() => undefined);
    await hold.reached();
    // The answer may still be in transit while the worker already claims the event.
    if (answered) await probe;
    if (committed) {
      proxy.withholdAnswers();
      await hold.open();
    }
    await running.kill();
    await load.stop();
    expect((await probe) === 200).toBe(answered);
    await hold.release();
    const [row] = await sql`
      select state, attempts, (select count(*)::int from effects where id = 'probe') as effects
      from inbox where entity = 'order:probe'`;
    expect(row).toEqual(stored);

    await using next = await startProcess(service, { LEASE_MS: '1000' });
    // A sender retries each webhook that did not get 200.
    const expected = [...load.acknowledged, ...load.unacknowledged, 'probe'];
    const again = answered ? load.unacknowledged : [...load.unacknowledged, 'probe'];
    for (const id of again) expect(await sendOrder(next.url, webhookToken, id)).toBe(200);
    await service.settled();
    expect(await next.stop()).toBe(0);
    const once = expected.toSorted();
    const inbox = await sql`select substr(entity, 7) as id from inbox where state = 'done'`;
    const effects = await sql`select id from effects`;
    const notifications = await sql`select reference as id from notifications`;
    for (const rows of [inbox, effects, notifications])
      expect(rows.map((row) => String(row['id'])).toSorted()).toEqual(once);
  },
);
