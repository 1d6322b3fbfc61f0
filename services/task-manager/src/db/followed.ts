import type { FeedTable } from '@platform/feed/sql';

/**
 * The list that can be followed, and that of members, which ends the cursors of those who gain or lose a list. A member is
 * known there by the invitation, because an address must not stay in the log.
 */
export const followedTables: readonly FeedTable[] = [
  { list: 'tasks', owner: 'owner_id' },
  { list: 'list_members', key: ['invitation'], owner: 'user_id' },
];
