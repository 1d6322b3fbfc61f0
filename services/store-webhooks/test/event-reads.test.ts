import { afterAll, expect, test } from 'vitest';
import { startService, type Json } from './harness.ts';

const service = await startService({ work: false });
afterAll(() => service[Symbol.asyncDispose]());

type Store = Awaited<ReturnType<typeof service.store>>;

/** A store with `count` events, of a megabyte by default; returns their paths, newest first. */
const withEvents = async (count: number, length = 1_000_000) => {
  const text = 'x'.repeat(length);
  const store = await service.store({ pos: { kind: 'generic' } });
  for (let at = 0; at < count; at++)
    await service.hook('order_updated', store.webhookToken, { id: `o-${at}`, state: 'NEW', text });
  const { events } = (await service.admin('GET', `/v1/stores/${store.id}/events`)).body;
  const paths = (events as unknown as { id: string }[]).map(
    ({ id }) => `/v1/stores/${store.id}/events/${id}`,
  );
  return { store, paths };
};

/** Requests of a person. */
const person = async (sub: string) => {
  const token = await service.tokenWith('stores:admin', { sub });
  return async (method: string, path: string, body?: object) => {
    const answer = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { status, headers } = answer;
    return { status, retryAfter: headers.get('retry-after'), body: (await answer.json()) as Json };
  };
};

const mapping = { order: { status: '/state' } };
const span = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' };

const readTimes = async (
  ask: Awaited<ReturnType<typeof person>>,
  path: string | undefined,
  count: number,
) => {
  const statuses = new Set<number>();
  for (let at = 0; at < count; at++) statuses.add((await ask('GET', path ?? '')).status);
  return [...statuses];
};

test('a caller who has read 32 MiB of events in a minute gets 429, and other callers do not', async () => {
  const { store, paths } = await withEvents(1);
  const [path = ''] = paths;
  const [reader, other] = [await person('reader'), await person('other')];
  expect(await readTimes(reader, path, 34)).toEqual([200]);
  const list = `/v1/stores/${store.id}/events`;
  const refused = await Promise.all([
    reader('GET', path),
    reader('POST', `${path}/replay?dryRun=true`),
    reader('POST', `${path}/dry-run`, { mapping }),
    reader('POST', `${path}/replay`),
    reader('POST', `${list}/dry-run`, { mapping }),
    reader('POST', `${list}/recheck`, span),
    reader('GET', `${list}?value=NEW`),
  ]);
  for (const { status, retryAfter } of refused) {
    expect(status).toBe(429);
    expect(Number(retryAfter)).toBeGreaterThan(0);
  }
  // Lists without bodies are still answered.
  expect(await reader('GET', list)).toMatchObject({ status: 200 });
  expect(await other('GET', path)).toMatchObject({ status: 200 });
});

test('events that a search finds count for the caller, because each is recorded', async () => {
  const { store } = await withEvents(50, 10);
  const searcher = await person('searcher');
  const search = () => searcher('GET', `/v1/stores/${store.id}/events?value=NEW&limit=50`);
  let found = 0;
  while ((await search()).status === 200) found += 50;
  expect(found).toBeGreaterThan(900);
  expect(found).toBeLessThan(1100);
});

const failAll = ({ id }: Store) => {
  const { sql } = service.context.database;
  return sql`with taken as (delete from queue where store_id = ${id} returning store_id, id)
    insert into results (store_id, id, state, attempts, finished_at, error)
    select store_id, id, 'failed', 1, now(), 'failed in a test' from taken`;
};

test('a trial over many large events stops with `next` when the caller has read too much, and loses no count', async () => {
  const { store, paths } = await withEvents(11);
  await failAll(store);
  const tester = await person('tester');
  expect(await readTimes(tester, paths[0], 28)).toEqual([200]);
  const trial = () => tester('POST', `/v1/stores/${store.id}/events/dry-run`, { mapping });
  // Those that are sent at the same time have turns, so that the others are refused.
  const trials = await Promise.all([trial(), trial(), trial()]);
  expect(trials.toSorted((left, right) => left.status - right.status)).toMatchObject([
    { status: 200, body: { tried: 10, next: expect.any(String) } },
    { status: 429 },
    { status: 429 },
  ]);
});
