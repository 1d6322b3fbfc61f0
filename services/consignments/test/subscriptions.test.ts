import type { ServerResponse } from 'node:http';
import { startReceiver } from '@platform/outgoing-webhooks/testing';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startService, tokens, type Service } from './harness.ts';
import { ids, partnerInput, warehouseInput } from './inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  service.context.subscriptions.start();
});
afterAll(() => service[Symbol.asyncDispose]());

const writer = `Bearer ${await tokens.token({ sub: 'ann', scope: 'consignments:write consignments:subscriptions' })}`;
const path = '/feeds/consignments/subscriptions';
const subscribe = async (body: object): Promise<{ id: string; secret: string }> =>
  (await service.post(path, body).set('Authorization', writer).expect(201)).body as {
    id: string;
    secret: string;
  };
const subscription = async (id: string): Promise<Record<string, unknown>> =>
  (await service.get(`${path}/${id}`).set('Authorization', writer).expect(200)).body as Record<
    string,
    unknown
  >;
const attemptsOf = async (id: string, query = ''): Promise<Record<string, unknown>[]> =>
  (
    (await service.get(`${path}/${id}/attempts${query}`).set('Authorization', writer).expect(200)).body as {
      attempts: Record<string, unknown>[];
    }
  ).attempts;
const create = async (): Promise<string> =>
  ((await service.post('/warehouses', warehouseInput()).expect(201)).body as { id: string }).id;
/** Creates records in one statement, so that they are read in one batch. */
const createMany = (count: number) => service.context.database.sql`
  insert into warehouses (id, code, name, city, country_code, status)
  select gen_random_uuid(), 'C' || n, 'Many', 'Tartu', 'EE', 1 from generate_series(1, ${count}::int) n`;
const rename = (id: string, name: string) => service.patch(`/warehouses/${id}`, { name }).expect(200);
const eventually = (assertion: () => unknown) => vi.waitFor(assertion, { timeout: 15_000, interval: 50 });

