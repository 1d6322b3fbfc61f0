import type { Page } from '@platform/pagination/page-limit';
import { NotFound } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { pageOfRecords } from '../stores/use-cases.ts';
import type { OrderRow } from './schema.ts';
import { findOrder, listOrders } from './store.ts';

export const pageOfOrders = (context: Context, storeId: string, page: Page) =>
  pageOfRecords<OrderRow>(context, storeId, page, listOrders);

export const getOrder = async ({ database }: Context, storeId: string, id: string): Promise<OrderRow> => {
  const row = await findOrder(database.sql, storeId, id);
  if (row === undefined) throw new NotFound('order');
  return row;
};
