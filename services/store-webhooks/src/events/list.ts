import { text } from '@platform/service-kit/text';
import { eq, getViewName, getViewSelectedFields } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { eventReveals, events, inbox } from '../db/tables.ts';
import {
  hasRequestId,
  hasState,
  isUnfinishedWithValue,
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
  // A match reveals that the body contains the text, even where views mask it.
  onRead: async (context, { rows, query, caller, req }) => {
    if (query['value'] === undefined) return;
    await context.eventReader.requireAllowance(caller);
    context.eventReader.countFound(caller, rows.length);
    await recordReveal(context, rows.map(subjectOf), { kind: 'search', caller, req });
  },
  filters: {
    status: { schema: eventState.optional(), condition: hasState },
    event: {
      schema: z.enum(hookEventNames).optional().meta({ description: 'Name of the event, as in its address' }),
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
            'A text that is a value in the body, such as an order number. Finds only events that are not done; the data of ' +
            'done events is in the records. Each returned event, and the next one if there is one, is recorded like a reveal',
        }),
      condition: isUnfinishedWithValue,
      isSearch: true,
      scope: 'events:reveal',
    },
    id: exactly(inbox.id, 'Id of the event', z.uuid()),
    requestId: {
      schema: text(1, 128).optional().meta({
        description: 'X-Request-Id of the request that delivered the event, as in the access log',
      }),
      condition: hasRequestId,
    },
    from: {
      schema: time.optional().meta({ description: 'Received at this time or later' }),
      condition: isReceivedFrom,
    },
    to: {
      schema: time.optional().meta({ description: 'Received before this time' }),
      condition: isReceivedBefore,
    },
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
    'Which callers saw an event without masking, found it by a value of its body, processed it with another mapping, or saw a CAVV.',
  view: viewOf(
    'EventReveal',
    eventReveals,
    'id eventId service transactionId kind revealedBy requestId revealedAt',
    {
      eventId: 'Null for a payment',
      transactionId: 'Set for a payment, null for an event',
      revealedBy: 'Subject of the access token',
      kind: 'body: the whole body was shown; search: a search for a value found the event; replay: the event was processed again, or in a dry run, with a mapping other than at its receipt; cavv: the payment was shown with its CAVV',
      requestId:
        'Created for this record; the log has it as `recordedAs`, next to the X-Request-Id that the caller sent',
    },
  ),
});
