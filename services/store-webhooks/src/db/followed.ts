import type { FeedTable } from '@platform/feed/sql';
import { getTableConfig } from 'drizzle-orm/pg-core';
import { deliveryJobs, members, notifications, orders, payments, verifications } from './tables.ts';

/** The lists that can be followed. */
export const followedTables: readonly FeedTable[] = [
  orders,
  members,
  deliveryJobs,
  verifications,
  payments,
  notifications,
].map((table) => {
  const { name, primaryKeys } = getTableConfig(table);
  const key = primaryKeys.flatMap(({ columns }) => columns.map((column) => column.name));
  return { list: name.replaceAll('_', '-'), table: name, key, owner: 'store_id' };
});
