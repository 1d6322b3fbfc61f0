import { services } from '@platform/service-list';
import { cloneServiceDatabase } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { serviceFolder } from './service.ts';

test.each(services)(
  'the migrations of $name create objects only in its own schema, and no unlogged tables',
  async ({ name }) => {
    await using database = await cloneServiceDatabase(inject('postgresUrl'), serviceFolder(name));
    const sql = postgres(database.url, { max: 1, fetch_types: false });
    // A schema is moved to another node by a publication, which cannot contain unlogged tables.
    const outside = await sql`
    with object (kind, id, name, schema) as (
      select 'pg_class'::regclass, oid, oid::regclass::text, relnamespace from pg_class
      union all select 'pg_proc'::regclass, oid, oid::regprocedure::text, pronamespace from pg_proc
      union all select 'pg_type'::regclass, oid, oid::regtype::text, typnamespace from pg_type)
    select name from object
    where schema in (select oid from pg_namespace
        where nspname !~ '^pg_' and nspname not in ('information_schema', current_schema()))
      and not exists (select from pg_depend where classid = kind and objid = id and deptype = 'e')
    union all select oid::regclass::text from pg_class where relpersistence = 'u'`;
    const misplacedExtensions = await sql`
    select extname from pg_extension where extnamespace::regnamespace::text not in ('extensions', 'pg_catalog')`;
    const [{ tables } = { tables: 0 }] = await sql<{ tables: number }[]>`
    select count(*)::int as tables from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`;
    await sql.end();
    expect([...outside, ...misplacedExtensions]).toEqual([]);
    expect(tables).toBeGreaterThan(3);
  },
);
