import type { FeedTable } from '@platform/feed/sql';
import { clientFields } from './client-fields.ts';

/** The lists that can be followed. */
export const followedTables = ['consignments', 'partners', 'inventory', 'warehouses'].map(
  (list): FeedTable => {
    const owner = clientFields[list]?.column;
    return owner === undefined ? { list } : { list, owner };
  },
);
