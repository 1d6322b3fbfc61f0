import { afterAll, expect, test } from 'vitest';
import { startService, type Json } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

type Store = Awaited<ReturnType<typeof service.store>>;

const pos = (orderNo: string) => ({ kind: 'generic', mapping: { order: { orderNo } } });
const { sub } = JSON.parse(Buffer.from(service.token.split('.')[1] ?? '', 'base64url').toString()) as {
  sub: string;
};
const birthDate = '1970-05-17';
const order = (id: string, more = {}) => ({ id, status: 'NEW', no: 'N-1', person: { birthDate }, ...more });

const eventsOf = async (store: string, query: string): Promise<Json[]> => {
  const { status, body } = await service.admin('GET', `/v1/stores/${store}/events?${query}`);
  return status === 200 ? (body['events'] as never) : [{ status: body['status'] as Json }];
};

/** Sends an order and returns the path of its event. */
const send = async (store: Store, body: { id: string }): Promise<string> => {
  await service.hook('order_updated', store.webhookToken, body);
  const [event] = await eventsOf(store.id, `entity=${body.id}`);
  return `/v1/stores/${store.id}/events/${event?.['id'] as unknown as string}`;
};

const bodyAt = async (path: string) => (await service.admin('GET', path)).body['body'];

const listOf = async (store: Store, path: string, name: string): Promise<Json[]> =>
  (await service.admin('GET', `/v1/stores/${store.id}/${path}`)).body[name] as never;

test('the mapping at receipt decides which values of an event are shown, even after it has changed', async () => {
  const store = await service.store({ pos: pos('/no') });
  const before = await send(store, order('o-1'));
  expect(await bodyAt(before)).toMatchObject({ no: 'N-1', person: { birthDate: '[redacted]' } });
  await service.admin('PATCH', `/v1/stores/${store.id}`, { pos: pos('/person/birthDate') });
  const after = await send(store, order('o-2'));
  expect(await bodyAt(before)).toMatchObject({ no: 'N-1', person: { birthDate: '[redacted]' } });
  expect(await bodyAt(after)).toMatchObject({ no: '[redacted]', person: { birthDate } });
  await service.settled();
  const dryRun = await service.admin('POST', `${before}/replay?dryRun=true`);
  expect(dryRun.body['changes']).toMatchObject([{ record: 'order/o-1', after: { orderNo: '[redacted]' } }]);
  expect(JSON.stringify(dryRun.body)).not.toContain(birthDate);
});

test.each(['id', 'orderNo', 'status'])(
  'a dry run shows no masked value as the %s in the name of a record or a notification',
  async (field) => {
    const store = await service.store({ pos: pos('/no') });
    // Without a status it fails, so that its replay would notify the customer.
    const path = await send(store, { ...order('o-1'), status: undefined, state: 'NEW' } as never);
    await service.settled();
    await service.admin('PATCH', `/v1/stores/${store.id}`, {
      pos: { kind: 'generic', mapping: { order: { status: '/state', [field]: '/person/birthDate' } } },
    });
    const dryRun = await service.admin('POST', `${path}/replay?dryRun=true`);
    expect(dryRun.body).toMatchObject({ changes: [{ before: null }], notifications: [expect.any(String)] });
    expect(JSON.stringify(dryRun.body)).not.toContain(birthDate);
  },
);

test('a change to another kind of POS shows no further values of an event', async () => {
  const store = await service.store();
  const path = await send(store, order('o-1'));
  for (const change of [{ pos: pos('/person/birthDate') }, { name: 'Renamed' }])
    await service.admin('PATCH', `/v1/stores/${store.id}`, change);
  expect(JSON.stringify(await bodyAt(path))).not.toContain(birthDate);
});

test('each change of a store is recorded with caller, time and both states, but without credentials', async () => {
  const store = await service.store({ pos: pos('/no') });
  const secret = 'secret-of-the-pos';
  for (const change of [
    { pos: pos('/person/birthDate') },
    { pos: { kind: 'blaze', credentials: { apiKey: secret } }, name: 'Renamed' },
  ])
    await service.admin('PATCH', `/v1/stores/${store.id}`, change);
  const changes = await listOf(store, 'changes', 'changes');
  expect(changes).toMatchObject([
    { changedBy: sub, before: { name: 'Test shop' }, after: { name: 'Renamed', pos: { kind: 'blaze' } } },
    { changedBy: sub, before: { pos: pos('/no') }, after: { pos: pos('/person/birthDate') } },
  ]);
  for (const { changedAt } of changes) expect(changedAt).toMatch(/^\d{4}-.*Z$/);
  expect(JSON.stringify(changes)).not.toContain(secret);
});

