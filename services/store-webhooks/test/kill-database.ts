import type { Sql } from 'postgres';

/**
 * Kills PostgreSQL with all processes that serve clients. A process that is busy when the postmaster dies would notice
 * that only later, and might still commit the next statement.
 */
export const killDatabase = async (postgres: { kill9(): Promise<void> }, sql: Sql): Promise<void> => {
  const rows = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where backend_type = 'client backend'`;
  await postgres.kill9();
  for (const { pid } of rows) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended on its own.
    }
  }
};
