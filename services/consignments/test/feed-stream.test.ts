import { createFeed } from '@platform/feed';
import { openStream } from '@platform/feed/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, tokens, type Service } from './harness.ts';
import { ids, inventoryInput, partnerInput, warehouseInput } from './inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const create = async (path: string, body: object): Promise<string> =>
  ((await service.post(path, body).expect(201)).body as { id: string }).id;
const bearer = async (options: Parameters<typeof tokens.token>[0] = {}) => ({
  Authorization: `Bearer ${await tokens.token({ scope: 'consignments:read', ...options })}`,
});
/** A stream of changes, with a token of its own. */
const open = async (
  list: string,
  {
    headers,
    at = service,
    ...options
  }: { headers?: Record<string, string>; at?: Service } & Parameters<typeof tokens.token>[0] = {},
) => openStream(`${at.url}/v1/feeds/consignments/${list}`, { ...(await bearer(options)), ...headers });
const changeOf = ({ data }: { data: string }) =>
  JSON.parse(data) as { id: string; action: string; item?: object };

const insertMany = (count: number) => service.context.database.sql`
  insert into warehouses (id, code, name, city, country_code, status)
  select gen_random_uuid(), 'C' || n, 'Many', 'Tartu', 'EE', 1 from generate_series(1, ${count}::int) n`;

