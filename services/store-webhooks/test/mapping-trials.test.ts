import { afterAll, expect, test } from 'vitest';
import { startBackgroundWork } from '../src/processing/background-work.ts';
import { startService, type Json } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

type Store = Awaited<ReturnType<typeof service.store>>;

const secret = 'Gate code 4711';
const birthDate = '1970-05-17';
const order = (id: string) => ({ id, state: 'NEW', no: `N-${id}`, gate: secret, person: { birthDate } });

const send = async (store: Store, event: string, body: object): Promise<void> => {
  await service.hook(event, store.webhookToken, body);
  await service.settled();
};

const listOf = async (store: Store, path: string, name: string): Promise<Json[]> =>
  (await service.admin('GET', `/v1/stores/${store.id}/${path}`)).body[name] as never;

const pathOf = async (store: Store, entity: string): Promise<string> => {
  const [event] = await listOf(store, `events?entity=${entity}`, 'events');
  return `/v1/stores/${store.id}/events/${event?.['id'] as unknown as string}`;
};

const reveals = (store: Store) => listOf(store, 'event-reveals', 'eventReveals');

const replayAs = async (scope: string, path: string, body?: object) => {
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await service.tokenWith(scope)}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Json };
};

/** A store with a generic POS whose orders fail, because their status is not mapped. */
const withFailed = async (...ids: string[]): Promise<Store> => {
  const store = await service.store({ pos: { kind: 'generic' } });
  for (const id of ids) await send(store, 'order_updated', order(id));
  return store;
};

const generic = (mapping: object) => ({ pos: { kind: 'generic', mapping: { order: mapping } } });
const span = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' };

test('a mapping is tried on one event and on all failed ones of the POS, and nothing changes', async () => {
  const store = await withFailed('o-1', 'o-2');
  // No mapping fixes the first event, and the second one is not from the POS.
  await send(store, 'order_updated', { id: 'o-3', no: 'N-3' });
  await send(store, 'job_started', { id: '', orderId: 1 });
  const path = await pathOf(store, 'o-1');
  const mapping = { order: { status: '/state', orderNo: '/no' } };
  const before = await service.admin('GET', `/v1/stores/${store.id}`);
  expect(await service.admin('POST', `${path}/dry-run`, { mapping })).toMatchObject({
    status: 200,
    body: { dryRun: true, changes: [{ before: null, record: 'order/o-1' }] },
  });
  const allFailed = await service.admin('POST', `/v1/stores/${store.id}/events/dry-run`, { mapping });
  expect(allFailed).toMatchObject({
    status: 200,
    body: { tried: 3, changed: 2, unchanged: 0, errors: [{ count: 1 }], next: null },
  });
  expect(await service.admin('GET', `/v1/stores/${store.id}`)).toEqual(before);
  expect(await listOf(store, 'orders', 'orders')).toEqual([]);
  expect(await listOf(store, 'events?status=failed', 'events')).toHaveLength(4);
});

test('a trial shows no value that was masked at receipt, and is recorded', async () => {
  const store = await withFailed('o-1');
  const path = await pathOf(store, 'o-1');
  const mapping = { order: { status: '/state', orderNo: '/person/birthDate', memo: '/gate' } };
  const tried = await service.admin('POST', `${path}/dry-run`, { mapping });
  expect(tried.body['changes']).toMatchObject([
    { record: 'order/o-1', after: { id: 'o-1', status: '[redacted]', orderNo: '[redacted]' } },
  ]);
  const allFailed = await service.admin('POST', `/v1/stores/${store.id}/events/dry-run`, { mapping });
  for (const text of [birthDate, secret, 'NEW'])
    expect(JSON.stringify([tried.body, allFailed.body])).not.toContain(text);
  const eventId = path.split('/').at(-1);
  expect(await reveals(store)).toMatchObject([
    { kind: 'replay', eventId },
    { kind: 'replay', eventId },
  ]);
});

test('a mapping is tried only with the scope that could save it, and only for a generic POS', async () => {
  const store = await withFailed('o-1');
  const path = await pathOf(store, 'o-1');
  const body = { mapping: { order: { status: '/state' } } };
  for (const address of [`${path}/dry-run`, `/v1/stores/${store.id}/events/dry-run`]) {
    expect(await replayAs('stores:write events:read events:reveal', address, body)).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
    expect((await service.admin('POST', address, { mapping: { order: { status: 'state' } } })).status).toBe(
      400,
    );
  }
  const blaze = await service.store();
  await send(blaze, 'order_updated', { status: 'X' });
  const [event] = await listOf(blaze, 'events', 'events');
  const eventsPath = `/v1/stores/${blaze.id}/events`;
  for (const address of [
    `${eventsPath}/dry-run`,
    `${eventsPath}/${event?.['id'] as unknown as string}/dry-run`,
  ])
    expect(await service.admin('POST', address, body)).toMatchObject({
      status: 409,
      body: { code: 'mapping_not_used' },
    });
  expect((await service.admin('POST', `${eventsPath}/${path.split('/').at(-1)}/dry-run`, body)).status).toBe(
    404,
  );
});

