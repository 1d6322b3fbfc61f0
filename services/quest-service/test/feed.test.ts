import { afterAll, beforeAll, expect, test } from 'vitest';
import { get, getDraft, makeQuest, question, startService, write, type Instance } from './harness.ts';

interface Page {
  changes: { id: string; action: string; item?: object }[];
  next: string;
}

let service: Instance;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Follows the list as somebody without a token, or as one who sees drafts. */
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

test('a published quest is followed by anybody until it is deleted, with the item of the list', async () => {
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

test('a draft is followed by those who see drafts, and by anybody when it is published', async () => {
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

test('the draft of a published quest is in no change: that shows its id to nobody', async () => {
  const id = await makeQuest(service, ['One']);
  const [anybody, editor] = [await follower(get), await follower(getDraft)];
  await write(service, 'put', `/quests/${id}/questions?draft=true`, [question('Two')]).expect(200);
  expect([await anybody(), await editor()]).toEqual([[], []]);
  await write(service, 'post', `/quests/${id}/publish`).expect(200);
  for (const changes of [await anybody(), await editor()])
    expect(changes).toMatchObject([{ id, action: 'updated' }]);
});
