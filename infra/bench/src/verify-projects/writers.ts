import postgres from 'postgres';

/** Eight connections that insert one project at a time, for some seconds; gives rows a second. */
export const insertRate = async (databaseUrl: string, stamp: string, seconds = 4): Promise<number> => {
  const connections = 8;
  const sql = postgres(databaseUrl, { max: connections, onnotice: () => undefined });
  let rows = 0;
  const end = performance.now() + seconds * 1000;
  const insert = `
    insert into projects
    select gen_random_uuid(), 'Another one', 'draft', 'en', '{de,fr}', at, at from ${stamp} as at`;
  const write = async () => {
    const own = await sql.reserve();
    for (; performance.now() < end; rows++) await own.unsafe(insert, [], { prepare: true });
    own.release();
  };
  await Promise.all(Array.from({ length: connections }, write));
  await sql.end();
  return rows / seconds;
};

/** What one would write first: an exclusive lock from the stamp to the commit. */
export const exclusiveStamp = `
  create or replace function exclusive_stamp() returns timestamptz language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(5, 3);
    return clock_timestamp();
  end $$`;
