import type { Sql } from 'postgres';
import type { Context } from '../context.ts';
import { readable } from '../hooks/body.ts';
import {
  deliverySource,
  identityService,
  identitySource,
  isIdentityEvent,
  isJobEvent,
  posSource,
} from '../hooks/subject.ts';
import { settlePayment } from '../payments/settle.ts';
import type { Connection } from '../providers/adapter.ts';
import type { MemberRecord } from '../providers/records.ts';
import { ProviderBusy, ProviderUnavailable } from '../providers/exchange.ts';
import type { Change } from './change.ts';
import type { PlannedEvent } from './event.ts';
import { Unprocessable } from './unprocessable.ts';

/**
 * The current member at the POS. If the POS cannot be reached, the payload is used, which is only
 * slightly older; a later member_updated corrects it.
 */
const fresh = async (
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

const planMember = async (context: Context, claimed: PlannedEvent, body: unknown): Promise<Change> => {
  const { adapter, ...source } = posSource(claimed.store);
  const connection = { ...source, reader: context.reader };
  const payload = await adapter.member(body, connection);
  const isNew = claimed.event === 'new_member';
  const known = isNew && (await userExists(context.database.sql, claimed.storeId, payload.id));
  const member = known ? await fresh(payload, connection, adapter.readMember) : payload;
  const importsUnknown = isNew && claimed.store.settings.customerImportsEnabled;
  return { kind: 'member', member, isNew, importsUnknown };
};

const planPayment = async (context: Context, claimed: PlannedEvent): Promise<Change> => {
  const { store, service, body, headers } = claimed;
  const contentType = headers['content-type'];
  const { error } = await settlePayment(context, { store, service, body, contentType });
  if (error !== undefined) throw error;
  return { kind: 'none' };
};

/**
 * Returns the change for an event. Reads from the database and from providers, but writes nothing except
 * the outcome of a payment. Throws Unprocessable or Ignored if a retry is useless.
 */
export const plan = async (context: Context, claimed: PlannedEvent): Promise<Change> => {
  const { event, service, store, headers } = claimed;
  if (event === 'payment-auth-completed') return planPayment(context, claimed);
  const body = claimed.content ?? readable(claimed.body, headers['content-type']);
  if (body === undefined) throw new Unprocessable('The body is not readable.');
  if (isJobEvent(event)) {
    const { adapter } = deliverySource(store);
    return { kind: 'job', ...adapter.job(event, body) };
  }
  if (isIdentityEvent(event)) {
    const kind = identityService(service, body);
    const { adapter, ...source } = identitySource(store, kind);
    const verification = await adapter.verification(body, { ...source, reader: context.reader });
    const completed = event === 'identity-verification-completed';
    return { kind: 'verification', service: kind, completed, verification };
  }
  if (event !== 'order_updated') return planMember(context, claimed, body);
  const { adapter, ...source } = posSource(store);
  return { kind: 'order', order: await adapter.order(body, { ...source, reader: context.reader }) };
};
