import { pageIndexQuery, totalledBody } from '@platform/pagination/list';
import { idParams, record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { listRowsOf } from '../records/use-cases.ts';
import { hideOrigins, movements } from './queries.ts';
import { Movement, MovementInput } from './schema.ts';
import { moveStock } from './use-cases.ts';

const ItemPath = idParams('0198c5a0-7e57-7000-8c00-000000000001');
const MovementPath = z.strictObject({
  ...ItemPath.shape,
  movementId: z
    .guid('must be a UUID')
    .toLowerCase()
    .meta({ example: '0198c5a0-7e57-7000-8e00-000000000001' }),
});

/** The stock movements of an inventory item. */
export const movementRoutes = (context: Context): Route[] => {
  const { sql } = context.database;
  return record({
    path: '/inventory/{id}/movements',
    basePath: '/v1',
    params: MovementPath,
    parents: ItemPath,
    tag: 'Inventory',
    name: 'stock movement',
    schema: Movement,
    read: context.reader,
    write: context.writer,
    sql,
    list: {
      summary: 'Stock movements, newest first',
      anyCaseQuery: true,
      query: z.strictObject(pageIndexQuery),
      body: totalledBody('movements', Movement).meta({ id: 'StockMovementList' }),
      page: (query, { params: { id }, caller }) => {
        const owner = { table: 'inventory', id, name: 'inventory item', column: 'inventory_id' };
        const list = { table: 'stock_movements', json: movements.json };
        const show = (items: readonly string[]) => hideOrigins(sql, items, caller.clients);
        return listRowsOf(context, owner, 'movements', list, query, show);
      },
    },
    find: async (queries, { params: { id, movementId }, caller }, lock) => {
      const json = await movements.find(queries, { id: movementId, inventory_id: id }, lock);
      return json && (await hideOrigins(queries, [json], caller.clients))[0];
    },
    create: {
      input: MovementInput,
      example: { quantity: 12, reference: 'my-delivery-note' },
      conflict:
        'Stored once per reference: the same movement again returns the first one, another movement 409 `duplicate_reference`. ' +
        '409 `not_enough_stock`, with `left`, unless units reserved by consignments ≤ reserved ≤ quantity afterwards.',
      insert: (queries, input, { params: { id }, caller }) => moveStock(queries, caller, id, input),
    },
  });
};
