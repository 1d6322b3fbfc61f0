import { insertRate } from '../insert-rate.ts';

/** Projects a second that eight connections insert, one at a time, with the time that `stamp` returns. */
export const projectRate = (databaseUrl: string, stamp: string): Promise<number> =>
  insertRate(
    databaseUrl,
    `insert into projects
    select gen_random_uuid(), 'Another one', 'draft', 'en', '{de,fr}', at, at from ${stamp} as at`,
  );

/** What one would write first: an exclusive lock from the stamp to the commit. */
export const exclusiveStamp = `
  create or replace function exclusive_stamp() returns timestamptz language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(5, 3);
    return clock_timestamp();
  end $$`;
