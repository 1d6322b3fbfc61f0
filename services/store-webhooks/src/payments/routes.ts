import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { storeId } from '../stores/routes.ts';
import { getPayment, registerPayment } from './use-cases.ts';

const Payment = z
  .strictObject({
    service: z.enum([...threeDSAdapters.keys()]),
    // Every URL parser removes these two, so no address could name such a payment.
    transactionId: text(1, 200)
      .refine((id) => id !== '.' && id !== '..', 'must not be . or ..')
      .meta({ description: 'As it comes back with the challenge result' }),
    orderId: text(1, 200),
  })
  .meta({ id: 'Payment' });

const PaymentPath = Payment.pick({ service: true, transactionId: true }).extend(storeId.shape);

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
      responses: {
        201: { description: 'The payment', body: Payment, headers: { Location: 'Address of the payment' } },
      },
      problems: [404, 409],
    },
    async ({ params, body }) => {
      await registerPayment(context, { storeId: params.id, ...body });
      const { service, transactionId } = body;
      const Location = `/v1/stores/${params.id}/payments/${service}/${encodeURIComponent(transactionId)}`;
      return { status: 201, headers: { Location }, body };
    },
  ),
  route(
    {
      method: 'get',
      path: '/v1/stores/{id}/payments/{service}/{transactionId}',
      operationId: 'getPayment',
      tag: 'Payments',
      summary: 'The order that a 3DS transaction pays',
      caller: context.verifier.guard('stores:admin'),
      params: PaymentPath,
      responses: { 200: { description: 'The payment', body: Payment } },
      problems: [404],
    },
    async ({ params: { id, ...key } }) => ({
      status: 200,
      body: await getPayment(context, { storeId: id, ...key }),
    }),
  ),
];
