import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { PlayerPath } from '../players/schema.ts';
import { locationOf, TransferPath } from '../transfers.ts';
import { Adjustment, NewAdjustment } from './schema.ts';
import { approveAdjustment, getAdjustment, bookAdjustment } from './use-cases.ts';

const tag = 'Players';
const path = '/v1/players/{playerId}/adjustments';

/** Routes of adjustments: bonuses, corrections and goodwill payments that people book by hand. */
export const adjustmentRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path,
      operationId: 'createAdjustment',
      tag,
      summary: 'Adjust a balance',
      description:
        'A repeated transactionId returns the first answer and moves nothing. Above the limit for 24 hours the answer ' +
        'is 409 `approval_needed`: send the request again after another person has approved it.',
      auth: context.tokens.guard('wallet:adjust'),
      params: PlayerPath,
      body: {
        schema: NewAdjustment,
        example: { transactionId: 'my-adjustment', amount: '1.00', reason: 'bonus', note: 'Welcome' },
      },
      responses: { 201: { description: 'Booked', body: Adjustment, headers: { Location: 'Its address' } } },
      problems: [404, 409, 422],
    },
    async ({ caller: { subject }, params: { playerId }, body }) => ({
      status: 201,
      headers: locationOf('adjustments', playerId, body.transactionId),
      body: await bookAdjustment(context, subject, playerId, body),
    }),
  ),
  route(
    {
      method: 'get',
      path: `${path}/{transactionId}`,
      operationId: 'getAdjustment',
      tag,
      summary: 'Get an adjustment',
      auth: context.tokens.guard('wallet:read'),
      params: TransferPath,
      responses: { 200: { description: 'The adjustment', body: Adjustment } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: await getAdjustment(context, params) }),
  ),
  route(
    {
      method: 'post',
      path: `${path}/{transactionId}/approval`,
      operationId: 'approveAdjustment',
      tag,
      summary: 'Approve an adjustment',
      description:
        'Must be called by another person than the one who requested it; the approval expires after 24 hours.',
      auth: context.tokens.guard('wallet:approve'),
      params: TransferPath,
      responses: { 200: { description: 'The adjustment', body: Adjustment } },
      problems: [404, 409],
    },
    async ({ caller: { subject }, params }) => ({
      status: 200,
      body: await approveAdjustment(context, subject, params),
    }),
  ),
];