test.each(['one event', 'a span of time'])(
  'a replay of %s with another mapping needs the scope of a reveal, because the records then show the values',
  async (scope) => {
    const store = await withFailed('o-1');
    const path = await pathOf(store, 'o-1');
    await service.admin(
      'PATCH',
      `/v1/stores/${store.id}`,
      generic({ status: '/state', orderNo: '/person/birthDate' }),
    );
    const replay = (scopes: string) =>
      scope === 'one event'
        ? replayAs(scopes, `${path}/replay`)
        : replayAs(scopes, `/v1/stores/${store.id}/events/replay`, span);
    expect(await replay('stores:write events:read')).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', detail: expect.stringContaining('events:reveal') as never },
    });
    expect([await listOf(store, 'orders', 'orders'), await reveals(store)]).toEqual([[], []]);
    expect((await replay('stores:write events:reveal')).status).toBe(202);
    await service.settled();
    expect(await listOf(store, 'orders', 'orders')).toMatchObject([{ orderNo: birthDate }]);
    expect(await reveals(store)).toMatchObject([{ kind: 'replay' }]);
  },
);

test('a replay that puts a masked value into another personal field needs the scope and is recorded', async () => {
  const store = await service.store(generic({ status: '/state', memo: '/note' }));
  await send(store, 'order_updated', { ...order('o-1'), note: 'Ring twice' });
  const path = await pathOf(store, 'o-1');
  await service.admin('PATCH', `/v1/stores/${store.id}`, generic({ status: '/state', memo: '/gate' }));
  // Both mappings unmask the same values, because the memo is personal.
  expect((await replayAs('stores:write', `${path}/replay`)).status).toBe(403);
  expect((await replayAs('stores:write', `${path}/replay?dryRun=true`)).status).toBe(200);
  expect((await replayAs('stores:write events:reveal', `${path}/replay`)).status).toBe(202);
  expect(await reveals(store)).toHaveLength(2);
});

test('a replay without another mapping needs no further scope', async () => {
  const store = await withFailed('o-1');
  const path = await pathOf(store, 'o-1');
  await service.admin('PATCH', `/v1/stores/${store.id}`, { name: 'Renamed' });
  expect((await replayAs('stores:write', `${path}/replay`)).status).toBe(202);
  expect(await reveals(store)).toEqual([]);
});

test('a store lists the names of all credentials that its providers use, set or not', async () => {
  const store = await service.store({
    pos: { kind: 'square', credentials: { accessToken: 'a' } },
    identity: { kind: 'veriff' },
  });
  const { body } = await service.admin('GET', `/v1/stores/${store.id}`);
  expect(body).toMatchObject({
    pos: { credentials: ['accessToken'], credentialNames: ['accessToken', 'webhookSecret'] },
    identity: [{ credentials: [], credentialNames: ['webhookSecret'] }],
  });
});

const validMapping = { status: '/state', orderNo: '/no' };
type Service = Awaited<ReturnType<typeof startService>>;

/** Changes the mapping while an event waits, and then processes it. Returns the orders. */
const processWithSecrets = async (idle: Service, storeId: string): Promise<Json> => {
  const path = `/v1/stores/${storeId}`;
  await idle.admin('PATCH', path, generic({ status: '/state', orderNo: '/person/birthDate' }));
  await using _work = startBackgroundWork(idle.context);
  await idle.settled();
  const { body } = await idle.admin('GET', `${path}/orders`);
  return body;
};

test('a mapping that is changed while an event waits reads no masked value of it', async () => {
  await using idle = await startService({ work: false });
  const store = await idle.store(generic(validMapping));
  await idle.hook('order_updated', store.webhookToken, order('o-1'));
  const orders = await processWithSecrets(idle, store.id);
  expect(orders['orders']).toMatchObject([{ id: 'o-1', orderNo: 'N-o-1' }]);
  expect(JSON.stringify(orders)).not.toContain(birthDate);
});

test.each(['one event', 'a span of time'])(
  'a mapping that is changed after a replay of %s was allowed reads no masked value',
  async (scope) => {
    await using idle = await startService({ work: false });
    const store = await idle.store(generic(validMapping));
    const eventsPath = `/v1/stores/${store.id}`;
    await idle.admin('PATCH', eventsPath, { active: false });
    const results = async () => {
      await idle.hook('order_updated', store.webhookToken, order('o-1'));
      return idle.context.database.sql<{ id: string }[]>`select id from results`;
    };
    // Events wait until the pause has reached the instance.
    await expect.poll(results).not.toHaveLength(0);
    await idle.admin('PATCH', eventsPath, { active: true });
    const [event] = await results();
    const [path, body] =
      scope === 'one event'
        ? [`${eventsPath}/events/${event?.id}/replay`, {}]
        : [`${eventsPath}/events/replay`, { ...span, status: 'ignored' }];
    const answer = await fetch(idle.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await idle.tokenWith('stores:write')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(202);
    const orders = await processWithSecrets(idle, store.id);
    expect(orders['orders']).toMatchObject([{ id: 'o-1', orderNo: 'N-o-1' }]);
    expect(JSON.stringify(orders)).not.toContain(birthDate);
  },
);
