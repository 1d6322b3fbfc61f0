import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { Proof } from './schema.ts';

/** Route of the proof that the ledger is consistent. */
export const proofRoute = (context: Context): Route =>
  route(
    {
      method: 'get',
      path: '/v1/audit/proof',
      operationId: 'proveLedger',
      tag: 'Audit',
      summary: 'Check the ledger',
      description:
        'Checks all unsealed entries in one snapshot. A background task checks all sealed entries every `SEAL_WALK_DAYS`; the answer contains its violations, too. Callbacks go on meanwhile. The status is 200 even if there are violations.',
      auth: context.tokens.guard('wallet:admin'),
      responses: { 200: { description: 'The result', body: Proof } },
    },
    async () => ({ status: 200, body: await context.proving.prove() }),
  );
