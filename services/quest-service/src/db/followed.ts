import type { FeedTable } from '@platform/feed/sql';

/** The list that can be followed. */
export const followedTables: readonly FeedTable[] = [
  { list: 'quests', key: ['quest_id'], owner: 'audience' },
];
