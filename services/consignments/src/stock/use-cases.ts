import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { Conflict } from '@platform/service-kit/problem';
import type { Queries, Stored } from '@platform/service-kit/record';
import { changes, orNotFound } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import { changesBetween, requireSettable, requireStock, type Holding, type SetStock } from './domain.ts';
import { deleteMovements, findHoldings, lockStocks, movements, storeMovements } from './queries.ts';
import type { MovementInput } from './schema.ts';

const moveOnce = async (
  tx: TransactionSql,
  by: string,
  inventoryId: string,
  input: MovementInput,
): Promise<Stored> => {
  const stocks = await lockStocks(tx, [inventoryId]);
  orNotFound(stocks[0], 'inventory item');
  const key = { inventory_id: inventoryId, reference: input.reference };
  const first = await movements.find(tx, key, false);
  if (first !== undefined && changes(JSON.parse(first) as object, input))
    throw new Conflict('duplicate_reference', 'This reference was used for another movement of the item.');
  const movement = { inventoryId, ...input };
  if (first === undefined) requireStock(stocks, [movement]);
  const [json = ''] = first === undefined ? await storeMovements(tx, by, [movement]) : [first];
  return { id: (JSON.parse(json) as { id: string }).id, json };
};

/**
 * Changes the stock of an item once for each reference; the same movement again returns the first one. Throws NotFound,
 * Conflict `duplicate_reference` for another movement, and a Problem `not_enough_stock`.
 */
export const moveStock = (
  sql: Queries,
  by: string,
  inventoryId: string,
  input: MovementInput,
): Promise<Stored> => {
  if (!('begin' in sql)) return moveOnce(sql, by, inventoryId, input);
  const turn = { name: 'stock', params: { inventoryId }, caller: by };
  return oneAtATime(sql, turn, () => sql.begin((tx) => moveOnce(tx, by, inventoryId, input)));
};

/** Throws a Problem unless the stock of an item, which it locks, may be set to these values. */
export const requireStockFor = async (tx: TransactionSql, id: string, values: SetStock): Promise<void> => {
  for (const stock of await lockStocks(tx, [id])) requireSettable(stock, values);
};

/** Deletes the movements of an item. Throws Conflict `in_use` while consignments hold units of it. */
export const removeMovements = async (tx: TransactionSql, id: string): Promise<void> => {
  const [stock] = await lockStocks(tx, [id]);
  if (stock && stock.held > 0) throw new Conflict('in_use', `Consignments hold ${stock.held} units of it.`);
  await deleteMovements(tx, id);
};

/** Who changes what a consignment holds, and why. The consignment is locked. */
interface Holder {
  consignmentId: string;
  by: string;
  reason: string | null;
}

/** Reserves, releases, takes out and returns units, so that a consignment holds `wanted`. Throws a Problem `not_enough_stock`. */
export const holdStock = async (
  tx: TransactionSql,
  { consignmentId, by, reason }: Holder,
  wanted: (held: Holding[]) => Holding[],
): Promise<void> => {
  const held = await findHoldings(tx, consignmentId);
  const movesOf = changesBetween(held, wanted(held)).map((change) => ({
    ...change,
    consignmentId,
    reference: null,
    reason,
  }));
  if (movesOf.length === 0) return;
  const ids = movesOf.map(({ inventoryId }) => inventoryId);
  requireStock(await lockStocks(tx, ids), movesOf);
  await storeMovements(tx, by, movesOf);
};

/** Releases what a consignment has reserved; what it has taken out stays out. */
export const releaseStock = (tx: TransactionSql, consignmentId: string, by: string): Promise<void> =>
  holdStock(tx, { consignmentId, by, reason: null }, (held) =>
    held.map((holding) => ({ ...holding, reserved: 0 })),
  );
