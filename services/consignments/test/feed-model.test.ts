import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStream } from '@platform/feed/testing';
import { startServiceProcess, type ServiceProcess } from '@platform/service-kit/testing';
import fc from 'fast-check';
import postgres, { type Sql, type TransactionSql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { inventoryInput } from './inputs.ts';

interface Item {
  id: string;
  partnerId: string;
  quantity: number;
}

interface Change {
  id: string;
  action: string;
  version: number;
  item?: Item;
}

interface Page {
  changes: Change[];
  next: string;
  has_more: boolean;
}

const partners = [1, 2, 3].map((n) => `0198c5a0-7e57-7000-8000-00000000000${n}`);

let service: Service;
/** Another instance on the same database, as a process that is killed and started again. */
let killed: ServiceProcess;
let other: Sql;
beforeAll(async () => {
  service = await startService();
  const folder = resolve(import.meta.dirname, '..');
  killed = await startServiceProcess({ folder, variables: service.variables });
  other = postgres(service.databaseUrl, { max: 1 });
});
afterAll(async () => {
  await killed[Symbol.asyncDispose]();
  await other.end();
  await service[Symbol.asyncDispose]();
});

/** One write of a transaction; `at` chooses the record. */
type Write = { at: number } & (
  | { insert: number }
  | { move: number }
  | { quantity: number }
  | { remove: true }
);

const writes: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ at: fc.nat(11), insert: fc.nat(2) }),
  fc.record({ at: fc.nat(11), move: fc.nat(2) }),
  fc.record({ at: fc.nat(11), quantity: fc.nat(9) }),
  fc.record({ at: fc.nat(11), remove: fc.constant(true as const) }),
);
const transactions = fc.array(
  fc.record({
    writes: fc.array(writes, { minLength: 1, maxLength: 4 }),
    pauseMs: fc.nat(8),
    commits: fc.boolean(),
  }),
  { minLength: 10, maxLength: 25 },
);

const write = async (tx: TransactionSql, ids: readonly string[], one: Write): Promise<void> => {
  const id = ids[one.at] ?? '';
  const { partnerProductId, productCode, warehouseId } = inventoryInput();
  if ('insert' in one)
    await tx`insert into inventory (id, partner_id, partner_product_id, product_code, description, warehouse_id, quantity, reserved)
      values (${id}, ${partners[one.insert] ?? ''}, ${partnerProductId}, ${productCode}, '', ${warehouseId}, 1, 0) on conflict do nothing`;
  else if ('move' in one)
    await tx`update inventory set partner_id = ${partners[one.move] ?? ''} where id = ${id}`;
  else if ('quantity' in one) await tx`update inventory set quantity = ${one.quantity} where id = ${id}`;
  else await tx`delete from inventory where id = ${id}`;
};

const rolledBack = new Error('rolled back');

/** Runs transactions one after the other, each with a pause before its end. */
const runWriter = async (
  sql: Sql,
  ids: readonly string[],
  all: readonly { writes: Write[]; pauseMs: number; commits: boolean }[],
): Promise<void> => {
  for (const { writes: some, pauseMs, commits } of all)
    await sql
      .begin(async (tx) => {
        // In the order of the records, so that no two transactions wait for each other.
        for (const one of some.toSorted((a, b) => a.at - b.at)) await write(tx, ids, one);
        await sleep(pauseMs);
        if (!commits) throw rolledBack;
      })
      .catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
};

/** A copy of the list, to which changes are applied. */
const createCopy = (items: readonly Item[] = []) => {
  const copy = new Map(items.map((item) => [item.id, item]));
  const versions = new Map<string, number>();
  return {
    copy,
    apply: ({ id, version, item }: Change): void => {
      expect(version).toBeGreaterThan(versions.get(id) ?? 0);
      versions.set(id, version);
      if (item === undefined) copy.delete(id);
      else copy.set(id, item);
    },
  };
};

const path = '/v1/feeds/consignments/inventory';

/** The response of a random one of the two instances, or of this process if the other one is killed. */
const read = async (rest: string): Promise<Response> => {
  const headers = { Authorization: service.writing };
  const url = Math.random() < 0.5 ? service.url : killed.url;
  const answer = await fetch(`${url}${path}${rest}`, { headers }).catch(() => undefined);
  return answer ?? fetch(`${service.url}${path}${rest}`, { headers });
};
const readPage = async (rest: string): Promise<Page> => {
  const answer = await read(rest).then(async (one) => ({ status: one.status, text: await one.text() }));
  expect(answer).toMatchObject({ status: 200 });
  return JSON.parse(answer.text) as Page;
};
/** Repeats requests that fail because their instance was killed. */
const persist = async <T>(work: () => Promise<T>): Promise<T> => {
  for (;;) {
    const result = await work().catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error;
    });
    if (result !== undefined) return result;
  }
};

