import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { FoundEntry } from '../../accounts/players/schema.ts';
import { entriesOfTransaction } from '../../accounts/players/use-cases.ts';
import { readOnListConnection } from '../../db/list-connection.ts';
import { listRoute } from '../../list-route.ts';
import { AuditEvent, AuditFilter, Proof, TransactionFilter } from './schema.ts';
import { listEvents } from './use-cases.ts';

const tag = 'Audit';

/** The audit trail of what is not in the ledger, and the proof that the ledger is consistent. */
export const auditRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  return [
    listRoute(
      {
        path: '/v1/audit/events',
        operationId: 'listAuditEvents',
        tag,
        summary: 'Audit events, newest first',
        auth: admin,
        filters: AuditFilter,
        name: 'events',
        item: AuditEvent,
      },
      (page, { query }) => readOnListConnection(context, page, (sql) => listEvents(sql, query, page)),
    ),
    listRoute(
      {
        path: '/v1/audit/entries',
        operationId: 'findEntries',
        tag,
        summary: 'Find entries by transaction id',
        auth: context.tokens.guard('wallet:read'),
        filters: TransactionFilter,
        name: 'entries',
        item: FoundEntry,
      },
      (page, { query }) => entriesOfTransaction(context.database.sql, query.transactionId, page),
    ),
    route(
      {
        method: 'get',
        path: '/v1/audit/proof',
        operationId: 'proveLedger',
        tag,
        summary: 'Check the ledger',
        description:
          'Checks everything since the last seal in one snapshot; what is sealed is checked in the background, all of it every `SEAL_WALK_DAYS`, and violations that were found there are in the answer. Callbacks go on meanwhile. The answer is 200 also when something is wrong.',
        auth: admin,
        responses: { 200: { description: 'What was found', body: Proof } },
      },
      async () => ({ status: 200, body: await context.proving.prove() }),
    ),
  ];
};
