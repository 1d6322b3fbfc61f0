import { readPageList } from '@platform/pagination/list';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import type { AuditEventList, AuditQuery } from './schema.ts';
import { insertEvent, listEvents } from './queries.ts';

/** Records an action of a person, in the transaction that performs it. */
export const recordEvent = insertEvent;

export const pageEvents = (
  { database: { sql } }: Context,
  query: z.output<typeof AuditQuery>,
): Promise<z.input<typeof AuditEventList>> =>
  readPageList('events', query, (page) => listEvents(sql, query, page));
