import { hashPathToken } from '@platform/auth/path-tokens';
import { startPruning } from '@platform/service-kit/pruning';
import { afterAll, expect, test } from 'vitest';
import { outdatedTokens } from '../src/stores/queries.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const input = {
  name: 'Corner shop',
  storeUrl: 'https://corner.example.test/shop',
  pos: {
    kind: 'blaze',
    baseUrl: 'https://pos.example.test',
    credentials: { apiKey: 'blaze-key-123', authorization: 'partner-456' },
  },
  customerImportsEnabled: true,
  delivery: { kind: 'onfleet', credentials: { webhookSecret: 'ab12' } },
  identity: { kind: 'persona', credentials: { apiKey: 'persona-key-789' } },
  payments: { kind: 'threedsecureio', credentials: { apiKey: '3ds-key-000' } },
  notifications: { email: 'shop@example.test' },
};
const secrets = ['blaze-key-123', 'partner-456', 'ab12', 'persona-key-789', '3ds-key-000'];

const order = (status: string) => ({ id: 'o-1', status, cart: { items: [] } });

test('a mapping has at most 100 fields for each record', async () => {
  const fieldsOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, `/${at}`]));
  const create = (count: number) =>
    service.admin('POST', '/v1/stores', {
      name: 'Test shop',
      storeUrl: 'https://shop.example.test/',
      pos: { kind: 'generic', mapping: { item: fieldsOf(count) } },
    });
  expect((await create(100)).status).toBe(201);
  expect(await create(101)).toMatchObject({
    status: 400,
    body: { errors: { 'pos.mapping.item': ['must have at most 100 fields'] } },
  });
});

test('the settings of a store are bounded, and so are the bytes of a page of their changes', async () => {
  const mapping = (records: number) =>
    Object.fromEntries(
      Array.from({ length: records }, (_, at) => [`record${at}`, { field: `/${'x'.repeat(199)}` }]),
    );
  const [name, storeUrl] = ['Test shop', 'https://shop.example.test/'];
  const create = (records: number) =>
    service.admin('POST', '/v1/stores', {
      name,
      storeUrl,
      pos: { kind: 'generic', mapping: mapping(records) },
    });
  expect(await create(160)).toMatchObject({
    status: 400,
    body: { errors: { body: ['must have at most 32768 characters of settings'] } },
  });
  const created = await create(130);
  expect(created.status).toBe(201);
  const { id } = created.body as unknown as { id: string };
  const path = `/v1/stores/${id}`;
  expect((await service.admin('PATCH', path, { pos: { mapping: mapping(170) } })).status).toBe(400);
  expect((await service.admin('PATCH', path, { name: 'Other shop' })).status).toBe(200);
  await service.context.database.sql`
    insert into store_changes
    select store_id, uuidv7(), changed_by, changed_at, before, after from store_changes, generate_series(1, 200)
    where store_id = ${id}`;
  expect((await service.admin('GET', `${path}/changes?limit=20`)).status).toBe(200);
  expect(await service.admin('GET', `${path}/changes?limit=200`)).toMatchObject({
    status: 400,
    body: { errors: { limit: [expect.stringContaining('must be lower')] } },
  });
});

test('a store is created with a token and ten addresses, and never shows its credentials', async () => {
  const created = await service.admin('POST', '/v1/stores', input);
  expect(created.status).toBe(201);
  const { id, webhookToken, webhookUrls } = created.body as unknown as {
    id: string;
    webhookToken: string;
    webhookUrls: Record<string, string>;
  };
  expect(webhookToken).toMatch(/^[\w-]{43}$/);
  expect(Object.keys(webhookUrls)).toHaveLength(10);
  expect(webhookUrls['order_updated']).toBe(
    `http://127.0.0.1:8080/api/v1/hooks/order_updated/${webhookToken}`,
  );
  expect(webhookUrls['payment-auth-completed']).toContain('/payment-auth-completed/threedsecureio/');
  const shown = await service.admin('GET', `/v1/stores/${id}`);
  expect(shown.body).toMatchObject({
    id,
    name: 'Corner shop',
    pos: { kind: 'blaze', credentials: ['apiKey', 'authorization'] },
  });
  const listed = await service.admin('GET', '/v1/stores?limit=1');
  expect(listed.body).toMatchObject({ stores: [{ id }], page: { number: 1, limit: 1 } });
  const shownText = JSON.stringify([created.body, shown.body, listed.body]);
  for (const secret of secrets) expect(shownText).not.toContain(secret);
  expect(JSON.stringify([shown.body, listed.body])).not.toContain(webhookToken);
  const { sql } = service.context.database;
  const storedRows = JSON.stringify([
    await sql`select * from stores`,
    await sql`select * from webhook_tokens`,
  ]);
  for (const secret of [...secrets.slice(0, 2), webhookToken]) expect(storedRows).not.toContain(secret);
});

