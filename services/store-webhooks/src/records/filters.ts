import { text } from '@platform/service-kit/text';
import { and, eq, gte, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { firstIdOf } from '../inbox/event.ts';

export interface Filter {
  schema: z.ZodType;
  /** There is no index for it: rows are compared in the order of the list, which may be many. */
  isSearch?: true;
  /** Needed beside the scope of the list. */
  scope?: 'events:reveal';
  /** `store` is the id of the store, or the column that has it in a list of all stores. */
  condition(value: string, store: string | PgColumn): SQL | undefined;
}

/** A filter for an exact value. There must be an index on the store and this column or expression. */
export const exactly = (
  column: PgColumn | SQL,
  description: string,
  schema: z.ZodType = text(1, 200),
): Filter => ({
  schema: schema.optional().meta({ description }),
  condition: (value) => eq(column as PgColumn, value),
});

/** A filter for an exact value of a column without an index. */
export const compared = (column: PgColumn, description: string): Filter => ({
  ...exactly(column, description),
  isSearch: true,
});

/** A filter by the time of a record's last webhook. The id of the webhook begins with this time, and has an index. */
export const updatedAfter = ({ eventId, updatedAt }: Record<'eventId' | 'updatedAt', PgColumn>): Filter => ({
  schema: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: 'The last webhook about it was received then or later' }),
  condition: (time) => {
    const from = new Date(Math.max(0, Date.parse(time)));
    return and(gte(eventId, firstIdOf(from)), gte(updatedAt, from.toISOString()));
  },
});

/** Equal for texts that differ only in case, or in how their characters are composed. */
const folded = (value: SQL): SQL => sql`casefold(normalize(${value}, nfc) collate "pg_unicode_fast")`;

/** A filter for a part of one of the texts of a record, in any case; `texts` are SQL expressions of its columns. */
export const withText = (description: string, ...texts: readonly string[]): Filter => {
  // With a control character between them, so that no match spans two texts.
  const all = sql.raw(`concat_ws(E'\\x1f', ${texts.join(', ')})`);
  return {
    schema: text(1, 200).optional().meta({ description }),
    condition: (value) => sql`position(${folded(sql`${value}::text`)} in ${folded(all)}) > 0`,
    isSearch: true,
  };
};
