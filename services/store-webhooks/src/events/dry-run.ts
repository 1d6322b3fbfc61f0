import { ormOf, type Executor } from '@platform/service-kit/db';
import { Conflict } from '@platform/service-kit/problem';
import { safeErrorMessage } from '@platform/service-kit/safe-error';
import type { Context } from '../context.ts';
import { applyChanges, eventTypes } from '../processing/event-types.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import { readable } from '../providers/payload-parsing.ts';
import { findEvent, type EventRow } from '../inbox/find-events.ts';
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
import { codeOf, codesIn, hidden, redact, type Shown, unmaskedRecordFields } from './masking.ts';
import { recordIfRemapped, type Requester } from './reveals.ts';

interface RecordState {
  record: string;
  value: unknown;
}

type Place = [record: string, list: Pick<typeof orderList, 'find'>, key: Record<string, string>];

/** The records that a change may change, with the fields that identify them. */
const placesOf = (change: Change): Place[] => {
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
    placesOf(change).map(async ([record, list, key]) => ({
      record,
      value: await list.find(db, storeId, key),
    })),
  );

/** Thrown to roll back a dry run after its result was read. */
class RolledBack extends Error {}

const tryOut = async (context: Context, eventChange: EventChange) => {
  const { storeId, change } = eventChange;
  let seen: { before: RecordState[]; after: RecordState[]; notifications: string[] } | undefined;
  try {
    await context.database.sql.begin(async (sql) => {
      const db = ormOf(sql, context.database);
      const before = await readStates(db, storeId, change);
      const notifications = await applyChanges(sql, [eventChange], () => false);
      const after = await readStates(db, storeId, change);
      seen = { before, after, notifications };
      throw new RolledBack();
    });
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
  }
  return seen;
};

/** Not async, so that the parsed body does not wait for a provider. */
const shownCodes = ({ body, headers }: EventRow, shown: Shown): ReadonlySet<string> =>
  codesIn(redact(readable(body, headers['content-type']), shown));

type Mapping = ProviderSettings['mapping'];

/** A store as it would be with another mapping. Throws Conflict unless its point of sale has one. */
const mappedStore = (store: KnownStore, mapping: Mapping): KnownStore => {
  const { settings } = store;
  if (settings.pos.kind !== 'generic')
    throw new Conflict('mapping_not_used', 'The POS of the store is not generic, so it has no mapping.');
  return { ...store, settings: { ...settings, pos: { ...settings.pos, mapping } } };
};

/**
 * Returns what processing an event again would change, as the addresses of the records show them: processes it in a
 * transaction that is rolled back, with `mapping` instead of that of the store if it is given. Even what it hides can be
 * guessed from the number of changes and notifications, so it is recorded like a replay. Throws NotFound and Conflict.
 */
export const dryRun = async (
  context: Context,
  storeId: string,
  eventId: string,
  requester: Requester,
  mapping?: Mapping,
) => {
  const event = await findEvent(context.database.orm, storeId, eventId);
  const { receivedAt: updatedAt } = event;
  if (event.event === 'payment-auth-completed')
    return { error: 'A payment is answered live; replaying one asks its provider again.' };
  const known = await knownStore(context, storeId);
  const store = mapping === undefined ? known : mappedStore(known, mapping);
  const shown = await recordIfRemapped(context, { store: known, event, requester, settings: store.settings });
  // The texts and numbers of the event that its view shows; undefined: all may be shown.
  const codes = shown && shownCodes(event, shown);
  try {
    const change = await eventTypes[event.event].plan(context, { ...event, store });
    const seen = await tryOut(context, { storeId, eventId, updatedAt, change });
    const hide = (text: string): string => (codes?.has(codeOf(text)) === false ? hidden : text);
    const hideId = (record: string): string => {
      const id = record.indexOf('/') + 1;
      return record.slice(0, id) + hide(record.slice(id));
    };
    const changes = (seen?.before ?? []).flatMap(({ record, value }, at) => {
      const after = seen?.after[at]?.value ?? null;
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
    // Notifications quote fields of the record.
    return { changes, notifications: (seen?.notifications ?? []).map(hide) };
  } catch (error) {
    return { error: safeErrorMessage(error) };
  }
};

const posEvents = hookEventNames.filter((name) => eventTypes[name].providerOf === posOf);

/** From the first event to the last one. */
const allTimes = { from: '1970-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' };

/** Different errors in an answer. */
const maxErrors = 20;

/**
 * Tries a mapping on the events of the POS that have failed, each like `dryRun`, and counts what would happen. `next` is
 * where to go on when they are too many for one request. Throws NotFound and Conflict.
 */
export const tryMapping = async (
  context: Context,
  storeId: string,
  { mapping, after }: { mapping: Mapping; after?: string | undefined },
  requester: Requester,
) => {
  mappedStore(await knownStore(context, storeId), mapping);
  const counts = { tried: 0, changed: 0, unchanged: 0 };
  const errors = new Map<string, number>();
  const attempt = async (eventId: string): Promise<void> => {
    const { changes = [], error } = await dryRun(context, storeId, eventId, requester, mapping);
    counts.tried++;
    if (error === undefined) counts[changes.length > 0 ? 'changed' : 'unchanged']++;
    else {
      const text = errors.has(error) || errors.size < maxErrors ? error : 'Other errors';
      errors.set(text, (errors.get(text) ?? 0) + 1);
    }
  };
  const each = async (ids: string[]): Promise<void> => {
    for (const id of ids) await attempt(id);
  };
  const next = await visitEvents(context.database.orm, {
    storeId,
    ...allTimes,
    after,
    state: 'failed',
    events: posEvents,
    // The time is looked at between two slices; a large event takes 70 ms.
    size: 10,
    each,
  });
  return { ...counts, errors: [...errors].map(([error, count]) => ({ error, count })), next };
};
