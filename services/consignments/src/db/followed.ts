import type { FeedTable } from '@platform/feed/sql';
import { clientColumnOf } from './client-fields.ts';

/** The lists that can be followed. */
export const followedTables = ['consignments', 'partners', 'inventory', 'warehouses'].map(
  (list): FeedTable => {
    const owner = clientColumnOf(list);
    return owner === undefined ? { list } : { list, owner };
  },
);
