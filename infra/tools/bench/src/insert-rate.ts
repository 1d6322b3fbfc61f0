import postgres from 'postgres';

/** Runs a prepared insert of one row on eight connections for some seconds; returns rows a second. */
export const insertRate = async (databaseUrl: string, insert: string, seconds = 4): Promise<number> => {
  const connections = 8;
  const sql = postgres(databaseUrl, { max: connections, onnotice: () => undefined });
  let rows = 0;
  const end = performance.now() + seconds * 1000;
  const write = async () => {
    const own = await sql.reserve();
    for (; performance.now() < end; rows++) await own.unsafe(insert, [], { prepare: true });
    own.release();
  };
  await Promise.all(Array.from({ length: connections }, write));
  await sql.end();
  return rows / seconds;
};
