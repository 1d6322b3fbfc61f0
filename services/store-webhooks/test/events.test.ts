import { afterAll, expect, test } from 'vitest';
import { visitEvents } from '../src/inbox/visit-events.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

interface Detail {
  id: string;
  status: string;
  links: { rel: string; href: string }[];
}

/** Reads the events about an entity with all details. */
const eventsAbout = async (id: string, entity: string): Promise<Detail[]> => {
  const list = await service.admin('GET', `/v1/stores/${id}/events?entity=${encodeURIComponent(entity)}`);
  const events = list.body['events'] as unknown as Detail[];
  const details = events.map((event) => service.admin('GET', `/v1/stores/${id}/events/${event.id}`));
  return (await Promise.all(details)).map(({ body }) => body as unknown as Detail);
};

test.each([
  [
    'an order',
    'order_updated',
    { id: 'o/1?x', status: 'A', cart: { items: [] } },
    'o/1?x',
    ['order', 'notifications'],
  ],
  [
    'a member',
    'member_updated',
    { id: 'm:1', email: 'ann@example.test' },
    'm:1',
    ['member', 'notifications'],
  ],
  ['a delivery job', 'job_started', { id: 'j-1', orderId: 'o-1' }, 'j-1', ['delivery-job', 'notifications']],
  [
    'a verification',
    'identity-verification-updated/persona',
    { service: 'persona', transactionId: 't-1', status: 'CREATED' },
    't-1',
    ['verification', 'notifications'],
  ],
])(
  'an event is found by the id of %s, and its links lead to the records',
  async (_n, path, body, entity, rels) => {
    const { id, webhookToken } = await service.store();
    await service.hook(path, webhookToken, body);
    await service.hook('order_updated', webhookToken, { id: 'other', status: 'A' });
    await service.settled();
    const [event, ...others] = await eventsAbout(id, entity);
    expect(others).toEqual([]);
    expect(event?.links.map((link) => link.rel)).toEqual([...rels, 'events']);
    for (const { href } of event?.links ?? []) {
      const linked = await service.admin('GET', href);
      expect([href, linked.status]).toEqual([href, 200]);
      expect(JSON.stringify(linked.body)).toContain(entity);
    }
  },
);

test('the event of a payment is found by its transaction id and links to the paid order', async () => {
  const { id, webhookUrls, webhookToken } = await service.store({ payments: { kind: 'threedsecureio' } });
  const payment = { service: 'threedsecureio', transactionId: 'session-7', orderId: 'o-7' };
  await service.admin('POST', `/v1/stores/${id}/payments`, payment);
  await service.hook('order_updated', webhookToken, { id: 'o-7', status: 'A', cart: { items: [] } });
  const token = webhookUrls['payment-auth-completed']?.split('/').at(-1) ?? '';
  const session = Buffer.from('session-7').toString('base64url');
  await service.hook('payment-auth-completed/threedsecureio', token, `threeDSSessionData=${session}&cres=x`, {
    'content-type': 'application/x-www-form-urlencoded',
  });
  const [event] = await eventsAbout(id, 'session-7');
  expect(event).toMatchObject({ status: 'failed', links: [{ rel: 'events' }] });
  const { sql } = service.context.database;
  await sql`update results set state = 'done' where id = ${event?.id ?? ''}`;
  await service.settled();
  const [done] = await eventsAbout(id, 'session-7');
  expect(done?.links.slice(0, 2)).toEqual([
    { rel: 'payment', href: `/v1/stores/${id}/payments/session-7?service=threedsecureio` },
    { rel: 'order', href: `/v1/stores/${id}/orders/o-7` },
  ]);
});

test('an unfinished webhook is found by its order number, in its store and in all stores', async () => {
  const { id, webhookToken } = await service.store();
  const order = (name: string, cart: unknown) => ({ id: name, orderNo: 'NC-4711', status: 'A', cart });
  await service.hook('order_updated', webhookToken, order('done', { items: [] }));
  await service.hook('order_updated', webhookToken, order('failed', 'none'));
  await service.settled();
  for (const store of [id, '-']) {
    const eventsWith = async (value: string) =>
      (await service.admin('GET', `/v1/stores/${store}/events?value=${value}`)).body['events'];
    expect(await eventsWith('NC-4711')).toEqual([
      expect.objectContaining({ status: 'failed', entity: 'order:failed' }),
    ]);
    expect(await eventsWith('NC-471')).toEqual([]);
  }
});

test('a body that is not JSON is stored, answered, shown as failed and reported to the error tracker', async () => {
  const { id, webhookToken } = await service.store();
  const before = service.lines.length;
  const answer = await service.hook('order_updated', webhookToken, '{"id": ');
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  expect((await service.admin('GET', `/v1/stores/${id}/events?status=failed`)).body['events']).toHaveLength(
    1,
  );
  const logged = service.lines
    .slice(before)
    .map((line) => JSON.parse(line) as { msg: string; storeId?: string });
  expect(logged).toContainEqual(expect.objectContaining({ msg: 'processing failed', storeId: id }));
});

test('a time span that takes too long for one request returns the last id, so that each event is visited once', async () => {
  const { id: storeId, webhookToken } = await service.store();
  for (let at = 0; at < 25; at++)
    await service.hook('order_updated', webhookToken, { id: `s-${at}`, status: 'A', cart: { items: [] } });
  await service.settled();
  const hour = (shift: number) => new Date(Date.now() + shift * 3_600_000).toISOString();
  const visited: string[] = [];
  const each = async (ids: string[]): Promise<void> => void visited.push(...ids);
  const requests: unknown[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const span = { from: hour(-1), to: hour(1), after };
    const { orm } = service.context.database;
    after = await visitEvents(orm, {
      storeId,
      ...span,
      state: 'done',
      batchSize: 10,
      budgetMs: 0,
      visitBatch: each,
    });
    requests.push(after);
  }
  expect(requests).toEqual([visited[9], visited[19], null]);
  expect(new Set(visited).size).toBe(25);
  expect(visited).toEqual(visited.toSorted());
});
