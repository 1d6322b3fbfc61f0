import { randomUUID } from 'node:crypto';
import postgres, { type Sql } from 'postgres';
import { expect, test } from 'vitest';
import { storeEvents } from '../src/inbox/insert-events.ts';
import { claim } from '../src/inbox/claim-events.ts';
import { eraseEvents } from '../src/inbox/erase-events.ts';
import { endEvent, endEvents, postponeEvents, type Claim } from '../src/inbox/end-events.ts';
import type { ClaimedRow } from '../src/inbox/event.ts';
import { heartbeatOf } from '../src/inbox/heartbeat.ts';
import { createEventWorker } from '../src/processing/event-worker.ts';
import { prune } from '../src/retention.ts';
import { startBackgroundWork } from '../src/processing/background-work.ts';
import { startService } from './harness.ts';
import { holdAt } from './hold.ts';
import { receivedEventOf } from './received-event.ts';

const order = (id: string, status: string) => ({ id, status, cart: { items: [] } });
/** Creates a worker with leases of `keepMs`. */
const claimerFor = (keepMs: number) => ({ worker: randomUUID(), keepMs });
const claimer = claimerFor(60_000);
/** Claims an event as soon as no other worker has a lease on it. */
const claimOne = async (sql: Sql, keepMs: number): Promise<ClaimedRow> => {
  for (;;) {
    const [event] = await claim(sql, claimerFor(keepMs), 1);
    if (event !== undefined) return event;
  }
};
/** Returns how many of the claims were still valid. */
const finishAll = async (sql: Sql, claims: readonly Claim[]): Promise<number> =>
  (await sql.begin((tx) => endEvents(tx, claims))).ended;

test('an event that was stored but not answered is sent again and stored once', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  expect((await service.hook('order_updated', webhookToken, order('o-1', 'A'))).status).toBe(200);
  const { sql } = service.context.database;
  expect(await sql`select id from inbox`).toHaveLength(1);
});

test('an event of a crashed worker is claimed after the lease of the worker has expired', async () => {
  await using service = await startService({ work: false, variables: { LEASE_MS: '400' } });
  const { id, webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  await heartbeatOf(sql, claimer.worker, 400).beat();
  expect(await claim(sql, claimer, 10)).toHaveLength(1);
  expect(await claim(sql, claimer, 10)).toHaveLength(0);
  await using _work = startBackgroundWork(service.context);
  await service.settled();
  const { body } = await service.admin('GET', `/v1/stores/${id}/events`);
  expect(body['events']).toMatchObject([{ status: 'done', attempts: 2 }]);
});

test('an event that a live worker keeps for too long is claimed again', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  expect(await claim(sql, claimerFor(60_000), 1)).toHaveLength(1);
  expect(await claim(sql, claimer, 1)).toEqual([]);
  // Simulates that a minute has passed.
  await sql`update queue set due_at = due_at - interval '60 s'`;
  expect(await claim(sql, claimer, 1)).toMatchObject([{ attempts: 2, crashes: 0 }]);
});

test('with a worker in the process an event is claimed when it is stored, unless an earlier one of its entity is pending', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  const started: string[] = [];
  service.context.inbox.attach({
    claimer,
    hasRoom: () => true,
    isFull: () => false,
    startProcessing: ({ body }) => void started.push(String(body)),
    wake: () => undefined,
  });
  for (const status of ['A', 'B']) await service.hook('order_updated', webhookToken, order('o-1', status));
  await Promise.all(
    ['A', 'B', 'C'].map((status) => service.hook('order_updated', webhookToken, order('o-2', status))),
  );
  expect(started.filter((body) => body.includes('o-1'))).toEqual([JSON.stringify(order('o-1', 'A'))]);
  expect(started.filter((body) => body.includes('o-2'))).toHaveLength(1);
  const waiting = sql`select attempts, worker from queue order by attempts desc, id`;
  const { worker } = claimer;
  const free = { attempts: 0, worker: null };
  expect(await waiting).toEqual([{ attempts: 1, worker }, { attempts: 1, worker }, free, free, free]);
  // Exactly the first of each entity is claimed.
  expect(
    await sql`select from queue q where attempts = 1 and exists (
    select from queue b where b.entity = q.entity and b.id < q.id)`,
  ).toEqual([]);
});

