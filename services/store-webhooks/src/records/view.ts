import { instant } from '@platform/service-kit/text';
import { getTableColumns } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';

/** Description of ids of the POS. */
export const posId = 'The id that the POS gave';

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
 * The schema of rows as they are shown. `fields` names columns, separated by spaces. `more` describes fields, and adds
 * fields that are not columns.
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
  for (const [field, added] of Object.entries(more))
    shape[field] =
      typeof added === 'string' ? (shape[field] as z.ZodType).meta({ description: added }) : added;
  return z.object(shape).meta({ id });
};
