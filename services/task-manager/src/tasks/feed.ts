import { sessionEnded, type Caller } from '@platform/auth/bearer';
import type { FollowedList } from '@platform/feed';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { findListIds } from '../lists/use-cases.ts';
import { isLive } from '../sessions/use-cases.ts';
import { findTasksAfter, findTasksById } from './queries.ts';
import { Task } from './schema.ts';

/**
 * The routes by which users export and follow their tasks and those of their lists. Who gains or loses a list begins again
 * with an export (docs/adr/0194).
 */
export const taskFeed = ({ follow, tokens, database }: Context): Route[] => {
  const tasks: FollowedList<Caller> = {
    list: 'tasks',
    name: 'task',
    tag: 'Tasks',
    auth: tokens.guard(),
    item: Task,
    owners: (_asked, { subject }) => [subject],
    memberships: {
      list: 'list_members',
      owners: (sql, { subject }) => findListIds(sql, subject),
    },
    rights: ({ subject }) => subject,
    items: (sql, ids, { subject }) => findTasksById(sql, subject, ids),
    records: async (sql, slice, { subject, sessionId = '' }) => {
      // An export may take long, and its session may end meanwhile.
      if (!(await isLive(database.sql, { userId: subject, id: sessionId }))) throw sessionEnded();
      return findTasksAfter(sql, subject, slice);
    },
  };
  return follow(tasks);
};
