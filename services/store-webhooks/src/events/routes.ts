import { pageLimitBody, pageList, pageOf } from '@platform/pagination/page-limit';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import { requestIdOf } from '@platform/service-kit/log';
import type { Context } from '../context.ts';
import { storeId } from '../stores/routes.ts';
import { DetailQuery, EventDetail, EventQuery, EventView } from './schema.ts';
import { getEvent, pageOfEvents, revealEvent } from './use-cases.ts';
import { showEvent, showFullEvent } from './view.ts';

/** A body may hold personal data, so no cache may keep it. */
const noStore = { 'Cache-Control': 'no-store' };

export const eventParams = z.strictObject({ id: z.uuid(), eventId: z.uuid() });

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
  ];
};
