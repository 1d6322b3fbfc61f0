import type { ISql } from 'postgres';
import { verifications } from '../db/tables.ts';
import { createUpsert, isNewer, newValue, type Merge } from '../db/upsert.ts';
import { undecided } from '../providers/records.ts';
import type { ChangeOf, Notice, Sourced } from '../worker/change.ts';
import { declareList } from './list.ts';
import { viewOf } from './view.ts';

export const verificationList = declareList({
  table: verifications,
  latest: verifications.eventId,
  name: 'verifications',
  tag: 'Identity',
  summary: 'The identity verifications, most recently changed first',
  view: viewOf('Verification', verifications, 'service transactionId status completed userId updatedAt', {
    status: 'As the provider named it',
  }),
  one: {
    noun: 'verification',
    key: { transactionId: { column: verifications.transactionId } },
    narrowBy: { service: verifications.service },
    latest: verifications.eventId,
    summary: 'A verification; of two providers with the same id the one that changed last',
  },
});

const upsert = createUpsert(verifications);

/** Upserts one record for each transaction of a provider; an older status never replaces a newer one. */
export const applyVerifications = async (
  sql: ISql,
  changes: readonly Sourced<ChangeOf<'verification'>>[],
): Promise<Notice[]> => {
  const rows = changes.map(
    ({ storeId, eventId, receivedAt, change: { service, completed, verification } }) => ({
      ...verification,
      storeId,
      service,
      completed,
      eventId,
      updatedAt: receivedAt,
    }),
  );
  const merged: Record<string, Merge> = {
    userId: newValue(sql),
    completed: (stored, given) => sql`${stored} or ${given}`,
    version: (stored, given) => sql`coalesce(${given}, nullif(${stored}, ${undecided}))`,
  };
  await sql`
    ${upsert(sql, rows, merged)}
    where ${isNewer(sql)} and (excluded.version is distinct from ${undecided} or t.version = ${undecided})`;
  return [];
};
