import type { ISql } from 'postgres';
import { undecided } from '../providers/records.ts';
import { isNewer } from '../worker/newer.ts';
import type { ChangeOf, Notice, Sourced } from '../worker/change.ts';

/** Upserts one record for each transaction of a provider; an older status never replaces a newer one. */
export const applyVerifications = async (
  sql: ISql,
  changes: readonly Sourced<ChangeOf<'verification'>>[],
): Promise<Notice[]> => {
  const rows = changes.map(({ storeId, eventId, receivedAt, change }) => ({
    store_id: storeId,
    service: change.service,
    transaction_id: change.verification.transactionId,
    status: change.verification.status,
    user_id: change.verification.userId,
    completed: change.completed,
    version: change.verification.version,
    event_id: eventId,
    updated_at: receivedAt,
  }));
  await sql`
    insert into verifications as v
    select * from jsonb_populate_recordset(null::verifications, ${JSON.stringify(rows)}::jsonb)
    on conflict (store_id, service, transaction_id) do update set status = excluded.status,
      user_id = coalesce(excluded.user_id, v.user_id), completed = v.completed or excluded.completed,
      version = coalesce(excluded.version, nullif(v.version, ${undecided})), event_id = excluded.event_id,
      updated_at = excluded.updated_at
    where ${isNewer(sql, 'v')}
      and (excluded.version is distinct from ${undecided} or v.version = ${undecided})`;
  return [];
};
