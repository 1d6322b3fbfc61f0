import { startReceiver } from '@platform/outgoing-webhooks/testing';
import request from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  service.context.subscriptions.start();
});
afterAll(() => service[Symbol.asyncDispose]());

const path = '/v1/feeds/verify-projects/subscriptions';
const scopes = ['verify:read', 'verify-projects:subscriptions'];

const createKey = async (body: object = {}) =>
  (await service.admin.post('/api-keys', { name: 'a partner', scopes, ...body }).expect(201)).body as {
    id: string;
    key: string;
  };
const createProject = async (client: string): Promise<string> => {
  const project = { name: 'a project', source_language: 'en', target_languages: ['et'], client };
  return ((await service.admin.post('/projects', project).expect(201)).body as { id: string }).id;
};
const subscribe = (key: string, url: string) =>
  request(service.app)
    .post(path)
    .set('X-API-Key', key)
    .send({ url, lists: ['projects'], actions: ['created'] });
const subscriptionsOf = async (key: string) =>
  (await request(service.app).get(path).set('X-API-Key', key).expect(200)).body as {
    id: string;
    state: string;
    stateReason: string | null;
  }[];

test('a key that is limited to clients has their projects sent to it, and no others', async () => {
  const { key } = await createKey({ clients: ['Tartu'] });
  const { received, url } = await startReceiver();
  await subscribe(key, url).expect(201);
  await createProject('Tallinn');
  const own = await createProject('Tartu');
  await expect.poll(() => received.map(({ event }) => event.data.id)).toEqual([own]);
});

test('a key sees its own subscriptions only', async () => {
  const [one, other] = [await createKey(), await createKey()];
  const { url } = await startReceiver();
  const { body } = await subscribe(one.key, url).expect(201);
  expect(await subscriptionsOf(one.key)).toMatchObject([{ id: body.id }]);
  expect(await subscriptionsOf(other.key)).toEqual([]);
  await request(service.app).delete(`${path}/${body.id}`).set('X-API-Key', other.key).expect(404);
});

test('nothing is sent to a revoked key, and its subscription is disabled', async () => {
  const { id, key } = await createKey();
  const { received, url } = await startReceiver();
  const { body } = await subscribe(key, url).expect(201);
  await service.admin.delete(`/api-keys/${id}`).expect(204);
  await createProject('Tartu');
  const { sql } = service.context.database;
  await expect
    .poll(() => sql`select state, state_reason as reason from subscriptions where id = ${body.id as string}`)
    .toEqual([{ state: 'disabled', reason: 'rights' }]);
  expect(received).toEqual([]);
});

test('a key that replaces another one gets its subscriptions with the same limits', async () => {
  const { id, key } = await createKey({ clients: ['Narva'] });
  const { received, url } = await startReceiver();
  const { body: subscription } = await subscribe(key, url).expect(201);
  const { body: next } = await service.admin.post(`/api-keys/${id}/rotate`, { grace_seconds: 0 }).expect(201);
  await createProject('Tartu');
  const own = await createProject('Narva');
  await expect.poll(() => received.map(({ event }) => event.data.id)).toEqual([own]);
  expect(await subscriptionsOf(next.key as string)).toMatchObject([{ id: subscription.id, state: 'active' }]);
});

test.for([[['verify:read']], [['verify-projects:subscriptions']]])(
  'a key with %j alone cannot subscribe',
  async ([only]) => {
    const { key } = await createKey({ scopes: only });
    const { body } = await subscribe(key, 'https://subscriber.example').expect(403);
    expect(body).toMatchObject({ code: 'insufficient_scope' });
  },
);

test('in a request with a key and a token, the token subscribes', async () => {
  const { key } = await createKey();
  const token = await service.tokens.token({ scope: scopes.join(' ') });
  const { body } = await subscribe(key, 'http://127.0.0.1:1/')
    .set('Authorization', `Bearer ${token}`)
    .expect(201);
  expect(await subscriptionsOf(key)).toEqual([]);
  const own = await request(service.app).get(path).set('Authorization', `Bearer ${token}`).expect(200);
  expect(own.body).toMatchObject([{ id: body.id }]);
});
