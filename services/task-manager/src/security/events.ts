import {
  pageLimitBody,
  pageLimitQuery,
  pageListJson,
  pageOf,
  slice,
  type Page,
  type PageQuery,
} from '@platform/pagination/list';
import { jsonTable } from '@platform/service-kit/json-table';
import type { Prunable } from '@platform/service-kit/pruning';
import type { Queries } from '@platform/service-kit/record';
import { noStore } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Client } from '../sessions/client.ts';
import { clientFields } from '../sessions/schema.ts';
import { securityEventKinds, type SecurityEventKind } from './event-kinds.ts';

export const SecurityEvent = z
  .object({
    kind: z.enum(securityEventKinds),
    ...clientFields,
    count: z
      .int()
      .min(1)
      .meta({ description: 'Number of equal events on this day from this network and browser' }),
    firstAt: instant(),
    lastAt: instant(),
  })
  .meta({ id: 'SecurityEvent' });

export const SecurityEventQuery = z.strictObject(pageLimitQuery);

export const SecurityEvents = pageLimitBody('events', SecurityEvent).meta({ id: 'SecurityEvents' });

/** Maximum number of rows per account, kind and day; further networks and browsers share one more row. */
const maxRowsPerDay = 20;

const today = "(now() at time zone 'UTC')::date";
/** The oldest day whose events are kept. */
const firstDay = `${today} - 90`;

/** Old events; deleted in the background. */
export const outdatedEvents: Prunable = { table: 'security_events', outdated: `day < ${firstDay}` };

/**
 * Records an event in the transaction of the action that it describes. Equal events of a day share one row with a count, so
 * that neither many logins nor guesses fill the disk, and no event is deleted to make room.
 */
export const recordEvent = async (
  sql: Queries,
  userId: string,
  kind: SecurityEventKind,
  { network, browser }: Pick<Client, 'network' | 'browser'>,
): Promise<void> => {
  const day = sql.unsafe(today);
  await sql`
    with events_of_day as (
      select network = ${network} and browser = ${browser} as is_same
      from security_events where user_id = ${userId} and day = ${day} and kind = ${kind}),
    room as (select count(*) < ${maxRowsPerDay} or coalesce(bool_or(is_same), false) as has_room from events_of_day)
    insert into security_events as stored (user_id, day, kind, network, browser, count, first_at, last_at)
    select ${userId}, ${day}, ${kind}, case when has_room then ${network} else 'other networks' end,
      case when has_room then ${browser} else 'other browsers' end, 1, now(), now() from room
    on conflict (user_id, day, kind, network, browser)
    do update set count = stored.count + 1, last_at = greatest(stored.last_at, excluded.last_at)`;
};

const events = jsonTable('security_events', Object.keys(SecurityEvent.shape));

/** Events of a user, newest first. Reads one more than the page, to find out whether there is a next page. */
export const listEvents = (sql: Queries, userId: string, { offset, limit }: Page): Promise<string[]> =>
  events.list(
    sql,
    sql`where user_id = ${userId} and ${sql.unsafe(`day >= ${firstDay}`)}
      order by last_at desc, day, kind, network, browser offset ${String(offset)} limit ${limit + 1}`,
  );

/** A page of the events of a user, as JSON text. */
export const eventPage = async (sql: Queries, userId: string, query: PageQuery): Promise<string> => {
  const page = pageOf(query);
  return pageListJson('events', page, slice(await listEvents(sql, userId, page), page.limit));
};

/** Routes with which users read the security events of their account. */
export const securityRoutes = ({ tokens, database: { sql } }: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/auth/security-events',
      operationId: 'listSecurityEvents',
      tag: 'Sessions',
      summary: 'Security events of your account',
      description:
        'Logins, failures and changes of the last 90 days, newest first. Equal events of a day are one event with a count.',
      auth: tokens.guard(),
      query: SecurityEventQuery,
      responses: { 200: { description: 'One page; empty past the end', body: SecurityEvents } },
    },
    async ({ query, caller }) => ({
      status: 200,
      headers: noStore,
      rawBody: await eventPage(sql, caller.subject, query),
    }),
  ),
];