describe('a subscription', () => {
  test('gets each change once, signed, with the item of the list, in the order of the record', async () => {
    const { received, url } = await startReceiver();
    const { secret } = await subscribe({ url, lists: ['warehouses'] });
    const id = await create();
    await rename(id, 'Second');
    await service.delete(`/warehouses/${id}`).expect(204);
    await eventually(() => expect(received).toHaveLength(3));
    expect(received.map(({ event }) => event.type)).toEqual([
      'warehouse.created',
      'warehouse.updated',
      'warehouse.deleted',
    ]);
    expect(new Set(received.map((delivery) => delivery.id)).size).toBe(3);
    for (const { body, headers, event } of received) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(event);
      expect(event.data.id).toBe(id);
    }
    expect(received[2]?.event.data).not.toHaveProperty('item');
    const { registry } = service.context.metrics;
    const counted = () => registry.getSingleMetricAsString('subscription_attempts_total');
    await eventually(async () => expect(await counted()).toContain('{result="delivered"} 3'));
  });

  test('retries a refused change, and meanwhile holds back changes of that record only', async () => {
    let refuses = true;
    const [poor, other] = [await create(), await create()];
    const { received, url } = await startReceiver(({ event }, res) =>
      res.writeHead(refuses && event.data.id === poor ? 500 : 204).end(refuses ? 'no' : ''),
    );
    const { id } = await subscribe({ url, lists: ['warehouses'], actions: ['updated'] });
    for (const name of ['Second', 'Third', 'Fourth']) {
      await rename(poor, name);
      await rename(other, name);
    }
    const versionsOf = (record: string) =>
      received.flatMap(({ event }) => (event.data.id === record ? [event.data.version] : []));
    await eventually(() => expect(versionsOf(other)).toHaveLength(3));
    expect(new Set(versionsOf(poor)).size).toBe(1);
    await eventually(async () =>
      expect(await subscription(id)).toMatchObject({ state: 'active', waiting: 3, failed: 0 }),
    );
    expect((await attemptsOf(id, '?result=failed'))[0]).toMatchObject({
      type: 'warehouse.updated',
      record: poor,
      version: versionsOf(poor)[0],
      attempt: 1,
      status: 500,
      error: 'The subscriber answered 500.',
      answer: 'no',
    });
    refuses = false;
    await service.context.database.sql`
      update subscription_held set due_at = now() where subscription = ${id} and due_at <> 'infinity'`;
    await eventually(() => expect(new Set(versionsOf(poor)).size).toBe(3));
    const last = versionsOf(poor).slice(-3);
    expect(last).toEqual(last.toSorted((a, b) => a - b));
    await eventually(async () =>
      expect(await subscription(id)).toMatchObject({
        waiting: 0,
        failingSince: null,
        lastDeliveredAt: expect.stringMatching(/Z$/),
      }),
    );
  });

  test('reads no further changes while 10,000 wait', async () => {
    const { received, url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const { sql } = service.context.database;
    await sql`
      insert into subscription_held (subscription, position, lane, list, record, action, changed_at, attempts, due_at)
      select ${id}, -n, 'one', 'warehouses', 'one', 'updated', now(), 1, 'infinity' from generate_series(1, 10000) n`;
    await create();
    await eventually(async () => {
      const [row] = await sql<[{ isPaused: boolean }]>`
        select due_at > now() as "isPaused" from subscriptions where id = ${id}`;
      expect(row.isPaused).toBe(true);
    });
    expect(received).toEqual([]);
    await sql`delete from subscription_held where subscription = ${id}`;
    await sql`update subscriptions set due_at = now() where id = ${id}`;
    await eventually(() => expect(received).toHaveLength(1));
  });

  test('gives up a change after a day, continues with the next one, and replays failed changes', async () => {
    let refused = true;
    const { received, url } = await startReceiver((_, res) => res.writeHead(refused ? 503 : 204).end());
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const record = await create();
    await eventually(async () => expect(await subscription(id)).toMatchObject({ waiting: 1 }));
    const { sql } = service.context.database;
    await sql`update subscription_held set attempts = 1000, due_at = now() where subscription = ${id}`;
    await eventually(async () => expect(await subscription(id)).toMatchObject({ waiting: 0, failed: 1 }));
    refused = false;
    await rename(record, 'Second');
    await eventually(() => expect(received.at(-1)?.event.type).toBe('warehouse.updated'));
    const again = await service
      .post(`${path}/${id}/replay`, { failed: true })
      .set('Authorization', writer)
      .expect(200);
    expect(again.body).toEqual({ replayed: 1, next: null });
    await eventually(() => expect(received.at(-1)?.event.type).toBe('warehouse.created'));
    expect(new Set(received.map((delivery) => delivery.id)).size).toBe(2);
  });

  test('of an address that fails gets one request at a time, after pauses, and ends after five days', async () => {
    const { received, url } = await startReceiver((_, res) => res.writeHead(500).end());
    const { id } = await subscribe({ url, lists: ['warehouses'], ordering: 'none' });
    for (let n = 0; n < 30; n++) await create();
    const { sql } = service.context.database;
    const dueNow = () => sql`update subscriptions set due_at = now() where id = ${id}`;
    await eventually(async () => {
      await dueNow();
      expect((await attemptsOf(id)).length).toBeGreaterThan(20);
    });
    await eventually(async () => {
      const [row] = await sql<[{ isPaused: boolean }]>`
        select due_at > now() and lease_until <= now() as "isPaused" from subscriptions where id = ${id}`;
      expect(row.isPaused).toBe(true);
    });
    const before = received.length;
    await sql`update subscriptions set due_at = now(), failing_since = now() - interval '6 days' where id = ${id}`;
    await eventually(async () =>
      expect(await subscription(id)).toMatchObject({ state: 'disabled', stateReason: 'failures' }),
    );
    expect(received).toHaveLength(before + 1);
    const active = await service
      .patch(`${path}/${id}`, { state: 'active' })
      .set('Authorization', writer)
      .expect(200);
    expect(active.body).toMatchObject({ state: 'active', stateReason: null, failingSince: null });
  });

  test('pauses for seconds after a short outage, however many requests failed in it', async () => {
    let refuses = true;
    const { received, url } = await startReceiver((_, res) => res.writeHead(refuses ? 503 : 204).end());
    const { id } = await subscribe({ url, lists: ['warehouses'], ordering: 'none' });
    const { sql } = service.context.database;
    await createMany(40);
    const pause = async () => {
      const [row] = await sql<[{ failures: number; seconds: number }]>`
        select failures, extract(epoch from due_at - now())::int as seconds from subscriptions where id = ${id}`;
      return row;
    };
    await eventually(async () => expect((await pause()).failures).toBeGreaterThanOrEqual(5));
    refuses = false;
    expect((await pause()).seconds).toBeLessThan(30);
    expect(received.length).toBeGreaterThan(20);
    await service.context.database.sql`delete from subscriptions where id = ${id}`;
  });

  test('does not wait for requests of another subject to the same host', async () => {
    const slow: ServerResponse[] = [];
    const { received, url } = await startReceiver((_, res) =>
      res.req.url === '/slow' ? slow.push(res) : res.writeHead(204).end(),
    );
    onTestFinished(() => slow.forEach((res) => res.destroy()));
    for (let n = 0; n < 40; n++) await create();
    const other = await tokens.token({ sub: 'bob', scope: 'consignments:read consignments:subscriptions' });
    const body = { url: new URL('/slow', url).href, lists: ['warehouses'], ordering: 'none' };
    const made = await service.post(path, body).set('Authorization', `Bearer ${other}`).expect(201);
    await subscribe({ url, lists: ['warehouses'] });
    const span = { from: '2026-01-01T00:00:00.000Z', until: new Date(Date.now() + 60_000).toISOString() };
    const replay = `${path}/${(made.body as { id: string }).id}/replay`;
    await service.post(replay, span).set('Authorization', `Bearer ${other}`).expect(200);
    await eventually(() => expect(slow).toHaveLength(32));
    const id = await create();
    await eventually(() => expect(received.at(-1)?.event.data.id).toBe(id));
    expect(slow.some((res) => res.destroyed)).toBe(false);
  });

  test('does not wait for slow addresses of the same subject', async () => {
    const slow: ServerResponse[] = [];
    onTestFinished(() => slow.forEach((res) => res.destroy()));
    for (let n = 0; n < 3; n++) {
      const { url } = await startReceiver((_, res) => slow.push(res));
      await subscribe({ url, lists: ['warehouses'], ordering: 'none' });
    }
    await createMany(40);
    await eventually(() => expect(slow.length).toBeGreaterThan(40));
    const { received, url } = await startReceiver();
    await subscribe({ url, lists: ['warehouses'] });
    const id = await create();
    await eventually(() => expect(received.at(-1)?.event.data.id).toBe(id));
    expect(slow.some((res) => res.destroyed)).toBe(false);
  });

  test('does not wait for slow subscriptions of others, however many they have', async () => {
    const slow: ServerResponse[] = [];
    const others = await startReceiver((_, res) => slow.push(res));
    onTestFinished(() => slow.forEach((res) => res.destroy()));
    const { received, url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    await service.context.database.sql`
      insert into subscriptions (id, subject, rights, url, lists, actions, ordering, position)
      select gen_random_uuid(), 'slow ' || n % 5, rights, ${others.url}, lists, actions, ordering, position
      from subscriptions, generate_series(1, 250) n where id = ${id}`;
    await create();
    await eventually(() => expect(slow.length).toBeGreaterThan(60));
    const record = await create();
    await eventually(() => expect(received.at(-1)?.event.data.id).toBe(record));
    expect(slow.some((res) => res.destroyed)).toBe(false);
    await service.context.database.sql`delete from subscriptions where subject like 'slow %'`;
  });

  test('stores the first 1,024 bytes of a response that never ends', async () => {
    let sent = 0;
    const { url } = await startReceiver((_, res) => {
      res.writeHead(500);
      const write = () => {
        while (!res.destroyed && res.write('busy '.repeat(200))) sent += 1000;
      };
      res.on('drain', write);
      write();
    });
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    await create();
    await eventually(async () => expect(await attemptsOf(id)).toHaveLength(1));
    expect(await attemptsOf(id)).toMatchObject([{ status: 500, answer: 'busy '.repeat(205).slice(0, 1024) }]);
    expect(sent).toBeGreaterThan(1024);
  });

  test('ends when the address answers 410, and obeys Retry-After', async () => {
    const gone = await startReceiver((_, res) => res.writeHead(410).end());
    const busy = await startReceiver((_, res) => res.writeHead(429, { 'retry-after': '3600' }).end());
    const [ended, waiting] = [
      await subscribe({ url: gone.url, lists: ['warehouses'] }),
      await subscribe({ url: busy.url, lists: ['warehouses'] }),
    ];
    await create();
    await eventually(async () =>
      expect(await subscription(ended.id)).toMatchObject({ state: 'disabled', stateReason: 'gone' }),
    );
    await eventually(async () => {
      const [{ minutes }] = await service.context.database.sql<[{ minutes: number }]>`
        select extract(epoch from due_at - now())::int / 60 as minutes from subscriptions where id = ${waiting.id}`;
      expect(minutes).toBe(59);
    });
  });

  test('gets the changes after its creation, of the lists, actions and owners that it names', async () => {
    const { received, url } = await startReceiver();
    await create();
    await subscribe({ url, lists: ['warehouses', 'partners'], actions: ['deleted'] });
    const kept = await create();
    await rename(kept, 'Second');
    await service.delete(`/warehouses/${kept}`).expect(204);
    await eventually(() => expect(received).toHaveLength(1));
    expect(received[0]?.event).toMatchObject({ type: 'warehouse.deleted', data: { id: kept } });
  });

  test('belongs to its creator, and needs its scope and that of the lists', async () => {
    const { url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const other = `Bearer ${await tokens.token({ sub: 'eve', scope: 'consignments:write consignments:subscriptions' })}`;
    const blind = `Bearer ${await tokens.token({ sub: 'ann', scope: 'consignments:subscriptions' })}`;
    for (const suffix of ['', '/attempts'])
      await service.get(`${path}/${id}${suffix}`).set('Authorization', other).expect(404);
    for (const call of [
      service.patch(`${path}/${id}`, { url: 'https://thief.example' }),
      service.post(`${path}/${id}/rotate`, {}),
      service.post(`${path}/${id}/replay`, { failed: true }),
    ])
      await call.set('Authorization', blind).expect(403);
    for (const suffix of ['rotate', 'test'])
      await service.post(`${path}/${id}/${suffix}`, {}).set('Authorization', other).expect(404);
    await service.post(`${path}/${id}/replay`, { failed: true }).set('Authorization', other).expect(404);
    expect((await service.get(path).set('Authorization', other).expect(200)).body).toEqual([]);
    await service.post(path, { url, lists: ['warehouses'] }).expect(403);
    await service
      .post(path, { url, lists: ['warehouses'] })
      .set('Authorization', blind)
      .expect(403);
  });

  test('is seen and deleted, but neither changed nor used, by an operator with subscriptions:admin, within the clients of the token', async () => {
    const { url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const scope = 'consignments:write consignments:subscriptions subscriptions:admin';
    const operator = `Bearer ${await tokens.token({ sub: 'olga', scope })}`;
    const limited = `Bearer ${await tokens.token({ sub: 'olga', scope, claims: { clients: [crypto.randomUUID()] } })}`;
    const { body } = await service.get(path).set('Authorization', operator).expect(200);
    expect(body).toContainEqual(expect.objectContaining({ id, subject: 'ann' }));
    await service.get(`${path}/${id}`).set('Authorization', operator).expect(200);
    await service.patch(`${path}/${id}`, { url }).set('Authorization', operator).expect(404);
    for (const suffix of ['rotate', 'test'])
      await service.post(`${path}/${id}/${suffix}`, {}).set('Authorization', operator).expect(404);
    await service.get(`${path}/${id}/attempts`).set('Authorization', operator).expect(404);
    await service.delete(`${path}/${id}`).set('Authorization', limited).expect(404);
    await service.delete(`${path}/${id}`).set('Authorization', operator).expect(204);
    await service.delete(`${path}/${id}`).set('Authorization', operator).expect(404);
  });

  test('has a new secret after a rotation, and for a day both secrets sign', async () => {
    const { received, url } = await startReceiver();
    const { id, secret } = await subscribe({ url, lists: ['warehouses'] });
    const rotated = await service.post(`${path}/${id}/rotate`, {}).set('Authorization', writer).expect(200);
    const { secret: next } = rotated.body as { secret: string };
    const again = await service.post(`${path}/${id}/rotate`, {}).set('Authorization', writer).expect(200);
    expect(again.body).toEqual({ secret: next });
    expect(next).not.toBe(secret);
    const answer = await service.post(`${path}/${id}/test`, {}).set('Authorization', writer).expect(200);
    expect(answer.body).toMatchObject({ status: 204, error: null, type: 'subscription.test' });
    const [{ body, headers } = { body: '', headers: {} }] = received;
    for (const key of [secret, next]) expect(() => new Webhook(key).verify(body, headers)).not.toThrow();
    await service.context.database.sql`
      update subscriptions set rotated_at = now() - interval '2 days' where id = ${id}`;
    await service.post(`${path}/${id}/test`, {}).set('Authorization', writer).expect(200);
    const last = received.at(-1);
    expect(() => new Webhook(secret).verify(last?.body ?? '', last?.headers ?? {})).toThrow(
      'No matching signature',
    );
    expect(await attemptsOf(id)).toHaveLength(2);
  });

  test('has no plain secret in the database', async () => {
    const { url } = await startReceiver();
    const { secret } = await subscribe({ url, lists: ['warehouses'] });
    const [{ rows }] = await service.context.database.sql<[{ rows: string }]>`
      select json_agg(subscriptions)::text as rows from subscriptions`;
    expect(rows).not.toContain(secret.slice('whsec_'.length));
  });

  test('replays a time span and a single change, but no change that it has not delivered yet', async () => {
    const { received, url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const made = [await create(), await create()];
    // Delivered and stored.
    await eventually(async () => expect(await attemptsOf(id)).toHaveLength(2));
    const from = received[0]?.event.timestamp;
    const until = new Date(Date.now() + 60_000).toISOString();
    await service.post(`${path}/${id}/replay`, { from, until }).set('Authorization', writer).expect(200);
    await eventually(() => expect(received).toHaveLength(4));
    const version = received[0]?.event.data.version;
    const one = await service
      .post(`${path}/${id}/replay`, { version })
      .set('Authorization', writer)
      .expect(200);
    expect(one.body).toEqual({ replayed: 1, next: null });
    await eventually(() => expect(received).toHaveLength(5));
    expect(received.at(-1)?.event.data.id).toBe(made[0]);
    const unclear = await service.post(`${path}/${id}/replay`, {}).set('Authorization', writer).expect(400);
    expect(unclear.body.detail).toContain('must have "failed": true, or "from" and "until"');
  });

  test('searches 200,000 positions of the log for a time span, and says where to continue', async () => {
    const { url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const { sql } = service.context.database;
    await service.patch(`${path}/${id}`, { state: 'paused' }).set('Authorization', writer).expect(200);
    onTestFinished(async () => {
      await sql`delete from feed_log where position > (select position from feed_state)`;
    });
    // Apart in the log, and later than all other changes.
    await sql`
      insert into feed_log (position, stamp, list, record, action, changed_at)
      select position + distance, 1, 'warehouses', gen_random_uuid(), 'updated', now() + distance * interval '1 s'
      from feed_state, unnest(array[1, 5000, 300000]) distance`;
    await sql`
      update subscriptions set position = feed_state.position + 300000 from feed_state where id = ${id}`;
    const replay = async (from: string) =>
      (
        await service
          .post(`${path}/${id}/replay`, { from, until: '2999-01-01T00:00:00.000Z' })
          .set('Authorization', writer)
          .expect(200)
      ).body as { replayed: number; next: string };
    const soon = new Date(Date.now() + 600_000).toISOString();
    const first = await replay(soon);
    expect(first).toEqual({ replayed: 1, next: expect.stringMatching(/Z$/) });
    expect(await replay(first.next)).toEqual({ replayed: 1, next: null });
  });

  test('delivers a change once more if its replay is requested while it is being delivered', async () => {
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { received, url } = await startReceiver(async (_, res) => {
      if (received.length === 2) {
        arrived.resolve();
        await released.promise;
      }
      res.writeHead(204).end();
    });
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    await create();
    await eventually(async () => expect(await attemptsOf(id)).toHaveLength(1));
    const replay = () =>
      service
        .post(`${path}/${id}/replay`, { version: received[0]?.event.data.version })
        .set('Authorization', writer)
        .expect(200);
    await replay();
    await arrived.promise;
    await replay();
    released.resolve();
    await eventually(() => expect(received).toHaveLength(3));
  });

  test('of a token limited to clients gets only their records, and is hidden from narrower tokens of its subject', async () => {
    const { received, url } = await startReceiver();
    const scope = 'consignments:write consignments:subscriptions';
    const limitedTo = async (clients?: string[]) =>
      `Bearer ${await tokens.token({ sub: 'bob', scope, ...(clients && { claims: { clients } }) })}`;
    const own = ((await service.post('/partners', partnerInput()).expect(201)).body as { id: string }).id;
    const limited = await limitedTo([own]);
    const made = await service
      .post(path, { url, lists: ['partners'], owners: [own.toUpperCase()] })
      .set('Authorization', limited)
      .expect(201);
    const { id } = made.body as { id: string };
    await service.post('/partners', partnerInput()).expect(201);
    await service.patch(`/partners/${own}`, { name: 'Another' }).expect(200);
    await eventually(() => expect(received).toHaveLength(1));
    expect(received[0]?.event.data.id).toBe(own);
    const seenBy = async (token: string) =>
      (await service.get(`${path}/${id}`).set('Authorization', token)).status;
    expect(await seenBy(limited)).toBe(200);
    expect(await seenBy(await limitedTo())).toBe(200);
    expect(await seenBy(await limitedTo([ids.client]))).toBe(404);
    expect(await seenBy(await limitedTo([]))).toBe(404);
  });

  test('keeps its last 1,000 attempts', async () => {
    const { url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const { sql } = service.context.database;
    await sql`
      insert into subscription_attempts (subscription, sent_at, event, type, attempt, status, ms)
      select ${id}, now(), 'evt_' || n, 'warehouse.created', 1, 204, 1 from generate_series(1, 1200) n`;
    const record = await create();
    await eventually(async () => expect((await attemptsOf(id))[0]).toMatchObject({ record }));
    const [kept] = await sql`select count(*)::int from subscription_attempts where subscription = ${id}`;
    expect(kept).toEqual({ count: 1000 });
  });

  test('continues after the log was pruned while nothing changed', async () => {
    const { received, url } = await startReceiver();
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    await create();
    await eventually(() => expect(received).toHaveLength(1));
    const { sql } = service.context.database;
    await eventually(async () => {
      const [{ isAtEnd }] = await sql<[{ isAtEnd: boolean }]>`
        select position = (select position from feed_state) as "isAtEnd" from subscriptions where id = ${id}`;
      expect(isAtEnd).toBe(true);
    });
    await sql`delete from feed_log`;
    await create();
    await eventually(() => expect(received).toHaveLength(2));
  });

  test('can run two tests of a caller at a time', async () => {
    const done = Promise.withResolvers<void>();
    const { received, url } = await startReceiver(async (_, res) => {
      await done.promise;
      res.writeHead(204).end();
    });
    const { id } = await subscribe({ url, lists: ['warehouses'] });
    const send = async () =>
      (await service.post(`${path}/${id}/test`, {}).set('Authorization', writer)).status;
    const first = [send(), send()];
    await eventually(() => expect(received).toHaveLength(2));
    expect(await send()).toBe(503);
    done.resolve();
    expect(await Promise.all(first)).toEqual([200, 200]);
  });
});
