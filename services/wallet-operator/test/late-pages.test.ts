import type { ISql } from 'postgres';
import { expect, test } from 'vitest';
import { addPlayer } from './factories.ts';
import { startService } from './harness.ts';

test('late pages of lists are read like searches, so that they leave the connections of other requests alone', async () => {
  await using first = await startService();
  await addPlayer(first.context.database.sql);
  let searches = 0;
  const run = <T>(read: (sql: ISql) => Promise<T>): Promise<T> => {
    searches += 1;
    return first.context.searches.run(read);
  };
  const overrides = { searches: { ...first.context.searches, run } };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const agent = await service.agent('wallet:read wallet:admin wallet:audit');
  const searchesOf = async (path: string): Promise<number> => {
    const before = searches;
    await agent.get(path).expect(200);
    return searches - before;
  };
  for (const path of ['/v1/players', '/v1/rounds', '/v1/launches', '/v1/audit/events', '/v1/refusals'])
    expect([
      path,
      await searchesOf(`${path}?limit=200&page=51`),
      await searchesOf(`${path}?limit=200&page=52`),
    ]).toEqual([path, 0, 1]);
});
