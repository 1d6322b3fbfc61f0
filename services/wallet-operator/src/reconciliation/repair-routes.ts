import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { applyDryRun, approveDryRun, getDryRun, makeDryRun } from './repairs.ts';
import { ApplyRequest, DryRun, DryRunPath, DryRunRequest, ReconciliationPath, Repairs } from './schema.ts';

const tag = 'Reconciliation';

/** Routes of dry runs, their approval, and repairs. */
export const repairRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  return [
    route(
      {
        method: 'post',
        path: '/v1/reconciliations/{reconciliationId}/dry-runs',
        operationId: 'makeDryRun',
        tag,
        summary: 'Make a dry run of repairs',
        auth: admin,
        params: ReconciliationPath,
        body: { schema: DryRunRequest, example: { differences: [1] } },
        responses: {
          201: {
            description: 'What the ledger would decide, and the sums',
            body: DryRun,
            headers: { Location: 'Address of the dry run' },
          },
        },
        problems: [404, 409],
      },
      async ({ caller, params: { reconciliationId }, body: { differences } }) => {
        const body = await makeDryRun(context, caller.subject, reconciliationId, differences);
        const headers = { Location: `/v1/reconciliations/${reconciliationId}/dry-runs/${body.dryRunId}` };
        return { status: 201, headers, body };
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/reconciliations/{reconciliationId}/dry-runs/{dryRunId}',
        operationId: 'getDryRun',
        tag,
        summary: 'Get a dry run of repairs',
        auth: context.tokens.guard('wallet:read'),
        params: DryRunPath,
        responses: { 200: { description: 'The dry run', body: DryRun } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, body: await getDryRun(context, params) }),
    ),
    route(
      {
        method: 'post',
        path: '/v1/reconciliations/{reconciliationId}/dry-runs/{dryRunId}/approval',
        operationId: 'approveDryRun',
        tag,
        summary: 'Approve a dry run',
        description:
          'The approver must be another person than the one who made the dry run. Anybody except the approver may then ' +
          'apply it within 24 hours.',
        auth: context.tokens.guard('wallet:approve'),
        params: DryRunPath,
        responses: { 200: { description: 'The dry run', body: DryRun } },
        problems: [404, 409],
      },
      async ({ caller, params }) => ({
        status: 200,
        body: await approveDryRun(context, caller.subject, params),
      }),
    ),
    route(
      {
        method: 'post',
        path: '/v1/reconciliations/{reconciliationId}/repairs',
        operationId: 'repairDifferences',
        tag,
        summary: 'Apply the repairs of a dry run',
        description:
          'Repairs follow the normal rules of the ledger. Nothing is applied when the ledger would now decide ' +
          'differently than in the dry run. Repeating the request changes nothing.',
        auth: admin,
        params: ReconciliationPath,
        body: { schema: ApplyRequest, example: { dryRunId: '0199b5a0-0000-7000-8000-000000000000' } },
        responses: { 200: { description: 'One result for each difference', body: Repairs } },
        problems: [404, 409],
      },
      async ({ caller, params, body }) => ({
        status: 200,
        body: await applyDryRun(context, caller.subject, params.reconciliationId, body),
      }),
    ),
  ];
};
