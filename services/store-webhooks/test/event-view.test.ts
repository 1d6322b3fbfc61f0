import { afterAll, expect, test } from 'vitest';
import * as blaze from './fixtures/blaze.ts';
import * as doordash from './fixtures/doordash.ts';
import * as generic from './fixtures/generic.ts';
import * as onfleet from './fixtures/onfleet.ts';
import * as persona from './fixtures/persona.ts';
import * as square from './fixtures/square.ts';
import * as veriff from './fixtures/veriff.ts';
import { startService, type Json } from './harness.ts';

const service = await startService({ work: false });
afterAll(() => service[Symbol.asyncDispose]());

type Store = Awaited<ReturnType<typeof service.store>>;

/** Sends a webhook and returns the view of its event. */
const viewOf = async (store: Store, path: string, body: unknown, query = '') => {
  await service.hook(path, store.webhookToken, body);
  const { events } = (await service.admin('GET', `/v1/stores/${store.id}/events?limit=1`)).body;
  const [{ id }] = events as unknown as [{ id: string }];
  return (await service.admin('GET', `/v1/stores/${store.id}/events/${id}${query}`)).body;
};

const idOf = (view: Json) => view['id'] as unknown as string;

const hidden = '[redacted]';

test('only fields that the adapter lists as unmasked are shown', async () => {
  const view = await viewOf(await service.store(), 'order_updated', {
    ...blaze.order,
    cvv: 123,
    tel: '5550100',
    contact: 'Ann Lee',
    raw: '{"cvv":"123"}',
    nested: [{ status: 'PENDING' }],
  });
  const { id, orderNo, status, consumerId, cart } = blaze.order;
  expect(view['body']).toMatchObject({ id, orderNo, status, consumerId, memo: hidden, publicKey: hidden });
  expect(view['body']).toMatchObject({ cvv: hidden, tel: hidden, contact: hidden, raw: hidden });
  expect(view['body']).toMatchObject({ nested: [{ status: hidden }], rewardName: null });
  const [item] = cart.items;
  expect(view['body']?.['cart']).toMatchObject({
    total: cart.total,
    items: [{ ...item, productName: hidden }],
  });
});

test.each([
  ['blaze members', {}, 'new_member', blaze.member, ['ACTIVE']],
  ['square', { pos: { kind: 'square' } }, 'member_updated', square.customerUpdated, ['customer.updated']],
  ['onfleet', { delivery: { kind: 'onfleet' } }, 'job_started', onfleet.taskStarted, ['taskStarted']],
  ['doordash', { delivery: { kind: 'doordash' } }, 'job_started', doordash.pickedUp, ['picked_up', 'D-1763']],
  ['veriff', {}, 'identity-verification-updated/veriff', veriff.declined, ['declined', 'user-2']],
  ['veriff full auto', {}, 'identity-verification-updated/veriff', veriff.fullAuto, ['fullauto']],
  ['veriff watchlist', {}, 'identity-verification-updated/veriff', veriff.watchlist, ['possible_match']],
  ['persona', {}, 'identity-verification-updated/persona', persona.approved, ['approved', 'user-1']],
  [
    'persona in camelCase',
    {},
    'identity-verification-updated/persona',
    persona.inflected(persona.approved, 'camel'),
    ['user-1', '2024-03-15T18:35:00.000Z'],
  ],
  [
    'generic',
    { pos: { kind: 'generic', mapping: generic.mapping } },
    'new_member',
    generic.member,
    [generic.member.person.no],
  ],
])(
  'the event view of %s shows no name, address, phone or document',
  async (_name, store, path, body, shown) => {
    const view = JSON.stringify((await viewOf(await service.store(store), path, body))['body']);
    for (const text of shown) expect(view).toContain(text);
    for (const text of [
      'Ann',
      'Lee',
      'Jane',
      'Swartz',
      'Street',
      '555',
      '@',
      '1970',
      'X000',
      'Gate',
      '37.77',
    ])
      expect([text, view.includes(text)]).toEqual([text, false]);
  },
);

