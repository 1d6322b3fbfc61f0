import type { Queries } from '../db/sql.ts';
import type { Context } from '../context.ts';
import { findStore } from '../stores/store.ts';
import { tellable } from '../tracker/failure.ts';
import { applyChanges } from '../worker/apply.ts';
import type { Change, Sourced } from '../worker/change.ts';
import { plan } from '../worker/plan.ts';
import { harmlessColumns } from './harmless.ts';
import { redact } from './redact.ts';
import type { FullEventRow } from './store.ts';

interface Snapshot {
  record: string;
  value: unknown;
}

const snapshot = async (sql: Queries, storeId: string, change: Change): Promise<Snapshot[]> => {
  const one = async (record: string, table: string, key: Record<string, string>): Promise<Snapshot> => {
    const conditions = Object.entries({ store_id: storeId, ...key }).map(
      ([name, value]) => sql`${sql(name)}::text = ${value}`,
    );
    const where = conditions.reduce((all, condition) => sql`${all} and ${condition}`);
    const [row] = await sql<{ value: unknown }[]>`
      select to_jsonb(t) - 'store_id' as value from ${sql(table)} t where ${where}`;
    return { record, value: row?.value ?? null };
  };
  switch (change.kind) {
    case 'order':
      return [await one(`order/${change.order.id}`, 'orders', { id: change.order.id })];
    case 'job':
      return [await one(`delivery-job/${change.job.id}`, 'delivery_jobs', { id: change.job.id })];
    case 'verification': {
      const key = { service: change.service, transaction_id: change.verification.transactionId };
      return [await one(`verification/${key.transaction_id}`, 'verifications', key)];
    }
    case 'member': {
      const { id } = change.member;
      return [
        await one(`member/${id}`, 'members', { id }),
        await one(`user/${id}`, 'users', { consumer_user_id: id }),
        await one(`import-job/${id}`, 'import_jobs', { member_id: id }),
      ];
    }
    default:
      return [];
  }
};

/** Thrown to roll back a dry run after its result was read. */
class RolledBack extends Error {}

const tryOut = async (context: Context, sourced: Sourced) => {
  const { storeId, change } = sourced;
  let seen: { before: Snapshot[]; after: Snapshot[]; notifications: string[] } | undefined;
  try {
    await context.database.sql.begin(async (sql) => {
      const before = await snapshot(sql, storeId, change);
      const notifications = await applyChanges(sql, [sourced], false);
      const after = await snapshot(sql, storeId, change);
      seen = { before, after, notifications };
      throw new RolledBack();
    });
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
  }
  return seen;
};

/** What processing an event again would change: processes it in a transaction that is rolled back. */
export const dryRun = async (context: Context, event: FullEventRow) => {
  const { storeId, id: eventId, receivedAt } = event;
  const row = await findStore(context.database.sql, storeId);
  if (row === undefined) return { error: 'The store is gone.' };
  if (event.event === 'payment-auth-completed')
    return { error: 'A payment is answered live; replaying one asks its provider again.' };
  try {
    const { createdAt: _c, updatedAt: _u, ...store } = row;
    const claimed = { ...event, store: context.openStore(store) };
    const change = await plan({ ...context, sql: context.database.sql }, claimed);
    const seen = await tryOut(context, { storeId, eventId, receivedAt, change });
    const changes = (seen?.before ?? []).flatMap(({ record, value }, at) => {
      const after = seen?.after[at]?.value ?? null;
      return JSON.stringify(value) === JSON.stringify(after)
        ? []
        : [{ record, before: redact(value, harmlessColumns), after: redact(after, harmlessColumns) }];
    });
    return { changes, notifications: seen?.notifications ?? [] };
  } catch (error) {
    return { error: tellable(error) };
  }
};
