import type { FeedTable } from '@platform/feed/sql';

/**
 * Tables whose changes the feed logs: tasks, and list members, because gaining or losing a list ends the cursors of a user. The
 * log identifies a member by the invitation, because an email address must not stay in the log.
 */
export const followedTables: readonly FeedTable[] = [
  { list: 'tasks', owner: 'owner_id' },
  { list: 'list_members', key: ['invitation'], owner: 'user_id' },
];
