import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { NewTask, Task, TaskList, TaskPatch, TaskQuery } from './schema.ts';
import { tasksOf } from './use-cases.ts';

export const taskRoutes = (context: Context): Route[] => {
  const user = context.tokens.guard();
  return record({
    path: '/tasks',
    basePath: '/api/v1',
    name: 'task',
    list: { order: 'filtered and sorted, by page', body: TaskList },
    schema: Task,
    query: TaskQuery,
    input: NewTask,
    patch: TaskPatch,
    examples: {
      id: '01900000-0000-7000-8000-00000000d000',
      input: { title: 'Water the plants', tags: ['home'], priority: 'high' },
      patch: { status: 'done' },
    },
    read: user,
    write: user,
    sql: context.database.sql,
    ...tasksOf(context),
  });
};
