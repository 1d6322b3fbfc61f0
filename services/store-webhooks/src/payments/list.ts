import { record } from '@platform/service-kit/record';
import { payments } from '../db/tables.ts';
import { recordReveal } from '../events/reveals.ts';
import { exactly } from '../records/filters.ts';
import { declareList } from '../records/list.ts';
import { posId } from '../records/view.ts';
import type { PaymentKey } from './domain.ts';
import { shownColumns } from './queries.ts';
import { Payment, PaymentDetail, PaymentView } from './schema.ts';
import { cavvOf } from './use-cases.ts';

export const paymentList = declareList({
  table: payments,
  columns: shownColumns,
  latest: payments.id,
  name: 'payments',
  tag: 'Payments',
  scope: 'payments:read',
  summary: '3DS transactions, newest first',
  view: PaymentView,
  filters: {
    transactionId: exactly(payments.transactionId, 'The id that the challenge result contains'),
    orderId: exactly(payments.orderId, posId),
  },
  single: {
    name: 'payment',
    key: { transactionId: 'transactionId' },
    params: { transactionId: Payment.shape.transactionId },
    narrowBy: { service: 'threedsecureio' },
    summary: 'The newest 3DS transaction with an id',
    operations: (readable, context) =>
      record({
        ...readable,
        schema: PaymentDetail,
        isSecret: true,
        find: async (on, target, lock) => {
          const json = await readable.find(on, target, lock);
          if (json === undefined) return undefined;
          const view = JSON.parse(json) as Omit<PaymentKey, 'storeId'>;
          const { service, transactionId } = view;
          const payment = { storeId: String(target.params['storeId']), service, transactionId };
          const cavv = await cavvOf(context, payment);
          const { caller, req } = target;
          if (cavv !== null) await recordReveal(context, [payment], { kind: 'cavv', caller, req });
          return JSON.stringify({ ...view, cavv });
        },
      }),
  },
});
