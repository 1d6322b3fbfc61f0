import { noStore } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { SecurityEventQuery, SecurityEvents } from './schema.ts';
import { eventPage } from './use-cases.ts';

/** What users see of the security of their accounts. */
export const securityRoutes = ({ tokens, database: { sql } }: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/auth/security-events',
      operationId: 'listSecurityEvents',
      tag: 'Sessions',
      summary: 'Security events of your account',
      description:
        'Logins, refusals and changes of 90 days, newest first. Those of a day that are alike are one event, with their number.',
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