test('an id that cannot be stored and an invalid address are rejected by field name', async () => {
  const { id } = (await service.admin('POST', '/v1/stores', input)).body as unknown as { id: string };
  for (const path of [
    'orders/%00',
    'delivery-jobs/%00',
    'verifications/%00',
    'verifications/x?service=%00',
  ]) {
    const refused = await service.admin('GET', `/v1/stores/${id}/${path}`);
    expect([path, refused.status]).toEqual([path, 400]);
  }
  const nowhere = { ...input, delivery: { kind: 'onfleet', baseUrl: '9999-12-31T23:59:60Z' } };
  const refused = await service.admin('POST', '/v1/stores', nowhere);
  expect([refused.status, Object.keys(refused.body['errors'] ?? {})]).toEqual([400, ['delivery.baseUrl']]);
});

test('a change keeps all fields that it does not name, and credentials unless the provider changes', async () => {
  const { id } = (await service.admin('POST', '/v1/stores', input)).body as unknown as { id: string };
  const same = await service.admin('PATCH', `/v1/stores/${id}`, {
    pos: { kind: 'blaze', baseUrl: 'https://pos.example.test/v2' },
  });
  expect(same.body).toMatchObject({
    name: 'Corner shop',
    pos: { baseUrl: 'https://pos.example.test/v2', credentials: ['apiKey', 'authorization'] },
    delivery: { kind: 'onfleet' },
  });
  const other = await service.admin('PATCH', `/v1/stores/${id}`, { pos: { kind: 'square' }, delivery: null });
  expect(other.body).toMatchObject({ pos: { kind: 'square', credentials: [] }, delivery: null });
});

test('a change of a part of a provider keeps its other fields and credentials; null removes them', async () => {
  const { id } = (await service.admin('POST', '/v1/stores', input)).body as unknown as { id: string };
  const change = (pos: object) => service.admin('PATCH', `/v1/stores/${id}`, { pos });
  expect(await change({ credentials: { apiKey: 'corrected' } })).toMatchObject({
    status: 200,
    body: { pos: { kind: 'blaze', baseUrl: input.pos.baseUrl, credentials: ['apiKey', 'authorization'] } },
  });
  expect((await change({ credentials: { apiKey: null } })).body['pos']).toMatchObject({
    credentials: ['authorization'],
  });
  expect((await change({ baseUrl: null })).body).toMatchObject({
    pos: { kind: 'blaze', credentials: [] },
    clearedCredentials: ['pos.authorization'],
  });
});

test('a change to another kind of provider removes all fields of the stored one', async () => {
  const { id } = (await service.admin('POST', '/v1/stores', input)).body as unknown as { id: string };
  const other = await service.admin('PATCH', `/v1/stores/${id}`, { pos: { kind: 'square' } });
  expect(other.body['pos']).toEqual({
    kind: 'square',
    credentials: [],
    credentialNames: ['accessToken', 'webhookSecret'],
  });
});

test.each([
  ['a part of a provider that the store does not have', { delivery: { baseUrl: 'https://a.example.test' } }],
  ['a mandatory field', { name: null }],
  ['an unknown field', { colour: 'red' }],
])('a change with %s is rejected with the name of the field', async (_n, patch) => {
  const { id } = await service.store();
  const refused = await service.admin('PATCH', `/v1/stores/${id}`, patch);
  expect([refused.status, Object.keys(refused.body['errors'] ?? {})]).toEqual([
    400,
    [{ delivery: 'delivery.kind', name: 'name', colour: 'colour' }[Object.keys(patch)[0] ?? '']],
  ]);
});

