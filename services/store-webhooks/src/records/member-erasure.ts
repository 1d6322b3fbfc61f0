import { deleteErasedAnswers, eraseAnswers } from '@platform/outgoing-webhooks';
import { requestIdOf } from '@platform/service-kit/log';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { NotFound, TooBusy, Unavailable } from '@platform/service-kit/problem';
import { awaitUntilCancelled, runOutsideRequest } from '@platform/service-kit/request-scope';
import { route, type Route } from '@platform/service-kit/route';
import { createTally } from '@platform/service-kit/tally';
import { text } from '@platform/service-kit/text';
import type { ISql, TransactionSql } from 'postgres';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import type { StoreRow } from '../db/tables.ts';
import { eraseEvents, ordersOf, searchEvents } from '../inbox/erase-events.ts';
import type { Person } from '../inbox/person-finder.ts';
import { StorePath } from '../stores/routes.ts';
import { requireStore } from '../stores/use-cases.ts';
import { deleteStoredAnswers } from './users.ts';

/** Finds the entities (see `ReceivedEvent`) of a person, and the texts that identify the person in the bodies of events about other entities. */
const findTraces = async (sql: ISql, { id: storeId, settings }: StoreRow, memberId: string) => {
  // A POS that has erased the person may send the orders without a consumer id, but notifications still have it.
  const entities = await sql<{ entity: string }[]>`
    with noted as (
      select kind, reference from notifications
      where store_id = ${storeId} and consumer_id = ${memberId} and reference is not null),
    theirs as (
      select id from orders where store_id = ${storeId} and consumer_id = ${memberId}
      union select reference from noted where kind = 'order')
    select 'member:' || ${memberId}::text as entity
    union all select 'order:' || id from theirs
    union all select 'job:' || id from delivery_jobs where store_id = ${storeId} and order_id in (select id from theirs)
    union all select 'job:' || reference from noted where kind = 'delivery'
    union all select 'verification.' || service || ':' || transaction_id from verifications
      where store_id = ${storeId} and user_id = ${memberId}`;
  // A contact that another member has too, such as a placeholder, identifies neither.
  const contacts = await sql<{ contact: string }[]>`
    select contact from (
      select email, phone from members where store_id = ${storeId} and id = ${memberId}
      union all select email, phone from users where store_id = ${storeId} and consumer_user_id = ${memberId}) as profiles
    cross join unnest(array[email, phone]) as contact
    where contact <> '' and not exists (
      select from members where store_id = ${storeId} and id <> ${memberId} and contact in (email, phone))`;
  const person: Person = {
    memberId,
    contacts: contacts.map(({ contact }) => contact),
    consumerPointer: settings.pos.mapping?.['order']?.['consumerId'] ?? '/consumerId',
  };
  return { entities: entities.map(({ entity }) => entity), person };
};

/**
 * Deletes the records of a person, and removes personal fields from those that stay. `orderIds`: orders of the person that do not
 * name the consumer. Returns the number of records.
 */
const eraseRecords = async (
  sql: TransactionSql,
  storeId: string,
  memberId: string,
  orderIds: readonly string[],
): Promise<number> => {
  const ofPerson = sql`store_id = ${storeId} and consumer_id = ${memberId}`;
  const withoutPersonalFields = sql`details = details || '{"memo": null, "memberGroup": null, "rewardName": null}'`;
  // Two look-ups, because the connections of the service never combine indexes (db/index-scan-settings.ts).
  const notices = sql`
    select id from notifications where ${ofPerson}
    union all select id from notifications
      where store_id = ${storeId} and kind = 'member' and reference = ${memberId}`;
  // First, because an import locks this row while it creates the user: afterwards that user can be deleted.
  const members = await sql`delete from members where store_id = ${storeId} and id = ${memberId}`;
  const users = await sql<{ id: string }[]>`
    delete from users where store_id = ${storeId} and consumer_user_id = ${memberId} returning id`;
  await deleteStoredAnswers(
    sql,
    users.map(({ id }) => id),
  );
  const changed = [
    members,
    await sql`delete from import_jobs where store_id = ${storeId} and member_id = ${memberId}`,
    await sql`
      update notifications set consumer_id = null, error = null, worker = null,
        reference = case kind when 'member' then null else reference end,
        mail = case when mail in ('pending', 'no_address') then 'off' else mail end
      where store_id = ${storeId} and id in (${notices})`,
    await sql`update orders set consumer_id = null, ${withoutPersonalFields} where ${ofPerson}`,
    // A statement of its own, because the planner would read all orders of the store for both conditions together.
    await sql`
      update orders set ${withoutPersonalFields}
      where store_id = ${storeId} and id = any(${orderIds as string[]}) and consumer_id is null`,
    await sql`update verifications set user_id = null where store_id = ${storeId} and user_id = ${memberId}`,
  ];
  return changed.reduce((sum, { count }) => sum + count, users.length);
};

