import { NotFound } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Fragment } from '../db/sql.ts';
import { storeList } from '../stores/list.ts';
import { isoOf } from '../time.ts';

const VerificationView = z
  .object({
    service: z.string(),
    transactionId: z.string(),
    status: z.string().meta({ description: 'As the provider named it' }),
    completed: z.boolean(),
    userId: z.string().nullable(),
    updatedAt: instant(),
  })
  .meta({ id: 'Verification' });

type VerificationRow = z.input<typeof VerificationView>;

const show = (row: VerificationRow): VerificationRow => ({ ...row, updatedAt: isoOf(row.updatedAt) });

export const identityRoutes = (context: Context): Route[] => {
  const { sql } = context.database;
  const select = (where: Fragment) => sql`
    select service, transaction_id as "transactionId", status, completed, user_id as "userId",
      updated_at as "updatedAt"
    from verifications where ${where} order by event_id desc`;
  return [
    storeList<VerificationRow, typeof VerificationView>(context, {
      name: 'verifications',
      path: 'verifications',
      tag: 'Identity',
      summary: 'The identity verifications, the last changed first',
      item: VerificationView,
      rows: (store) => select(sql`store_id = ${store}`),
      show,
    }),
    route(
      {
        method: 'get',
        path: '/v1/stores/{id}/verifications/{transactionId}',
        operationId: 'getVerification',
        tag: 'Identity',
        summary: 'A verification; of two providers with the same id the one that changed last',
        caller: context.verifier.guard('stores:admin'),
        params: z.strictObject({ id: z.uuid(), transactionId: z.string().max(200) }),
        query: z.strictObject({ service: z.string().max(100).optional() }),
        responses: { 200: { description: 'The verification', body: VerificationView } },
        problems: [404],
      },
      async ({ params: { id, transactionId }, query: { service } }) => {
        const [row] = await sql<VerificationRow[]>`
          ${select(sql`store_id = ${id} and transaction_id = ${transactionId}
            ${service === undefined ? sql`` : sql`and service = ${service}`}`)} limit 1`;
        if (row === undefined) throw new NotFound('verification');
        return { status: 200, body: show(row) };
      },
    ),
  ];
};