test.each([
  ['an unknown kind', { pos: { kind: 'till' } }, 'pos.kind'],
  ['a store address with credentials', { storeUrl: 'https://a:b@shop.example.test/' }, 'storeUrl'],
  ['a store address with a line end', { storeUrl: 'https://shop.example.test/\r\nX: y' }, 'storeUrl'],
  ['a store address with a backslash', { storeUrl: 'https://shop.example.test\\@evil.example/' }, 'storeUrl'],
  ['a store address in another script', { storeUrl: 'https://shоp.example.test/' }, 'storeUrl'],
  ['a store address with an empty query', { storeUrl: 'https://shop.example.test/?' }, 'storeUrl'],
  ['a store address with an empty fragment', { storeUrl: 'https://shop.example.test/#' }, 'storeUrl'],
  ['a store address of a script', { storeUrl: 'javascript:alert(1)' }, 'storeUrl'],
  ['an invalid network', { allowedAddresses: ['10.0.0.0/99'] }, 'allowedAddresses.0'],
  ['an unknown field', { colour: 'red' }, 'colour'],
])('%s is rejected with the name of the field', async (_n, more, field) => {
  const answer = await service.admin('POST', '/v1/stores', { ...input, ...more });
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', errors: { [field]: expect.any(Array) } },
  });
});

test('a request without a token gets 401, and with another scope 403 that names the required one', async () => {
  const anonymous = await fetch(`${service.url}/v1/stores`);
  expect([anonymous.status, anonymous.headers.has('www-authenticate')]).toEqual([401, true]);
  const wrong = await fetch(`${service.url}/v1/stores`, {
    headers: { authorization: `Bearer ${await service.tokenWith('quests:read')}` },
  });
  expect([wrong.status, (await wrong.json()) as object]).toEqual([
    403,
    expect.objectContaining({ detail: expect.stringContaining('stores:read') }),
  ]);
});

test('after a rotation the old token works during its grace period, and its uses are counted', async () => {
  const { id, webhookToken: old } = await service.store();
  expect((await service.hook('order_updated', old, order('A'))).status).toBe(200);
  const rotated = await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, { graceSeconds: 5 });
  const { webhookToken, webhookUrls } = rotated.body as unknown as {
    webhookToken: string;
    webhookUrls: Record<string, string>;
  };
  expect(webhookUrls['job_started']).toContain(webhookToken);
  expect((await service.hook('order_updated', webhookToken, order('B'))).status).toBe(200);
  const statusOfOld = async () => (await service.hook('order_updated', old, order('C'))).status;
  const usedTokens = async () => {
    expect(await statusOfOld()).toBe(200);
    await service.context.replacedTokenUses.flush();
    return (await service.admin('GET', `/v1/stores/${id}`)).body['webhookTokens'];
  };
  await expect.poll(usedTokens).toMatchObject([
    { for: 'events', current: true, worksUntil: null },
    { for: 'payments', current: true, worksUntil: null },
    { current: false, worksUntil: expect.any(String), uses: 1, lastUsedAt: expect.any(String) },
  ]);
  await expect.poll(statusOfOld).toBe(404);
  expect((await service.hook('order_updated', webhookToken, order('D'))).status).toBe(200);
});

test('after a rotation without a grace period the old token stops working within a second', async () => {
  const { id, webhookToken: old } = await service.store();
  await service.hook('order_updated', old, order('A'));
  await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, { graceSeconds: 0 });
  const status = async () => (await service.hook('order_updated', old, order('B'))).status;
  await expect.poll(status).toBe(404);
});

test('a replaced token is listed for 90 days after it stopped working', async () => {
  const { id, webhookToken } = await service.store();
  const { sql } = service.context.database;
  for (let n = 0; n < 2; n++)
    await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, { graceSeconds: 0 });
  const age = (days: number, hash: string) => sql`
    update webhook_tokens set grace_until = now() - make_interval(days => ${days})
    where store_id = ${id} and grace_until is not null and (token_hash = ${hash} or ${hash} = 'any')`;
  await age(89, 'any');
  await age(91, hashPathToken(webhookToken));
  await using _pruning = startPruning({ sql, log: service.context.log, prunables: [outdatedTokens] });
  const listed = async () => (await service.admin('GET', `/v1/stores/${id}`)).body['webhookTokens'];
  await expect
    .poll(listed)
    .toMatchObject([
      { for: 'events', current: true },
      { for: 'payments', current: true },
      { current: false },
    ]);
});

