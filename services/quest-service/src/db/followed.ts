import type { FeedTable } from '@platform/feed/sql';

/** The list that can be followed. Its SQL is in the first migration. */
export const followedTables: readonly FeedTable[] = [
  { list: 'quests', key: ['quest_id'], owner: 'audience' },
];
