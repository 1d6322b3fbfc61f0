import type { Window } from '@platform/pagination/list';
import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries, Stored } from '@platform/service-kit/record';
import { v7 } from 'uuid';
import { SparePart } from './schema.ts';

export const spareParts = jsonTable('spare_parts', Object.keys(SparePart.shape));

/** Newest first; one more than the page holds, where there is one. */
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
