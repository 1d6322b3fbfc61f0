import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { Proof } from './schema.ts';

/** The proof that the ledger is consistent. */
export const proofRoute = (context: Context): Route =>
  route(
    {
      method: 'get',
      path: '/v1/audit/proof',
      operationId: 'proveLedger',
      tag: 'Audit',
      summary: 'Check the ledger',
      description:
        'Checks everything since the last seal in one snapshot; what is sealed is checked in the background, all of it every `SEAL_WALK_DAYS`, and violations that were found there are in the answer. Callbacks go on meanwhile. The answer is 200 also when something is wrong.',
      auth: context.tokens.guard('wallet:admin'),
      responses: { 200: { description: 'What was found', body: Proof } },
    },
    async () => ({ status: 200, body: await context.proving.prove() }),
  );
