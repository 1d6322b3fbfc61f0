import { isoColumn } from '@platform/service-kit/columns';
import { sql, type SQL } from 'drizzle-orm';
import { index, text, type ExtraConfigColumn } from 'drizzle-orm/pg-core';

/** Lists are ordered by `created_at` and `id`, both descending. */
export const times = {
  createdAt: isoColumn('created_at')
    .notNull()
    .default(sql`now()`),
  updatedAt: isoColumn('updated_at')
    .notNull()
    .default(sql`now()`),
};

/**
 * The text of the searched columns, in normalization form C and with Unicode case folding. They are separated by a
 * character that SearchText cannot contain, so that no match spans two columns. ASCII text is always in form C;
 * normalizing it anyway would take a tenth of the time of an import.
 */
export const searchText = (columns: () => SQL) =>
  text('search_text')
    .notNull()
    .generatedAlwaysAs(() => {
      const joined = sql`(${columns()})`;
      return sql`casefold((case when octet_length${joined} = char_length${joined} then ${joined} else normalize(${joined}, nfc) end) collate "pg_unicode_fast")`;
    });

/** Finds texts with three or more consecutive letters or digits. */
export const searchIndex = (table: string, column: ExtraConfigColumn) =>
  index(`${table}_search`).using('gin', column.op('gin_trgm_ops'));
