import { sessionEnded, type Caller } from '@platform/auth/bearer';
import type { FollowedList } from '@platform/feed';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { findListIds } from '../lists/use-cases.ts';
import { isLive } from '../sessions/use-cases.ts';
import { findSizes, findTasksAfter, findTasksById } from './queries.ts';
import { Task } from './schema.ts';

/** Tasks that an export reads at a time. A task may have 120 kB, and several exports run at once. */
const exportBatchSize = 20;

/**
 * Routes with which users export and follow their tasks and the tasks of their lists. A user who gains or loses a list must start
 * again with an export (docs/adr/0194).
 */
export const taskFeed = ({ follow, tokens, database }: Context): Route[] => {
  const tasks: FollowedList<Caller> = {
    list: 'tasks',
    name: 'task',
    tag: 'Tasks',
    auth: tokens.guard(),
    item: Task,
    owners: (_query, { subject }) => [subject],
    memberships: {
      list: 'list_members',
      owners: (sql, { subject }) => findListIds(sql, subject),
    },
    rights: ({ subject }) => subject,
    bytes: (sql, ids, { subject }) => findSizes(sql, subject, ids),
    items: (sql, ids, { subject }) => findTasksById(sql, subject, ids),
    records: async (sql, slice, { subject, sessionId = '' }) => {
      // Checks again for each batch, because an export may take long and its session may end meanwhile.
      if (!(await isLive(database.sql, { userId: subject, id: sessionId }))) throw sessionEnded();
      return findTasksAfter(sql, subject, { ...slice, limit: exportBatchSize });
    },
  };
  return follow(tasks);
};
