import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '@platform/auth/bearer';
import { requestIdOf } from '@platform/service-kit/log';
import { sql } from 'drizzle-orm';
import { requireScope } from '../access.ts';
import type { Context } from '../context.ts';
import { eventReveals, type revealKinds } from '../db/tables.ts';
import type { EventRow } from '../inbox/find-events.ts';
import { readable } from '../providers/payload-parsing.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { readingOf, settingsAtReceipt, type ShownFields } from './masking.ts';

export interface Reveal {
  kind: (typeof revealKinds)[number];
  caller: Caller;
  req: IncomingMessage;
}

const messages: Record<Reveal['kind'], string> = {
  body: 'masked bodies were revealed',
  search: 'masked bodies were searched',
  replay: 'masked bodies were processed with another mapping',
  cavv: 'CAVVs of payments were shown',
};

/** The event or payment whose masked data a caller sees. */
type Subject = Pick<typeof eventReveals.$inferInsert, 'storeId' | 'eventId' | 'service' | 'transactionId'>;

/** The subject of a reveal that shows an event. */
export const subjectOf = ({ storeId, id }: Pick<EventRow, 'storeId' | 'id'>): Subject => ({
  storeId,
  eventId: id,
});

/**
 * Records that a caller sees data that event views mask, or a CAVV; call it before the data is shown. Callers choose their
 * X-Request-Id and could use that of somebody else, so the records get an id of their own; the log has both. Throws
 * InsufficientScope.
 */
export const recordReveal = async (
  { database, log }: Context,
  subjects: readonly Subject[],
  { kind, caller, req }: Reveal,
): Promise<void> => {
  if (kind === 'body') requireScope(caller, 'events:reveal');
  const { subject: revealedBy } = caller;
  const requestId = randomUUID();
  log.info(
    { requestId: requestIdOf(req), recordedAs: requestId, revealedBy, count: subjects.length },
    messages[kind],
  );
  if (subjects.length === 0) return;
  await database.orm.insert(eventReveals).values(
    subjects.map((subject) => ({
      ...subject,
      id: sql`uuidv7()`,
      kind,
      revealedBy,
      requestId,
      revealedAt: sql`now()`,
    })),
  );
};

/** The caller who requests a replay, recheck or dry run. */
export type Requester = Omit<Reveal, 'kind'>;

/** An event to be processed again, its store and the requester. */
export interface Repetition {
  store: KnownStore;
  event: EventRow;
  requester: Requester;
  /** The settings to process it with, if they differ from those of the store. */
  settings?: StoreSettings;
}

/**
 * Does nothing and returns undefined if an event is mapped as at its receipt. Otherwise processing it may reveal masked values:
 * records that, and returns the fields that may be shown. `scope` is required of the caller if the values will be written into
 * records, which show them. Throws InsufficientScope.
 */
export const recordIfRemapped = async (
  context: Context,
  { store, event, requester, settings = store.settings }: Repetition,
  scope?: 'events:reveal',
): Promise<ShownFields | undefined> => {
  const before = await settingsAtReceipt(context, store, event);
  const shownFields = await context.reading([store.id], () => {
    const content = readable(event.body, event.headers['content-type']);
    const reading = readingOf(before, event, content);
    return isDeepStrictEqual(reading, readingOf(settings, event, content)) ? undefined : reading.shownFields;
  });
  if (shownFields === undefined) return undefined;
  if (scope !== undefined) requireScope(requester.caller, scope);
  await recordReveal(context, [subjectOf(event)], { kind: 'replay', ...requester });
  return shownFields;
};