test('a change that cannot be recorded is rolled back', async () => {
  const store = await service.store();
  const { sql } = service.context.database;
  await sql`alter table store_changes rename to store_changes_away`;
  const answer = await service.admin('PATCH', `/v1/stores/${store.id}`, { name: 'Renamed' });
  await sql`alter table store_changes_away rename to store_changes`;
  expect(answer.status).toBe(500);
  expect((await service.admin('GET', `/v1/stores/${store.id}`)).body['name']).toBe('Test shop');
});

test.each(['one event', 'a span of time'])(
  'a replay of %s is recorded for each event that may put a value into a record that was masked at receipt',
  async (scope) => {
    const store = await service.store({ pos: pos('/no') });
    const path = await send(store, order('o-1'));
    await service.settled();
    const span = {
      from: new Date(Date.now() - 60_000).toISOString(),
      to: new Date(Date.now() + 60_000).toISOString(),
      status: 'done',
    };
    const replay = () =>
      scope === 'one event'
        ? service.admin('POST', `${path}/replay`)
        : service.admin('POST', `/v1/stores/${store.id}/events/replay`, span);
    const orderNo = async () => {
      await service.settled();
      return (await service.admin('GET', `/v1/stores/${store.id}/orders/o-1`)).body['orderNo'];
    };
    const reveals = () => listOf(store, 'event-reveals', 'eventReveals');
    expect((await replay()).status).toBe(202);
    expect([await orderNo(), await reveals()]).toEqual(['N-1', []]);
    await service.admin('PATCH', `/v1/stores/${store.id}`, { pos: pos('/person/birthDate') });
    const { sql } = service.context.database;
    await sql`alter table event_reveals rename to event_reveals_away`;
    const unrecorded = await replay();
    await sql`alter table event_reveals_away rename to event_reveals`;
    expect([unrecorded.status, await orderNo()]).toEqual([500, 'N-1']);
    expect((await replay()).status).toBe(202);
    expect(await orderNo()).toBe(birthDate);
    expect(await reveals()).toMatchObject([
      { kind: 'replay', eventId: path.split('/').at(-1), revealedBy: sub },
    ]);
  },
);

test('a dry run is recorded like a replay, because its result reveals whether a guess of a masked value was right', async () => {
  const store = await service.store({ pos: pos('/no') });
  const path = await send(store, order('o-1'));
  await service.settled();
  const dryRun = () => service.admin('POST', `${path}/replay?dryRun=true`);
  const reveals = () => listOf(store, 'event-reveals', 'eventReveals');
  expect([(await dryRun()).status, await reveals()]).toEqual([200, []]);
  const mapping = { order: { status: '/person/birthDate' } };
  await service.admin('PATCH', `/v1/stores/${store.id}`, { pos: { kind: 'generic', mapping } });
  const { sql } = service.context.database;
  await sql`alter table event_reveals rename to event_reveals_away`;
  const unrecorded = await dryRun();
  await sql`alter table event_reveals_away rename to event_reveals`;
  expect(unrecorded.status).toBe(500);
  expect((await dryRun()).body).toMatchObject({ changes: [{ record: 'order/o-1' }] });
  expect(await reveals()).toMatchObject([
    { kind: 'replay', eventId: path.split('/').at(-1), revealedBy: sub },
  ]);
});

test('a search also records the event after the page, which only has_more reveals', async () => {
  const store = await service.store({ pos: pos('/no') });
  const value = 'born-1980-05-17';
  for (const id of ['o-1', 'o-2'])
    await send(store, { ...order(id), status: undefined, person: { value } } as never);
  expect(await eventsOf(store.id, `value=${value}&limit=1`)).toHaveLength(1);
  const reveals = await listOf(store, 'event-reveals', 'eventReveals');
  expect(new Set(reveals.map((reveal) => reveal['eventId'])).size).toBe(2);
});

test.each(['the store', 'all stores'])(
  'a search for a value in the bodies of %s is recorded like a reveal for each event that it finds',
  async (where) => {
    const store = await service.store({ pos: pos('/no') });
    const id = where === 'the store' ? store.id : '-';
    const value = `born-${where.length}`;
    // Without a status it fails, so the search finds it.
    const path = await send(store, { ...order('o-1'), status: undefined, person: { value } } as never);
    const reveals = () => listOf(store, 'event-reveals', 'eventReveals');
    expect(await eventsOf(id, `value=other-${value}`)).toEqual([]);
    expect(await reveals()).toEqual([]);
    const before = service.lines.length;
    expect(await eventsOf(id, `value=${value}`)).toHaveLength(1);
    expect(await reveals()).toMatchObject([
      { kind: 'search', eventId: path.split('/').at(-1), revealedBy: sub },
    ]);
    const log = service.lines.slice(before).join('');
    expect(log).toContain('masked bodies were searched');
    expect(log).not.toContain(value);
    const { sql } = service.context.database;
    await sql`alter table event_reveals rename to event_reveals_away`;
    expect(await eventsOf(id, `value=${value}`)).toEqual([{ status: 500 }]);
    await sql`alter table event_reveals_away rename to event_reveals`;
  },
);
