import { recordPlans } from '@platform/service-kit/testing';
import type { ISql } from 'postgres';
import { expect, test } from 'vitest';
import { addGame, addPlayer } from './factories.ts';
import { startService } from './harness.ts';

test('every list is read in the order of an index, without a sequential scan', async () => {
  await using first = await startService();
  const { sql } = first.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  await using plans = recordPlans(first.databaseUrl);
  const searches = {
    ...first.context.searches,
    run: <T>(read: (sql: ISql) => Promise<T>) => read(plans.sql),
  };
  const overrides = { database: plans.database, searches };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const agent = await service.agent('wallet:read wallet:admin wallet:audit');
  for (const path of [
    '/v1/players',
    '/v1/players?q=a&currency=EUR',
    '/v1/players?status=disabled',
    '/v1/players?currency=EUR',
    '/v1/players?excluded=true',
    '/v1/players?excluded=false',
    '/v1/games',
    '/v1/rounds',
    '/v1/rounds?roundId=a',
    `/v1/players/${playerId}/entries`,
    `/v1/players/${playerId}/limits/history`,
    `/v1/players/${playerId}/sessions`,
    '/v1/launches',
    '/v1/launches?playerId=a',
    '/v1/launches?gameCode=a',
    '/v1/launches?outcome=game_server_unavailable',
    '/v1/launches?outcome=game_server_unavailable&gameCode=a',
    '/v1/audit/events',
    '/v1/audit/events?playerId=a',
    '/v1/audit/events?kind=callback',
    '/v1/audit/events?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z',
    '/v1/audit/entries?transactionId=a',
    '/v1/refusals',
    '/v1/refusals?playerId=a',
    '/v1/refusals?roundId=a',
    '/v1/refusals?transactionId=a',
    '/v1/refusals?cause=a',
    '/v1/refusals?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z',
    '/v1/audit/checkpoints',
    '/v1/reconciliations',
  ])
    expect([path, await plans.faultsOf(() => agent.get(path).expect(200))]).toEqual([path, []]);
});
