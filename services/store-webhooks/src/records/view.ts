import { instant } from '@platform/service-kit/text';
import { getTableColumns } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';

/** Description of ids of the POS. */
export const posId = 'The id from the POS';

/** The store of a row. */
export const storeOfRow = z.uuid().optional().meta({ description: 'Only in a list of all stores' });

const valueOf = ({ columnType, enumValues }: PgColumn): z.ZodType => {
  if (enumValues !== undefined && enumValues.length > 0) return z.enum(enumValues);
  if (columnType === 'PgUUID') return z.uuid();
  if (columnType === 'PgInteger') return z.int();
  if (columnType === 'PgBoolean') return z.boolean();
  if (columnType === 'PgCustomColumn') return instant();
  return z.string();
};

/**
 * The schema of an item. `fields` are column names, separated by spaces. `more` adds descriptions of fields, and fields
 * that are not columns.
 */
export const viewOf = (
  id: string,
  table: PgTable,
  fields: string,
  more: Record<string, string | z.ZodType> = {},
): z.ZodObject => {
  const columns: Record<string, PgColumn> = getTableColumns(table);
  const shape: Record<string, z.ZodType> = { storeId: storeOfRow };
  for (const field of fields.split(' ')) {
    const column = columns[field];
    if (column === undefined) throw new Error(`${id} has no column ${field}`);
    shape[field] = column.notNull ? valueOf(column) : valueOf(column).nullable();
  }
  for (const [field, extra] of Object.entries(more))
    shape[field] =
      typeof extra === 'string' ? (shape[field] as z.ZodType).meta({ description: extra }) : extra;
  return z.object(shape).meta({ id });
};
