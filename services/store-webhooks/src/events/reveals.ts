import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '@platform/auth/bearer';
import { requestIdOf } from '@platform/service-kit/log';
import { sql } from 'drizzle-orm';
import { requireScope } from '../access.ts';
import type { Context } from '../context.ts';
import { eventReveals, type revealKinds } from '../db/tables.ts';
import type { EventRow } from '../inbox/find-events.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { type Shown, unmaskedAtReceipt } from './masking.ts';

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

/** The event or payment that a caller learns more of. */
type Subject = Pick<typeof eventReveals.$inferInsert, 'storeId' | 'eventId' | 'service' | 'transactionId'>;

/** An event as `recordReveal` records it. */
export const subjectOf = ({ storeId, id }: Pick<EventRow, 'storeId' | 'id'>): Subject => ({
  storeId,
  eventId: id,
});

/**
 * Records that a caller learns what the views of events mask, or a CAVV; call it before the caller can. The caller chooses
 * X-Request-Id and could use that of somebody else, so the records have an id of ours; a line of the log has both. Throws
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

/** Who has an event processed again, or asks what that would change. */
export type Requester = Omit<Reveal, 'kind'>;

/** An event of a store, and who has it processed again. */
export interface Repetition {
  store: KnownStore;
  event: EventRow;
  requester: Requester;
  /** What it is processed with, where that is not what the store has. */
  settings?: StoreSettings;
}

/**
 * Records that processing an event again, or trying it out, may tell values that were masked at receipt. Returns the fields
 * that may be shown then; undefined if the event is mapped as at receipt. `scope` is what a caller needs who has the
 * values put into records, which show them. Throws InsufficientScope.
 */
export const recordIfRemapped = async (
  context: Context,
  { store, event, requester, settings }: Repetition,
  scope?: 'events:reveal',
): Promise<Shown | undefined> => {
  const { shown, isRemapped } = await unmaskedAtReceipt(context, store, event, settings);
  if (!isRemapped) return undefined;
  if (scope !== undefined) requireScope(requester.caller, scope);
  await recordReveal(context, [subjectOf(event)], { kind: 'replay', ...requester });
  return shown;
};
