import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeId } from '../stores/routes.ts';
import { recheckEvent, recheckSpan } from './recheck.ts';
import { replayEvent, replaySpan } from './replay.ts';
import { eventParams } from './routes.ts';
import { RecheckBody, Rechecked, RecheckView, ReplayBody, Replayed, ReplayView } from './schema.ts';
import { tryEvent } from './use-cases.ts';

/** Processing events again, and verifying refused ones again. */
export const replayRoutes = (context: Context): Route[] => {
  const shared = { method: 'post', tag: 'Events', caller: context.verifier.guard('stores:admin') } as const;
  return [
    route(
      {
        ...shared,
        path: '/v1/stores/{id}/events/replay',
        operationId: 'replayEvents',
        summary: 'Process the events of a span of time again',
        params: storeId,
        body: { schema: ReplayBody },
        responses: { 202: { description: 'How many will be processed again', body: Replayed } },
        problems: [404],
      },
      async ({ params, body }) => ({ status: 202, body: await replaySpan(context, params.id, body) }),
    ),
    route(
      {
        ...shared,
        path: '/v1/stores/{id}/events/{eventId}/replay',
        operationId: 'replayEvent',
        summary: 'Process an event again, or see what that would change',
        params: eventParams,
        query: z.strictObject({
          dryRun: z.enum(['true', 'false']).default('false').meta({ type: 'boolean', default: false }),
        }),
        responses: {
          200: { description: 'What would change', body: ReplayView },
          202: { description: 'It will be processed again', body: ReplayView },
        },
        problems: [404, 409],
      },
      async ({ params, query }) => {
        const { id, eventId } = params;
        if (query.dryRun === 'true')
          return { status: 200, body: { eventId, dryRun: true, ...(await tryEvent(context, id, eventId)) } };
        await replayEvent(context, id, eventId);
        return { status: 202, body: { eventId, dryRun: false } };
      },
    ),
    route(
      {
        ...shared,
        path: '/v1/stores/{id}/events/recheck',
        operationId: 'recheckEvents',
        summary: 'Verify the refused events of a span of time again, and process those that pass',
        params: storeId,
        body: { schema: RecheckBody },
        responses: { 200: { description: 'How many were verified and how many passed', body: Rechecked } },
        problems: [404],
      },
      async ({ params, body }) => ({ status: 200, body: await recheckSpan(context, params.id, body) }),
    ),
    route(
      {
        ...shared,
        path: '/v1/stores/{id}/events/{eventId}/recheck',
        operationId: 'recheckEvent',
        summary: 'Verify a refused event again, and process it if its signature is valid now',
        params: eventParams,
        responses: { 200: { description: 'What became of it', body: RecheckView } },
        problems: [404, 409],
      },
      async ({ params: { id, eventId } }) => ({
        status: 200,
        body: { eventId, status: await recheckEvent(context, id, eventId) },
      }),
    ),
  ];
};
