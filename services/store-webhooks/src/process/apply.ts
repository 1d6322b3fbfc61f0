import type { ISql } from 'postgres';
import { applyJobs } from '../records/delivery-jobs.ts';
import { applyVerifications } from '../records/verifications.ts';
import { applyMembers } from '../records/members.ts';
import { addNotices, type Notice } from '../notifications/notice.ts';
import { applyOrders } from '../records/orders.ts';
import type { ChangeOf, Change, Sourced } from '../records/change.ts';

const ofKind = <Kind extends Change['kind']>(changes: readonly Sourced[], kind: Kind) =>
  changes.filter((sourced): sourced is Sourced<ChangeOf<Kind>> => sourced.change.kind === kind);

/**
 * Applies changes of different entities inside the caller's transaction, as one set for each kind, and
 * adds the notifications. Returns the subjects of the notifications that were added.
 */
export const applyChanges = async (
  sql: ISql,
  changes: readonly Sourced[],
  mails: boolean,
): Promise<string[]> => {
  const notices: Notice[] = [];
  const apply = async <Kind extends Change['kind']>(
    kind: Kind,
    how: (sql: ISql, changes: readonly Sourced<ChangeOf<Kind>>[]) => Promise<Notice[]>,
  ) => {
    const some = ofKind(changes, kind);
    if (some.length > 0) notices.push(...(await how(sql, some)));
  };
  await apply('order', applyOrders);
  await apply('member', applyMembers);
  await apply('job', applyJobs);
  await apply('verification', applyVerifications);
  return addNotices(sql, notices, mails);
};
