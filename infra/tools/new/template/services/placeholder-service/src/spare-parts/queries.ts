import type { Slice } from '@platform/feed/followed-list';
import type { Window } from '@platform/pagination/list';
import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import { v7 } from 'uuid';
import { SparePart } from './schema.ts';

export const spareParts = jsonTable('spare_parts', Object.keys(SparePart.shape));

interface Listed extends JsonRow {
  id: string;
}

/** Spare parts with these ids. */
export const findSparePartsById = (sql: Queries, ids: readonly string[]) => sql<Listed[]>`
  select spare_part_id as id, ${sql.unsafe(spareParts.json)} from spare_parts
  where spare_part_id = any(${ids as string[]}::uuid[])`;

/** Spare parts after an id, in the order of ids. */
export const findSparePartsAfter = (sql: Queries, { after, limit }: Slice) => sql<Listed[]>`
  select spare_part_id as id, ${sql.unsafe(spareParts.json)} from spare_parts
  where spare_part_id > ${after} order by spare_part_id limit ${limit}`;

/** A page, newest first, and one more row if there is a next page. */
export const findSpareParts = async (sql: Queries, { offset, limit }: Window): Promise<string[]> => {
  const rows = await sql<JsonRow[]>`
    select ${sql.unsafe(spareParts.json)} from spare_parts
    order by spare_part_id desc offset ${String(offset)} limit ${limit + 1}`;
  return rows.map(({ json }) => json);
};

export const insertSparePart = async (sql: Queries, name: string, sparePartId = v7()): Promise<Stored> => {
  const sparePart = { sparePartId, name, createdAt: sql`statement_timestamp()` };
  return { id: sparePartId, json: await spareParts.insert(sql, sparePart) };
};
