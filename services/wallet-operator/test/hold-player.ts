import postgres from 'postgres';

/** Locks the row of a player in a transaction of its own, as a stuck program would, until `release`. */
export const holdPlayer = async (databaseUrl: string, playerId: string) => {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  const holder = await sql.reserve();
  await holder`begin`;
  await holder`select from players where player_id = ${playerId} for update`;
  return {
    release: async (): Promise<void> => {
      await holder`rollback`;
      holder.release();
      await sql.end();
    },
  };
};
