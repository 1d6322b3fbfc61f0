import type { ISql } from 'postgres';

/** The time of the database, by which all processes decide: the clock of one machine may be wrong. */
export const databaseNow = async (sql: ISql): Promise<Date> => {
  const [row] = await sql<[{ ms: number }]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  return new Date(row.ms);
};
