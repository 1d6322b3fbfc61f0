import type { FeedTable } from '@platform/feed/sql';

/** The lists that can be followed. Their SQL is in the baseline migration. */
export const followedTables: readonly FeedTable[] = [
  { list: 'projects', owner: 'client' },
  { list: 'deliverables', owner: 'client' },
  { list: 'languages', key: ['code'] },
];
