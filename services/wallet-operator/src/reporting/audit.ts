import type { Page } from '@platform/pagination/list';
import type { Route } from '@platform/service-kit/route';
import { instant, text } from '@platform/service-kit/text';
import type { ISql } from 'postgres';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { allOf, createdBetween, equalTo, isoTime } from '../db/sql.ts';
import { auditKinds } from '../db/tables.ts';
import { listRoute, onListConnection, timeRange } from '../list-route.ts';

/** Records an action of a person, in the transaction that performs it. */
export const recordEvent = async (
  sql: ISql,
  kind: (typeof auditKinds)[number],
  details: object,
  playerId: string | null = null,
): Promise<void> => {
  await sql`insert into audit_events (at, kind, player_id, details)
    values (now(), ${kind}, ${playerId}, ${JSON.stringify(details)}::text::jsonb)`;
};

const AuditFilter = z.object({
  playerId: text(1, 255).optional(),
  kind: z.enum(auditKinds).optional().meta({ description: 'Events of this kind' }),
  ...timeRange,
});

const AuditEvent = z
  .object({
    eventId: z.string(),
    at: instant(),
    kind: z.enum(auditKinds),
    playerId: z.string().nullable(),
    currency: z.string().nullable().meta({ description: 'Of the player; null without one' }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEvent' });

/** Longer than any transaction: the id of an event is made after the beginning of its transaction, which is its time. */
const longestMs = 3_600_000;

/** The time in an id is truncated to milliseconds, the time of an event is rounded. */
const roundedMs = 1;

const shifted = (at: string, ms: number): string => new Date(Math.max(0, Date.parse(at) + ms)).toISOString();

/** The newest first; one more than the page holds. */
const listEvents = (
  sql: ISql,
  { playerId, kind, from, to }: z.output<typeof AuditFilter>,
  { limit, offset }: Page,
) => sql<z.input<typeof AuditEvent>[]>`
  select event_id as "eventId", ${isoTime(sql, sql`event.at`)} as at, kind, event.player_id as "playerId", currency, details
  from audit_events event left join players player on player.player_id = event.player_id
  where ${allOf(sql, [
    ...equalTo(sql, { 'event.player_id': playerId, kind }),
    from === undefined ? undefined : sql`event.at >= ${from}`,
    to === undefined ? undefined : sql`event.at < ${to}`,
    // Only so that the index finds them.
    ...createdBetween(sql, sql`event_id`, {
      from: from && shifted(from, -roundedMs),
      to: to && shifted(to, longestMs),
    }),
  ])}
  order by event_id desc limit ${limit + 1} offset ${String(offset)}`;

/** The audit trail of what is not in the ledger. */
export const auditTrail = (context: Context): Route =>
  listRoute(
    {
      path: '/v1/audit/events',
      operationId: 'listAuditEvents',
      tag: 'Audit',
      summary: 'Audit events, newest first',
      auth: context.tokens.guard('wallet:admin'),
      filters: AuditFilter,
      name: 'events',
      item: AuditEvent,
    },
    onListConnection(context, listEvents),
  );
