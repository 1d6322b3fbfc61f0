import type { Sql } from 'postgres';
import type { Directory } from './declare.ts';
import { directorySql } from './sql.ts';
import { namesOf } from './sql/names.ts';

/** All that a directory consists of in the database, as PostgreSQL itself writes it. */
const describe = async (sql: Sql, { table }: Directory): Promise<string[]> => {
  const { prefix } = namesOf({ table });
  const parts = await sql<{ part: string }[]>`
    with relation as (select * from pg_class where relnamespace = 'public'::regnamespace)
    select relname || ' ' || coalesce(reloptions::text, '') as part from relation
      where starts_with(relname, ${prefix}) and relkind = 'r'
    union all select relname || ' ' || attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull || ' '
      || coalesce(pg_get_expr(adbin, adrelid), '')
      from relation join pg_attribute on attrelid = relation.oid left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where starts_with(relname, ${prefix}) and relkind = 'r' and attnum > 0
    union all select pg_get_indexdef(indexrelid) from pg_index join relation on relation.oid = indrelid
      where starts_with(relname, ${prefix}) or relname = ${table}
    union all select pg_get_triggerdef(pg_trigger.oid) from pg_trigger join relation on relation.oid = tgrelid
      where relname = ${table}
    union all select pg_get_functiondef(oid) from pg_proc
      where pronamespace = 'public'::regnamespace and starts_with(proname, ${prefix})
    order by part`;
  return parts.map(({ part }) => part);
};

/** A directory as the migrations have made it, and as its declaration says. Leaves everything as it was. */
export const compareDeclared = async (
  sql: Sql,
  directory: Directory,
): Promise<{ migrated: string[]; declared: string[] }> => {
  const session = await sql.reserve();
  try {
    await session`begin`;
    const migrated = await describe(session, directory);
    await session.unsafe(directorySql(directory));
    return { migrated, declared: await describe(session, directory) };
  } finally {
    await session`rollback`;
    session.release();
  }
};
