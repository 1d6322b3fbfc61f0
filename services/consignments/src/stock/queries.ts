import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { ISql, TransactionSql } from 'postgres';
import { v7 } from 'uuid';
import type { Change, Stock } from './domain.ts';
import { Movement, type Origin } from './schema.ts';

/** The movements, as JSON of their schema. */
export const movements = jsonTable('stock_movements', Object.keys(Movement.shape));

/** Movements as somebody may see them who is limited to some clients: why and by whom is hidden for consignments of others. */
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
  const own = new Set(rows.map(({ id }) => id));
  const hidden: Origin = { reason: null, consignmentId: null, createdBy: null };
  return parsed.map((movement, n) =>
    movement.consignmentId === null || own.has(movement.consignmentId)
      ? (items[n] ?? '')
      : JSON.stringify({ ...movement, ...hidden }),
  );
};

/**
 * The stock of these items. They are locked in the order of their ids, and not against those who only name them in lines, so
 * that no two transactions wait for each other.
 */
export const lockStocks = (tx: TransactionSql, ids: readonly string[]): Promise<Stock[]> =>
  tx<Stock[]>`
    select id, partner_id as "partnerId", quantity, reserved, held from inventory where id = any(${ids}::uuid[])
    order by id for no key update`;

/** The changes after which the movements of a consignment add up to `wanted`, which may name an item several times. */
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
    ) parts (inventory_id, quantity, reserved)
    group by inventory_id having sum(quantity) <> 0 or sum(reserved) <> 0`;

/** A change with what is said about it. */
interface NewMovement extends Change {
  reference: string | null;
  reason: string | null;
}

/** Changes the stock of items that are locked. Returns the first movement as JSON text. */
export const storeMovements = async (
  tx: TransactionSql,
  by: string,
  changes: readonly NewMovement[],
): Promise<string> => {
  const all = <Field extends keyof NewMovement>(field: Field) =>
    changes.map((change) => change[field] ?? null);
  const [row] = await tx<JsonRow[]>`
    with asked as (
      select * from unnest(
        ${changes.map(() => v7())}::uuid[], ${all('inventoryId')}::uuid[], ${all('quantity')}::int[],
        ${all('reserved')}::int[], ${all('reference')}::text[], ${all('reason')}::text[],
        ${all('consignmentId')}::uuid[]
      ) asked (id, inventory_id, quantity, reserved, reference, reason, consignment_id)
    ), moved as (
      update inventory item set
        quantity = item.quantity + asked.quantity,
        reserved = item.reserved + asked.reserved,
        held = item.held + case when consignment_id is null then 0 else asked.reserved end,
        updated_at = now()
      from asked where item.id = asked.inventory_id
    )
    insert into stock_movements (id, inventory_id, quantity, reserved, reference, reason, consignment_id, created_by)
    select asked.*, ${by}::text from asked returning ${tx.unsafe(movements.json)}`;
  return row?.json ?? '';
};
