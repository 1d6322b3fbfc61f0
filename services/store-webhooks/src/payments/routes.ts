import { route, type Route } from '@platform/service-kit/route';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { StorePath } from '../stores/routes.ts';
import { Payment } from './schema.ts';
import { registerPayment } from './use-cases.ts';

export const paymentRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/v1/stores/{storeId}/payments',
      operationId: 'createPayment',
      tag: 'Payments',
      summary: 'Register a 3DS transaction',
      description: 'Registers the order that the transaction pays.',
      auth: allow(context, 'stores:write'),
      params: StorePath,
      body: {
        schema: Payment,
        example: {
          service: 'threedsecureio',
          transactionId: 'my-payment',
          orderId: 'demo-order-2',
          threeDSServerTransId: 'my-challenge',
        },
      },
      responses: {
        201: { description: 'The payment', body: Payment, headers: { Location: 'Address of the payment' } },
      },
      problems: [404, 409],
    },
    async ({ params, body }) => {
      const { threeDSServerTransId = null, ...payment } = body;
      const stored = await registerPayment(context, { ...params, ...payment, threeDSServerTransId });
      const path = `${encodeURIComponent(body.transactionId)}?service=${body.service}`;
      return {
        status: 201,
        headers: { Location: `/v1/stores/${params.storeId}/payments/${path}` },
        body: { ...payment, threeDSServerTransId: stored.threeDSServerTransId ?? undefined },
      };
    },
  ),
];
