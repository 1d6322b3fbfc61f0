import { pageLimitBody, pageList, pageOf } from '@platform/pagination/page-limit';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import { requestIdOf } from '@platform/service-kit/log';
import type { Context } from '../context.ts';
import { storeId } from '../stores/routes.ts';
import {
  DetailQuery,
  EventDetail,
  EventQuery,
  EventView,
  ReplayBody,
  Replayed,
  ReplayView,
} from './schema.ts';
import { getEvent, pageOfEvents, replayEvent, replaySpan, revealEvent, tryEvent } from './use-cases.ts';
import { showEvent, showFullEvent } from './view.ts';

/** A body may hold personal data, so no cache may keep it. */
const noStore = { 'Cache-Control': 'no-store' };

const eventParams = z.strictObject({ id: z.uuid(), eventId: z.uuid() });

export const eventRoutes = (context: Context): Route[] => {
  const shared = { tag: 'Events', caller: context.verifier.guard('stores:admin') } as const;
  return [
    route(
      {
        ...shared,
        method: 'get',
        path: '/v1/stores/{id}/events',
        operationId: 'listEvents',
        summary: 'The webhooks that were received, newest first',
        params: storeId,
        query: EventQuery,
        responses: { 200: { description: 'A page', body: pageLimitBody('events', EventView) } },
        problems: [404],
      },
      async ({ params, query }) => {
        const page = pageOf(query);
        const { items, hasMore } = await pageOfEvents(context, params.id, query, page);
        return { status: 200, body: pageList('events', page, { items: items.map(showEvent), hasMore }) };
      },
    ),
    // Before the one event, whose id it is not.
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{id}/events/replay',
        operationId: 'replayEvents',
        summary: 'Process the events of a span of time again',
        params: storeId,
        body: { schema: ReplayBody },
        responses: { 202: { description: 'How many will be processed again', body: Replayed } },
        problems: [404],
      },
      async ({ params, body }) => {
        const replayed = await replaySpan(context, params.id, body);
        return { status: 202, body: { replayed } };
      },
    ),
    route(
      {
        ...shared,
        method: 'get',
        path: '/v1/stores/{id}/events/{eventId}',
        operationId: 'getEvent',
        summary: 'A webhook as it was received; most values are masked unless revealed',
        params: eventParams,
        query: DetailQuery,
        responses: { 200: { description: 'The event', body: EventDetail } },
        problems: [404],
      },
      async ({ params: { id, eventId }, query, caller, req }) => {
        const revealed = query.reveal === 'true';
        const row = revealed
          ? await revealEvent(context, {
              storeId: id,
              eventId,
              revealedBy: caller.subject,
              requestId: requestIdOf(req),
            })
          : await getEvent(context, id, eventId);
        return { status: 200, headers: noStore, body: await showFullEvent(context, row, revealed) };
      },
    ),
    route(
      {
        ...shared,
        method: 'post',
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
  ];
};