test('events are found by status, event and time', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order('A'));
  await service.hook('job_started', webhookToken, '{');
  await service.settled();
  const list = async (query: string) =>
    (await service.admin('GET', `/v1/stores/${id}/events?${query}`)).body['events'] as unknown as {
      event: string;
      id: string;
    }[];
  expect(await list('')).toMatchObject([
    { event: 'job_started', status: 'failed' },
    { event: 'order_updated', status: 'done' },
  ]);
  expect(await list('status=failed')).toHaveLength(1);
  expect(await list('event=order_updated')).toHaveLength(1);
  const hour = (shift: number) => new Date(Date.now() + shift * 3_600_000).toISOString();
  expect(await list(`from=${hour(-1)}&to=${hour(1)}`)).toHaveLength(2);
  expect(await list(`from=${hour(1)}`)).toEqual([]);
  expect(await list(`to=${hour(-1)}`)).toEqual([]);
  const [failed] = await list('status=failed');
  const detail = await service.admin('GET', `/v1/stores/${id}/events/${failed?.id}`);
  expect(detail.body).toMatchObject({
    bytes: 1,
    body: null,
    attempts: 0,
    error: 'The body is not readable.',
  });
  expect((await service.admin('GET', `/v1/stores/${id}/events?colour=red`)).status).toBe(400);
});

test('an event is shown without personal data', async () => {
  const { id, webhookToken } = await service.store();
  const member = {
    id: 'm-1',
    email: 'ann@example.test',
    firstName: 'Ann',
    lastName: 'Lee',
    phone: '+1 555',
    status: 'ACTIVE',
    modified: 1,
  };
  await service.hook('new_member', webhookToken, member);
  const { body } = await service.admin('GET', `/v1/stores/${id}/events`);
  const [{ id: eventId }] = body['events'] as unknown as [{ id: string }];
  const detail = await service.admin('GET', `/v1/stores/${id}/events/${eventId}`);
  expect(detail.body['body']).toEqual({
    ...member,
    email: '[redacted]',
    firstName: '[redacted]',
    lastName: '[redacted]',
    phone: '[redacted]',
  });
});

test('a dry run returns the changes without applying them; a replay applies them', async () => {
  const { id, webhookToken } = await service.store();
  await service.hook('order_updated', webhookToken, order('A'));
  await service.settled();
  const { sql } = service.context.database;
  await sql`delete from orders where store_id = ${id}`;
  await sql`delete from notifications where store_id = ${id}`;
  const { body } = await service.admin('GET', `/v1/stores/${id}/events`);
  const [{ id: eventId }] = body['events'] as unknown as [{ id: string }];
  const dry = await service.admin('POST', `/v1/stores/${id}/events/${eventId}/replay?dryRun=true`);
  expect(dry).toMatchObject({
    status: 200,
    body: {
      dryRun: true,
      changes: [{ record: 'order/o-1', before: null, after: { status: 'A' } }],
      notifications: ['Your order is now A'],
    },
  });
  expect((await service.admin('GET', `/v1/stores/${id}/orders/o-1`)).status).toBe(404);
  const done = await service.admin('POST', `/v1/stores/${id}/events/${eventId}/replay`);
  expect([done.status, done.body['dryRun']]).toEqual([202, false]);
  await service.settled();
  expect((await service.admin('GET', `/v1/stores/${id}/orders/o-1`)).body).toMatchObject({ status: 'A' });
  const again = await service.admin('POST', `/v1/stores/${id}/events/${eventId}/replay?dryRun=true`);
  expect(again.body).toMatchObject({ changes: [], notifications: [] });
});

