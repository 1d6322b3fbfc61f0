import { ormOf, type Executor } from '@platform/service-kit/db';
import { Conflict } from '@platform/service-kit/problem';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import type { Context } from '../context.ts';
import { applyChanges, eventTypes } from '../processing/event-types.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import { readable } from '../providers/payload-parsing.ts';
import type { EventRow } from '../inbox/find-events.ts';
import { visitEvents } from '../inbox/visit-events.ts';
import type { Change, EventChange } from '../records/change.ts';
import { deliveryJobList } from '../records/delivery-jobs.ts';
import { importJobList } from '../records/import-jobs.ts';
import { memberList } from '../records/members.ts';
import { orderList } from '../records/orders.ts';
import { userList } from '../records/users.ts';
import { verificationList } from '../records/verifications.ts';
import { posOf, type KnownStore } from '../stores/known-store.ts';
import { knownStore } from '../stores/use-cases.ts';
import { hookEventNames } from '../webhooks.ts';
import { codeOf, codesIn, redacted, redact, type ShownFields, unmaskedRecordFields } from './masking.ts';
import { recordIfRemapped, type Requester } from './reveals.ts';

interface RecordState {
  record: string;
  value: unknown;
}

type RecordKey = [record: string, list: Pick<typeof orderList, 'find'>, key: Record<string, string>];

/** The records that a change may affect, with the fields that identify them. */
const recordKeysOf = (change: Change): RecordKey[] => {
  if (change.kind === 'order') return [[`order/${change.order.id}`, orderList, { id: change.order.id }]];
  if (change.kind === 'job')
    return [[`delivery-job/${change.job.id}`, deliveryJobList, { id: change.job.id }]];
  if (change.kind === 'verification') {
    const { service, verification } = change;
    const id = verification.transactionId;
    return [[`verification/${id}`, verificationList, { service, transactionId: id }]];
  }
  if (change.kind === 'none') return [];
  const { id } = change.member;
  return [
    [`member/${id}`, memberList, { id }],
    [`user/${id}`, userList, { consumerUserId: id }],
    [`import-job/${id}`, importJobList, { memberId: id }],
  ];
};

const readStates = (db: Executor, storeId: string, change: Change): Promise<RecordState[]> =>
  Promise.all(
    recordKeysOf(change).map(async ([record, list, key]) => ({
      record,
      value: await list.find(db, storeId, key),
    })),
  );

/** Thrown to roll back a dry run after its result was read. */
class RolledBack extends Error {}

const applyAndRollBack = async (context: Context, eventChange: EventChange) => {
  const { storeId, change } = eventChange;
  let result: { before: RecordState[]; after: RecordState[]; notifications: string[] } | undefined;
  try {
    await context.database.sql.begin(async (sql) => {
      const db = ormOf(sql, context.database);
      const before = await readStates(db, storeId, change);
      const notifications = await applyChanges(sql, [eventChange], () => false);
      const after = await readStates(db, storeId, change);
      result = { before, after, notifications };
      throw new RolledBack();
    });
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
  }
  return result;
};

/** The values of an event that its view shows. Not async, so that the large parsed body is not kept while waiting. */
const shownCodes = ({ body, headers }: EventRow, shownFields: ShownFields): ReadonlySet<string> =>
  codesIn(redact(readable(body, headers['content-type']), shownFields));

type Mapping = ProviderSettings['mapping'];

/** Returns the store with another mapping. Throws Conflict unless its POS is generic. */
const withMapping = (store: KnownStore, mapping: Mapping): KnownStore => {
  const { settings } = store;
  if (settings.pos.kind !== 'generic')
    throw new Conflict('mapping_not_used', 'The POS of the store is not generic, so it has no mapping.');
  return { ...store, settings: { ...settings, pos: { ...settings.pos, mapping } } };
};

