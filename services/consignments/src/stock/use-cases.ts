import { allowsId, type Caller } from '@platform/auth/bearer';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { Conflict, NotFound } from '@platform/service-kit/problem';
import type { Queries, Stored } from '@platform/service-kit/record';
import { patchChanges, orNotFound } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import { requireStock, type Change } from './domain.ts';
import { findDifferences, lockStocks, movements, storeMovements } from './queries.ts';
import type { MovementInput } from './schema.ts';

/**
 * Changes the stock of an item once for each reference; the same movement again returns the first one. Throws NotFound,
 * Conflict `duplicate_reference` for another movement, and a Problem `not_enough_stock`.
 */
export const moveStock = (
  sql: Queries,
  { subject: by, clients }: Caller,
  inventoryId: string,
  input: MovementInput,
): Promise<Stored> => {
  const moveOnce = async (tx: TransactionSql): Promise<Stored> => {
    const stocks = await lockStocks(tx, [inventoryId]);
    const { partnerId } = orNotFound(stocks[0], 'inventory item');
    if (!allowsId(clients, partnerId)) throw new NotFound('inventory item');
    const key = { inventory_id: inventoryId, reference: input.reference };
    let json = await movements.find(tx, key, false);
    if (json !== undefined && patchChanges(JSON.parse(json) as object, input))
      throw new Conflict('duplicate_reference', 'This reference was used for another movement of the item.');
    if (json === undefined) {
      requireStock(stocks, [{ inventoryId, ...input }]);
      json = await storeMovements(tx, by, [{ inventoryId, ...input }]);
    }
    return { id: (JSON.parse(json) as { id: string }).id, json };
  };
  if (!('begin' in sql)) return moveOnce(sql);
  const turn = { name: 'stock', params: { inventoryId }, caller: by };
  return oneAtATime(sql, turn, () => sql.begin(moveOnce));
};

/**
 * Sets the stock of an item, which it locks, by a movement without a reference: the movements of an item add up to its
 * stock (docs/adr/0157). Throws a Problem `not_enough_stock`.
 */
export const setStock = async (
  tx: TransactionSql,
  by: string,
  inventoryId: string,
  values: { quantity?: number | undefined; reserved?: number | undefined },
): Promise<void> => {
  for (const stock of await lockStocks(tx, [inventoryId])) {
    const { quantity = stock.quantity, reserved = stock.reserved } = values;
    const change = {
      inventoryId,
      quantity: quantity - stock.quantity,
      reserved: reserved - stock.reserved,
    };
    requireStock([stock], [change]);
    if (change.quantity !== 0 || change.reserved !== 0)
      await storeMovements(tx, by, [{ ...change, reference: null, reason: null }]);
  }
};

/** The consignment whose stock is changed, by whom and why. It is locked. */
interface Holder {
  consignmentId: string;
  by: string;
  reason: string | null;
}

/**
 * Reserves, releases, takes out and returns units, so that the movements of a consignment add up to `wanted`. Throws a
 * Problem `not_enough_stock`.
 */
export const holdStock = async (
  tx: TransactionSql,
  { consignmentId, by, reason }: Holder,
  wanted: readonly Change[],
): Promise<void> => {
  const differences = await findDifferences(tx, consignmentId, wanted);
  if (differences.length === 0) return;
  const moved = differences.map((change) => ({ ...change, consignmentId, reference: null, reason }));
  const ids = moved.map(({ inventoryId }) => inventoryId);
  requireStock(await lockStocks(tx, ids), moved);
  await storeMovements(tx, by, moved);
};
