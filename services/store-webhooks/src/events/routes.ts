import { pageLimitBody, pageList, pageOf } from '@platform/pagination/page-limit';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { readable } from '../hooks/body.ts';
import { storeId } from '../stores/routes.ts';
import { isoOf, isoOrNull } from '../time.ts';
import { redact } from './redact.ts';
import { EventDetail, EventQuery, EventView, ReplayBody, Replayed, ReplayView } from './schema.ts';
import { getEvent, pageOfEvents, replayEvent, replaySpan, tryEvent } from './use-cases.ts';

type EventRow = Awaited<ReturnType<typeof pageOfEvents>>['items'][number];

const show = (row: EventRow) => ({
  id: row.id,
  event: row.event,
  service: row.service,
  entity: row.entity,
  status: row.state as z.input<typeof EventView>['status'],
  attempts: row.attempts,
  error: row.error,
  receivedAt: isoOf(row.receivedAt),
  nextAttemptAt: row.state === 'pending' ? isoOf(row.dueAt) : null,
  finishedAt: isoOrNull(row.finishedAt),
});

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
        return { status: 200, body: pageList('events', page, { items: items.map(show), hasMore }) };
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
        summary: 'A webhook as it was received, without secrets and personal data',
        params: eventParams,
        responses: { 200: { description: 'The event', body: EventDetail } },
        problems: [404],
      },
      async ({ params }) => {
        const row = await getEvent(context, params.id, params.eventId);
        const { 'content-type': contentType, 'user-agent': agent, 'x-request-id': request } = row.headers;
        const told = { 'content-type': contentType, 'user-agent': agent, 'x-request-id': request };
        const headers = Object.entries(told).filter(
          (pair): pair is [string, string] => pair[1] !== undefined,
        );
        return {
          status: 200,
          body: {
            ...show(row),
            headers: Object.fromEntries(headers),
            bytes: row.body.length,
            body: redact(readable(row.body, contentType)) ?? null,
          },
        };
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
