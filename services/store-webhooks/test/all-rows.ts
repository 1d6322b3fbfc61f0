import type { Sql } from 'postgres';

/** Reads every row of every table of the service as text, with readable bodies. Sorted, so that two results can be compared. */
export const allRows = async (sql: Sql): Promise<string[]> => {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'drizzle') and pg_table_is_visible(c.oid)`;
  const texts: string[] = [];
  for (const { name } of tables) {
    for (const row of await sql`select * from ${sql(name)}`) {
      const values = Object.values(row).map((value: unknown) =>
        Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value),
      );
      texts.push(`${name}: ${values.join(' ')}`);
    }
  }
  return texts.toSorted();
};