test('new events of a store whose events wait in the worker are left to other workers', async () => {
  await using service = await startService({ work: false });
  const [busy, other] = [await service.store(), await service.store()];
  const { sql } = service.context.database;
  const started: string[] = [];
  service.context.inbox.attach({
    claimer,
    hasRoom: () => true,
    isFull: (storeId) => storeId === busy.id,
    startProcessing: ({ storeId }) => void started.push(storeId),
    wake: () => undefined,
  });
  await Promise.all(
    [busy, other].flatMap(({ webhookToken }) => [
      service.hook('order_updated', webhookToken, order('o-1', 'A')),
      service.hook('order_updated', webhookToken, { status: 'no id, so no entity' }),
    ]),
  );
  expect(started).toEqual([other.id, other.id]);
  expect(await sql`select store_id, attempts, worker from queue where worker is null`).toEqual(
    [1, 2].map(() => ({ store_id: busy.id, attempts: 0, worker: null })),
  );
  expect(await claim(sql, claimerFor(60_000), 10)).toHaveLength(2);
});

test('an event that was claimed while it was stored, without an answer, is due when it is stored again', async () => {
  await using service = await startService({ work: false });
  const { id: storeId } = await service.store();
  const { sql } = service.context.database;
  const receipt = receivedEventOf({ storeId });
  expect(await storeEvents(sql, [receipt], claimer)).toEqual(['claimed']);
  expect(await claim(sql, claimer, 1)).toEqual([]);
  expect(await storeEvents(sql, [receipt])).toEqual(['duplicate']);
  expect(await claim(sql, claimer, 1)).toMatchObject([{ id: receipt.id, attempts: 2 }]);
});

test('a worker that lost its lease can neither finish, fail nor postpone the event of another worker', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  const slow = await claimOne(sql, 1);
  const fast = await claimOne(sql, 60_000);
  expect(await finishAll(sql, [slow])).toBe(0);
  await endEvent(sql, slow, 'failed', 'late');
  await postponeEvents(sql, [slow], { delayMs: 0, error: 'late', isAttempt: true });
  expect(await sql`select state, attempts, error from inbox`).toMatchObject([
    { state: 'pending', attempts: 2, error: null },
  ]);
  expect(await finishAll(sql, [fast])).toBe(1);
});