/**
 * Erases a person everywhere. Events come first: a worker locks the row of the event that it applies, so its records are
 * visible afterwards. Throws NotFound if nothing was erased.
 */
const eraseMember = async (context: Context, storeId: string, memberId: string): Promise<void> => {
  const { database, inbox, reading } = context;
  const requireEmptySpool = (): void => {
    if (inbox.spool.active)
      throw new Unavailable(
        'spool_active',
        'Events that may be about the person are in the spool; try again.',
      );
  };
  const store = await requireStore(context, storeId);
  requireEmptySpool();
  // Searches before the transaction, because a gigabyte of failed events takes long and the transaction holds locks.
  const { person } = await findTraces(database.sql, store, memberId);
  let search = await searchEvents(database.sql, reading, storeId, person);
  requireEmptySpool();
  await database.sql.begin(async (sql) => {
    let erased = 0;
    // The second pass includes the records that a worker has stored during the first one.
    for (let pass = 0; pass < 2; pass++) {
      const traces = await findTraces(sql, store, memberId);
      // Continues the search with the events that have arrived meanwhile.
      search = await searchEvents(sql, reading, storeId, traces.person, search);
      erased += await eraseEvents(sql, storeId, traces.entities, search);
    }
    erased += await eraseRecords(sql, storeId, memberId, await ordersOf(sql, storeId, search));
    if (erased === 0) throw new NotFound('member');
    await eraseAnswers(sql, storeId);
  });
  while (await deleteErasedAnswers(database.sql));
};

interface Erasure {
  /** Number of requests that wait for it. */
  waiting: number;
  done?: Promise<void>;
}

/** Maximum number of requests that wait for erasures: of one store, and of all. */
const [maxWaiting, maxWaitingOfAll] = [100, 500];

/**
 * Erases the persons of a store one after the other. Searching hundreds of thousands of bodies takes longer than a request
 * may: an erasure that has started continues after the 503, and a repeated request waits for the same one.
 */
const createErasures = (context: Context) => {
  const erasures = new Map<string, Erasure>();
  /** Number of waiting requests by store. */
  const waiting = createTally();
  let waitingOfAll = 0;
  return async (storeId: string, memberId: string, logFields: object): Promise<void> => {
    const key = JSON.stringify([storeId, memberId]);
    const erasure = erasures.get(key) ?? { waiting: 0 };
    if (waiting.get(storeId) >= maxWaiting || waitingOfAll >= maxWaitingOfAll)
      throw new TooBusy('Too many requests wait for erasures; try again shortly.');
    erasures.set(key, erasure);
    const remove = () => erasures.get(key) === erasure && erasures.delete(key);
    const erase = async (): Promise<void> => {
      // Not started if all requests were cancelled before its turn. Removed at once, so that no later request joins it.
      if (erasure.waiting === 0) return void remove();
      await eraseMember(context, storeId, memberId);
      context.log.info({ ...logFields, storeId }, 'a person was erased');
    };
    // All callers take turns together, so `caller` is empty.
    const turn = { name: 'erasures', params: { storeId }, caller: '' };
    const addWaiting = (amount: 1 | -1): void => {
      erasure.waiting += amount;
      waitingOfAll += amount;
      waiting.add(storeId, amount);
    };
    addWaiting(1);
    erasure.done ??= runOutsideRequest(() => oneAtATime(context.database, turn, erase)).finally(remove);
    try {
      await awaitUntilCancelled(erasure.done);
    } finally {
      addWaiting(-1);
    }
  };
};

export const memberErasureRoute = (context: Context): Route => {
  const erase = createErasures(context);
  return route(
    {
      method: 'delete',
      path: '/v1/stores/{storeId}/members/{memberId}',
      operationId: 'eraseMember',
      tag: 'Members',
      summary: 'Erase a person',
      description:
        'Erases the member, the user with this consumerUserId, the personal fields of orders and notifications, and the bodies of events (a hash stays). A later webhook about the person stores them again, so erase them at the POS first.',
      auth: allow(context, 'stores:admin'),
      params: StorePath.extend({ memberId: text(1, 200).meta({ description: 'The member' }) }),
      responses: { 204: { description: 'The person is erased' } },
      problems: [404],
    },
    async ({ params: { storeId, memberId }, caller, req }) => {
      await erase(storeId, memberId, { requestId: requestIdOf(req), by: caller.subject });
      return { status: 204 };
    },
  );
};
