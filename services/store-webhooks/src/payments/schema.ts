import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { payments } from '../db/tables.ts';
import { threeDSAdapters } from '../providers/registry.ts';
import { viewOf } from '../records/view.ts';
import { serverTransactionId } from './challenge.ts';

/** A payment as it is registered. */
export const Payment = z
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

export const PaymentView = viewOf(
  'RegisteredPayment',
  payments,
  'service transactionId orderId threeDSServerTransId status eci settledAt createdAt',
  {
    service: Payment.shape.service,
    orderKnown: z.boolean().meta({
      description: 'Whether a webhook has brought the order; in the change feed that alone is no change',
    }),
    status:
      'pending: no challenge has a final result; failed: may still succeed, unless it was registered with its challenge',
    eci: 'Of a payment that succeeded',
    settledAt: 'When the provider told the result',
  },
);

export const PaymentDetail = z
  .object({
    ...PaymentView.shape,
    cavv: z.string().nullable().meta({
      description:
        'Of a payment that succeeded, for a day after `settledAt`. Who reads it is recorded in the list of event reveals',
    }),
  })
  .meta({ id: 'PaymentDetail' });
