import type { Executor } from '@platform/service-kit/db';
import { sql } from 'drizzle-orm';

/** The time of the database, by which all processes decide: the clock of one machine may be wrong. */
export const databaseNow = async (orm: Pick<Executor, 'execute'>): Promise<Date> => {
  const [row] = await orm.execute<{ ms: number }>(
    sql`select (extract(epoch from now()) * 1000)::float8 as ms`,
  );
  return new Date(row?.ms ?? Number.NaN);
};
