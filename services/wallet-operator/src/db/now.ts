import type { Executor } from '@platform/service-kit/db';
import { sql as raw } from 'drizzle-orm';
import type { ISql } from 'postgres';

const query = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms';

/** The time of the database, by which all processes decide: the clock of one machine may be wrong. */
export const databaseNow = async (database: Pick<Executor, 'execute'> | ISql): Promise<Date> => {
  const [row] =
    'execute' in database
      ? await database.execute<{ ms: number }>(raw.raw(query))
      : await database.unsafe<{ ms: number }[]>(query);
  return new Date(row?.ms ?? Number.NaN);
};