/** Reads page after page until `isOver`, and then to the end. */
const followPages = async (
  { copy, apply }: ReturnType<typeof createCopy>,
  { after, filter = '', wait = 0 }: { after: string; filter?: string; wait?: number },
  isOver: () => boolean,
) => {
  for (let next = after, isLast = false; ;) {
    isLast = isOver();
    const rest = `?limit=7&after=${next}${filter}&wait=${isLast ? 0 : wait}`;
    const page = await persist(() => readPage(rest));
    page.changes.forEach(apply);
    ({ next } = page);
    if (isLast && !page.has_more && page.changes.length === 0) return copy;
  }
};

/** Reads an export, and follows the list from its cursor. */
const exportAndFollow = async (isOver: () => boolean) => {
  const text = await persist(async () => (await read('/export')).text());
  const [first, ...items] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const { cursor: after } = first as { cursor: string };
  return followPages(createCopy(items as Item[]), { after }, isOver);
};

/** Reads a stream; when it ends, opens another one at any instance. */
const followStream = (after: string, query: string) => {
  const { copy, apply } = createCopy();
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    for (let last = after; !stop.signal.aborted;) {
      const url = Math.random() < 0.5 ? service.url : killed.url;
      const headers = { Authorization: service.writing, 'Last-Event-ID': last };
      const stream = await openStream(`${url}${path}${query}`, headers).catch(() => undefined);
      const onStop = () => stream?.[Symbol.dispose]();
      stop.signal.addEventListener('abort', onStop);
      if (stop.signal.aborted) onStop();
      for (;;) {
        const event = await stream?.next().catch(() => undefined);
        if (event === undefined) break;
        apply(JSON.parse(event.data) as Change);
        last = event.id;
      }
    }
  };
  return { copy, running: run(), stop: () => stop.abort() };
};

const sortedIds = (items: Iterable<Item>) =>
  [...items].map(({ id, partnerId, quantity }) => `${id} ${partnerId} ${quantity}`).toSorted();

test('every reader that follows a list has the records of the list, despite concurrent writes, rollbacks and a killed instance', async () => {
  const histories = fc.record({
    writers: fc.array(transactions, { minLength: 4, maxLength: 4 }),
    killAfterMs: fc.nat(60),
  });
  await fc.assert(
    fc.asyncProperty(histories, async ({ writers, killAfterMs }) => {
      const { sql } = service.context.database;
      await sql`delete from inventory`;
      let isOver = false;
      const over = () => isOver;
      // Readers start after the changes of earlier runs.
      const { next: after } = await readPage('');
      const ids = Array.from({ length: 12 }, () => randomUUID());
      // A transaction that stays open delays no reader.
      const late = Promise.withResolvers<void>();
      const open = other.begin(async (tx) => {
        await write(tx, [...ids, randomUUID()], { at: 12, insert: 0 });
        await late.promise;
      });
      const owned = [undefined, undefined, undefined, ...partners];
      const following = [
        followPages(createCopy(), { after }, over),
        followPages(createCopy(), { after, wait: 1 }, over),
        sleep(killAfterMs / 2).then(() => exportAndFollow(over)),
        ...partners.map((partner) =>
          followPages(createCopy(), { after, filter: `&PartnerId=${partner}` }, over),
        ),
      ];
      const streams = [undefined, undefined, partners[0]].map((partner) => ({
        partner,
        ...followStream(after, partner === undefined ? '' : `?PartnerId=${partner}`),
      }));
      const killing = sleep(killAfterMs).then(() => killed.kill());
      await Promise.all(writers.map((all) => runWriter(sql, ids, all)));
      late.resolve();
      await open;
      await killing;
      isOver = true;
      const restarting = killed.start();
      // If the test fails before, the process is killed again.
      restarting.catch(() => undefined);
      const copies = await Promise.all(following);
      const list = (await service.read('/inventory?IncludeDepleted=true&PageSize=100').expect(200)).body as {
        inventory: Item[];
      };
      const itemsOf = (owner: string | undefined) =>
        sortedIds(list.inventory.filter(({ partnerId }) => owner === undefined || partnerId === owner));
      expect(copies.map((copy) => sortedIds(copy.values()))).toEqual(owned.map(itemsOf));
      for (const { copy, partner } of streams)
        await expect.poll(() => sortedIds(copy.values())).toEqual(itemsOf(partner));
      await restarting;
      for (const { stop } of streams) stop();
      await Promise.all(streams.map(({ running }) => running));
    }),
    { numRuns: 4, endOnFailure: true },
  );
});
