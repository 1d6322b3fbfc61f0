import type { ISql, Sql } from 'postgres';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { Ignored, ProviderBusy, ProviderUnavailable, Unprocessable } from '../errors.ts';
import { addNotices, type Notice } from '../notifications/notice.ts';
import { challengePayload } from '../payments/challenge-payload.ts';
import { settlePayment } from '../payments/use-cases.ts';
import type { Adapter, Connection, PosAdapter } from '../providers/adapter.ts';
import { readable } from '../providers/payload-parsing.ts';
import { relayedVerification, type MemberRecord, type OrderRecord } from '../providers/pos-payloads.ts';
import type { JobStage } from '../providers/records.ts';
import { deliveryAdapters, identityAdapters, posAdapters } from '../providers/registry.ts';
import type { PlannedEvent } from '../inbox/event.ts';
import type { Change, ChangeOf, EventChange } from '../records/change.ts';
import { applyJobs } from '../records/delivery-jobs.ts';
import { applyMembers } from '../records/members.ts';
import { applyOrders } from '../records/orders.ts';
import { applyVerifications } from '../records/verifications.ts';
import { deliveryOf, identityOf, posOf, type ConfiguredStore, type Provider } from '../stores/known-store.ts';
import type { HookEvent } from '../webhooks.ts';

/** How the service processes the events of one address. */
interface EventType {
  /** The entity that the events are about; also names the record of a mapping that reads their fields. */
  entity: 'order' | 'member' | 'job' | 'verification' | 'payment';
  /**
   * The provider of a store that an event comes from; `service` is the provider in its path. Absent: the event comes through
   * a browser. Throws Unprocessable or Ignored if there is none.
   */
  providerOf?(store: ConfiguredStore, service: string | null, body: unknown): Provider<Adapter>;
  /** The payload schemas of the contract and of each provider, for the OpenAPI document. */
  payloads: readonly z.ZodType[];
  /** Plans the change for an event. Writes nothing except the outcome of a payment. */
  plan(context: Context, event: PlannedEvent): Promise<Change>;
}

/**
 * The parsed body. It can take forty times the memory of its bytes, and only the bytes are limited. So it is mapped before the
 * first await, and only in functions that are not async: an async function keeps all its variables while it waits.
 */
const contentOf = ({ body, headers }: PlannedEvent): unknown => {
  const content = readable(body, headers['content-type']);
  if (content === undefined) throw new Unprocessable('The body is not readable.');
  return content;
};

/** The parsed body of a POS event. Throws Ignored for a test event, which a POS sends to check whether the address answers. */
const posContentOf = (
  event: PlannedEvent,
  { adapter, settings }: Pick<Provider<Adapter>, 'adapter' | 'settings'>,
  entity: string,
): unknown => {
  const body = contentOf(event);
  if (adapter.isTest?.(body, settings, entity)) throw new Ignored('test_event');
  return body;
};

const connect = <A>(
  { readerOf }: Context,
  { storeId }: PlannedEvent,
  { adapter, ...provider }: Provider<A>,
) => ({
  adapter,
  connection: { ...provider, reader: readerOf(storeId) } satisfies Connection,
});

/**
 * The current member at the POS. If the POS cannot be reached, the payload is used, which is only
 * slightly older; a later member_updated corrects it.
 */
const readCurrentMember = async (
  payload: MemberRecord,
  connection: Connection,
  read: (id: string, connection: Connection) => Promise<MemberRecord | undefined>,
): Promise<MemberRecord> => {
  if (connection.settings.baseUrl === undefined) return payload;
  try {
    const current = await read(payload.id, connection);
    if (current?.id !== payload.id) return payload;
    // An answer without a version gets that of the event, so that it does not overwrite newer data.
    return { ...current, version: current.version ?? payload.version };
  } catch (error) {
    if (error instanceof ProviderBusy && error.circuit === 'closed') throw error;
    if (error instanceof ProviderUnavailable || error instanceof Unprocessable) return payload;
    throw error;
  }
};

const userExists = async (sql: Sql, storeId: string, consumerUserId: string): Promise<boolean> => {
  const [row] = await sql`
    select 1 from users where store_id = ${storeId} and consumer_user_id = ${consumerUserId}`;
  return row !== undefined;
};