test('a dry run returns records in the format of their addresses, with personal values masked', async () => {
  const { id, webhookToken } = await service.store();
  const item = { productId: 'p-1', productName: 'Cake', quantity: 2, price: 15, totalPrice: 30 };
  const sent = [
    ['order_updated', { ...order('A'), cart: { total: 30, items: [item] } }, 'orders/o-1', '"total":30,'],
    ['new_member', { id: 'm-1', email: 'ann@example.test', modified: 1 }, 'members/m-1', '"modified":1'],
    ['job_started', { id: 'j-1', orderId: 'o-1' }, 'delivery-jobs/j-1', '"stage":"started"'],
  ] as const;
  for (const [event, body] of sent) await service.hook(event, webhookToken, body);
  await service.settled();
  for (const [event, , path, text] of sent) {
    const shown = (await service.admin('GET', `/v1/stores/${id}/${path}`)).body;
    const { sql } = service.context.database;
    await sql`delete from ${sql(path.split('/')[0]?.replace('-', '_') ?? '')} where store_id = ${id}`;
    const { body: list } = await service.admin('GET', `/v1/stores/${id}/events?event=${event}`);
    const [{ id: eventId }] = list['events'] as unknown as [{ id: string }];
    const dry = await service.admin('POST', `/v1/stores/${id}/events/${eventId}/replay?dryRun=true`);
    const [change] = dry.body['changes'] as unknown as [{ before: unknown; after: object }];
    expect(change.before).toBeNull();
    const masked = JSON.stringify(change.after, (_name, value: unknown) =>
      value === '[redacted]' ? undefined : value,
    );
    expect(shown).toMatchObject(JSON.parse(masked) as object);
    expect(Object.keys(change.after).toSorted()).toEqual(Object.keys(shown).toSorted());
    expect(masked).not.toMatch(/Cake|ann@/);
    expect(masked).toContain(text);
  }
});

test('replaying a span never overwrites newer data and sends no notification twice', async () => {
  const { id, webhookToken } = await service.store();
  for (const status of ['A', 'B', 'C']) await service.hook('order_updated', webhookToken, order(status));
  await service.hook('job_started', webhookToken, { id: 'j-1', orderId: 'o-1' });
  await service.settled();
  const before = (await service.admin('GET', `/v1/stores/${id}/notifications`)).body;
  const span = {
    from: new Date(Date.now() - 60_000).toISOString(),
    to: new Date(Date.now() + 60_000).toISOString(),
    status: 'done',
  };
  const path = `/v1/stores/${id}/events/replay`;
  // A dry run counts the events and leaves them as they are.
  const counted = await service.admin('POST', `${path}?dryRun=true`, span);
  expect(counted).toMatchObject({ status: 200, body: { replayed: 4, next: null } });
  expect((await service.admin('GET', `/v1/stores/${id}/events?status=pending`)).body).toMatchObject({
    events: [],
  });
  expect(await service.admin('POST', path, span)).toMatchObject({
    status: 202,
    body: { replayed: 4 },
  });
  await service.settled();
  expect((await service.admin('GET', `/v1/stores/${id}/orders/o-1`)).body).toMatchObject({ status: 'C' });
  expect((await service.admin('GET', `/v1/stores/${id}/notifications`)).body).toEqual(before);
});

test.each([
  'orders',
  'members',
  'delivery-jobs',
  'verifications',
  'notifications',
  'import-jobs',
  'users',
  'events',
])('the list of %s of an unknown store is 404', async (path) => {
  const answer = await service.admin('GET', `/v1/stores/01980000-0000-7000-8000-000000000000/${path}`);
  expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('a store cannot read the records of another store', async () => {
  const [store, otherStore] = [await service.store(), await service.store()];
  await service.hook('order_updated', store.webhookToken, order('A'));
  await service.settled();
  expect((await service.admin('GET', `/v1/stores/${otherStore.id}/orders/o-1`)).status).toBe(404);
  const { body } = await service.admin('GET', `/v1/stores/${store.id}/events`);
  const [{ id: eventId }] = body['events'] as unknown as [{ id: string }];
  expect((await service.admin('POST', `/v1/stores/${otherStore.id}/events/${eventId}/replay`)).status).toBe(
    404,
  );
});

test('the OpenAPI document describes the ten webhooks and every management route', () => {
  const paths = Object.keys(service.document()['paths'] as object);
  expect(paths.filter((path) => path.startsWith('/api/v1/hooks/'))).toHaveLength(10);
  expect(paths).toContain('/v1/stores/{storeId}/events/{eventId}/replay');
});
