import { type Page, type Slice, slice } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import type { AuditEvent } from './schema.ts';
import { insertEvent, listEvents, type NewEvent } from './queries.ts';

/** Records an action of a person, in the transaction that performs it. */
export const recordEvent = (on: Pick<Executor, 'insert'> | ISql, event: NewEvent): Promise<void> =>
  insertEvent(on, event);

export const pageEvents = async (
  { database }: Context,
  playerId: string | undefined,
  page: Page,
): Promise<Slice<z.input<typeof AuditEvent>>> => {
  const rows = await listEvents(database.orm, playerId, page);
  return slice(
    rows.map((row) => ({ ...row, at: row.at.toISOString() })),
    page.limit,
  );
};
