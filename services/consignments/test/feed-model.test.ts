import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
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

interface Page {
  changes: { id: string; action: string; version: number; item?: Item }[];
  next: string;
  has_more: boolean;
}

const partners = [1, 2, 3].map((n) => `0198c5a0-7e57-7000-8000-00000000000${n}`);

let service: Service;
let other: Sql;
beforeAll(async () => {
  service = await startService();
  other = postgres(service.databaseUrl, { max: 1 });
});
afterAll(async () => {
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

/** Follows the list, and keeps a copy of what it sees. */
const createReader = async (query: string) => {
  const read = async (more: string): Promise<Page> =>
    (await service.read(`/feeds/consignments/inventory?limit=7${query}${more}`).expect(200)).body as Page;
  let { next } = await read('');
  const copy = new Map<string, Item>();
  const versions = new Map<string, number>();
  const step = async (): Promise<boolean> => {
    const page = await read(`&after=${next}`);
    for (const { id, version, item } of page.changes) {
      expect(version).toBeGreaterThan(versions.get(id) ?? 0);
      versions.set(id, version);
      if (item === undefined) copy.delete(id);
      else copy.set(id, item);
    }
    ({ next } = page);
    return page.has_more || page.changes.length > 0;
  };
  return { copy, step };
};

const sortedIds = (items: Iterable<Item>) =>
  [...items].map(({ id, partnerId, quantity }) => `${id} ${partnerId} ${quantity}`).toSorted();

test('whoever follows a list has the same records as the list, whatever is written, rolled back and moved meanwhile', async () => {
  const histories = fc.array(transactions, { minLength: 4, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(histories, async (writers) => {
      const { sql } = service.context.database;
      await sql`delete from inventory`;
      // The log is empty of earlier runs for those who begin here.
      const readers = await Promise.all([
        createReader(''),
        createReader(''),
        ...partners.map((partner) => createReader(`&PartnerId=${partner}`)),
      ]);
      const ids = Array.from({ length: 12 }, () => randomUUID());
      // A transaction that stays open delays nobody.
      const late = Promise.withResolvers<void>();
      const open = other.begin(async (tx) => {
        await write(tx, [...ids, randomUUID()], { at: 12, insert: 0 });
        await late.promise;
      });
      let isWriting = true;
      const following = readers.map(async ({ step }) => {
        while (isWriting) {
          await step();
          await sleep(1);
        }
        while (await step());
      });
      await Promise.all(writers.map((all) => runWriter(sql, ids, all)));
      late.resolve();
      await open;
      isWriting = false;
      await Promise.all(following);
      const items = (await service.read('/inventory?IncludeDepleted=true&PageSize=100').expect(200)).body as {
        inventory: Item[];
      };
      const owned = [undefined, undefined, ...partners];
      expect(readers.map(({ copy }) => sortedIds(copy.values()))).toEqual(
        owned.map((partner) =>
          sortedIds(items.inventory.filter((item) => partner === undefined || item.partnerId === partner)),
        ),
      );
    }),
    { numRuns: 6, endOnFailure: true },
  );
});
