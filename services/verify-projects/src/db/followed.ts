import type { FeedTable } from '@platform/feed/sql';

/** The lists that can be followed. */
export const followedTables: readonly FeedTable[] = [
  { list: 'projects', owner: 'client' },
  { list: 'deliverables', owner: 'client' },
  { list: 'languages', key: ['code'] },
];
