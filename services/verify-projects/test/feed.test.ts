import { randomUUID } from 'node:crypto';
import { openStream } from '@platform/feed/testing';
import { startReceiver } from '@platform/outgoing-webhooks/testing';
import request from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectInput, startService, type Service } from './harness.ts';

interface Page {
  changes: { id: string; action: string; item?: { id?: string } }[];
  next: string;
}

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Follows a list with a token, which may be limited to some clients. */
const follower = async (list: string, clients?: string[]) => {
  const token = await service.tokens.token({ scope: 'verify:read', ...(clients && { claims: { clients } }) });
  const read = async (query: string): Promise<Page> => {
    const path = `/v1/feeds/verify-projects/${list}${query}`;
    const asked = request(service.app).get(path).set('Authorization', `Bearer ${token}`);
    return (await asked.expect(200)).body as Page;
  };
  let { next } = await read('');
  return async () => {
    const page = await read(`?limit=1000&after=${next}`);
    ({ next } = page);
    return page.changes;
  };
};

const create = async (path: string, body: object): Promise<string> =>
  (await service.admin.post(path, body).expect(201)).body.id as string;
const deliverableInput = { language: 'de', type: 'report' };

test('a project and its deliverables are followed until they are deleted, with the items of their lists', async () => {
  const [projects, deliverables] = [await follower('projects'), await follower('deliverables')];
  const id = await create('/projects', projectInput({ client: 'Tartu' }));
  const [created] = await projects();
  const list = (await service.read('/projects').expect(200)).body.projects as { id: string }[];
  expect(created).toMatchObject({ id, action: 'created' });
  expect(created?.item).toEqual(list.find((item) => item.id === id));
  const deliverable = await create(`/projects/${id}/deliverables`, deliverableInput);
  const [added] = await deliverables();
  expect(added).toMatchObject({ id: deliverable, action: 'created' });
  expect([added?.item]).toEqual((await service.read(`/projects/${id}/deliverables`)).body.deliverables);
  expect(await projects()).toMatchObject([{ id, action: 'updated' }]);
  await service.admin.delete(`/projects/${id}?force=true`).expect(204);
  for (const [changes, record] of [
    [await projects(), id],
    [await deliverables(), deliverable],
  ] as const) {
    expect(changes).toMatchObject([{ id: record, action: 'deleted' }]);
    expect(changes[0]).not.toHaveProperty('item');
  }
});

test('a language is followed by its code', async () => {
  const changes = await follower('languages', [randomUUID()]);
  const language = { name: 'Estonian', native_name: 'Eesti', direction: 'ltr' };
  await service.admin.put('/languages/et', language).expect(201);
  expect(await changes()).toMatchObject([{ id: 'et', action: 'created', item: { code: 'et', ...language } }]);
  await service.admin.put('/languages/et', { ...language, name: 'eesti' }).expect(200);
  expect(await changes()).toMatchObject([{ id: 'et', action: 'updated', item: { name: 'eesti' } }]);
  await service.admin.delete('/languages/et').expect(204);
  expect(await changes()).toMatchObject([{ id: 'et', action: 'deleted' }]);
});

test('a reader limited to clients follows only their projects and deliverables, as they are assigned and reassigned', async () => {
  const [us, them] = [randomUUID(), randomUUID()];
  const begin = (clients: string[]) =>
    Promise.all([follower('projects', clients), follower('deliverables', clients)]);
  const [ours, theirs] = [await begin([us]), await begin([them])];
  /** The last change of each list; each changed record here has its item unless it is deleted. */
  const lastOf = (lists: Awaited<ReturnType<typeof begin>>) =>
    Promise.all(
      lists.map(async (changes) => {
        const { id, action, item } = (await changes()).at(-1) ?? {};
        expect(item?.id).toBe(action === 'deleted' ? undefined : id);
        return { id, action };
      }),
    );
  const id = await create('/projects', projectInput({ client: us }));
  const deliverable = await create(`/projects/${id}/deliverables`, deliverableInput);
  expect(await lastOf(ours)).toEqual([
    { id, action: 'updated' },
    { id: deliverable, action: 'created' },
  ]);
  expect(await lastOf(theirs)).toEqual([{}, {}]);
  await service.admin.patch(`/projects/${id}`, { client: them }).expect(200);
  expect(await lastOf(ours)).toEqual([
    { id, action: 'deleted' },
    { id: deliverable, action: 'deleted' },
  ]);
  expect(await lastOf(theirs)).toEqual([
    { id, action: 'created' },
    { id: deliverable, action: 'created' },
  ]);
  await service.admin.delete(`/projects/${id}?force=true`).expect(204);
  expect(await lastOf(ours)).toEqual([{}, {}]);
  expect(await lastOf(theirs)).toEqual([
    { id, action: 'deleted' },
    { id: deliverable, action: 'deleted' },
  ]);
});

