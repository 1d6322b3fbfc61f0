import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { storeId } from '../stores/routes.ts';
import { registerPayment } from './use-cases.ts';

const Payment = z
  .strictObject({
    service: z.enum([...threeDSAdapters.keys()]),
    transactionId: text(1, 200).meta({ description: 'As it comes back with the challenge result' }),
    orderId: text(1, 200),
  })
  .meta({ id: 'Payment' });

export const paymentRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/v1/stores/{id}/payments',
      operationId: 'createPayment',
      tag: 'Payments',
      summary: 'Register the order that a 3DS transaction pays',
      caller: context.verifier.guard('stores:admin'),
      params: storeId,
      body: { schema: Payment },
      responses: { 201: { description: 'The payment', body: Payment } },
      problems: [404, 409],
    },
    async ({ params, body }) => {
      await registerPayment(context, { storeId: params.id, ...body });
      return { status: 201, body };
    },
  ),
];
