import { idParams, record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { NewTask, Task, TaskList, TaskPatch, TaskQuery } from './schema.ts';
import { tasksOf } from './use-cases.ts';

export const taskRoutes = (context: Context): Route[] => {
  const user = context.tokens.guard();
  const { page, find, insert, save, remove } = tasksOf(context);
  return record({
    path: '/tasks',
    basePath: '/api/v1',
    params: idParams('01900000-0000-7000-8000-00000000d000'),
    tag: 'Tasks',
    name: 'task',
    schema: Task,
    read: user,
    write: user,
    sql: context.database.sql,
    list: {
      summary: 'Tasks, filtered and sorted, by page',
      query: TaskQuery,
      body: TaskList,
      confirmsReader: true,
      page,
    },
    find,
    create: {
      input: NewTask,
      example: { title: 'Water the plants', tags: ['home'], priority: 'high' },
      insert,
    },
    change: { patch: TaskPatch, example: { status: 'done' }, save },
    remove: { delete: remove },
  });
};
