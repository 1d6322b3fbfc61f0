import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { ISql, TransactionSql } from 'postgres';
import { v7 } from 'uuid';
import type { Change, Stock } from './domain.ts';
import { Movement, type Origin } from './schema.ts';

/** The table of movements, with rows as JSON of their schema. */
export const movements = jsonTable('stock_movements', Object.keys(Movement.shape));

/** Hides reason, consignment and author of movements by consignments of clients other than `clients`. */
export const hideOrigins = async (
  sql: ISql,
  items: readonly string[],
  clients: ReadonlySet<string> | undefined,
): Promise<readonly string[]> => {
  if (clients === undefined) return items;
  const parsed = items.map((json) => JSON.parse(json) as Origin);
  const rows = await sql<{ id: string }[]>`
    select id from consignments
    where id = any(${parsed.flatMap(({ consignmentId }) => consignmentId ?? [])}::uuid[])
      and client_id = any(${[...clients]}::uuid[])`;
  const visibleIds = new Set(rows.map(({ id }) => id));
  const hidden: Origin = { reason: null, consignmentId: null, createdBy: null };
  return parsed.map((movement, n) =>
    movement.consignmentId === null || visibleIds.has(movement.consignmentId)
      ? (items[n] ?? '')
      : JSON.stringify({ ...movement, ...hidden }),
  );
};

/**
 * Locks items and returns their stock. They are locked in the order of their ids, so that transactions do not deadlock, and
 * with `no key update`, which does not block transactions that only refer to them in lines.
 */
export const lockStocks = (tx: TransactionSql, ids: readonly string[]): Promise<Stock[]> =>
  tx<Stock[]>`
    select id, partner_id as "partnerId", quantity, reserved, held from inventory where id = any(${ids}::uuid[])
    order by id for no key update`;

/** The changes that make the movements of a consignment add up to `wanted`, which may contain an item several times. */
export const findDifferences = (
  tx: TransactionSql,
  consignmentId: string,
  wanted: readonly Change[],
): Promise<Change[]> =>
  tx<Change[]>`
    select inventory_id as "inventoryId", sum(quantity)::float8 as quantity, sum(reserved)::float8 as reserved
    from (
      select inventory_id, -quantity, -reserved from stock_movements where consignment_id = ${consignmentId}
      union all
      select * from unnest(
        ${wanted.map(({ inventoryId }) => inventoryId)}::uuid[], ${wanted.map(({ quantity }) => quantity)}::int[],
        ${wanted.map(({ reserved }) => reserved)}::int[])
    ) difference (inventory_id, quantity, reserved)
    group by inventory_id having sum(quantity) <> 0 or sum(reserved) <> 0`;

/** A change with its reference and reason. */
interface NewMovement extends Change {
  reference: string | null;
  reason: string | null;
}

/** Stores movements and changes the stock of their items, which are locked. Returns the first movement as JSON text. */
export const storeMovements = async (
  tx: TransactionSql,
  by: string,
  changes: readonly NewMovement[],
): Promise<string> => {
  const valuesOf = <Field extends keyof NewMovement>(field: Field) =>
    changes.map((change) => change[field] ?? null);
  const [row] = await tx<JsonRow[]>`
    with new_movement as (
      select * from unnest(
        ${changes.map(() => v7())}::uuid[], ${valuesOf('inventoryId')}::uuid[], ${valuesOf('quantity')}::int[],
        ${valuesOf('reserved')}::int[], ${valuesOf('reference')}::text[], ${valuesOf('reason')}::text[],
        ${valuesOf('consignmentId')}::uuid[]
      ) new_movement (id, inventory_id, quantity, reserved, reference, reason, consignment_id)
    ), moved as (
      update inventory item set
        quantity = item.quantity + new_movement.quantity,
        reserved = item.reserved + new_movement.reserved,
        held = item.held + case when consignment_id is null then 0 else new_movement.reserved end,
        updated_at = now()
      from new_movement where item.id = new_movement.inventory_id
    )
    insert into stock_movements (id, inventory_id, quantity, reserved, reference, reason, consignment_id, created_by)
    select new_movement.*, ${by}::text from new_movement returning ${tx.unsafe(movements.json)}`;
  return row?.json ?? '';
};
