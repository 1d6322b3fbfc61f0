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
    currency: z.string().nullable().meta({ description: 'Currency of the player; null without a player' }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEvent' });

/** The time in an id may be this much earlier than `at`: ids truncate milliseconds, `at` rounds them. */
const maxIdLeadMs = 1;

/** The time in an id may be this much later than `at`, which is the start of the transaction. */
const maxIdDelayMs = 3_600_000;

const shifted = (at: string, ms: number): string => new Date(Math.max(0, Date.parse(at) + ms)).toISOString();

/** Events, newest first; one more than the page holds. */
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
    // Redundant conditions on the id, which has an index.
    ...createdBetween(sql, sql`event_id`, {
      from: from && shifted(from, -maxIdLeadMs),
      to: to && shifted(to, maxIdDelayMs),
    }),
  ])}
  order by event_id desc limit ${limit + 1} offset ${String(offset)}`;

/** Route of the audit trail. */
export const auditTrail = (context: Context): Route =>
  listRoute(
    {
      path: '/v1/audit/events',
      operationId: 'listAuditEvents',
      tag: 'Audit',
      summary: 'List audit events, newest first',
      auth: context.tokens.guard('wallet:admin'),
      filters: AuditFilter,
      name: 'events',
      item: AuditEvent,
    },
    onListConnection(context, listEvents),
  );
