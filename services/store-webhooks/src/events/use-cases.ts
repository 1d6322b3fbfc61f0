import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { readable } from '../providers/payload-parsing.ts';
import { acceptRefusedEvent } from '../inbox/accept-refused-event.ts';
import { dismissFailedEvent, type Dismissal } from '../inbox/dismiss-event.ts';
import { erasedHashOf, findEvent, type EventRow } from '../inbox/find-events.ts';
import { requeueEvents, restartEvent } from '../inbox/requeue-events.ts';
import { visitEvents } from '../inbox/visit-events.ts';
import {
  AddressUnreadable,
  inspectWebhook,
  receivedEventOf,
  reportUnreadable,
  urlOf,
} from '../receive/received-event.ts';
import { knownStoreToChange, replacedSettings } from '../stores/use-cases.ts';
import { recordIfRemapped, type Repetition, type Requester } from './reveals.ts';

/**
 * Returns whether an event is now mapped differently than at its receipt. If so, records that and requires the scope
 * events:reveal. Throws InsufficientScope.
 */
const allowRemapping = async (context: Context, repetition: Repetition): Promise<boolean> =>
  (await recordIfRemapped(context, repetition, 'events:reveal')) !== undefined;

/** Throws NotFound, and Conflict if the body was erased. */
const findWholeEvent = async (
  { database, eventReader }: Context,
  storeId: string,
  id: string,
  { caller }: Requester,
): Promise<EventRow> => {
  const event = await eventReader.read(caller, storeId, id);
  if ((await erasedHashOf(database.orm, event)) !== null)
    throw new Conflict('event_erased', 'The body of the event was erased, so it cannot be processed again.');
  return event;
};

type NewState = 'pending' | 'failed' | 'refused' | 'ignored';

/**
 * Verifies the signature of a refused event as of the time of receipt, and stores the event if it is valid. Without a secret it
 * cannot be verified, so the event stays refused. A dry run changes nothing and returns `pending` for a valid signature.
 */
const recheck = async (
  context: Context,
  { store, event, requester }: Repetition,
  isDryRun: boolean,
): Promise<NewState> => {
  const { box, database, tracker } = context;
  const { body, headers } = event;
  const receivedAt = new Date(event.receivedAt);
  const unread = { store, address: event, body, headers, url: urlOf(box, event), receivedAt };
  const request = await context.reading([store.id], () => {
    const read = { ...unread, content: readable(body, headers['content-type']) };
    return inspectWebhook(read).signed === true ? read : undefined;
  });
  if (request === undefined) return 'refused';
  if (isDryRun) return 'pending';
  const isRemapped = await allowRemapping(context, { store, event, requester });
  const received = receivedEventOf(box, event.id, request);
  const state = await acceptRefusedEvent(database.sql, received, isRemapped);
  if (state === 'failed') reportUnreadable(tracker, received);
  return state;
};

/**
 * Processes an event again and returns its new state: `recheck` for a refused event, which is processed if its signature is valid
 * now, `replay` for any other. If the event is now mapped differently than at its receipt, this is recorded like a reveal and
 * needs the scope events:reveal. Throws NotFound, Conflict, InsufficientScope and TooManyRequests.
 */
export const reprocessEvent = async (
  context: Context,
  storeId: string,
  id: string,
  action: 'replay' | 'recheck',
  requester: Requester,
): Promise<NewState> => {
  const { sql } = context.database;
  await context.eventReader.requireAllowance(requester.caller);
  const event = await findWholeEvent(context, storeId, id, requester);
  const isRefused = event.state === 'refused';
  if (isRefused && action === 'replay')
    throw new Conflict('event_refused', 'The signature of the event was not valid; recheck it instead.');
  if (!isRefused && action === 'recheck')
    throw new Conflict(
      'event_not_refused',
      `The event is ${event.state}; only refused events can be rechecked.`,
    );
  const repetition = { store: await knownStoreToChange(context, storeId), event, requester };
  let state: NewState = 'pending';
  let requeued = 1;
  if (isRefused) state = await recheck(context, repetition, false);
  else {
    const isRemapped = await allowRemapping(context, repetition);
    if (event.state === 'pending') await restartEvent(sql, event, isRemapped);
    else requeued = await requeueEvents(sql, storeId, [id], event.state, isRemapped ? [id] : []);
  }
  // Its body may have been erased meanwhile.
  if (state === 'refused' || requeued === 0) await findWholeEvent(context, storeId, id, requester);
  context.inbox.wake();
  return state;
};

/** Dismisses a failed event, which ends its alert. Returns the time (ISO 8601). Throws NotFound and Conflict. */
export const dismissEvent = async (
  { database: { orm, sql } }: Context,
  storeId: string,
  id: string,
  dismissal: Dismissal,
): Promise<string> => {
  const dismissedAt = await dismissFailedEvent(sql, storeId, id, dismissal);
  if (dismissedAt !== undefined) return dismissedAt;
  const { state } = await findEvent(orm, storeId, id);
  throw new Conflict('event_not_failed', `The event is ${state}; only failed events can be dismissed.`);
};

interface EventRange {
  from: string;
  to: string;
  after?: string | undefined;
  status: string;
  /** Only verify and count the events. */
  dryRun: boolean;
}

/**
 * Processes the events of a time range that have one state again, each recorded as by `reprocessEvent`. Returns how many were
 * `visited`, how many became `pending` and how many `failed` because their addresses cannot be decrypted. If there are too
 * many for one request, `next` is the id to continue after. Throws NotFound, Conflict, InsufficientScope and TooManyRequests.
 */
export const reprocessRange = async (
  context: Context,
  storeId: string,
  { status: state, dryRun: isDryRun, ...range }: EventRange,
  requester: Requester,
) => {
  const { eventReader } = context;
  const { orm, sql } = context.database;
  const store = await knownStoreToChange(context, storeId);
  await eventReader.requireAllowance(requester.caller);
  const counts = { visited: 0, pending: 0, failed: 0 };
  const recheckAndCount = async (eventId: string): Promise<void> => {
    try {
      const event = await eventReader.read(requester.caller, storeId, eventId);
      if ((await recheck(context, { store, event, requester }, isDryRun)) === 'pending') counts.pending++;
    } catch (error) {
      if (!(error instanceof AddressUnreadable)) throw error;
      context.tracker.capture(error, { storeId, eventId });
      counts.failed++;
    }
  };
  const mayBeRemapped =
    state !== 'refused' && !isDryRun && (await replacedSettings(context, storeId, range.from)) !== undefined;
  const replay = async (ids: string[]): Promise<number> => {
    if (isDryRun) return ids.length;
    const remappedIds: string[] = [];
    if (mayBeRemapped)
      for (const id of ids) {
        const event = await eventReader.read(requester.caller, storeId, id);
        if (await allowRemapping(context, { store, event, requester })) remappedIds.push(id);
      }
    // Another request may have replayed some of them in between.
    return requeueEvents(sql, storeId, ids, state, remappedIds);
  };
  const visitBatch = async (ids: string[]): Promise<void> => {
    counts.visited += ids.length;
    if (state === 'refused') for (const id of ids) await recheckAndCount(id);
    else counts.pending += await replay(ids);
    context.inbox.wake();
  };
  // Smaller batches if each event is read.
  const batchSize = state === 'refused' || mayBeRemapped ? 50 : 1000;
  const mayContinue = () => eventReader.hasAllowance(requester.caller);
  const visit = { storeId, ...range, state, batchSize, visitBatch, mayContinue };
  return { next: await visitEvents(orm, visit), ...counts };
};
