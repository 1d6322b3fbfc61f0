import { join } from 'node:path';
import { services } from '@platform/service-list';
import { cloneDatabase } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { describe, expect, inject, test } from 'vitest';
import { serviceFolder } from './service.ts';

interface Key {
  table: string;
  name: string;
  columns: string[];
  /** Of a foreign key. */
  target: string | null;
}

/** Tables, sequences and keys of a service's database as it is migrated. */
const catalog = async (service: string) => {
  await using database = await cloneDatabase(
    inject('postgresUrl'),
    join(serviceFolder(service), 'migrations'),
  );
  const sql = postgres(database.url, { max: 1 });
  const relations = await sql<{ name: string; kind: string }[]>`
    select relname as name, relkind as kind from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S') and relname <> 'schema_migrations'`;
  const unique = await sql<Key[]>`
    select t.relname as table, i.relname as name, null as target,
      (select array_agg(a.attname::text) from pg_attribute a
        where a.attrelid = t.oid and a.attnum = any (x.indkey)) as columns
    from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
    where x.indisunique and t.relnamespace = 'public'::regnamespace and t.relname <> 'schema_migrations'`;
  const foreign = await sql<Key[]>`
    select t.relname as table, c.conname as name, f.relname as target,
      (select array_agg(a.attname::text) from pg_attribute a
        where a.attrelid = t.oid and a.attnum = any (c.conkey)) as columns
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class f on f.oid = c.confrelid
    where c.contype = 'f'`;
  await sql.end();
  const named = (kinds: string) =>
    relations.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
  return { tables: named('rp'), sequences: named('S'), unique: [...unique], foreign: [...foreign] };
};

const distributed = services.flatMap(({ name, tables }) =>
  'rows' in tables ? [{ service: name, ...tables }] : [],
);
const together = services.flatMap(({ name, tables }) =>
  'whole' in tables ? [{ service: name, ...tables }] : [],
);

describe.each(distributed)('$service, distributed by rows', async ({ service, rows, reference }) => {
  const { tables, unique, foreign } = await catalog(service);

  test('has a place for each of its tables', () => {
    expect([...Object.keys(rows), ...Object.keys(reference)].toSorted()).toEqual(tables.toSorted());
  });

  test.each(Object.entries(rows))('%s holds %s in every unique key', (table, column) => {
    const keys = unique.filter((key) => key.table === table);
    expect(keys.length).toBeGreaterThan(0);
    for (const { name, columns } of keys)
      expect([name, columns]).toEqual([name, expect.arrayContaining([column])]);
  });

  test('has foreign keys only within one place, or to what is everywhere', () => {
    const among = foreign.filter(({ target }) => target !== null && !(target in reference));
    for (const { name, table, target, columns } of among) {
      expect([name, columns]).toEqual([name, expect.arrayContaining([rows[table]])]);
      expect([name, rows[target ?? '']]).toEqual([name, expect.any(String)]);
    }
    // What is everywhere can't point at what is somewhere.
    expect(foreign.filter(({ table }) => table in reference)).toEqual([]);
  });
});

describe.each(together)('$service, in one place', async ({ service, whole, proof }) => {
  const { tables, unique, sequences } = await catalog(service);

  test('has a place for each of its tables', () => {
    const covers = (table: string) =>
      whole.some((name) => (name.endsWith('*') ? table.startsWith(name.slice(0, -1)) : table === name));
    expect(tables.filter((table) => !covers(table))).toEqual([]);
    for (const name of whole)
      expect(tables.some((table) => table.startsWith(name.replace('*', '')))).toBe(true);
  });

  test('is in one place for a reason that still holds', () => {
    const found =
      'sequence' in proof
        ? sequences.includes(proof.sequence)
        : unique.some(({ name, columns }) => name === proof.index && !columns.includes(proof.without));
    expect(found).toBe(true);
  });
});
