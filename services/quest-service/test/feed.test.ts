import { startReceiver } from '@platform/outgoing-webhooks/testing';
import supertest from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  get,
  getDraft,
  makeQuest,
  question,
  startService,
  tokenWith,
  write,
  type Instance,
} from './harness.ts';

interface Page {
  changes: { id: string; action: string; item?: object }[];
  next: string;
}

let service: Instance;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Follows the list without a token, or with one that may see drafts. */
const follower = async (read: typeof get) => {
  const page = async (query: string): Promise<Page> =>
    (await read(service, `/feeds/quest-service/quests${query}`).expect(200)).body as Page;
  let { next } = await page('');
  return async (): Promise<Page['changes']> => {
    const { changes, next: end } = await page(`?after=${next}`);
    next = end;
    return changes;
  };
};

test('anyone can follow a published quest until it is deleted, with the item of the list', async () => {
  const changes = await follower(get);
  const questId = await makeQuest(service, ['One']);
  const [item] = (await get(service, '/quests').expect(200)).body as object[];
  expect(await changes()).toEqual([
    expect.objectContaining({ id: questId, action: 'created', item }),
    expect.objectContaining({ id: questId, action: 'updated', item }),
  ]);
  await write(service, 'delete', `/quests/${questId}`).expect(204);
  const [deleted] = await changes();
  expect(deleted).toMatchObject({ id: questId, action: 'deleted' });
  expect(deleted).not.toHaveProperty('item');
});

test('only readers who see drafts can follow a draft; anyone can when it is published', async () => {
  const [anybody, editor] = [await follower(get), await follower(getDraft)];
  const { questId: id } = (await write(service, 'post', '/quests', { title: 'Secret', draft: true }))
    .body as {
    questId: string;
  };
  await write(service, 'put', `/quests/${id}/questions`, [question('One')]).expect(200);
  expect(await anybody()).toEqual([]);
  expect((await editor())[0]).toMatchObject({ id, action: 'created', item: { title: 'Secret' } });
  await write(service, 'post', `/quests/${id}/publish`).expect(200);
  expect(await anybody()).toMatchObject([{ id, action: 'created', item: { published: true } }]);
  expect((await editor()).at(-1)).toMatchObject({ id, action: 'created', item: { published: true } });
});

test('the draft of a published quest is in no change, so that its id is not shown', async () => {
  const id = await makeQuest(service, ['One']);
  const [anybody, editor] = [await follower(get), await follower(getDraft)];
  await write(service, 'put', `/quests/${id}/questions?draft=true`, [question('Two')]).expect(200);
  expect([await anybody(), await editor()]).toEqual([[], []]);
  await write(service, 'post', `/quests/${id}/publish`).expect(200);
  for (const changes of [await anybody(), await editor()])
    expect(changes).toMatchObject([{ id, action: 'updated' }]);
});

test('a subscriber is sent drafts, and needs the scope that reads them', async () => {
  service.context.subscriptions.start();
  const { received, url } = await startReceiver();
  const subscribe = async (scope: string) =>
    supertest(service.app)
      .post('/v1/feeds/quest-service/subscriptions')
      .auth(await tokenWith(scope), { type: 'bearer' })
      .send({ url, lists: ['quests'] });
  expect((await subscribe('quest-service:subscriptions')).status).toBe(403);
  expect((await subscribe('quests:read quest-service:subscriptions')).status).toBe(201);
  const draft = { title: 'A draft', draft: true };
  const { body } = await write(service, 'post', '/quests', draft).expect(201);
  await expect
    .poll(() => received[0]?.event)
    .toMatchObject({ type: 'quest.created', data: { id: body.questId, item: { title: 'A draft' } } });
});
