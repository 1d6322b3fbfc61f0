import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { payments } from '../db/tables.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { declareList, exactly } from '../records/list.ts';
import { posId, viewOf } from '../records/view.ts';
import { storeId } from '../stores/routes.ts';
import { serverTransactionId } from './challenge.ts';
import { registerPayment } from './use-cases.ts';

const Payment = z
  .strictObject({
    service: z.enum([...threeDSAdapters.keys()]),
    // Every URL parser removes these two, so no address could name such a payment.
    transactionId: text(1, 200)
      .refine((id) => id !== '.' && id !== '..', 'must not be . or ..')
      .meta({ description: 'The id that the challenge result contains' }),
    orderId: text(1, 200),
    threeDSServerTransId: serverTransactionId.optional().meta({
      description:
        'The only challenge that counts for the payment; without it, the first that completes it counts',
    }),
  })
  .meta({ id: 'Payment' });

const { service, transactionId } = Payment.shape;

export const paymentList = declareList({
  table: payments,
  latest: payments.createdAt,
  name: 'payments',
  tag: 'Payments',
  scope: 'payments:read',
  summary: 'The registered 3DS transactions, newest first',
  view: viewOf('RegisteredPayment', payments, 'service transactionId orderId threeDSServerTransId createdAt'),
  filters: {
    transactionId: exactly(payments.transactionId, 'The id that the challenge result contains'),
    orderId: exactly(payments.orderId, posId),
  },
  single: {
    name: 'payment',
    key: { service: 'service', transactionId: 'transactionId' },
    params: { service, transactionId },
    summary: 'The order that a 3DS transaction pays',
  },
});

export const paymentRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/v1/stores/{id}/payments',
      operationId: 'createPayment',
      tag: 'Payments',
      summary: 'Register the order that a 3DS transaction pays',
      auth: allow(context, 'stores:write'),
      params: storeId,
      body: { schema: Payment },
      responses: {
        201: { description: 'The payment', body: Payment, headers: { Location: 'Address of the payment' } },
      },
      problems: [404, 409],
    },
    async ({ params, body }) => {
      const { threeDSServerTransId = null, ...payment } = body;
      const stored = await registerPayment(context, { storeId: params.id, ...payment, threeDSServerTransId });
      const path = `${body.service}/${encodeURIComponent(body.transactionId)}`;
      return {
        status: 201,
        headers: { Location: `/v1/stores/${params.id}/payments/${path}` },
        body: { ...payment, threeDSServerTransId: stored.threeDSServerTransId ?? undefined },
      };
    },
  ),
];