describe('the stream of a list', () => {
  test('has the changes of the feed as events, and continues after Last-Event-ID', async () => {
    using first = await open('warehouses');
    expect(first.response.headers.get('content-type')).toBe('text/event-stream');
    const id = await create('/warehouses', warehouseInput());
    const created = await first.next();
    expect(created.event).toBe('created');
    await service.patch(`/warehouses/${id}`, { name: 'Another' }).expect(200);
    const updated = await first.next();
    const { body } = await service.read(`/feeds/consignments/warehouses?after=${created.id}`).expect(200);
    expect(body).toMatchObject({ changes: [changeOf(updated)], next: updated.id });
    using second = await open('warehouses', { headers: { 'Last-Event-ID': created.id } });
    expect(await second.next()).toEqual(updated);
    await service.delete(`/warehouses/${id}`).expect(204);
    expect([changeOf(await first.next()), changeOf(await second.next())]).toMatchObject([
      { id, action: 'deleted' },
      { id, action: 'deleted' },
    ]);
  });

  test('starts with a cursor, also if nothing has changed', async () => {
    using stream = await open('partners');
    await expect.poll(() => stream.events[0]?.id).toMatch(/^[\w-]{43}$/);
    const id = await create('/partners', partnerInput());
    const { body } = await service
      .read(`/feeds/consignments/partners?after=${stream.events[0]?.id}`)
      .expect(200);
    expect(body).toMatchObject({ changes: [{ id }] });
  });

  test('catches up in pages with missed changes', async () => {
    const { body } = await service.read('/feeds/consignments/warehouses').expect(200);
    const { next } = body as { next: string };
    await insertMany(1234);
    using stream = await open('warehouses', { headers: { 'Last-Event-ID': next } });
    const seen = new Set<string>();
    while (seen.size < 1234) seen.add(changeOf(await stream.next()).id);
    expect(stream.events.filter(({ event }) => event === 'created')).toHaveLength(1234);
    // With a cursor before the changes, a client that disconnects between them would miss changes.
    expect(stream.events[0]?.event).toBe('created');
  });

  test('shows a caller only the records of its clients, even if others read the same changes', async () => {
    const ours = await create('/partners', partnerInput({ name: 'Ours' }));
    using unlimited = await open('inventory');
    using limited = await open('inventory', { claims: { clients: [ours] } });
    using other = await open('inventory', { claims: { clients: [ids.client] } });
    const [theirs, own] = [
      await create('/inventory', inventoryInput()),
      await create('/inventory', inventoryInput({ partnerId: ours })),
    ];
    expect(changeOf(await limited.next())).toMatchObject({ id: own, item: { partnerId: ours } });
    expect([changeOf(await unlimited.next()).id, changeOf(await unlimited.next()).id]).toEqual([theirs, own]);
    await service.patch(`/inventory/${own}`, { partnerId: ids.client }).expect(200);
    const lost = changeOf(await limited.next());
    expect(lost).toMatchObject({ id: own, action: 'deleted' });
    expect(lost).not.toHaveProperty('item');
    const gained: string[] = [];
    while (gained.at(-1) !== own) gained.push(changeOf(await other.next()).id);
    expect(gained).not.toContain(ours);
  });

  test('reads the database once for all streams that are at the end and have the same rights', async () => {
    const { sql } = service.context.database;
    let reads = 0;
    const counting = new Proxy(sql, {
      apply: (target, self, args: [TemplateStringsArray, ...unknown[]]) => {
        const [[text = ''], ...values] = args;
        // Items by their ids, and a page of the log that is read for one stream.
        if (/^\s*select id, $/.test(text) || (text.includes('state.epoch') && values.includes(100)))
          reads += 1;
        return Reflect.apply(target, self, args) as unknown;
      },
    });
    const { database, health } = service.context;
    const follow = createFeed({
      database: { ...database, sql: counting },
      health,
      service: 'consignments',
      days: 30,
    });
    await using counted = await startService({ databaseUrl: service.databaseUrl, overrides: { follow } });
    const streams = await Promise.all(Array.from({ length: 40 }, () => open('warehouses', { at: counted })));
    const { length } = streams;
    await Promise.all(streams.map(({ events }) => expect.poll(() => events.length).toBe(1)));
    expect(reads).toBe(length);
    await insertMany(300);
    for (let n = 0; n < 300; n++)
      expect(
        new Set((await Promise.all(streams.map((stream) => stream.next()))).map(({ id }) => id)).size,
      ).toBe(1);
    expect(reads).toBe(length + 1);
    for (const stream of streams) stream[Symbol.dispose]();
  });

  test('is refused if one network has half of all streams, however many accounts it uses', async () => {
    await using small = await startService({
      databaseUrl: service.databaseUrl,
      variables: { FEED_STREAMS: '6' },
    });
    using resources = new DisposableStack();
    const statusOf = async (sub: string, headers = {}) =>
      resources.use(await open('warehouses', { at: small, sub, headers })).response.status;
    const statuses = [];
    for (const sub of ['a', 'b', 'c', 'd']) statuses.push(await statusOf(sub));
    expect(statuses).toEqual([200, 200, 200, 503]);
    expect(await statusOf('e', { 'X-Forwarded-For': '192.0.2.1' })).toBe(200);
  });

  test('ends with a retry time when the service stops', async () => {
    await using stopping = await startService({ databaseUrl: service.databaseUrl });
    using stream = await open('warehouses', { at: stopping });
    stopping.context.health.draining = true;
    await stream.ended;
    expect(stream.events.at(-1)?.retry).toMatch(/^\d{3,4}$/);
  });

  test('ends when its token expires', async () => {
    // Tokens are accepted for another five seconds.
    using stream = await open('warehouses', { ttl: -3 });
    expect(stream.response.status).toBe(200);
    await stream.ended;
  });

  test.each([
    ['x', 400, 'validation_failed'],
    ['A'.repeat(43), 410, 'cursor_unknown'],
  ])('with the Last-Event-ID %s is refused with %i before it starts', async (id, status, code) => {
    using stream = await open('warehouses', { headers: { 'Last-Event-ID': id } });
    expect(stream.response.status).toBe(status);
    expect(await stream.response.json()).toMatchObject({ code });
  });

  test('is refused if its caller has too many; if the process has too many, a caller with two loses one', async () => {
    const variables = { FEED_STREAMS: '6' };
    await using small = await startService({ databaseUrl: service.databaseUrl, variables });
    const headersOf = (sub: string) => ({ 'X-Forwarded-For': `192.0.2.${sub.charCodeAt(0)}` });
    const follow = (sub: string) => open('warehouses', { at: small, sub, headers: headersOf(sub) });
    const { next } = (await service.read('/feeds/consignments/warehouses').expect(200)).body as {
      next: string;
    };
    // Long polling also takes a slot.
    const leaving = new AbortController();
    const waits: number[] = [];
    const wait = async () => {
      const headers = { ...headersOf('a'), ...(await bearer({ sub: 'a' })) };
      const url = `${small.url}/v1/feeds/consignments/warehouses?after=${next}&wait=25`;
      const answer = await fetch(url, { headers, signal: leaving.signal });
      waits.push(answer.status);
    };
    const waiting = Promise.allSettled([wait(), wait(), wait()]);
    await expect.poll(() => waits).toEqual([503]);
    const streams = [];
    for (const sub of ['b', 'b', 'b', 'c', 'c', 'd', 'd', 'e']) streams.push(await follow(sub));
    expect(streams.map(({ response }) => response.status)).toEqual([200, 200, 503, 200, 200, 200, 503, 200]);
    expect(streams[2]?.response.headers.get('retry-after')).not.toBeNull();
    expect(await streams[2]?.response.json()).toMatchObject({ code: 'too_many_readers' });
    // `d` took the slot of a waiting request, `e` that of the older stream of `b`.
    await expect.poll(() => waits).toEqual([503, 200]);
    await streams[0]?.ended;
    leaving.abort();
    await waiting;
    // Slots are free again.
    await expect
      .poll(async () => {
        using stream = await follow('d');
        return stream.response.status;
      })
      .toBe(200);
    for (const stream of streams) stream[Symbol.dispose]();
  });
});
