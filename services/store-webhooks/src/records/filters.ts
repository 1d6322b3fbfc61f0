import { text } from '@platform/service-kit/text';
import { and, eq, gte, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { firstIdOf } from '../inbox/event.ts';

export interface Filter {
  schema: z.ZodType;
  /** There is no index for it: rows are compared in the order of the list, so many may be read. */
  isSearch?: true;
  /** A scope that is needed in addition to that of the list. */
  scope?: 'events:reveal';
  /** `store` is the id of the store, or in a list of all stores the column with this id. */
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
export const unindexed = (column: PgColumn, description: string): Filter => ({
  ...exactly(column, description),
  isSearch: true,
});

/** A filter by the time of a record's last webhook. The id of the webhook starts with this time and is indexed. */
export const updatedAfter = ({ eventId, updatedAt }: Record<'eventId' | 'updatedAt', PgColumn>): Filter => ({
  schema: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: 'The last webhook about it was received at this time or later' }),
  condition: (time) => {
    const from = new Date(Math.max(0, Date.parse(time)));
    return and(gte(eventId, firstIdOf(from)), gte(updatedAt, from.toISOString()));
  },
});

/** SQL that is equal for texts that differ only in case or in the composition of their characters. */
const caseFolded = (value: SQL): SQL => sql`casefold(normalize(${value}, nfc) collate "pg_unicode_fast")`;

/** A case-insensitive filter for a part of one of the texts of a record; `texts` are SQL expressions of its columns. */
export const withText = (description: string, ...texts: readonly string[]): Filter => {
  // Joined by a control character, so that no match spans two texts.
  const joined = sql.raw(`concat_ws(E'\\x1f', ${texts.join(', ')})`);
  return {
    schema: text(1, 200).optional().meta({ description }),
    condition: (value) => sql`position(${caseFolded(sql`${value}::text`)} in ${caseFolded(joined)}) > 0`,
    isSearch: true,
  };
};