test('a stream ends and a wait is refused when the API key is revoked, also by another instance', async () => {
  const { key, id } = await service.storeKey();
  const other = await service.startInstance();
  const path = '/v1/feeds/verify-projects/projects';
  const { body } = await request(service.app).get(path).set('X-API-Key', key).expect(200);
  const { next } = body as Page;
  using stream = await openStream(`${other.url}${path}`, { 'X-API-Key': key });
  const waiting = fetch(`${other.url}${path}?after=${next}&wait=25`, { headers: { 'X-API-Key': key } });
  await create('/projects', projectInput({ name: 'Before' }));
  expect(JSON.parse((await stream.next()).data)).toMatchObject({ item: { name: 'Before' } });
  expect((await waiting).status).toBe(200);
  const after = stream.events.findLast((event) => event.id)?.id;
  const refused = fetch(`${other.url}${path}?after=${after}&wait=25`, { headers: { 'X-API-Key': key } });
  await service.admin.delete(`/api-keys/${id}`).expect(204);
  await stream.ended;
  await create('/projects', projectInput({ name: 'After' }));
  expect((await refused).status).toBe(401);
  expect(stream.events.some(({ data }) => data?.includes('After'))).toBe(false);
});

test('a page ends before its items have more than a megabyte', async () => {
  const changes = await follower('projects');
  const { sql } = service.context.database;
  await sql`
    insert into projects (id, name, status, source_language, target_languages, created_at, updated_at)
    select uuidv7(), 'Large', 'draft', 'en', array(select 'de-' || repeat('x', 30) || l from generate_series(1, 200) l),
      now(), now()
    from generate_series(1, 200)`;
  const page = await changes();
  expect(page.length).toBeGreaterThan(50);
  expect(page.length).toBeLessThan(200);
});

test('an export has the items of the list, only of the clients of the caller', async () => {
  const [ours, theirs] = [randomUUID(), randomUUID()];
  const project = await create('/projects', projectInput({ client: ours }));
  const deliverable = await create(`/projects/${project}/deliverables`, deliverableInput);
  await create(
    `/projects/${await create('/projects', projectInput({ client: theirs }))}/deliverables`,
    deliverableInput,
  );
  const token = await service.tokens.token({ scope: 'verify:read', claims: { clients: [ours] } });
  const idsOf = async (list: string) => {
    const path = `/v1/feeds/verify-projects/${list}/export`;
    const answer = await request(service.app)
      .get(path)
      .set('Authorization', `Bearer ${token}`)
      .buffer(true)
      .expect(200);
    const [, ...items] = answer.text.trim().split('\n');
    return items.map((line) => (JSON.parse(line) as { id: string }).id);
  };
  expect(await idsOf('projects')).toEqual([project]);
  expect(await idsOf('deliverables')).toEqual([deliverable]);
  expect(await idsOf('languages')).toHaveLength(0);
});

test('a subscriber needs the scope of the lists in the token itself, not in an API key in the same request', async () => {
  const { key } = await service.storeKey();
  const token = await service.tokens.token({ scope: 'verify-projects:subscriptions' });
  const refused = await request(service.app)
    .post('/v1/feeds/verify-projects/subscriptions')
    .set('Authorization', `Bearer ${token}`)
    .set('X-API-Key', key)
    .send({ url: 'https://subscriber.example', lists: ['projects'] })
    .expect(403);
  expect(refused.body).toMatchObject({ code: 'insufficient_scope' });
});

test('a subscriber whose token is limited to clients is sent their projects and deliverables, and no others', async () => {
  service.context.subscriptions.start();
  const { received, url } = await startReceiver();
  const scope = 'verify:read verify-projects:subscriptions';
  const token = await service.tokens.token({
    scope,
    claims: { clients: ['0198c5a0-7e57-7100-8000-00000000000a'] },
  });
  await request(service.app)
    .post('/v1/feeds/verify-projects/subscriptions')
    .set('Authorization', `Bearer ${token}`)
    .send({ url, lists: ['projects', 'deliverables'] })
    .expect(201);
  const other = await create('/projects', projectInput({ client: 'Tartu' }));
  await create(`/projects/${other}/deliverables`, deliverableInput);
  const own = await create('/projects', projectInput({ client: '0198c5a0-7e57-7100-8000-00000000000a' }));
  const deliverable = await create(`/projects/${own}/deliverables`, deliverableInput);
  await expect.poll(() => received.map(({ event }) => event.data.id)).toContain(deliverable);
  const ids = new Set(received.map(({ event }) => event.data.id));
  expect(ids).toEqual(new Set([own, deliverable]));
});
