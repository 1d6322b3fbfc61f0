import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { showVerification, VerificationView } from './schema.ts';
import { getVerification, pageOfVerifications } from './use-cases.ts';

export const identityRoutes = (context: Context): Route[] => [
  storeList(context, {
    name: 'verifications',
    path: 'verifications',
    tag: 'Identity',
    summary: 'The identity verifications, the last changed first',
    item: VerificationView,
    page: pageOfVerifications,
    show: showVerification,
  }),
  route(
    {
      method: 'get',
      path: '/v1/stores/{id}/verifications/{transactionId}',
      operationId: 'getVerification',
      tag: 'Identity',
      summary: 'A verification; of two providers with the same id the one that changed last',
      caller: context.verifier.guard('stores:admin'),
      params: z.strictObject({ id: z.uuid(), transactionId: text(1, 200) }),
      query: z.strictObject({ service: text(0, 100).optional() }),
      responses: { 200: { description: 'The verification', body: VerificationView } },
      problems: [404],
    },
    async ({ params: { id, transactionId }, query: { service } }) => ({
      status: 200,
      body: showVerification(await getVerification(context, id, transactionId, service)),
    }),
  ),
];