const posPayloads = [...posAdapters.values()].flatMap(({ payloads }) => payloads ?? []);

const orderOf = (context: Context, event: PlannedEvent): Promise<OrderRecord> => {
  const pos = posOf(event.store);
  const { adapter, connection } = connect(context, event, pos);
  return adapter.order(posContentOf(event, pos, 'order'), connection);
};

const memberOf = (adapter: PosAdapter, { settings }: Connection, event: PlannedEvent): MemberRecord =>
  adapter.member(posContentOf(event, { adapter, settings }, 'member'), settings);

const verificationOf = (context: Context, event: PlannedEvent) => {
  const body = contentOf(event);
  const { adapter, connection } = connect(context, event, identityOf(event.store, event.service, body));
  return { service: adapter.kind, verification: adapter.verification(body, connection) };
};

const order: EventType = {
  entity: 'order',
  providerOf: posOf,
  payloads: posPayloads.map(({ order: payload }) => payload),
  plan: async (context, event) => ({ kind: 'order', order: await orderOf(context, event) }),
};

const member = (isNew: boolean): EventType => ({
  entity: 'member',
  providerOf: posOf,
  payloads: posPayloads.map(({ member: payload }) => payload),
  plan: async (context, event) => {
    const { adapter, connection } = connect(context, event, posOf(event.store));
    const payload = memberOf(adapter, connection, event);
    const isKnown = isNew && (await userExists(context.database.sql, event.storeId, payload.id));
    return {
      kind: 'member',
      member: isKnown ? await readCurrentMember(payload, connection, adapter.readMember) : payload,
      isNew,
      importsUnknown: isNew && event.store.settings.customerImportsEnabled,
    };
  },
});

const job = (stage: JobStage): EventType => ({
  entity: 'job',
  providerOf: deliveryOf,
  payloads: [...deliveryAdapters.values()].map(({ payload }) => payload),
  plan: async (_context, event) => {
    const delivery = deliveryOf(event.store);
    return { kind: 'job', ...delivery.adapter.job(stage, posContentOf(event, delivery, 'job')) };
  },
});

const identity = (completed: boolean): EventType => ({
  entity: 'verification',
  providerOf: identityOf,
  payloads: [relayedVerification, ...[...identityAdapters.values()].flatMap(({ payloads }) => payloads)],
  plan: async (context, event) => {
    const { service, verification: pendingVerification } = verificationOf(context, event);
    return { kind: 'verification', service, completed, verification: await pendingVerification };
  },
});

const payment: EventType = {
  entity: 'payment',
  payloads: [challengePayload],
  plan: async (context, event) => {
    const { error } = await settlePayment(context, event);
    if (error !== undefined) throw error;
    return { kind: 'none' };
  },
};

/** The ten events: the entity, the provider and the change of each. */
export const eventTypes: Readonly<Record<HookEvent, EventType>> = {
  order_updated: order,
  new_member: member(true),
  member_updated: member(false),
  job_assigned: job('assigned'),
  job_started: job('started'),
  job_arrived: job('arrived'),
  job_completed: job('completed'),
  'identity-verification-updated': identity(false),
  'identity-verification-completed': identity(true),
  'payment-auth-completed': payment,
};

/**
 * Applies changes of different entities inside the caller's transaction, one batch per kind of record, and adds their
 * notifications; those for which `isMailed` returns true are also mailed. Returns the subjects of the added notifications.
 */
export const applyChanges = async (
  sql: ISql,
  changes: readonly EventChange[],
  isMailed: (notice: Notice) => boolean,
): Promise<string[]> => {
  const notices: Notice[] = [];
  const applyKind = async <Kind extends Change['kind']>(
    kind: Kind,
    apply: (executor: ISql, matchingChanges: readonly EventChange<ChangeOf<Kind>>[]) => Promise<Notice[]>,
  ): Promise<void> => {
    const matchingChanges = changes.filter(
      (item): item is EventChange<ChangeOf<Kind>> => item.change.kind === kind,
    );
    if (matchingChanges.length > 0) notices.push(...(await apply(sql, matchingChanges)));
  };
  await applyKind('order', applyOrders);
  await applyKind('member', applyMembers);
  await applyKind('job', applyJobs);
  await applyKind('verification', applyVerifications);
  return addNotices(sql, notices, isMailed);
};
