import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';

/** Rows for `json_populate_recordset`: with the names of the columns, and int64 as text. */
export const jsonRows = (table: PgTable, rows: readonly object[]): string => {
  const columns: Record<string, { name: string }> = getTableColumns(table);
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([field, value]: [string, unknown]) => [
          columns[field]?.name ?? field,
          typeof value === 'bigint' ? String(value) : value,
        ]),
      ),
    ),
  );
};
