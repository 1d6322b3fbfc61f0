import { afterAll, beforeAll, expect, test } from 'vitest';
import postgres from 'postgres';
import { register, startService } from '../../test/harness.ts';

const limits = {
  SEARCH_POOL: '1',
  SEARCH_QUEUE: '1',
  SEARCH_WAIT_MS: '300',
  SEARCH_TIMEOUT_MS: '2000',
  SEARCH_MS_PER_MINUTE: '100',
  RATE_LIMIT: 'on',
};
let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => (service = await startService({ variables: limits })));
afterAll(() => service[Symbol.asyncDispose]());

test('searches have separate connections: while these are busy, searches get 503 and other lists work', async () => {
  const { as } = await register(service.app);
  const busy = Promise.withResolvers<void>();
  const running = service.context.searches.run('other', async (sql) => {
    await sql`select 1`;
    await busy.promise;
  });
  const waiting = as('get', '/tasks?q=milk');
  const [searched, other] = await Promise.all([waiting, as('get', '/tasks?sort=title')]);
  expect(other.status).toBe(200);
  expect([searched.status, searched.body.code, searched.headers['retry-after']]).toEqual([
    503,
    'too_busy',
    '1',
  ]);
  busy.resolve();
  await running;
  expect((await as('get', '/tasks?q=milk')).status).toBe(200);
});

test('a search that takes too long ends with 503, and its user must wait when their search time of the minute is used up', async () => {
  const [slow, quick] = [await register(service.app), await register(service.app)];
  const owner = postgres(service.databaseUrl, { max: 1 });
  await owner.begin(async (tx) => {
    await tx`lock table tasks in access exclusive mode`;
    const { status, body } = await slow.as('get', '/tasks?q=milk');
    expect([status, body.code]).toEqual([503, 'query_timeout']);
  });
  await owner.end();
  const refused = await slow.as('get', '/tasks?q=milk');
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await slow.as('get', '/tasks')).status).toBe(200);
  expect((await quick.as('get', '/tasks?q=milk')).status).toBe(200);
});

test('a search does not run if an earlier search of its user used up the time of the minute while it waited', async () => {
  const { searches } = service.context;
  const first = searches.run('together', (sql) => sql`select pg_sleep(0.15)`);
  const second = searches.run('together', () => Promise.reject(new Error('it ran')));
  await first;
  await expect(second).rejects.toMatchObject({ code: 'too_many_requests' });
});

test('a search sets plan mode and timeout in its transaction instead of at connect time, as PgBouncer requires', async () => {
  const settings = await service.context.searches.run(
    'pooled',
    (sql) => sql<{ name: string; setting: string; source: string }[]>`
      select name, setting, source from pg_settings
      where source in ('client', 'session') and name !~ '^(application_name|client_encoding|DateStyle|search_path|transaction_.*)$'
      order by name`,
  );
  const idleTimeout = { name: 'idle_in_transaction_session_timeout', setting: '10000', source: 'client' };
  const searchSettings = { jit: 'off', plan_cache_mode: 'force_custom_plan', statement_timeout: '2000' };
  expect(settings).toEqual([
    idleTimeout,
    ...Object.entries(searchSettings).map(([name, setting]) => ({ name, setting, source: 'session' })),
  ]);
});

test('filtered lists and late pages run as searches, so that they do not occupy the connections of other requests', async () => {
  let searches = 0;
  const run: typeof service.context.searches.run = (_user, read) => {
    searches += 1;
    return read(service.context.database.sql);
  };
  const { databaseUrl } = service;
  await using counted = await startService({ databaseUrl, overrides: { searches: { run } } });
  const { as } = await register(counted.app);
  const countSearches = async (query: string): Promise<number> => {
    searches = 0;
    expect((await as('get', `/tasks?${query}`)).status).toBe(200);
    return searches;
  };
  for (const query of [
    'status=todo',
    'priority=low&sort=title',
    'tag=none',
    'dueBefore=2026-01-01',
    'q=milk',
  ])
    expect([query, await countSearches(query)]).toEqual([query, 1]);
  expect(await countSearches('limit=200&page=52')).toBe(1);
  for (const query of ['', 'sort=title', 'limit=200&page=51'])
    expect([query, await countSearches(query)]).toEqual([query, 0]);
});
