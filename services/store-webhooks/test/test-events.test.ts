import { afterAll, expect, test } from 'vitest';
import { countEndedInLastDay } from '../src/inbox/count-events.ts';
import * as square from './fixtures/square.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

interface Event {
  id: string;
  status: string;
  error: string | null;
  note: string | null;
  dismissedBy: string | null;
  dismissedAt: string | null;
}

const eventsOf = async (storeId: string, query = '') =>
  (await service.admin('GET', `/v1/stores/${storeId}/events${query}`)).body['events'] as unknown as Event[];

const reports = () => service.lines.filter((line) => line.includes('processing failed')).length;

/** Sends one webhook to a store. Returns its event and the number of error reports. */
const sendTo = async (
  { id, webhookToken }: { id: string; webhookToken: string },
  address: string,
  body: unknown,
) => {
  const before = reports();
  const answer = await service.hook(address, webhookToken, body);
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  await service.settled();
  const [event] = await eventsOf(id);
  return { event: event as Event, reported: reports() - before };
};

const order = { id: '/no', status: '/state', items: '/lines', total: '/sum/total' };
const generic = { pos: { kind: 'generic', mapping: { order, member: { email: '/mail' } } } };
const withSquare = { pos: { kind: 'square', credentials: { accessToken: 'a' } } };

test.each<[string, Record<string, unknown>, string, unknown]>([
  ['Blaze', {}, 'order_updated', {}],
  ['Blaze', {}, 'order_updated', { event: 'test', message: 'Hello' }],
  ['Blaze', {}, 'new_member', { test: true }],
  ['Blaze', {}, 'job_assigned', { test: true }],
  ['a generic POS', generic, 'order_updated', { id: 'x', status: 'y', items: [], sum: {} }],
  ['a generic POS', generic, 'member_updated', { email: 'x' }],
  ['Square', withSquare, 'order_updated', { test: true }],
  ['Square', withSquare, 'new_member', {}],
])(
  'a test of %s with %j at %s (%j) is ignored as a test and not reported',
  async (_, more, address, body) => {
    expect(await sendTo(await service.store(more), address, body)).toMatchObject({
      event: { status: 'ignored', error: 'test_event' },
      reported: 0,
    });
  },
);

test.each<[string, Record<string, unknown>, string, unknown]>([
  ['a field of an order', {}, 'order_updated', { status: 'PENDING' }],
  ['a field of an order that is null', {}, 'order_updated', { cart: null }],
  ['a field of a member', {}, 'new_member', { email: null }],
  ['a field of a job', {}, 'job_assigned', { status: 'ASSIGNED' }],
  ['a mapped field', generic, 'order_updated', { sum: { total: 1 } }],
  ['mapped items', generic, 'order_updated', { lines: [] }],
  ['a mapped field of a member', generic, 'member_updated', { mail: 'x' }],
  ['an array', {}, 'order_updated', []],
  ['a text', {}, 'order_updated', '"test"'],
  ['nothing', {}, 'order_updated', 'null'],
  ['another event of Square', withSquare, 'order_updated', square.customerUpdated],
  ['no id, of a courier', { delivery: { kind: 'onfleet' } }, 'job_assigned', {}],
  ['no id, of an identity check', {}, 'identity-verification-updated/persona', { service: 'persona' }],
])(
  'a webhook with %s (store %j, %s, %j) is not a test: it fails and is reported',
  async (_, more, address, body) => {
    expect(await sendTo(await service.store(more), address, body)).toMatchObject({
      event: { status: 'failed', error: expect.not.stringContaining('test_event') },
      reported: 1,
    });
  },
);

const failedEvent = async () => {
  const store = await service.store();
  const { event } = await sendTo(store, 'order_updated', { status: 'PENDING' });
  return {
    id: store.id,
    error: event.error,
    eventId: event.id,
    path: `/v1/stores/${store.id}/events/${event.id}`,
  };
};

const note = 'Corrected at the till.';
const countFailed = () => {
  const { database, now } = service.context;
  return countEndedInLastDay(database.sql, 'failed', now(), 86_400_000);
};

test('a dismissed event shows who dismissed it, when and why, keeps its error, and does not count for alerts', async () => {
  const before = await countFailed();
  const { id, path, eventId, error } = await failedEvent();
  expect(await countFailed()).toBe(before + 1);
  const { status, body } = await service.admin('POST', `${path}/dismiss`, { note });
  const dismissal = { note, dismissedBy: expect.any(String), dismissedAt: expect.stringMatching(/Z$/) };
  expect([status, body]).toEqual([200, { eventId, status: 'dismissed', ...dismissal }]);
  expect((await service.admin('GET', path)).body).toMatchObject({ status: 'dismissed', error, ...dismissal });
  expect(await eventsOf(id, '?status=dismissed')).toMatchObject([{ id: eventId, note }]);
  expect(await eventsOf(id, '?status=failed')).toEqual([]);
  expect(await countFailed()).toBe(before);
});

test('a dismissed event can be replayed, and fails again', async () => {
  const { path } = await failedEvent();
  await service.admin('POST', `${path}/dismiss`, { note });
  expect((await service.admin('POST', `${path}/replay`)).status).toBe(202);
  await service.settled();
  expect((await service.admin('GET', path)).body).toMatchObject({ status: 'failed', note: null });
});

test('only a failed event of this store is dismissed', async () => {
  const store = await service.store();
  const { event } = await sendTo(store, 'order_updated', { id: 'o-1', status: 'A' });
  const path = `/v1/stores/${store.id}/events`;
  const done = await service.admin('POST', `${path}/${event.id}/dismiss`, { note });
  expect([done.status, done.body['code']]).toEqual([409, 'event_not_failed']);
  const { eventId } = await failedEvent();
  expect((await service.admin('POST', `${path}/${eventId}/dismiss`, { note })).status).toBe(404);
});

test('of 50 concurrent dismissals of an event one succeeds, and its note stays', async () => {
  const { path } = await failedEvent();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => service.admin('POST', `${path}/dismiss`, { note: `Note ${n}` })),
  );
  const dismissed = answers.filter(({ status }) => status === 200);
  expect(dismissed).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
  expect((await service.admin('GET', path)).body['note']).toBe(dismissed[0]?.body['note']);
});

test.each([
  {},
  { note: '' },
  { note: 'a\0' },
  { note: 'x'.repeat(1001) },
  { note: 1 },
  { note, reason: 'x' },
])('a dismissal with %j is refused and changes nothing', async (body) => {
  const { path } = await failedEvent();
  expect((await service.admin('POST', `${path}/dismiss`, body)).status).toBe(400);
  expect((await service.admin('GET', path)).body['status']).toBe('failed');
});

test('a caller with read scopes cannot dismiss an event', async () => {
  const { path } = await failedEvent();
  const answer = await fetch(`${service.url}${path}/dismiss`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await service.tokenWith('stores:read events:read events:reveal')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ note }),
  });
  expect(answer.status).toBe(403);
});
