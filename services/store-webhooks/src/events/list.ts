import { text } from '@platform/service-kit/text';
import { eq, getViewName, getViewSelectedFields } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { eventReveals, events, inbox } from '../db/tables.ts';
import {
  cameWith,
  hasState,
  hasUnfinished,
  isAbout,
  isReceivedBefore,
  isReceivedFrom,
} from '../inbox/find-events.ts';
import { exactly } from '../records/filters.ts';
import { declareList } from '../records/list.ts';
import { viewOf } from '../records/view.ts';
import { hookEventNames, type HookEvent } from '../webhooks.ts';
import { recordReveal, subjectOf } from './reveals.ts';
import { EventView, eventState, time } from './schema.ts';
import { showEvent } from './view.ts';

const { body: _body, headers: _headers, dedup: _dedup, ...columns } = getViewSelectedFields(inbox);

export const eventList = declareList({
  table: inbox,
  columns,
  latest: inbox.id,
  base: {
    table: alias(events, getViewName(inbox)),
    filters: ['event', 'entity', 'id', 'requestId', 'from', 'to'],
  },
  name: 'events',
  tag: 'Events',
  scope: 'events:read',
  summary: 'Received webhooks, newest first',
  view: EventView,
  show: showEvent,
  // Finding a text says that the body contains it, also where a view masks it.
  onRead: async (context, { rows, query, caller, req }) => {
    if (query['value'] !== undefined)
      await recordReveal(context, rows.map(subjectOf), { kind: 'search', caller, req });
  },
  filters: {
    status: { schema: eventState.optional(), condition: hasState },
    event: {
      schema: z.enum(hookEventNames).optional().meta({ description: 'The event in its address' }),
      condition: (event) => eq(inbox.event, event as HookEvent),
    },
    entity: {
      schema: text(1, 200).optional().meta({
        description:
          'Id of the order, member, job, payment or transaction that the event is about, or the whole `entity` of an event',
      }),
      condition: isAbout,
    },
    value: {
      schema: text(1, 200)
        .optional()
        .meta({
          description:
            'A text that is a value in the body, such as an order number; finds only events that are not done: ' +
            'what the others say is in the records. Each event of the answer, and the next one if there is one, is recorded like a reveal',
        }),
      condition: hasUnfinished,
      scope: 'events:reveal',
    },
    id: exactly(inbox.id, 'Id of the event', z.uuid()),
    requestId: {
      schema: text(1, 128).optional().meta({
        description: 'X-Request-Id of the request that brought the event, as in the access log',
      }),
      condition: cameWith,
    },
    from: {
      schema: time.optional().meta({ description: 'Received then or later' }),
      condition: isReceivedFrom,
    },
    to: { schema: time.optional().meta({ description: 'Received before' }), condition: isReceivedBefore },
  },
});

export const eventRevealList = declareList({
  table: eventReveals,
  latest: eventReveals.id,
  name: 'eventReveals',
  tag: 'Events',
  scope: 'events:read',
  summary: 'Reveals of events, newest first',
  description:
    'The callers who saw an event without masking, found it by a value of its body or processed it with another mapping, or saw a CAVV.',
  view: viewOf(
    'EventReveal',
    eventReveals,
    'id eventId service transactionId kind revealedBy requestId revealedAt',
    {
      eventId: 'Null of a payment',
      transactionId: 'Of a payment; null of an event',
      revealedBy: 'Subject of the access token',
      kind: 'body: the whole body was shown; search: a search for a value found the event; replay: it was processed again, or tried out in a dry run, although other fields are mapped now than at receipt; cavv: the payment was shown with its CAVV',
      requestId:
        'Made for the record; a line of the log has it as `recordedAs`, beside the X-Request-Id that the caller sent',
    },
  ),
});
