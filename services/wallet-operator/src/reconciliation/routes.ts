import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { allowSlowBody } from '@platform/service-kit/server';
import type { Context } from '../context.ts';
import { listRoute } from '../list-route.ts';
import { Difference } from './difference.ts';
import { fileRoutes } from './files.ts';
import { repairRoutes } from './repair-routes.ts';
import {
  DifferenceFilter,
  Reconciliation,
  ReconciliationPath,
  ReconciliationWithKinds,
  StatementQuery,
} from './schema.ts';
import { StatementLine } from './statement-line.ts';
import type { StatementFormat } from './statement.ts';
import {
  differencesOf,
  getResult,
  listReconciliations,
  receiveStatement,
  withdrawReconciliation,
} from './use-cases.ts';

const tag = 'Reconciliation';

const statementTypes = ['application/x-ndjson', 'text/csv'] as const;

/** The maximum time between two pieces of a body, as in the gateway. */
const idleMs = 15_000;

/** Throws Problem `unsupported_media_type`. */
const statementTypeOf = (headers: IncomingHttpHeaders): StatementFormat['type'] => {
  const [mediaType = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const type = statementTypes.find((supported) => supported === mediaType.trim());
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  const isPlain = /^(?:identity)?$/i.test(headers['content-encoding'] ?? '');
  if (type !== undefined && isUtf8 && isPlain) return type;
  const detail = `Send the body as ${statementTypes.join(' or ')} in UTF-8, without a content encoding.`;
  throw new Problem({ status: 415, code: 'unsupported_media_type', detail });
};

/** Routes of reconciliations, which compare our entries with statements of the game server. */
export const reconciliationRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const reader = context.tokens.guard('wallet:read');
  return [
    route(
      {
        method: 'post',
        path: '/v1/reconciliations',
        operationId: 'createReconciliation',
        tag,
        summary: 'Compare a statement with the ledger',
        description:
          'Send CSV with a header, or one JSON object per line. A statement with an invalid line is refused as a ' +
          'whole; the answer names the first mistakes by line and column. The comparison runs in the background; ' +
          'its progress and result are at the address in `Location`.',
        auth: admin,
        query: StatementQuery,
        body: {
          schema: StatementLine,
          example: {
            transactionId: 'my-bet',
            playerId: 'demo-1',
            operation: 'debit',
            amount: '1.00',
            currency: 'EUR',
            roundId: 'my-round',
            gameCode: 'dice-alpha',
            time: '2026-11-01T12:00:00.000Z',
          },
          types: statementTypes,
          raw: true,
        },
        responses: {
          201: {
            description: 'The statement was received; the comparison starts',
            body: Reconciliation,
            headers: { Location: 'Address of the reconciliation' },
          },
        },
        problems: [409, 413, 415],
      },
      async ({ caller, query, req }) => {
        const type = statementTypeOf(req.headers);
        allowSlowBody(req, idleMs);
        const body = await receiveStatement(context, caller.subject, query, type, req);
        const headers = { Location: `/v1/reconciliations/${body.reconciliationId}` };
        return { status: 201, headers, body };
      },
    ),
    listRoute(
      {
        path: '/v1/reconciliations',
        operationId: 'listReconciliations',
        tag,
        summary: 'List reconciliations, newest first',
        auth: reader,
        name: 'reconciliations',
        item: Reconciliation,
      },
      (page) => listReconciliations(context.database.sql, page),
    ),
    route(
      {
        method: 'get',
        path: '/v1/reconciliations/{reconciliationId}',
        operationId: 'getReconciliation',
        tag,
        summary: 'Get a reconciliation and its progress',
        auth: reader,
        params: ReconciliationPath,
        responses: { 200: { description: 'The reconciliation', body: ReconciliationWithKinds } },
        problems: [404],
      },
      async ({ params }) => ({
        status: 200,
        body: await getResult(context, params.reconciliationId),
      }),
    ),
    route(
      {
        method: 'delete',
        path: '/v1/reconciliations/{reconciliationId}',
        operationId: 'withdrawReconciliation',
        tag,
        summary: 'Withdraw a reconciliation',
        description:
          'Use it when the statement was wrong. The reconciliation stays visible as `failed`, allows no more repairs, ' +
          'and delays no repairs of other reconciliations. Repairs that were made or have begun are not undone.',
        auth: admin,
        params: ReconciliationPath,
        responses: { 204: { description: 'The reconciliation is withdrawn, or had already failed' } },
        problems: [404],
      },
      async ({ caller, params }) => {
        await withdrawReconciliation(context, caller.subject, params.reconciliationId);
        return { status: 204 };
      },
    ),
    listRoute(
      {
        path: '/v1/reconciliations/{reconciliationId}/differences',
        operationId: 'listDifferences',
        tag,
        summary: 'List differences and possible repairs',
        auth: reader,
        params: ReconciliationPath,
        filters: DifferenceFilter,
        name: 'differences',
        item: Difference,
      },
      (page, { params, query }) => differencesOf(context, params.reconciliationId, query, page),
    ),
    ...fileRoutes(context),
    ...repairRoutes(context),
  ];
};
