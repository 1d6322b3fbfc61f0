import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { payments } from '../db/tables.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { viewOf } from '../records/view.ts';
import { serverTransactionId } from './challenge-payload.ts';

/** The registration of a payment. */
export const Payment = z
  .strictObject({
    service: z.enum([...threeDSAdapters.keys()]),
    // URL parsers remove these two path segments, so no URL could address such a payment.
    transactionId: text(1, 200)
      .refine((id) => id !== '.' && id !== '..', 'must not be . or ..')
      .meta({ description: 'The id that the challenge result contains' }),
    orderId: text(1, 200),
    threeDSServerTransId: serverTransactionId.optional().meta({
      description:
        'The only challenge that counts for the payment; without it, the first completed challenge counts',
    }),
  })
  .meta({ id: 'Payment' });

export const PaymentView = viewOf(
  'RegisteredPayment',
  payments,
  'service transactionId orderId threeDSServerTransId status eci settledAt createdAt',
  {
    service: Payment.shape.service,
    orderKnown: z.boolean().meta({
      description:
        'Whether a webhook has delivered the order; the change feed does not report a change of this field alone',
    }),
    status:
      'pending: no challenge has a final result; failed: may still succeed, unless it was registered with its challenge',
    eci: 'Set if the payment succeeded',
    settledAt: 'When the provider reported the result',
  },
);

export const PaymentDetail = z
  .object({
    ...PaymentView.shape,
    cavv: z.string().nullable().meta({
      description:
        'Set for a day after `settledAt` if the payment succeeded. Each read is recorded in the list of event reveals',
    }),
  })
  .meta({ id: 'PaymentDetail' });
