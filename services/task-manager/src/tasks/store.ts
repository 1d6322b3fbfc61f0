import type { Executor } from '@platform/service-kit/db';
import { and, eq, getTableColumns } from 'drizzle-orm';
import { tasks } from '../db/tables.ts';
import type { Task } from './schema.ts';

const { userId: _owner, words: _words, ...columns } = getTableColumns(tasks);

const matches = (userId: string, id: string) => and(eq(tasks.userId, userId), eq(tasks.id, id));

export const findTask = async (orm: Executor, userId: string, id: string): Promise<Task | undefined> => {
  const [task] = await orm.select(columns).from(tasks).where(matches(userId, id));
  return task;
};

/** Like `findTask`, and locks the row until the transaction ends. */
export const lockTask = async (orm: Executor, userId: string, id: string): Promise<Task | undefined> => {
  const [task] = await orm.select(columns).from(tasks).where(matches(userId, id)).for('update');
  return task;
};

export const insertTask = async (orm: Executor, userId: string, task: Task): Promise<void> => {
  await orm.insert(tasks).values({ ...task, userId });
};

export const replaceTask = async (orm: Executor, userId: string, { id, ...rest }: Task): Promise<void> => {
  await orm.update(tasks).set(rest).where(matches(userId, id));
};

export const deleteTask = async (orm: Executor, userId: string, id: string): Promise<void> => {
  await orm.delete(tasks).where(matches(userId, id));
};
