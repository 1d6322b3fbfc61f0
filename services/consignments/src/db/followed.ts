import type { FeedTable } from '@platform/feed/sql';

/** The lists that can be followed. */
export const followedTables: readonly FeedTable[] = [
  { list: 'consignments', owner: 'client_id' },
  { list: 'partners', owner: 'id' },
  { list: 'inventory', owner: 'partner_id' },
  { list: 'warehouses' },
];
