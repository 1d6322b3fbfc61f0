import { orders } from '../db/tables.ts';
import { declareRecords } from '../stores/records.ts';
import { OrderView, showOrder } from './schema.ts';

export const orderRecords = declareRecords({
  table: orders,
  latest: orders.eventId,
  name: 'orders',
  path: 'orders',
  tag: 'Orders',
  summary: 'The orders, most recently changed first',
  view: OrderView,
  show: showOrder,
  one: {
    noun: 'order',
    param: 'orderId',
    operationId: 'getOrder',
    summary: 'An order with its items',
    key: orders.id,
  },
});
