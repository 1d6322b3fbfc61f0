import type { Caller } from '@platform/auth/bearer';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { noStore } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { StorePath } from '../stores/routes.ts';
import { dryRun, tryMapping } from './dry-run.ts';
import { eventList } from './list.ts';
import {
  DetailQuery,
  DismissBody,
  DismissView,
  EventDetail,
  MappingTrialBody,
  MappingTrials,
  MappingTrialsBody,
  RecheckBody,
  Rechecked,
  RecheckView,
  ReplayBody,
  Replayed,
  ReplayQuery,
  ReplayView,
} from './schema.ts';
import { dismissEvent, reprocessEvent, reprocessRange } from './use-cases.ts';
import { showFullEvent } from './view.ts';

const rangeExample = { from: '2020-01-01T00:00:00.000Z', to: '2020-01-02T00:00:00.000Z' };

const mappingExample = { order: { status: '/state' } };

const eventParams = StorePath.extend({ eventId: z.uuid().toLowerCase().meta({ description: 'The event' }) });

export const eventRoutes = (context: Context): Route[] => {
  const shared = { tag: 'Events', auth: allow(context, 'stores:write') } as const;
  /** Runs requests of one caller over many events one after the other: each begins only if the caller has not read too much. */
  const inTurn = <T>({ subject }: Caller, work: () => Promise<T>): Promise<T> =>
    oneAtATime(context.database, { name: 'many events', params: {}, caller: subject }, work);
  return [
    // Must precede the routes of one event, because Express uses the first route that matches the path.
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{storeId}/events/replay',
        operationId: 'replayEvents',
        summary: 'Process events again',
        description: 'Processes the events of a time range again, or only counts them (dryRun).',
        params: StorePath,
        body: { schema: ReplayBody, example: rangeExample },
        query: ReplayQuery,
        responses: {
          200: { description: 'How many would be processed again', body: Replayed },
          202: { description: 'How many will be processed again', body: Replayed },
        },
        problems: [404],
      },
      async ({ params, body, query, caller, req }) => {
        const range = { ...body, ...query };
        const { pending, next } = await inTurn(caller, () =>
          reprocessRange(context, params.storeId, range, { caller, req }),
        );
        return { status: query.dryRun ? 200 : 202, body: { replayed: pending, next } };
      },
    ),
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{storeId}/events/{eventId}/replay',
        operationId: 'replayEvent',
        summary: 'Process an event again',
        description: 'With dryRun: only shows what would change.',
        params: eventParams,
        query: ReplayQuery,
        responses: {
          200: { description: 'What would change', body: ReplayView },
          202: { description: 'It will be processed again', body: ReplayView },
        },
        problems: [404, 409],
      },
      async ({ params: { storeId: id, eventId }, query, caller, req }) => {
        const requester = { caller, req };
        if (query.dryRun) {
          const result = await dryRun(context, id, eventId, requester);
          return { status: 200, body: { eventId, dryRun: true, ...result } };
        }
        await reprocessEvent(context, id, eventId, 'replay', requester);
        return { status: 202, body: { eventId, dryRun: false } };
      },
    ),
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{storeId}/events/recheck',
        operationId: 'recheckEvents',
        summary: 'Verify refused events again',
        description: 'Verifies the refused events of a time range again; events that pass are processed.',
        params: StorePath,
        body: { schema: RecheckBody, example: rangeExample },
        query: ReplayQuery,
        responses: { 200: { description: 'How many were verified and how many passed', body: Rechecked } },
        problems: [404],
      },
      async ({ params, body, query, caller, req }) => {
        const refused = { ...body, ...query, status: 'refused' };
        const result = await inTurn(caller, () =>
          reprocessRange(context, params.storeId, refused, { caller, req }),
        );
        const { visited: checked, pending: accepted, failed, next } = result;
        return { status: 200, body: { checked, accepted, failed, next } };
      },
    ),
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{storeId}/events/{eventId}/recheck',
        operationId: 'recheckEvent',
        summary: 'Verify a refused event again',
        description: 'If its signature is valid now, it is processed.',
        params: eventParams,
        responses: { 200: { description: 'The new state of the event', body: RecheckView } },
        problems: [404, 409],
      },
      async ({ params: { storeId: id, eventId }, caller, req }) => ({
        status: 200,
        body: { eventId, status: await reprocessEvent(context, id, eventId, 'recheck', { caller, req }) },
      }),
    ),
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{storeId}/events/{eventId}/dismiss',
        operationId: 'dismissEvent',
        summary: 'Dismiss a failed event',
        description: 'Records that no further action is needed, which ends its alert.',
        params: eventParams,
        body: { schema: DismissBody, example: { note: 'The order was corrected at the till.' } },
        responses: {
          200: { description: 'The event is dismissed; a replay is still possible', body: DismissView },
        },
        problems: [404, 409],
      },
      async ({ params: { storeId: id, eventId }, body: { note }, caller: { subject: dismissedBy } }) => {
        const dismissedAt = await dismissEvent(context, id, eventId, { note, dismissedBy });
        return {
          status: 200,
          body: { eventId, status: 'dismissed' as const, note, dismissedBy, dismissedAt },
        };
      },
    ),
    route(
      {
        ...shared,
        auth: allow(context, 'stores:admin'),
        method: 'post',
        path: '/v1/stores/{storeId}/events/dry-run',
        operationId: 'tryMappings',
        summary: 'Try a mapping on all failed events',
        description: 'Counts what the failed events of a generic POS would change with another mapping.',
        params: StorePath,
        body: { schema: MappingTrialsBody, example: { mapping: mappingExample } },
        responses: { 200: { description: 'What would happen; nothing has changed', body: MappingTrials } },
        problems: [404, 409],
      },
      async ({ params, body, caller, req }) => ({
        status: 200,
        body: await inTurn(caller, () => tryMapping(context, params.storeId, body, { caller, req })),
      }),
    ),
    route(
      {
        ...shared,
        auth: allow(context, 'stores:admin'),
        method: 'post',
        path: '/v1/stores/{storeId}/events/{eventId}/dry-run',
        operationId: 'tryMapping',
        summary: 'Try a mapping on an event',
        description: 'Shows what an event of a generic POS would change with another mapping.',
        params: eventParams,
        body: { schema: MappingTrialBody, example: { mapping: mappingExample } },
        responses: { 200: { description: 'What would change', body: ReplayView } },
        problems: [404, 409],
      },
      async ({ params: { storeId: id, eventId }, body, caller, req }) => {
        const result = await dryRun(context, id, eventId, { caller, req }, body.mapping);
        return { status: 200, body: { eventId, dryRun: true, ...result } };
      },
    ),
    ...eventList.routes(context),
    route(
      {
        ...shared,
        auth: allow(context, 'events:read'),
        method: 'get',
        path: '/v1/stores/{storeId}/events/{eventId}',
        operationId: 'getEvent',
        summary: 'One received webhook',
        description: 'Most values are masked unless revealed.',
        params: eventParams,
        query: DetailQuery,
        responses: { 200: { description: 'The event', body: EventDetail } },
        problems: [404],
      },
      async ({ params: { storeId: id, eventId }, query, caller, req }) => ({
        status: 200,
        headers: noStore,
        body: await showFullEvent(context, id, eventId, { caller, req }, query.reveal),
      }),
    ),
  ];
};
