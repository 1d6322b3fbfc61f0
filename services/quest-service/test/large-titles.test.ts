import { countFollowed } from '@platform/feed/testing';
import { container, startServiceProcess } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

const quests = 800;
const feed = '/v1/feeds/quest-service/quests';

test('exports, pages and lists of quests with the longest titles leave a process its memory', async () => {
  await using instance = await startService();
  const { sql } = instance.context.database;
  await using server = await startServiceProcess({
    folder: new URL('..', import.meta.url).pathname,
    variables: instance.variables,
    nodeArguments: container.nodeArguments,
  });
  const get = (path: string) => fetch(server.url + path);
  const { next } = (await (await get(feed)).json()) as { next: string };
  // 48 titles of 2,000 letters, in no order, so that little of them is compressed.
  for (let from = 0; from < quests; from += 100)
    await sql`
    with letters as materialized (
      select string_agg(chr(97 + (random() * 25)::int), '') as text from generate_series(1, 2000)),
    titles as materialized (
      select json_agg(json_build_object('languageCode', 'en-' || n, 'title', substr(text, n) || substr(text, 1, n - 1))) as json
      from letters, generate_series(1, 48) n)
    insert into quests (quest_id, title, titles, version, question_count, created_at, updated_at)
    select uuidv7(), 'Large', json, uuidv7(), 0, now(), now() from titles, generate_series(1, 100)`;
  const exported = await Promise.all(
    [1, 2].map(async () => (await (await get(`${feed}/export`)).text()).trim().split('\n').length),
  );
  expect(exported).toEqual([quests + 1, quests + 1]);
  const follow = () => countFollowed((query) => get(feed + query), next);
  expect(await Promise.all([follow(), follow()])).toEqual([quests, quests]);
  /** Reads the list, again while others read too much. */
  const list = async (): Promise<number> => {
    const answer = await get('/v1/quests?Take=200');
    if (answer.status === 503) return list();
    return ((await answer.json()) as unknown[]).length;
  };
  expect(await Promise.all(Array.from({ length: 5 }, list))).toEqual([200, 200, 200, 200, 200]);
  const refused = await get('/v1/quests?Take=1000');
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { errors: { Take: [expect.stringContaining('must be less')] } },
  ]);
  expect(await server.peakBytes()).toBeLessThan(container.bytes);
});
