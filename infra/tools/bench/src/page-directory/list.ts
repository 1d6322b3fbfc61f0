import { defineDirectory, installSql, rebuild } from '@platform/pagination/directory';
import type { Sql } from 'postgres';

/** Newest first; 200 clients, 50 warehouses, 8 statuses: typical filters of a list of a million rows. */
export const list = defineDirectory({
  table: 'parcels',
  key: ['created_at', 'id'],
  descending: true,
  filters: { client_id: 'uuid', warehouse_id: 'uuid', status: 'integer' },
});

const indexes = `create index on parcels (created_at, id) include (status);
  create index on parcels (client_id, created_at, id) include (status);
  create index on parcels (warehouse_id, created_at, id) include (status);
  create index on parcels (status, created_at, id);`;

const numbered = (number: string) => `('00000000-0000-4000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;

/** A select list: the parcel numbered `i`, made at `at`. */
export const parcel = (
  at: string,
) => `uuidv7(), ${numbered('i * 7919 % 200')}, ${numbered('i * 104729 % 50')},
  (i * 13 % 8)::int, 'reference ' || i, ${at}`;

/** A value that occurs in the column of a filter. */
export const valueOf = (column: string): string | number =>
  column === 'status' ? 3 : '00000000-0000-4000-8000-000000000007';

/** Creates a table of `rows` parcels and its directory. Returns the seconds that the directory took. */
export const createList = async (sql: Sql, rows: number): Promise<number> => {
  await sql.unsafe(`create table parcels (id uuid primary key, client_id uuid not null, warehouse_id uuid not null,
    status integer not null, reference text not null, created_at timestamptz(3) not null)`);
  await sql.unsafe(`insert into parcels select ${parcel(`'2024-01-01'::timestamptz + i * interval '30 s'`)}
    from generate_series(1::bigint, ${rows}) i`);
  const start = performance.now();
  await sql.unsafe(indexes);
  await sql.unsafe(installSql(list));
  await rebuild(sql, list);
  const seconds = (performance.now() - start) / 1000;
  await sql`vacuum analyze`;
  return seconds;
};
