import type { ISql } from 'postgres';
import { verifications } from '../db/tables.ts';
import { createUpsert, isNewer, newOrStored } from '../db/sql.ts';
import type { Notice } from '../notifications/notice.ts';
import { undecided } from '../providers/records.ts';
import { identityAdapters } from '../providers/registry.ts';
import type { ChangeOf, EventChange } from './change.ts';
import { exactly } from './filters.ts';
import { declareList } from './list.ts';
import { viewOf } from './view.ts';

const userIdText = `The consumerUserId that the shop sent to the provider: ${[...identityAdapters.values()]
  .map(({ kind, userIdFrom }) => `${kind} as ${userIdFrom}`)
  .join(', ')}`;

export const verificationList = declareList({
  table: verifications,
  latest: verifications.eventId,
  name: 'verifications',
  tag: 'Identity',
  summary: 'Verifications, last changed first',
  view: viewOf('Verification', verifications, 'service transactionId status completed userId updatedAt', {
    status: 'In the words of the provider',
    userId: userIdText,
  }),
  filters: {
    transactionId: exactly(verifications.transactionId, 'The id from the provider'),
    userId: exactly(verifications.userId, userIdText),
  },
  single: {
    name: 'verification',
    key: { transactionId: 'transactionId' },
    narrowBy: { service: 'persona' },
    summary: 'The last verification with an id',
  },
});

const upsert = createUpsert(verifications, {
  merged: {
    userId: newOrStored,
    completed: (stored, incoming) => `${stored} or ${incoming}`,
    version: (stored, incoming) => `coalesce(${incoming}, nullif(${stored}, ${undecided}))`,
  },
  where: `${isNewer} and (excluded.version is distinct from ${undecided} or t.version = ${undecided})`,
});

interface Applied {
  service: string;
  previousStatus: string | null;
}

/** Upserts one record for each transaction of a provider; an older status never replaces a newer one. */
export const applyVerifications = async (
  sql: ISql,
  changes: readonly EventChange<ChangeOf<'verification'>>[],
): Promise<Notice[]> => {
  const rows = changes.map(({ change: { service, completed, verification }, ...source }) => ({
    ...verification,
    service,
    completed,
    ...source,
  }));
  const applied = await sql<(Pick<Notice, 'storeId' | 'eventId' | 'change' | 'reference'> & Applied)[]>`
    ${upsert(sql, rows)}
    returning new.store_id as "storeId", new.service, new.transaction_id as reference, old.status as "previousStatus",
      new.status as change, new.event_id as "eventId"`;
  return applied
    .filter(({ previousStatus, change }) => previousStatus !== change)
    .map(({ service, previousStatus: _previous, ...notice }) => ({
      ...notice,
      key: `verification:${service}:${notice.reference}:${notice.eventId}`,
      kind: 'verification',
      audience: 'store',
    }));
};