test('a worker cannot end an event that was replayed meanwhile and claimed by another worker', async () => {
  await using service = await startService({ work: false });
  const { id, webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  const slow = await claimOne(sql, 60_000);
  expect((await service.admin('POST', `/v1/stores/${id}/events/${slow.id}/replay`)).status).toBeLessThan(300);
  const fast = await claimOne(sql, 60_000);
  expect([slow.attempts, fast.attempts]).toEqual([1, 1]);
  expect(await finishAll(sql, [slow])).toBe(0);
  expect(await finishAll(sql, [fast])).toBe(1);
});

test('the effect and the result of an event are stored in one transaction', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`;
  await sql`create trigger refuse before insert on notifications for each row execute function refuse()`;
  const processing = createEventWorker(service.context, () => undefined);
  expect(await processing.round()).toBe(true);
  await processing.idle();
  expect(await sql`select id from orders`).toEqual([]);
  await sql`drop trigger refuse on notifications`;
  await using _work = startBackgroundWork(service.context);
  await service.settled();
  expect(await sql`select status from orders`).toMatchObject([{ status: 'A' }]);
  expect(await sql`select id from notifications`).toHaveLength(1);
});

test('events of one entity are processed in order, one at a time; other entities do not wait for them', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (const status of ['A', 'B']) await service.hook('order_updated', webhookToken, order('o-1', status));
  await service.hook('order_updated', webhookToken, order('o-2', 'A'));
  const first = await claim(sql, claimer, 10);
  expect(first.map(({ entity }) => entity).toSorted()).toEqual(['order:o-1', 'order:o-2']);
  expect(await claim(sql, claimer, 10)).toHaveLength(0);
  await finishAll(sql, first);
  expect((await claim(sql, claimer, 10)).map(({ body }) => String(body))).toEqual([
    JSON.stringify(order('o-1', 'B')),
  ]);
});

/** Long, because a failing event may have thousands behind it. */
const parkedEvents = (sql: Sql) =>
  sql`select entity from queue where due_at > now() + interval '100 seconds' and attempts = 0`;

test('events behind a claimed event of their entity are parked once, skipped by other claims, and due in order', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  const statuses = Array.from({ length: 12 }, (_, at) => `S${at}`);
  for (const status of statuses) await service.hook('order_updated', webhookToken, order('hot', status));
  await service.hook('order_updated', webhookToken, order('cool', 'A'));
  const [first] = await claim(sql, claimer, 4);
  expect(await claim(sql, claimer, 4)).toMatchObject([{ entity: 'order:cool' }]);
  expect(await parkedEvents(sql)).toHaveLength(11);
  const seen = [first];
  while (seen.at(-1) !== undefined) {
    const [last] = seen.slice(-1);
    if (last !== undefined) await finishAll(sql, [last]);
    seen.push((await claim(sql, claimer, 4))[0]);
  }
  expect(seen.slice(0, -1).map((event) => String(event?.body))).toEqual(
    statuses.map((status) => JSON.stringify(order('hot', status))),
  );
});

test('an event behind one that failed permanently is due at once', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (const status of ['A', 'B']) await service.hook('order_updated', webhookToken, order('o-1', status));
  const [first] = await claim(sql, claimer, 4);
  expect(await claim(sql, claimer, 4)).toEqual([]);
  expect(await parkedEvents(sql)).toHaveLength(1);
  if (first !== undefined) await endEvent(sql, first, 'failed', 'no');
  expect(await claim(sql, claimer, 4)).toMatchObject([
    { body: Buffer.from(JSON.stringify(order('o-1', 'B'))) },
  ]);
});

test('an event behind one that was erased is due at once', async () => {
  await using service = await startService({ work: false });
  const { id, webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (const status of ['A', 'B', 'C'])
    await service.hook('order_updated', webhookToken, order('o-1', status));
  const [first] = await claim(sql, claimer, 4);
  expect(await parkedEvents(sql)).toHaveLength(2);
  const [second] = await sql<{ id: string }[]>`select id from queue where attempts = 0 order by id limit 1`;
  await sql.begin((tx) => eraseEvents(tx, id, [], { found: new Set([first?.id ?? '', second?.id ?? '']) }));
  expect(await claim(sql, claimer, 4)).toMatchObject([
    { body: Buffer.from(JSON.stringify(order('o-1', 'C'))) },
  ]);
});

test('concurrent workers lose no event of a few entities and keep their order', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  const count = 240;
  for (let at = 0; at < count; at++)
    await service.hook('order_updated', webhookToken, order(`o-${at % 4}`, `S${at}`));
  const done: ClaimedRow[] = [];
  const worker = async () => {
    while (done.length < count) {
      const claimed = await claim(sql, claimer, 8);
      done.push(...claimed);
      await Promise.all(claimed.map((event) => finishAll(sql, [event])));
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  for (const events of Map.groupBy(done, ({ entity }) => entity).values()) {
    const ids = events.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
  }
});

test('events that were claimed just before the database was unavailable are due again with the next heartbeat', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  const processing = createEventWorker(service.context, () => undefined);
  await sql`alter table stores rename to away`;
  await expect(processing.round()).rejects.toMatchObject({ cause: { code: '42P01' } });
  await sql`alter table away rename to stores`;
  expect(await processing.round()).toBe(false);
  await processing.beat();
  expect(await processing.round()).toBe(true);
  await processing.idle();
  expect(await sql`select status from orders`).toEqual([{ status: 'A' }]);
});

test('the events of a stopping worker are due at once and do not count as crashed', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  await heartbeatOf(sql, claimer.worker, 60_000).beat();
  expect(await claim(sql, claimer, 1)).toHaveLength(1);
  await heartbeatOf(sql, claimer.worker, 60_000).remove();
  expect(await sql`select id from workers`).toEqual([]);
  expect(await claim(sql, claimerFor(60_000), 1)).toMatchObject([{ attempts: 2, crashes: 0 }]);
});

/** Claims all events for a worker that then crashes. */
const claimAndCrash = async (sql: Sql): Promise<string[]> => {
  const crashed = claimerFor(60_000);
  await heartbeatOf(sql, crashed.worker, 0).beat();
  const claimed = [...(await claim(sql, crashed, 100)), ...(await claim(sql, crashed, 1, 'suspects'))];
  await expect
    .poll(async () => (await heartbeatOf(sql, randomUUID(), 60_000).beat()).recovered)
    .toBe(claimed.length);
  return claimed.map(({ entity }) => entity);
};

test('a heartbeat returns which work is due, so that an idle worker needs no other query', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  const due = async () => {
    const { due } = await heartbeatOf(sql, claimer.worker, 60_000).beat();
    return [...due];
  };
  expect(await due()).toEqual([]);
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  expect(await due()).toEqual(['events']);
  await sql`update queue set crashes = 3`;
  expect(await due()).toEqual(['events']);
  await sql`update queue set due_at = now() + interval '1 hour'`;
  expect(await due()).toEqual([]);
  await sql`
    insert into import_jobs (store_id, id, member_id, state, attempts, due_at, created_at)
    select id, gen_random_uuid(), 'm-1', 'pending', 0, now() - interval '1 s', now() from stores`;
  await sql`
    insert into notifications (store_id, id, key, kind, audience, change, subject, mail, attempts, due_at, created_at)
    select id, gen_random_uuid(), 'k-1', 'order', 'customer', 'A', 's', 'pending', 0, now() - interval '1 s', now() from stores`;
  expect(await due()).toEqual(['mails', 'imports']);
});

test('a heartbeat does not wait for a locked event of a crashed worker; a later one makes it due', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (const name of ['o-1', 'o-2']) await service.hook('order_updated', webhookToken, order(name, 'A'));
  const crashed = claimerFor(60_000);
  await heartbeatOf(sql, crashed.worker, 0).beat();
  expect(await claim(sql, crashed, 2)).toHaveLength(2);
  const rescuer = randomUUID();
  const other = postgres(service.databaseUrl, { max: 1 });
  await other`begin`;
  await other`select from queue where entity = 'order:o-1' for update`;
  await expect.poll(async () => (await heartbeatOf(sql, rescuer, 60_000).beat()).recovered).toBe(1);
  await other.end();
  expect((await heartbeatOf(sql, rescuer, 60_000).beat()).recovered).toBe(1);
  expect(await sql`select id from workers`).toEqual([{ id: rescuer }]);
});

test('an event whose workers crash ten times fails, also after an attempt that ended with an error', async () => {
  await using service = await startService({ work: false });
  const { id, webhookToken } = await service.store();
  const { sql } = service.context.database;
  await service.hook('order_updated', webhookToken, order('o-1', 'A'));
  await postponeEvents(sql, [await claimOne(sql, 60_000)], { delayMs: 0, error: 'away', isAttempt: true });
  for (let at = 0; at < 10; at++) await claimAndCrash(sql);
  await using _work = startBackgroundWork(service.context);
  await service.settled();
  const { body } = await service.admin('GET', `/v1/stores/${id}/events`);
  expect(body['events']).toMatchObject([
    { status: 'failed', error: 'Ten workers crashed while processing this event.' },
  ]);
});

test('events that three workers crashed with are claimed one at a time, so that only the cause fails', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (let at = 0; at < 5; at++) await service.hook('order_updated', webhookToken, order(`o-${at}`, 'A'));
  for (let at = 0; at < 3; at++) expect(await claimAndCrash(sql)).toHaveLength(5);
  for (let at = 0; at < 3; at++) expect(await claimAndCrash(sql)).toHaveLength(1);
  await service.hook('order_updated', webhookToken, order('other', 'A'));
  await using _work = startBackgroundWork(service.context);
  await service.settled();
  expect(await sql`select state, count(*)::int from inbox group by state`).toEqual([
    { state: 'done', count: 6 },
  ]);
});

test('two workers never claim the same event', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  await Promise.all(
    Array.from({ length: 60 }, (_, at) => service.hook('order_updated', webhookToken, order(`o-${at}`, 'A'))),
  );
  const claims = await Promise.all(Array.from({ length: 6 }, () => claim(sql, claimer, 20)));
  const ids = claims.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('finished events older than the retention are deleted; pending and younger ones stay', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (const at of [1, 2, 3]) await service.hook('order_updated', webhookToken, order(`o-${at}`, 'A'));
  await finishAll(sql, (await claim(sql, claimer, 2)).slice(0, 2));
  const tables = { results: { ageColumn: 'id', days: 0 } } as const;
  expect(await prune(sql, tables, new Date(Date.now() - 60_000))).toBe(false);
  expect(await sql`select id from inbox`).toHaveLength(3);
  await prune(sql, tables, new Date(Date.now() + 60_000));
  expect(await sql`select state from inbox`).toMatchObject([{ state: 'pending' }]);
});

test('the metrics count pending events', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  for (const at of [1, 2]) await service.hook('order_updated', webhookToken, order(`o-${at}`, 'A'));
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toMatch(/^webhooks_pending 2$/m);
  expect(metrics).toMatch(/^webhooks_spool_bytes 0$/m);
  expect(metrics).toContain('route="/api/v1/hooks/order_updated/{token}",status="200"');
});

test('the metrics of a long queue are an estimate and the age of the first due event', async () => {
  await using service = await startService({ work: false });
  const { id: storeId } = await service.store();
  const { sql } = service.context.database;
  await sql`
    insert into queue (store_id, entity, id, queued_at, due_at, attempts)
    select ${storeId}, at::text, gen_random_uuid(), now() - at * interval '1 s', now() - at * interval '1 s', 0
    from generate_series(1, 12000) as at`;
  const valueOf = async (name: string): Promise<number> => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1]);
  };
  await expect.poll(() => valueOf('webhooks_pending')).toBe(12_000);
  expect(await valueOf('webhooks_oldest_pending_seconds')).toBeGreaterThanOrEqual(12_000);
});

/** An order that is large enough to count in the body budget. */
const largeOrder = (status: string) => ({ ...order('o-1', status), memo: 'x'.repeat(8000) });

test('an event that waited for a failed batch is stored after the events of that batch', async () => {
  await using service = await startService({ work: false });
  const { webhookToken } = await service.store();
  const { inbox, database, bodyBudget } = service.context;
  const { sql } = database;
  const send = (status: string) => service.hook('order_updated', webhookToken, largeOrder(status));
  await send('A');
  const whenB = `before insert on events for each row when (position('"B"'::bytea in new.body) > 0)`;
  await using hold = await holdAt(service.databaseUrl, { trigger: whenB });
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`;
  // Triggers fire in the order of their names: this one fires after the hold is opened.
  await sql.unsafe(`create trigger refuse ${whenB} execute function refuse()`);
  const failing = send('B');
  await hold.reached();
  const waiting = send('A');
  await expect.poll(() => bodyBudget.bytes).toBe(2 * JSON.stringify(largeOrder('A')).length);
  await hold.open();
  expect([(await failing).status, (await waiting).status]).toEqual([200, 200]);
  await sql`drop trigger refuse on events`;
  await expect.poll(() => inbox.spool.active).toBe(false);
  expect((await sql`select body from events order by id`).map(({ body }) => String(body))).toEqual(
    ['A', 'B', 'A'].map((status) => JSON.stringify(largeOrder(status))),
  );
});

test('storing events again, in any split, changes nothing', async () => {
  await using service = await startService({ work: false });
  const { id, webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (const status of ['A', 'B', 'A', 'B', 'B'])
    await service.hook('order_updated', webhookToken, order('o-1', status));
  const before = await sql`select id, encode(dedup, 'hex') as dedup from inbox order by id`;
  expect(before).toHaveLength(4);
  const rows = await sql`select * from inbox order by id`;
  const events = rows.map((row) =>
    receivedEventOf({
      storeId: id,
      id: row['id'] as string,
      entity: 'order:o-1',
      dedup: before[0]?.['dedup'] as string,
      body: row['body'] as Buffer,
      receivedAt: new Date(row['received_at'] as string),
    }),
  );
  await storeEvents(sql, events.slice(0, 1));
  await storeEvents(
    sql,
    events.filter(({ body }) => String(body).includes('"A"')),
  );
  expect(await sql`select id, encode(dedup, 'hex') as dedup from inbox order by id`).toEqual(before);
});