test('an unmasked field is masked if its value does not look like a code, and unusual field names are masked', async () => {
  const store = await service.store();
  const view = await viewOf(store, 'order_updated', {
    id: 'x'.repeat(201),
    status: 'ann@example.test',
    orderNo: '{"cvv":1}',
    consumerId: { id: 'ann' },
    '4111 1111 1111 1111': 1,
    'ann@example.test': 1,
    ['n'.repeat(100_000)]: 1,
    toString: 'x',
    cart: { items: Array.from({ length: 300 }, () => ({ price: 1 })) },
  });
  expect(view['body']).toMatchObject({ id: hidden, status: hidden, orderNo: hidden, toString: hidden });
  expect(JSON.stringify(view['body'])).not.toMatch(/ann|4111|nnn/);
  expect(view['body']?.['cart']?.['items']).toHaveLength(201);
});

test('bodies with one very long string or field name do not block the process', async () => {
  const store = await service.store();
  // Without linear checks this takes minutes, which exceeds the time limit of the test.
  const long = 'document'.repeat(125_000);
  const view = await viewOf(store, 'order_updated', { id: 'a', memo: long });
  expect(view['body']).toEqual({ id: 'a', memo: hidden });
  expect((await viewOf(store, 'order_updated', { [long]: 1 }))['body']).toEqual({ [hidden]: hidden });
  expect((await viewOf(store, 'order_updated', { status: 'a.'.repeat(500_000) }))['body']).toEqual({
    status: hidden,
  });
});

test('an event of an unknown provider, or one that the store does not use, shows no value', async () => {
  const store = await service.store({ identity: { kind: 'veriff' } });
  const path = 'identity-verification-updated/persona';
  expect((await viewOf(store, path, { service: 'persona', status: 'ok' }))['body']).toEqual({
    service: hidden,
    status: hidden,
  });
});

test('a reveal shows the whole body after the caller and the time were recorded', async () => {
  const store = await service.store();
  const reveals = async (): Promise<Json[]> =>
    (await service.admin('GET', `/v1/stores/${store.id}/event-reveals`)).body['eventReveals'] as never;
  const masked = await viewOf(store, 'new_member', blaze.member);
  expect([masked['revealed'], await reveals()]).toEqual([false, []]);
  const path = `/v1/stores/${store.id}/events/${idOf(masked)}?reveal=true`;
  const before = service.lines.length;
  const answer = await fetch(service.url + path, {
    headers: { authorization: `Bearer ${service.token}`, 'x-request-id': 'reveal-1' },
  });
  expect(answer.headers.get('cache-control')).toContain('no-store');
  expect(await answer.json()).toMatchObject({ revealed: true, body: blaze.member });
  const { sub } = JSON.parse(
    Buffer.from(service.token.split('.')[1] ?? '', 'base64url').toString('utf8'),
  ) as { sub: string };
  const recorded = await reveals();
  expect(recorded).toEqual([
    {
      id: expect.any(String),
      eventId: masked['id'],
      service: null,
      transactionId: null,
      kind: 'body',
      revealedBy: sub,
      // A generated id, because with the sent id a caller could hide among the requests of others.
      requestId: expect.stringMatching(/^[\da-f]{8}-[\da-f-]{27}$/),
      revealedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  ]);
  const line = service.lines.slice(before).find((text) => text.includes('masked bodies were revealed'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    requestId: 'reveal-1',
    recordedAs: recorded[0]?.['requestId'],
  });
});

test('a body that cannot be parsed is shown as text, and only when revealed', async () => {
  const store = await service.store();
  expect((await viewOf(store, 'new_member', '{"email": "ann@'))['body']).toBeNull();
  expect((await viewOf(store, 'new_member', '{"email": "ann@x', '?reveal=true'))['body']).toBe(
    '{"email": "ann@x',
  );
});

test('an event cannot be revealed without the scope, through another store, or without a record', async () => {
  const [store, other] = [await service.store(), await service.store()];
  const id = idOf(await viewOf(store, 'new_member', blaze.member));
  const path = (target: Store) => `/v1/stores/${target.id}/events/${id}?reveal=true`;
  const token = await service.tokenWith('quests:read');
  const withoutScope = await fetch(service.url + path(store), {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(withoutScope.status).toBe(403);
  expect((await service.admin('GET', path(other))).status).toBe(404);
  const { sql } = service.context.database;
  await sql`alter table event_reveals rename to event_reveals_away`;
  const answer = await service.admin('GET', path(store));
  await sql`alter table event_reveals_away rename to event_reveals`;
  expect(answer.status).toBe(500);
  expect(JSON.stringify(answer.body)).not.toContain(blaze.member.email);
});
