import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearerOf, register, startService } from '../../test/harness.ts';
import { readOrder, readTasks, type Listing } from './list-store.ts';
import { createPages, type Pages } from './pages.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
let listing: Listing;
beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
  listing = { userId: ada.user.id, filters: {}, sort: '-priority' };
  await service.context.database.sql`
    insert into tasks (user_id, id, title, description, status, priority, tags, created_at, updated_at, version)
    select ${ada.user.id}, uuidv7(), 'Task ' || n, '', 'todo', (array['low', 'high'])[1 + n % 2]::task_priority,
      '{}', now() - n * interval '1 s', now(), 1 from generate_series(1, 1200) n`;
});
afterAll(() => service[Symbol.asyncDispose]());

const sql = () => service.context.database.sql;
const page = (number: number, limit = 20) => ({ number, limit, offset: BigInt((number - 1) * limit) });
const titles = async (pages: Pages, number: number, what = listing) =>
  (await pages(what, page(number))).items.map(({ title }) => title);

/** The same pages with and without the cached order. */
const both = () => ({
  direct: createPages(sql(), { bytes: 0 }),
  kept: createPages(sql(), { bytes: 1e6, shallow: 0 }),
});

describe('deep pages', () => {
  test('are the same with and without the cache', async () => {
    const { direct, kept } = both();
    for (const what of [listing, { ...listing, filters: { priority: 'low' as const } }]) {
      for (const number of [1, 2, 30, 31, 59, 60, 61, 500]) {
        expect(await kept(what, page(number))).toEqual(await direct(what, page(number)));
      }
    }
    expect(await kept(listing, page(60))).toMatchObject({ hasMore: false });
    expect((await kept(listing, page(61))).items).toEqual([]);
  });

  test('show each change at once, whichever instance made it', async () => {
    await using other = await startService({ databaseUrl: service.databaseUrl });
    const { direct, kept } = both();
    const agree = async () => {
      expect(await titles(kept, 40)).toEqual(await titles(direct, 40));
      return titles(direct, 40);
    };
    const before = await agree();
    const elsewhere = bearerOf(other.app, ada.token);
    const { body: created } = await elsewhere('post', '/tasks').send({ title: 'New', priority: 'urgent' });
    const shifted = await agree();
    expect(shifted.slice(1)).toEqual(before.slice(0, -1));
    await ada.as('patch', `/tasks/${created.id}`).send({ priority: 'low' });
    expect(await agree()).not.toEqual(shifted);
    await ada.as('delete', `/tasks/${created.id}`);
    expect(await agree()).toEqual(before);
  });

  test('are right while tasks are created and deleted', async () => {
    const { kept } = both();
    const reading = new AbortController();
    const writing = (async () => {
      while (!reading.signal.aborted) {
        const { body } = await ada.as('post', '/tasks').send({ title: 'Coming', priority: 'urgent' });
        await ada.as('delete', `/tasks/${body.id}`);
      }
    })();
    for (let round = 0; round < 40; round++) {
      const { items } = await kept(listing, page(30));
      expect(new Set(items.map(({ id }) => id)).size).toBe(20);
      expect(items.map(({ id }) => id)).toEqual(items.map(({ id }) => id).toSorted());
    }
    reading.abort();
    await writing;
  });

  test('are the same over HTTP', async () => {
    const { body } = await ada.as('get', '/tasks?limit=20&page=55&sort=-priority');
    expect(body.tasks.map(({ title }: { title: string }) => title)).toEqual(
      await titles(createPages(sql(), { bytes: 0 }), 55),
    );
    expect((await ada.as('get', '/tasks?limit=20&page=100000')).body.tasks).toEqual([]);
  });
});

describe('an order', () => {
  test('is read up to a limit', async () => {
    expect((await readOrder(sql(), listing, 10)).ids).toHaveLength(160);
    expect((await readOrder(sql(), { ...listing, filters: { q: 'nothing' } }, 10)).ids).toHaveLength(0);
  });

  test('and its tasks carry the revision, also when there are none', async () => {
    const { revision } = await readOrder(sql(), listing, 1);
    expect(await readTasks(sql(), ada.user.id, [])).toEqual({ revision, tasks: [] });
    const eve = await register(service.app);
    expect(await readTasks(sql(), eve.user.id, [])).toEqual({ revision: '0', tasks: [] });
  });

  test('never return tasks of another user', async () => {
    const eve = await register(service.app);
    const { body } = await eve.as('post', '/tasks').send({ title: 'Hers' });
    expect((await readTasks(sql(), ada.user.id, [body.id])).tasks).toEqual([]);
  });
});
