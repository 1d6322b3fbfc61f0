import type { Executor } from '@platform/service-kit/db';
import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import { tasks } from '../db/tables.ts';
import type { Task, TimedTask } from './schema.ts';

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

/** The time of the database, because clocks of instances differ; the same in all columns of a statement. */
export const now = sql`statement_timestamp()`;

/** Returns the task as it was stored. */
export const insertTask = async (orm: Executor, userId: string, task: TimedTask<SQL>): Promise<Task> => {
  const [stored] = await orm
    .insert(tasks)
    .values({ ...task, userId })
    .returning(columns);
  return stored as Task;
};

/** Returns the task as it was stored. */
export const replaceTask = async (
  orm: Executor,
  userId: string,
  { id, ...rest }: TimedTask<SQL>,
): Promise<Task> => {
  const [stored] = await orm.update(tasks).set(rest).where(matches(userId, id)).returning(columns);
  return stored as Task;
};

export const deleteTask = async (orm: Executor, userId: string, id: string): Promise<void> => {
  await orm.delete(tasks).where(matches(userId, id));
};