/** As `dryRun`, whatever the caller has already read. */
const tryEvent = async (
  context: Context,
  storeId: string,
  eventId: string,
  requester: Requester,
  mapping?: Mapping,
) => {
  const event = await context.eventReader.read(requester.caller, storeId, eventId);
  const { receivedAt: updatedAt } = event;
  if (event.event === 'payment-auth-completed')
    return { error: 'A payment is answered live; replaying one asks its provider again.' };
  const currentStore = await knownStore(context, storeId);
  const store = mapping === undefined ? currentStore : withMapping(currentStore, mapping);
  const shownFields = await recordIfRemapped(context, {
    store: currentStore,
    event,
    requester,
    settings: store.settings,
  });
  // The values of the event that may be shown; undefined: all of them.
  const codes = shownFields && (await context.reading([storeId], () => shownCodes(event, shownFields)));
  try {
    const change = await context.reading([storeId], () =>
      eventTypes[event.event].plan(context, { ...event, store }),
    );
    const result = await applyAndRollBack(context, { storeId, eventId, updatedAt, change });
    const hide = (text: string): string => (codes?.has(codeOf(text)) === false ? redacted : text);
    const hideId = (record: string): string => {
      const id = record.indexOf('/') + 1;
      return record.slice(0, id) + hide(record.slice(id));
    };
    const changes = (result?.before ?? []).flatMap(({ record, value }, at) => {
      const after = result?.after[at]?.value ?? null;
      return JSON.stringify(value) === JSON.stringify(after)
        ? []
        : [
            {
              record: hideId(record),
              before: redact(value, unmaskedRecordFields),
              after: redact(after, unmaskedRecordFields, codes),
            },
          ];
    });
    // Notifications quote fields of the record, so they are masked too.
    return { changes, notifications: (result?.notifications ?? []).map(hide) };
  } catch (error) {
    return { error: safeErrorMessage(error) };
  }
};

/**
 * Processes an event again in a transaction that is rolled back, and returns what would change, as GET shows the records.
 * `mapping` replaces the mapping of the store. It is recorded like a replay, because even masked values can be guessed from the
 * number of changes and notifications. Throws NotFound, Conflict and TooManyRequests.
 */
export const dryRun = async (
  context: Context,
  storeId: string,
  eventId: string,
  requester: Requester,
  mapping?: Mapping,
) => {
  await context.eventReader.requireAllowance(requester.caller);
  return tryEvent(context, storeId, eventId, requester, mapping);
};

const posEvents = hookEventNames.filter((name) => eventTypes[name].providerOf === posOf);

/** A time range that contains all events. */
const allTimes = { from: '1970-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' };

/** Maximum number of distinct errors in a response. */
const maxErrors = 20;

/**
 * Tries a mapping on the failed events of the POS, each like `dryRun`, and counts the results. If there are too many events for
 * one request, `next` is the id to continue after. Throws NotFound, Conflict and TooManyRequests.
 */
export const tryMapping = async (
  context: Context,
  storeId: string,
  { mapping, after }: { mapping: Mapping; after?: string | undefined },
  requester: Requester,
) => {
  withMapping(await knownStore(context, storeId), mapping);
  await context.eventReader.requireAllowance(requester.caller);
  const counts = { tried: 0, changed: 0, unchanged: 0 };
  const errors = new Map<string, number>();
  const countResult = async (eventId: string): Promise<void> => {
    const { changes = [], error } = await tryEvent(context, storeId, eventId, requester, mapping);
    counts.tried++;
    if (error === undefined) counts[changes.length > 0 ? 'changed' : 'unchanged']++;
    else {
      const text = errors.has(error) || errors.size < maxErrors ? error : 'Other errors';
      errors.set(text, (errors.get(text) ?? 0) + 1);
    }
  };
  const visitBatch = async (ids: string[]): Promise<void> => {
    for (const id of ids) await countResult(id);
  };
  const next = await visitEvents(context.database.orm, {
    storeId,
    ...allTimes,
    after,
    state: 'failed',
    events: posEvents,
    // Small, because the time limit is checked between batches and a large event takes 70 ms.
    batchSize: 10,
    visitBatch,
    mayContinue: () => context.eventReader.hasAllowance(requester.caller),
  });
  return { ...counts, errors: [...errors].map(([error, count]) => ({ error, count })), next };
};
